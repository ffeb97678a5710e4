import { CalendarOff, ChevronLeft, ChevronRight, Plus, Radio, TriangleAlert, Truck, WifiOff } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Badge, Button, Card, Empty, Failed, Icon, Progress, Skeleton, Tabs, ask, format, go, here, link, useLoaded, useTitle } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";
import { alertOf, fleet, spanOf, standing, standings, times, tones, tripsBetween, type Fleet, type Trip } from "./data.ts";
import { dayKey, dayOf, hour, lanes, place, startOfDay, type Span } from "./day.ts";
import { useLive } from "./live.ts";
import { NewTrip, TripDrawer } from "./trip.tsx";
import { t } from "./words.ts";

/** The dispatcher's board: a week to choose from, the day as bars by driver or vehicle, and its trips by state. */
export function Board() {
  const day = dayOf(here.value.query.get("day"));
  const chosen = here.value.query.get("trip") ?? undefined;
  const first = startOfDay(day, -((day.getDay() + 6) % 7));
  const week = useLoaded((signal) => tripsBetween(first, startOfDay(first, 7), signal), [dayKey(first)]);
  const all = useLoaded((signal) => fleet(signal), []);
  const ending = useLoaded((signal) => ask(api.GET("/vencimientos", { signal })), []);
  const [planning, setPlanning] = useState(false);
  const [where, setWhere] = useState<Where>({});
  useTitle(t("nav.board"));
  const live = useLive({
    ready: () => void reload(),
    trip: (trip) => { if (week.value.value) week.set(merged(week.value.value, trip, { from: first.getTime(), to: startOfDay(first, 7).getTime() })); },
    tracking: (now) => setWhere((all) => ({ ...all, [now.viajeId]: now })),
  });

  const to = (at: Date, trip?: string) => link("/", { day: dayKey(at) === dayKey(new Date()) ? undefined : dayKey(at), trip });
  const trips = week.value.value ?? [];
  const today = within(trips, day);
  const waiting = week.value.value === undefined || all.value.value === undefined;
  const problem = week.problem.value ?? all.problem.value;
  const reload = () => Promise.all([week.reload(), all.reload()]);
  const open = (trip: Trip) => go(to(day, trip.viajeId));
  const late = ending.value.value?.items.length ?? 0;

  return (
    <div class="stack">
      <div class="row board-head">
        <h1 class="grow first-upper">{format.day(day, { weekday: "long", day: "numeric", month: "long" })}</h1>
        <Live state={live} />
        <div class="row fixed board-steps">
          <Button icon={ChevronLeft} label={t("day.before")} kind="quiet" href={to(startOfDay(day, -1))} />
          <Button href={to(new Date())}>{t("day.today")}</Button>
          <Button icon={ChevronRight} label={t("day.after")} kind="quiet" href={to(startOfDay(day, 1))} />
        </div>
        <Button kind="primary" icon={Plus} onPress={() => setPlanning(true)}>{t("trip.new")}</Button>
      </div>
      <Week first={first} day={day} trips={week.value.value} to={to} />
      {late > 0 && <a class="ending-link" href={link("/fleet", { show: "ending" })}><Icon of={TriangleAlert} size={16} />{t("ending.title", { n: late })}</a>}
      {problem && waiting
        ? <Failed problem={problem} onRetry={() => void reload()} />
        : waiting
          ? <div class="stack" aria-busy="true"><Skeleton height="14rem" /><Skeleton height="10rem" /></div>
          : (
            <>
              <Strip day={day} trips={today} fleet={all.value.value ?? { drivers: [], vehicles: [], trailers: [] }} onOpen={open} />
              {today.length === 0
                ? all.value.value?.drivers.length !== 0 && <NoTrips day={day} to={to} onPlan={() => setPlanning(true)} />
                : <Columns trips={today} where={where} onSeen={(now) => setWhere((all) => ({ [now.viajeId]: now, ...all }))} onOpen={open} />}
            </>
          )}
      <NewTrip open={planning} day={day} onClose={() => setPlanning(false)} onMade={(trip) => { setPlanning(false); void reload(); go(to(startOfDay(new Date(trip.fechaInicioProgramada)), trip.viajeId)); }} />
      <TripDrawer id={chosen} stamp={`${trips.find((trip) => trip.viajeId === chosen)?.updatedAt} ${where[chosen ?? ""]?.ultimaActualizacion}`} fleet={all.value.value} onClose={() => go(to(day))} onChanged={() => void reload()} />
    </div>
  );
}

/** The known positions of trips. */
type Where = Readonly<Record<string, Schemas["Rastreo"]>>;

/** The trips of a period after one was changed, added or removed. */
function merged(trips: readonly Trip[], changed: Trip, window: Span): Trip[] {
  const others = trips.filter((trip) => trip.viajeId !== changed.viajeId);
  return spanOf(changed).to > window.from && spanOf(changed).from < window.to ? [...others, changed] : others;
}

/** Whether live updates are working. */
function Live({ state }: { state: string }) {
  const on = state === "open";
  return <span class={on ? "live on" : "live"} role="status"><Icon of={on ? Radio : WifiOff} size={14} />{t(on ? "live.on" : "live.off")}</span>;
}

