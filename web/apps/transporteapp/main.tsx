import { Building2, CalendarRange, History, MonitorSmartphone, Settings, Smartphone, Truck, UserRoundCog, Users } from "lucide";
import { useState } from "preact/hooks";
import { Account, Acts, ApiLinks, Empty, Failed, Menu, NotFound, Shell, Skeleton, ask, go, here, inGroup, link, session, start, tagged, useLoaded, useTitle, view } from "#ui";
import { api } from "#clients/transporteapp";
import { Board } from "./board.tsx";
import { CartaPage } from "./carta.tsx";
import { Company, CompanyPage } from "./company.tsx";
import { Devices, signOutHere, useListed } from "./devices.tsx";
import { DriverPage, DriverTrip } from "./driver.tsx";
import { FleetPage } from "./fleet.tsx";
import { Join, MembersPage } from "./members.tsx";
import { firm, firms, loadFirms, show, type Firm } from "./who.ts";
import { t } from "./words.ts";
import "./style.css";

function Welcome() {
  return (
    <div class="stack">
      <Empty icon={Truck} title={t("welcome.title")} action={<Account admins />}>{t("page.description")}</Empty>
      <div class="grid"><ApiLinks /></div>
    </div>
  );
}

function Waiting() {
  return <div class="stack" aria-busy="true"><Skeleton width="12rem" height="2rem" /><Skeleton height="4rem" /><Skeleton height="18rem" /></div>;
}

/** Loads the reader's companies once; a reader without one creates one or accepts an invitation. */
function Inside({ sub }: { sub: string }) {
  const loaded = useLoaded((signal) => loadFirms(signal), [sub]);
  const joining = here.value.path === "/join";
  if (loaded.problem.value && firms.value === undefined) {
    return <Failed problem={loaded.problem.value} onRetry={() => void loaded.reload()} />;
  }
  if (firms.value === undefined) {
    return <Waiting />;
  }
  if (joining) {
    return <Join />;
  }
  return firm.value ? <Firmed key={`${firm.value.empresaId} ${firm.value.rol}`} firm={firm.value} /> : <Company sub={sub} />;
}

function Firmed({ firm }: { firm: Firm }) {
  return firm.rol === "conductor" ? <DriverTrip id={firm.conductorId ?? ""} own /> : <Office firm={firm} />;
}

/** The view of dispatchers and of owners, who also see the members. */
function Office({ firm }: { firm: Firm }) {
  const profile = useLoaded((signal) => tagged(api.GET("/perfil", { signal })), []);
  const problem = profile.problem.value;
  const seen = profile.value.value;
  if (!seen) {
    return problem ? <Failed problem={problem} onRetry={() => void profile.reload()} /> : <Waiting />;
  }
  const company = seen.value;
  const owns = firm.rol === "propietario";
  return view({
    "/": () => <Board />,
    "/fleet": () => <FleetPage profile={company} />,
    "/cartas/:id": (v) => <CartaPage key={v["id"]} id={v["id"] ?? ""} profile={company} />,
    "/driver": () => <DriverPage />,
    "/driver/:id": (v) => <DriverTrip key={v["id"]} id={v["id"] ?? ""} />,
    ...(owns ? { "/members": () => <MembersPage />, "/company": () => <CompanyPage seen={seen} onSaved={profile.set} /> } : {}),
  }, () => <NotFound />);
}

/** The back office's acts, which belong to no company. */
function BackOffice() {
  useTitle(t("nav.acts"));
  return (
    <div class="stack">
      <h1>{t("acts.title")}</h1>
      <Acts load={(query, signal) => ask(api.GET("/acts", { params: { query }, signal }))} names={{ putSuscripcion: t("acts.putSuscripcion"), createAbono: t("acts.createAbono") }} />
    </div>
  );
}

function App() {
  const who = session.value;
  const now = who && firm.value;
  const [devices, setDevices] = useState(false);
  useListed();
  const nav = !now || now.rol === "conductor" ? [] : [
    { href: link("/"), label: t("nav.board"), icon: CalendarRange },
    { href: link("/fleet"), label: t("nav.fleet"), icon: Users },
    ...(now.rol === "propietario" ? [{ href: link("/members"), label: t("nav.members"), icon: UserRoundCog }, { href: link("/company"), label: t("nav.company"), icon: Settings }] : []),
    { href: link("/driver"), label: t("nav.driver"), icon: Smartphone },
  ];
  const administers = inGroup("transporteapp-admin");
  if (administers) nav.push({ href: link("/acts"), label: t("nav.acts"), icon: History });
  const several = now && (firms.value?.length ?? 0) > 1;
  return (
    <Shell brand={t("page.title")} icon={Truck} nav={nav} wide tools={who && (
      <>
        {several && <Menu icon={Building2} label={t("firm.choose")} items={(firms.value ?? []).map((f) => ({
          label: `${f.nombre} · ${t(`role.${f.rol}`)}`, checked: f.empresaId === now.empresaId, onPress: () => { show(f); go(link("/")); },
        }))} />}
        <Account admins items={[{ label: t("devices"), icon: MonitorSmartphone, onPress: () => setDevices(true) }]} onSignOut={signOutHere} />
      </>
    )}>
      {!who ? <Welcome /> : administers && here.value.path === "/acts" ? <BackOffice /> : <Inside key={who.sub} sub={who.sub} />}
      {who && devices && <Devices onClose={() => setDevices(false)} />}
    </Shell>
  );
}

void start(<App />, { locales: { es: "es-MX" } });
