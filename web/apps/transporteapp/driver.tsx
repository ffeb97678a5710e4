import { CircleCheck, Coffee, LocateFixed, MapPin, Navigation, PackageCheck, Truck, UserRound } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Avatar, Badge, Button, Confirm, Empty, Failed, Icon, Notice, Problem, Progress, Skeleton, ask, format, go, here, keep, kept, link, toast, toastProblem, useLoaded, useTitle } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";
import { fleet, spanOf, times, unstamped } from "./data.ts";
import { dayKey, hour } from "./day.ts";
import { Differences, Documents } from "./documents.tsx";
import { useLive } from "./live.ts";
import { t } from "./words.ts";

const mine = "transporteapp-driver";

/** Chooses the driver of this phone, once; the phone stores it. */
export function DriverPage() {
  const all = useLoaded((signal) => fleet(signal), []);
  const before = kept(mine);
  const choosing = here.value.query.get("choose") !== null;
  useTitle(t("nav.driver"));
  useEffect(() => {
    if (before && !choosing) go(link("/driver/:id", { id: before }), "replace");
  }, []);
  const drivers = [...(all.value.value?.drivers ?? [])].sort((a, b) => format.compare(a.nombre, b.nombre));
  if (all.problem.value) {
    return <Failed problem={all.problem.value} onRetry={() => void all.reload()} />;
  }
  return (
    <div class="phone stack">
      <h1>{t("driver.who")}</h1>
      {all.value.value === undefined
        ? <Skeleton lines={4} />
        : drivers.length === 0
          ? <Empty icon={UserRound} title={t("driver.none")} action={<Button href={link("/fleet")}>{t("nav.fleet")}</Button>} />
          : (
            <ul class="people">
              {drivers.map((d) => (
                <li key={d.conductorId}><a class="card person" href={link("/driver/:id", { id: d.conductorId })} onClick={() => keep(mine, d.conductorId)}><Avatar name={d.nombre} />{d.nombre}</a></li>
              ))}
            </ul>
          )}
    </div>
  );
}

interface Mine {
  driver: Schemas["Conductor"];
  /** The current trip, otherwise the next one. */
  trip: Schemas["ViajeConCarta"] | undefined;
  later: readonly Schemas["Viaje"][];
}

async function load(id: string, signal: AbortSignal): Promise<Mine> {
  const path = { params: { path: { id } }, signal };
  const [driver, { items }] = await Promise.all([ask(api.GET("/conductores/{id}", path)), ask(api.GET("/conductores/{id}/viajes", path))]);
  const at = driver.asignacion.viajeActualId ?? items[0]?.viajeId;
  const trip = at ? await ask(api.GET("/viajes/{id}", { params: { path: { id: at } }, signal })) : undefined;
  return { driver, trip, later: items.filter((o) => o.viajeId !== at) };
}

/** The driver's view: the trip and one large button for the next step. own: the phone's token is the driver's. */
export function DriverTrip({ id, own }: { id: string; own?: boolean }) {
  const loaded = useLoaded((signal) => load(id, signal), [id]);
  const seen = loaded.value.value;
  useTitle(t("nav.driver"));
  useLive({ ready: () => void loaded.reload(), trip: (trip) => { if (own || trip.resources?.conductorId === id || known(seen, trip.viajeId)) void loaded.reload(); }, lost: () => void loaded.reload() });
  useEffect(() => {
    const again = () => { if (document.visibilityState === "visible") void loaded.reload(); };
    document.addEventListener("visibilitychange", again); // a phone taken out of a pocket
    return () => document.removeEventListener("visibilitychange", again);
  }, [loaded]);
  if (!seen) {
    return <div class="phone stack">{loaded.problem.value
      ? <><Failed problem={loaded.problem.value} onRetry={() => void loaded.reload()} />{!own && <Button onPress={forget}>{t("driver.other")}</Button>}</>
      : <><Skeleton height="3rem" /><Skeleton height="16rem" /></>}</div>;
  }
  return (
    <div class="phone stack">
      <div class="row fixed">
        <Avatar name={seen.driver.nombre} />
        <h1 class="grow clip phone-name">{seen.driver.nombre}</h1>
        {!own && <Button kind="quiet" size="small" onPress={forget}>{t("driver.other")}</Button>}
      </div>
      {seen.trip
        ? <MyTrip key={seen.trip.viajeId} trip={seen.trip} reload={() => loaded.reload()} />
        : <Empty icon={Coffee} title={t("driver.free")}>{t("driver.freeText")}</Empty>}
      {seen.later.length > 0 && (
        <section class="stack" style={{ "--gap": "var(--space-2)" }}>
          <h2 class="phone-later">{t("driver.later")}</h2>
          {seen.later.map((trip) => (
            <div key={trip.viajeId} class="card"><b>{trip.nombre}</b><div class="muted small first-upper">{format.day(trip.fechaInicioProgramada, { weekday: "long", day: "numeric", month: "short" })}, {times(trip)}</div></div>
          ))}
        </section>
      )}
    </div>
  );
}

