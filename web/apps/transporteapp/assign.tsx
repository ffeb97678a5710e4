import { TriangleAlert } from "lucide";
import { useState } from "preact/hooks";
import { Badge, Button, Conflict, Dialog, Failed, Icon, Notice, Problem, Skeleton, ask, format, toast, toastProblem, useLoaded, useVersion, type Tagged } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";
import { daysLeft, resourceIDs, spanOf, stored, takes, times, tripsBetween, type Fleet, type Trip } from "./data.ts";
import { hour, overlaps, place, type Span } from "./day.ts";
import { t } from "./words.ts";

type Kind = "driver" | "vehicle" | "trailer";

const field = { driver: "conductorId", vehicle: "vehiculoId", trailer: "remolqueId" } as const;

interface Option {
  id: string;
  name: string;
  note: string;
  free: boolean;
  /** Why it is not available. */
  why?: string | undefined;
}

/**
 * Assigns driver, vehicle and trailer to a trip. Those available in its period come first; the others show the reason in amber, and the strip below
 * shows conflicts before anything is saved.
 */
export function Assign({ seen, fleet, onClose, onDone }: { seen: Tagged<Schemas["ViajeConCarta"]>; fleet: Fleet; onClose: () => void; onDone: () => void | Promise<void> }) {
  const [edited, setEdited] = useState(seen); // the board keeps updating behind the dialog, which stays as opened
  const trip = edited.value;
  const period = { desde: trip.fechaInicioProgramada, hasta: trip.fechaFinProgramada };
  const free = useLoaded((signal) => resourceIDs(period, signal), [trip.viajeId]);
  const around = useLoaded((signal) => tripsBetween(new Date(spanOf(trip).from - 12 * hour), new Date(spanOf(trip).to + 12 * hour), signal), [trip.viajeId]);
  const had = trip.resources;
  const [chosen, setChosen] = useState(chosenOf(trip));
  const version = useVersion(seen, () => stored(trip.viajeId), (now) => { setEdited(now); setChosen(chosenOf(now.value)); });

  const others = (around.value.value ?? []).filter((o) => o.viajeId !== trip.viajeId && takes(o));
  const of = (kind: Kind, id: string) => (id ? others.filter((o) => o.resources?.[field[kind]] === id) : []);
  const colliding = (kind: Kind, id: string) => of(kind, id).find((o) => overlaps(spanOf(o), spanOf(trip)));
  const option = (kind: Kind, id: string, name: string, note: string, ids: readonly string[], state: string, licence?: string): Option => {
    const isFree = ids.includes(id) || id === had?.[field[kind]];
    const other = colliding(kind, id);
    const why = other ? t("busy.trip", { trip: other.nombre, times: times(other) })
      : licence !== undefined && daysLeft(licence, spanOf(trip).to) < 0 ? t("busy.licence", { day: format.day(licence) })
        : state === "inactivo" || state === "taller" ? t(`resource.${state}`) : t("busy.other");
    return { id, name, note, free: isFree, ...(isFree ? {} : { why }) };
  };
  const now = free.value.value;
  const options: Record<Kind, Option[]> | undefined = now && {
    driver: fleet.drivers.map((d) => option("driver", d.conductorId, d.nombre, d.asignacion.ubicacionActual ?? "", now.drivers, d.estado, d.licencia.vigencia)),
    vehicle: fleet.vehicles.map((v) => option("vehicle", v.vehiculoId, v.placa, v.configVehicular, now.vehicles, v.estado)),
    trailer: fleet.trailers.map((r) => option("trailer", r.remolqueId, r.placa, r.subTipoRem, now.trailers, r.estado)),
  };
  const picked = (kind: Kind) => options?.[kind].find((o) => o.id === chosen[kind]);
  const kinds: readonly Kind[] = ["driver", "vehicle", "trailer"];
  const conflicts = kinds.flatMap((kind) => { const p = picked(kind); return p && !p.free ? [p] : []; });
  const ready = options !== undefined && picked("driver") && picked("vehicle") && conflicts.length === 0;

  const save = async () => {
    try {
      const body = { conductorId: chosen.driver, vehiculoId: chosen.vehicle, ...(chosen.trailer ? { remolqueId: chosen.trailer } : {}) };
      await ask(api.PUT("/viajes/{id}/recursos", { params: { path: { id: trip.viajeId }, header: version.header() }, body }));
      toast("success", t("done.assigned", { name: picked("driver")?.name ?? "" }));
      await onDone();
    } catch (thrown) { // someone else was faster: show what is available now, and the conflicts
      const p = Problem.of(thrown);
      if (!version.refused(p) && !/^(conductor|vehiculo|remolque)_ocupado$/.test(p.code)) toastProblem(p);
      await Promise.all([free.reload(), around.reload()]);
    }
  };
  return (
    <Dialog open wide title={t("assign.title")} onClose={onClose} actions={<><Button onPress={onClose}>{t("back")}</Button><Button kind="primary" disabled={!ready} onPress={save}>{t("do.assign")}</Button></>}>
      <div class="stack">
        <Conflict version={version} />
        <p><b>{trip.nombre}</b><br /><span class="muted">{format.day(trip.fechaInicioProgramada, { weekday: "long", day: "numeric", month: "long" })}, {times(trip)}</span></p>
        {free.problem.value && !options && <Failed problem={free.problem.value} onRetry={() => void free.reload()} />}
        {!options && !free.problem.value && <Skeleton lines={5} />}
        {options && (
          <>
            <div class="choices">
              <Choices kind="driver" options={options.driver} chosen={chosen.driver} onChoose={(id) => setChosen({ ...chosen, driver: id })} />
              <Choices kind="vehicle" options={options.vehicle} chosen={chosen.vehicle} onChoose={(id) => setChosen({ ...chosen, vehicle: id })} />
              {options.trailer.length > 0 && <Choices kind="trailer" none options={options.trailer} chosen={chosen.trailer} onChoose={(id) => setChosen({ ...chosen, trailer: id })} />}
            </div>
            <Preview trip={trip} rows={kinds.flatMap((kind) => { const p = picked(kind); return p ? [{ name: p.name, free: p.free, trips: of(kind, p.id) }] : []; })} />
            {conflicts.map((c) => <Notice key={c.id} tone="warning"><b>{c.name}</b>: {c.why}</Notice>)}
          </>
        )}
      </div>
    </Dialog>
  );
}

