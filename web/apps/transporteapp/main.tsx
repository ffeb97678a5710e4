import { CalendarRange, Smartphone, Truck, Users } from "lucide";
import { Account, ApiLinks, Empty, Failed, NotFound, Shell, Skeleton, ask, link, session, start, useLoaded, view } from "#ui";
import { api } from "#clients/transporteapp";
import { Board } from "./board.tsx";
import { Company } from "./company.tsx";
import { DriverPage, DriverTrip } from "./driver.tsx";
import { FleetPage } from "./fleet.tsx";
import { t } from "./words.ts";
import "./style.css";

function Welcome() {
  return (
    <div class="stack">
      <Empty icon={Truck} title={t("welcome.title")} action={<Account />}>{t("page.description")}</Empty>
      <div class="grid"><ApiLinks /></div>
    </div>
  );
}

/** Views need a company: its profile is asked for once, and made first where there is none. */
function Inside({ sub }: { sub: string }) {
  const profile = useLoaded((signal) => ask(api.GET("/perfil", { signal })), [sub]);
  const problem = profile.problem.value;
  const company = profile.value.value;
  if (problem?.status === 404) {
    return <Company onSaved={(p) => { profile.set(p); void profile.reload(); }} />;
  }
  if (problem) {
    return <Failed problem={problem} onRetry={() => void profile.reload()} />;
  }
  if (!company) {
    return <div class="stack" aria-busy="true"><Skeleton width="12rem" height="2rem" /><Skeleton height="4rem" /><Skeleton height="18rem" /></div>;
  }
  return view({
    "/": () => <Board />,
    "/fleet": () => <FleetPage profile={company} />,
    "/driver": () => <DriverPage />,
    "/driver/:id": (v) => <DriverTrip key={v["id"]} id={v["id"] ?? ""} />,
  }, () => <NotFound />);
}

function App() {
  const who = session.value;
  const nav = who ? [
    { href: link("/"), label: t("nav.board"), icon: CalendarRange },
    { href: link("/fleet"), label: t("nav.fleet"), icon: Users },
    { href: link("/driver"), label: t("nav.driver"), icon: Smartphone },
  ] : [];
  return (
    <Shell brand={t("page.title")} icon={Truck} nav={nav} tools={who && <Account />} wide>
      {who ? <Inside key={who.sub} sub={who.sub} /> : <Welcome />}
    </Shell>
  );
}

void start(<App />, { locales: { es: "es-MX" } });