function known(seen: Mine | undefined, id: string): boolean {
  return seen?.trip?.viajeId === id || (seen?.later.some((trip) => trip.viajeId === id) ?? false);
}

function forget(): void {
  keep(mine, undefined);
  go(link("/driver", { choose: 1 }));
}

function MyTrip({ trip, reload }: { trip: Schemas["ViajeConCarta"]; reload: () => Promise<void> }) {
  const [arriving, setArriving] = useState(false);
  const params = { params: { path: { id: trip.viajeId } } };
  const moving = trip.estado === "en_curso";
  const act = async (call: () => Promise<unknown>, said: string) => {
    try {
      await call();
      toast("success", said);
    } catch (thrown) {
      toastProblem(thrown);
    }
    await reload();
  };
  const early = spanOf(trip).from - Date.now() > 24 * hour;
  const waiting = unstamped(trip);
  const today = dayKey(new Date(trip.fechaInicioProgramada)) === dayKey(new Date());
  return (
    <>
      <section class="card stack my-trip" aria-label={t("driver.trip")}>
        <div class="row"><Badge tone={moving ? "accent" : "info"}>{t(moving ? "driver.moving" : "driver.next")}</Badge><span class="muted small end">{trip.resources?.vehiculoPlaca}{trip.resources?.remolquePlaca && ` + ${trip.resources.remolquePlaca}`}</span></div>
        <ol class="way">
          <li><Icon of={MapPin} size={18} /><div><b>{trip.origen}</b><div class="muted">{!today && `${format.day(trip.fechaInicioProgramada, { weekday: "short", day: "numeric", month: "short" })}, `}{format.time(trip.fechaInicioProgramada)}</div></div></li>
          <li><Icon of={Navigation} size={18} /><div><b>{trip.destino}</b><div class="muted">{format.relative(trip.fechaFinProgramada)} · {format.time(trip.fechaFinProgramada)}</div></div></li>
        </ol>
        {moving && trip.tracking && (
          <div class="stack" style={{ "--gap": "var(--space-2)" }}>
            <Progress label={t("trip.progress")} value={trip.tracking.progreso} max={100} />
            <span class="muted small">{t("trip.driven", { km: format.number(trip.tracking.distanciaRecorrida, { maximumFractionDigits: 1 }), of: format.number(trip.tracking.distanciaTotal) })}
              {trip.tracking.ultimaActualizacion && ` · ${format.relative(trip.tracking.ultimaActualizacion)}`}</span>
          </div>
        )}
        {!moving && <span class="muted">{t("km", { n: trip.distanciaTotal })} · {trip.nombre}</span>}
        {trip.fiscal?.cartaPorteStatus === "timbrada" && <div class="row"><Documents id={trip.fiscal.cartaPorteId} folio={trip.fiscal.cartaPorteFolio} pdfOnly /></div>}
      </section>
      {!moving && early && <Notice>{t("driver.early")}</Notice>}
      {!moving && !early && waiting && <Notice tone="warning">{t("driver.unstamped")}</Notice>}
      <Differences trip={trip} view="driver" />
      <div class="phone-actions">
        {moving
          ? (
            <>
              <Button kind="primary" size="large" wide icon={PackageCheck} onPress={() => setArriving(true)}>{t("driver.deliver")}</Button>
              <Button size="large" wide icon={LocateFixed} onPress={() => act(async () => ask(api.POST("/viajes/{id}/posiciones", { ...params, body: await whereAmI() })), t("driver.located"))}>{t("driver.locate")}</Button>
            </>
          )
          : <Button kind="primary" size="large" wide icon={Truck} disabled={early || waiting} onPress={() => act(() => ask(api.POST("/viajes/{id}/iniciar", params)), t("driver.started"))}>{t("driver.start")}</Button>}
      </div>
      <Confirm open={arriving} title={t("driver.arrived", { place: trip.destino })} action={t("driver.deliver")} onClose={() => setArriving(false)}
        onConfirm={async () => { await act(() => ask(api.POST("/viajes/{id}/completar", params)), t("driver.delivered")); setArriving(false); }}>
        <p class="row fixed"><Icon of={CircleCheck} /> {t("driver.arrivedText")}</p>
      </Confirm>
    </>
  );
}

/** Reports the phone's position, or explains why there is none. */
function whereAmI(): Promise<Schemas["Ping"]> {
  return new Promise((found, failed) => {
    navigator.geolocation.getCurrentPosition(
      ({ coords, timestamp }) => found({ lat: rounded(coords.latitude), lng: rounded(coords.longitude), at: new Date(timestamp).toISOString() }),
      (error) => failed(new Problem({ status: 0, code: "unlocated", detail: t(error.code === error.PERMISSION_DENIED ? "driver.denied" : "driver.unlocated") })),
      { enableHighAccuracy: true, timeout: 20_000, maximumAge: 15_000 },
    );
  });
}

/** Five decimals are about a metre. */
function rounded(degrees: number): number {
  return Math.round(degrees * 1e5) / 1e5;
}