/** The trip's current driver, vehicle and trailer. */
function chosenOf({ resources }: Schemas["Viaje"]): Record<Kind, string> {
  return { driver: resources?.conductorId ?? "", vehicle: resources?.vehiculoId ?? "", trailer: resources?.remolqueId ?? "" };
}

function Choices({ kind, none, options, chosen, onChoose }: { kind: Kind; none?: boolean; options: readonly Option[]; chosen: string; onChoose: (id: string) => void }) {
  const sorted = [...options].sort((a, b) => Number(b.free) - Number(a.free) || format.compare(a.name, b.name));
  return (
    <fieldset class="choices-of">
      <legend>{t(`kind.${kind}`)} <span class="muted small">{t("free.count", { n: options.filter((o) => o.free).length })}</span></legend>
      <div class="choices-list">
        {none && <label class="pick"><input type="radio" name={kind} checked={chosen === ""} onInput={() => onChoose("")} /><span class="grow">{t("trailer.none")}</span></label>}
        {sorted.map((o) => (
          <label key={o.id} class={o.free ? "pick" : "pick busy"}>
            <input type="radio" name={kind} value={o.name} checked={o.id === chosen} onInput={() => onChoose(o.id)} />
            <span class="grow pick-text"><span>{o.name}</span><span class="small muted">{o.free ? o.note : <span class="pick-why"><Icon of={TriangleAlert} size={12} /> {o.why}</span>}</span></span>
            {o.free && <Badge tone="success">{t("free")}</Badge>}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The trip among the other trips of the chosen resources, with conflicts in amber. */
function Preview({ trip, rows }: { trip: Schemas["Viaje"]; rows: readonly { name: string; free: boolean; trips: readonly Trip[] }[] }) {
  if (rows.length === 0) {
    return null;
  }
  const mine = spanOf(trip);
  const margin = Math.max(4 * hour, (mine.to - mine.from) / 3);
  const window: Span = { from: mine.from - margin, to: mine.to + margin };
  const own = place(mine, window);
  return (
    <ul class="preview" aria-label={t("assign.preview")}>
      {rows.map((row) => (
        <li key={row.name} class="strip-row">
          <div class="strip-name"><span class="clip">{row.name}</span></div>
          <div class="track">
            {row.trips.length > 0 && <div class="lane">
              {row.trips.map((o) => { const p = place(spanOf(o), window); return p && <span key={o.viajeId} class="bar other" style={{ "--left": `${p.left}%`, "--width": `${p.width}%` }}><span class="clip">{o.nombre}</span></span>; })}
            </div>}
            <div class="lane">{own && <span class={row.free ? "bar programado" : "bar sin_asignar"} style={{ "--left": `${own.left}%`, "--width": `${own.width}%` }}><span class="clip">{trip.nombre}</span></span>}</div>
          </div>
        </li>
      ))}
    </ul>
  );
}