/** A day without trips: plan one, or go to the newest one. */
function NoTrips({ day, to, onPlan }: { day: Date; to: (at: Date) => string; onPlan: () => void }) {
  const newest = useLoaded((signal) => ask(api.GET("/viajes", { params: { query: { limit: 1 } }, signal })), []);
  const trip = newest.value.value?.items[0];
  const at = trip && startOfDay(Date.parse(trip.fechaInicioProgramada));
  return (
    <Empty icon={CalendarOff} title={t("board.none")} action={
      <div class="row">
        {at && dayKey(at) !== dayKey(day) && <Button href={to(at)}>{t("board.newest", { day: format.day(at) })}</Button>}
        <Button kind="primary" icon={Plus} onPress={onPlan}>{t("trip.new")}</Button>
      </div>
    }>{t("board.noneText")}</Empty>
  );
}

function within(trips: readonly Trip[], day: Date): Trip[] {
  const from = day.getTime();
  const to = startOfDay(day, 1).getTime();
  return trips.filter((trip) => spanOf(trip).to > from && spanOf(trip).from < to);
}

/** Seven days, each with its number of trips, and whether one needs a driver. */
function Week({ first, day, trips, to }: { first: Date; day: Date; trips: readonly Trip[] | undefined; to: (at: Date) => string }) {
  return (
    <nav class="week" aria-label={t("week")}>
      {Array.from({ length: 7 }, (_, n) => startOfDay(first, n)).map((d) => {
        const here = within(trips ?? [], d).filter((trip) => trip.estado !== "cancelado");
        const missing = here.filter((trip) => standing(trip) === "sin_asignar").length;
        return (
          <a key={dayKey(d)} href={to(d)} class={dayKey(d) === dayKey(new Date()) ? "week-day today" : "week-day"} aria-current={dayKey(d) === dayKey(day) ? "date" : undefined}>
            <span class="week-name">{format.day(d, { weekday: "short" })}</span>
            <span class="week-number">{format.day(d, { day: "numeric" })}</span>
            <span class={missing > 0 ? "week-count missing" : "week-count"}>
              {trips === undefined ? "·" : here.length === 0 ? "–" : format.number(here.length)}
              <span class="hidden-visually"> {t("week.trips", { n: here.length })}{missing > 0 && `, ${t("week.missing", { n: missing })}`}</span>
              {missing > 0 && <Icon of={TriangleAlert} size={12} />}
            </span>
          </a>
        );
      })}
    </nav>
  );
}

interface Row {
  key: string;
  name: string;
  note?: string | undefined;
  trips: Trip[];
  open?: boolean;
}

type By = "driver" | "vehicle";

/** The day as a strip: a row per driver or vehicle, trips as bars. Unassigned trips come first, in amber. */
function Strip({ day, trips, fleet, onOpen }: { day: Date; trips: readonly Trip[]; fleet: Fleet; onOpen: (trip: Trip) => void }) {
  const [by, setBy] = useState<By>("driver");
  const window: Span = { from: day.getTime(), to: startOfDay(day, 1).getTime() };
  const rows = rowsBy(by, trips, fleet);
  return (
    <Card>
      <Tabs label={t("strip.by")} tabs={[{ key: "driver", label: t("strip.driver") }, { key: "vehicle", label: t("strip.vehicle") }]} chosen={by} onChoose={setBy}>
        {rows.length === 0
          ? <Empty icon={Truck} title={t("fleet.none")} action={<Button kind="primary" href={link("/fleet", { show: by === "driver" ? undefined : "vehicles" })}>{t("fleet.go")}</Button>}>{t("fleet.noneText")}</Empty>
          : (
            <div class="strip">
              <div class="strip-hours" aria-hidden="true">
                {Array.from({ length: 8 }, (_, n) => <span key={n}>{format.dateTime(window.from + n * 3 * hour, { hour: "numeric" })}</span>)}
              </div>
              <ul class="strip-rows">
                {rows.map((row) => (
                  <li key={row.key} class={row.open ? "strip-row open" : "strip-row"}>
                    <div class="strip-name"><span class="clip">{row.name}</span>{row.note && <span class="muted small clip">{row.note}</span>}</div>
                    <Track trips={row.trips} window={window} onOpen={onOpen} />
                  </li>
                ))}
              </ul>
            </div>
          )}
      </Tabs>
    </Card>
  );
}

function rowsBy(by: By, trips: readonly Trip[], { drivers, vehicles }: Fleet): Row[] {
  const shown = trips.filter((trip) => trip.estado !== "cancelado");
  const open = shown.filter((trip) => !trip.resources);
  const of = (id: string) => shown.filter((trip) => (by === "driver" ? trip.resources?.conductorId : trip.resources?.vehiculoId) === id);
  const rows: Row[] = by === "driver"
    ? drivers.map((d) => ({ key: d.conductorId, name: d.nombre, note: d.estado === "inactivo" || !d.activo ? t("resource.inactivo") : undefined, trips: of(d.conductorId) }))
    : vehicles.map((v) => ({ key: v.vehiculoId, name: v.placa, note: v.estado === "taller" || v.estado === "inactivo" ? t(`resource.${v.estado}`) : v.configVehicular, trips: of(v.vehiculoId) }));
  rows.sort((a, b) => format.compare(a.name, b.name));
  return open.length > 0 ? [{ key: "", name: t("standing.sin_asignar"), trips: open, open: true }, ...rows] : rows;
}

function Track({ trips, window, onOpen }: { trips: readonly Trip[]; window: Span; onOpen: (trip: Trip) => void }) {
  const now = Date.now();
  const at = place({ from: now, to: now + 1 }, window);
  return (
    <div class="track">
      {at && now >= window.from && <span class="track-now" style={{ "--left": `${at.left}%` }} aria-hidden="true" />}
      {lanes(trips.map((trip) => ({ ...spanOf(trip), trip }))).map((lane, n) => (
        <div key={n} class="lane">
          {lane.map(({ trip, ...span }) => {
            const p = place(span, window);
            const alert = alertOf(trip);
            return p && (
              <button key={trip.viajeId} type="button" class={`bar ${standing(trip)} ${alert ? "alert" : ""} ${p.before ? "before" : ""} ${p.after ? "after" : ""}`}
                style={{ "--left": `${p.left}%`, "--width": `${p.width}%` }} title={`${trip.nombre} · ${times(trip)}`} onClick={() => onOpen(trip)}
                aria-label={`${trip.nombre}, ${times(trip)}, ${t(`standing.${standing(trip)}`)}${alert ? `, ${alert}` : ""}`}>
                {alert && <Icon of={TriangleAlert} size={14} />}
                <span class="clip">{trip.nombre}</span>
              </button>
            );
          })}
        </div>
      ))}
      {trips.length === 0 && <div class="lane" />}
    </div>
  );
}

/** The day's trips by state, unassigned first. */
function Columns({ trips, where, onSeen, onOpen }: { trips: readonly Trip[]; where: Where; onSeen: (now: Schemas["Rastreo"]) => void; onOpen: (trip: Trip) => void }) {
  const columns = standings.map((s) => ({ s, trips: trips.filter((trip) => standing(trip) === s) }));
  return (
    <div class="columns">
      {columns.filter((c) => c.trips.length > 0).map(({ s, trips }) => (
        <section key={s} class="column" aria-labelledby={`column-${s}`}>
          <h2 id={`column-${s}`} class="column-head"><Badge {...(tones[s] ? { tone: tones[s] } : {})}>{t(`standing.${s}`)}</Badge><span class="muted number">{format.number(trips.length)}</span></h2>
          {trips.map((trip) => <TripCard key={trip.viajeId} trip={trip} now={where[trip.viajeId]} onSeen={onSeen} onOpen={onOpen} />)}
        </section>
      ))}
    </div>
  );
}

function TripCard({ trip, now, onSeen, onOpen }: { trip: Trip; now: Schemas["Rastreo"] | undefined; onSeen: (now: Schemas["Rastreo"]) => void; onOpen: (trip: Trip) => void }) {
  const alert = alertOf(trip);
  const moving = trip.estado === "en_curso";
  const stamped = trip.estado === "programado" && trip.fiscal?.cartaPorteStatus === "timbrada";
  const [differs, setDiffers] = useState(false);
  useEffect(() => {
    if (!stamped) return setDiffers(false);
    const end = new AbortController();
    void ask(api.GET("/viajes/{id}", { params: { path: { id: trip.viajeId } }, signal: end.signal })).then((whole) => setDiffers((whole.discrepancias ?? []).length > 0), () => {}); // retried when the trip changes
    return () => end.abort();
  }, [stamped, trip.updatedAt]);
  useEffect(() => {
    if (!moving || now) return;
    const end = new AbortController();
    void ask(api.GET("/viajes/{id}/posicion", { params: { path: { id: trip.viajeId } }, signal: end.signal })).then(onSeen, () => {}); // it has not reported a position
    return () => end.abort();
  }, [moving]);
  return (
    <button type="button" class="card trip-card" onClick={() => onOpen(trip)}>
      <span class="trip-times number">{times(trip)}</span>
      <b>{trip.nombre}</b>
      <span class="muted small">{trip.origen} → {trip.destino}</span>
      {trip.resources && <span class="small row fixed trip-who"><Icon of={Truck} size={14} /><span class="clip">{trip.resources.conductorNombre} · {trip.resources.vehiculoPlaca}</span></span>}
      {moving && now && (
        <span class="trip-progress">
          <Progress label={t("trip.progress")} value={now.progreso} max={100} />
          <span class="small muted">{format.percent(now.progreso / 100)}{now.ultimaActualizacion && ` · ${format.relative(now.ultimaActualizacion)}`}</span>
        </span>
      )}
      {alert && <Badge tone="warning">{alert}</Badge>}
      {differs && <Badge tone="warning">{t("alert.differs")}</Badge>}
    </button>
  );
}
