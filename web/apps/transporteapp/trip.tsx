import { FilePlus, FileText, MapPin, Truck, UserRound } from "lucide";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Badge, Button, Confirm, Conflict, Dialog, Drawer, Failed, Form, Icon, Notice, Problem, Progress, RequestKey, Skeleton, Switch, TextField, ask, format, link, toast, toastProblem, useLoaded, useVersion, type Tagged } from "#ui";
import { api } from "#clients/transporteapp";
import { Assign } from "./assign.tsx";
import { Differences, Documents, NewCarta } from "./documents.tsx";
import { alertOf, standing, stored, times, tones, type Fleet, type Whole } from "./data.ts";
import { hour, localInput } from "./day.ts";
import { t } from "./words.ts";

/** The details of a trip next to the board, with its next step as the main button. */
export function TripDrawer({ id, stamp, fleet, onClose, onChanged }: { id: string | undefined; /** another one when the trip has changed */ stamp: string; fleet: Fleet | undefined; onClose: () => void; onChanged: () => void }) {
  const [assigning, setAssigning] = useState(false);
  const [issuing, setIssuing] = useState(false);
  const [editing, setEditing] = useState(false);
  const [cancelling, setCancelling] = useState(false);
  const loaded = useLoaded<Tagged<Whole> | undefined>((signal) => (id ? stored(id, signal) : Promise.resolve(undefined)), [id]);
  const seen = loaded.value.value?.value.viajeId === id ? loaded.value.value : undefined;
  const trip = seen?.value;
  useEffect(() => { if (trip) void loaded.reload(); }, [stamp]);

  const act = (call: () => Promise<unknown>, said: string) => async () => {
    try {
      await call();
      toast("success", said);
    } catch (thrown) {
      toastProblem(thrown);
    }
    await loaded.reload();
    onChanged();
  };
  const params = { params: { path: { id: id ?? "" } } };
  const s = trip && standing(trip);
  const next = {
    borrador: <Button kind="primary" onPress={act(() => ask(api.POST("/viajes/{id}/programar", params)), t("done.planned"))}>{t("do.plan")}</Button>,
    sin_asignar: <Button kind="primary" onPress={() => setAssigning(true)}>{t("do.assign")}</Button>,
    programado: <Button kind="primary" onPress={act(() => ask(api.POST("/viajes/{id}/iniciar", params)), t("done.started"))}>{t("do.start")}</Button>,
    en_curso: <Button kind="primary" onPress={act(() => ask(api.POST("/viajes/{id}/completar", params)), t("done.completed"))}>{t("do.complete")}</Button>,
    completado: undefined,
    cancelado: undefined,
  };
  return (
    <>
      <Drawer open={id !== undefined && !assigning && !issuing && !editing} title={trip?.nombre ?? t("trip")} onClose={onClose} actions={s && next[s] && (
        <>
          <Button kind="quiet" onPress={() => setCancelling(true)}>{t("do.cancel")}</Button>
          {next[s]}
        </>
      )}>
        {trip
          ? <Facts trip={trip} onEdit={() => setEditing(true)} onIssue={() => setIssuing(true)} onAssign={() => setAssigning(true)} onTakeBack={act(() => ask(api.DELETE("/viajes/{id}/recursos", { params: { ...params.params, header: seen?.tag ? { "If-Match": seen.tag } : {} } })), t("done.takenBack"))} />
          : loaded.problem.value ? <Failed problem={loaded.problem.value} onRetry={() => void loaded.reload()} /> : <Skeleton lines={6} />}
      </Drawer>
      {seen && assigning && fleet && <Assign seen={seen} fleet={fleet} onClose={() => setAssigning(false)} onDone={async () => { await loaded.reload(); setAssigning(false); onChanged(); }} />}
      {seen && editing && <EditTrip seen={seen} onClose={() => setEditing(false)} onSaved={async () => { await loaded.reload(); setEditing(false); onChanged(); }} />}
      {trip && issuing && <NewCarta trip={trip} onClose={() => setIssuing(false)} />}
      <Confirm open={cancelling} title={t("cancel.title")} action={t("do.cancel")} danger onClose={() => setCancelling(false)}
        onConfirm={async () => { await act(() => ask(api.POST("/viajes/{id}/cancelar", params)), t("done.cancelled"))(); setCancelling(false); }}>
        {t("cancel.text", { name: trip?.nombre ?? "" })}
      </Confirm>
    </>
  );
}

function Facts({ trip, onEdit, onIssue, onAssign, onTakeBack }: { trip: Whole; onEdit: () => void; onIssue: () => void; onAssign: () => void; onTakeBack: () => Promise<void> }) {
  const s = standing(trip);
  const alert = alertOf(trip);
  const r = trip.resources;
  return (
    <div class="stack">
      <div class="row">
        <Badge {...(tones[s] ? { tone: tones[s] } : {})}>{t(`standing.${s}`)}</Badge>
        {trip.local && <Badge plain>{t("trip.local")}</Badge>}
      </div>
      {alert && <Notice tone="warning">{alert}</Notice>}
      <Differences trip={trip} view="trip" />
      {trip.tracking && (
        <div class="stack" style={{ "--gap": "var(--space-2)" }}>
          <Progress label={t("trip.progress")} value={trip.tracking.progreso} max={100} />
          <span class="muted small">{t("trip.driven", { km: format.number(trip.tracking.distanciaRecorrida, { maximumFractionDigits: 1 }), of: format.number(trip.tracking.distanciaTotal) })}
            {trip.tracking.ultimaActualizacion && ` · ${format.relative(trip.tracking.ultimaActualizacion)}`}</span>
        </div>
      )}
      <dl class="facts">
        <div><dt>{t("trip.when")}</dt><dd>{format.day(trip.fechaInicioProgramada, { weekday: "long", day: "numeric", month: "long" })}<br />{times(trip)}</dd></div>
        <div><dt>{t("trip.way")}</dt><dd><Icon of={MapPin} size={14} /> {trip.origen} → {trip.destino}<br /><span class="muted">{t("km", { n: trip.distanciaTotal })}</span></dd></div>
        <div><dt>{t("trip.who")}</dt><dd>
          {r
            ? <><Icon of={UserRound} size={14} /> {r.conductorNombre}<br /><Icon of={Truck} size={14} /> {r.vehiculoPlaca}{r.remolquePlaca && ` + ${r.remolquePlaca}`}</>
            : <span class="muted">{t("trip.nobody")}</span>}
        </dd></div>
        {(!trip.local || trip.fiscal) && (
          <div><dt>{t("trip.carta")}</dt><dd>
            {trip.fiscal ? <>{trip.fiscal.cartaPorteFolio} · {t(`carta.${trip.fiscal.cartaPorteStatus}`)}</> : <span class="muted">{t("trip.noCarta")}</span>}
            <div class="document row">
              {trip.fiscal && trip.fiscal.cartaPorteStatus !== "cancelada" && <Button size="small" icon={FileText} href={link("/cartas/:id", { id: trip.fiscal.cartaPorteId })}>{t("carta.open")}</Button>}
              {trip.fiscal?.cartaPorteStatus === "timbrada" && <Documents id={trip.fiscal.cartaPorteId} folio={trip.fiscal.cartaPorteFolio} />}
              {(!trip.fiscal || trip.fiscal.cartaPorteStatus === "cancelada") && issuable(trip) && <Button size="small" icon={FilePlus} onPress={onIssue}>{t("carta.make")}</Button>}
            </div>
          </dd></div>
        )}
      </dl>
      {(s === "borrador" || s === "sin_asignar") && <div class="row"><Button size="small" onPress={onEdit}>{t("edit")}</Button></div>}
      {s === "programado" && <div class="row"><Button size="small" onPress={onAssign}>{t("do.reassign")}</Button><Button size="small" kind="quiet" onPress={onTakeBack}>{t("do.takeBack")}</Button></div>}
    </div>
  );
}

/** A trip that can get a carta. */
function issuable(trip: Whole): boolean {
  return trip.estado === "borrador" || trip.estado === "programado";
}

/** Plans a trip: origin, destination, period, distance. Its default name is its route. */
export function NewTrip({ open, day, onClose, onMade }: { open: boolean; day: Date; onClose: () => void; onMade: (trip: Whole) => void }) {
  return (
    <Dialog open={open} title={t("trip.new")} onClose={onClose} actions={<><Button onPress={onClose}>{t("back")}</Button><Button kind="primary" type="submit" form="new-trip">{t("trip.save")}</Button></>}>
      <TripForm day={day} onMade={onMade} />
    </Dialog>
  );
}

/** Changes time and route of an unassigned trip. */
function EditTrip({ seen, onClose, onSaved }: { seen: Tagged<Whole>; onClose: () => void; onSaved: () => void | Promise<void> }) {
  const [edited, setEdited] = useState(seen); // the board keeps updating behind the form, which stays as opened
  return (
    <Dialog open title={t("trip.edit")} onClose={onClose} actions={<><Button onPress={onClose}>{t("back")}</Button><Button kind="primary" type="submit" form="new-trip">{t("save")}</Button></>}>
      <TripForm key={edited.tag} day={new Date(edited.value.fechaInicioProgramada)} seen={edited} onLoad={setEdited} onMade={onSaved} />
    </Dialog>
  );
}

function TripForm({ day, seen, onLoad, onMade }: { day: Date; seen?: Tagged<Whole>; onLoad?: (trip: Tagged<Whole>) => void; onMade: (trip: Whole) => void | Promise<void> }) {
  const trip = seen?.value;
  const version = useVersion(seen, () => stored(trip?.viajeId ?? ""), (now) => onLoad?.(now));
  const begins = trip ? day : new Date(Math.max(day.getTime() + 8 * hour, Math.ceil(Date.now() / hour) * hour));
  const [nombre, setName] = useState(trip?.nombre ?? "");
  const [origen, setFrom] = useState(trip?.origen ?? "");
  const [destino, setTo] = useState(trip?.destino ?? "");
  const [start, setStart] = useState(localInput(begins));
  const [end, setEnd] = useState(localInput(trip ? new Date(trip.fechaFinProgramada) : new Date(begins.getTime() + 8 * hour)));
  const [km, setKm] = useState(trip ? String(trip.distanciaTotal) : "");
  const [local, setLocal] = useState(trip?.local ?? false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const key = useMemo(() => new RequestKey(), []);
  const backwards = end !== "" && start !== "" && end < start;
  const send = async () => {
    if (backwards) return;
    const said = {
      nombre: nombre.trim() || `${origen.trim()} – ${destino.trim()}`, origen: origen.trim(), destino: destino.trim(), local, distanciaTotal: Number(km),
      fechaInicioProgramada: new Date(start).toISOString(), fechaFinProgramada: new Date(end).toISOString(),
    };
    try {
      if (trip) { // fields that the form does not show are preserved
        const kept = { ...(trip.costos ? { costos: trip.costos } : {}), ...(trip.origenCoordenadas ? { origenCoordenadas: trip.origenCoordenadas } : {}), ...(trip.destinoCoordenadas ? { destinoCoordenadas: trip.destinoCoordenadas } : {}) };
        await ask(api.PUT("/viajes/{id}", { params: { path: { id: trip.viajeId }, header: version.header() }, body: { ...kept, ...said } }));
        toast("success", t("fleet.saved"));
        await onMade(trip); // the dialog closes after loading the new version, so that the next one starts from it
        return;
      }
      const body = { estado: "programado" as const, ...said };
      const made = await ask(api.POST("/viajes", { params: { header: { "Idempotency-Key": key.for(body) } }, body }));
      key.done();
      toast("success", t("trip.made"));
      onMade(made);
    } catch (thrown) {
      const p = Problem.of(thrown);
      setProblem(p);
      if (!version.refused(p) && p.fields.length === 0) toastProblem(p);
    }
  };
  return (
    <Form id="new-trip" class="stack" onSubmit={send}>
      <Conflict version={version} />
      <div class="pair">
        <TextField label={t("trip.from")} name="origen" value={origen} onInput={setFrom} error={problem?.field("origen")} maxLength={200} autofocus />
        <TextField label={t("trip.to")} name="destino" value={destino} onInput={setTo} error={problem?.field("destino")} maxLength={200} />
      </div>
      <div class="pair">
        <TextField label={t("trip.begins")} name="inicio" type="datetime-local" value={start} onInput={setStart} error={problem?.field("fechaInicioProgramada")} />
        <TextField label={t("trip.ends")} name="fin" type="datetime-local" value={end} onInput={setEnd} error={backwards ? t("trip.backwards") : problem?.field("fechaFinProgramada")} />
      </div>
      <div class="pair">
        <TextField label={t("trip.km")} name="km" type="number" inputMode="decimal" min="0.01" max="99999" step="any" value={km} onInput={setKm} error={problem?.field("distanciaTotal")} />
        <TextField label={t("trip.name")} name="nombre" optional placeholder={origen && destino ? `${origen} – ${destino}` : ""} value={nombre} onInput={setName} error={problem?.field("nombre")} maxLength={200} />
      </div>
      <Switch label={t("trip.isLocal")} hint={t("trip.isLocalHint")} checked={local} onInput={setLocal} />
    </Form>
  );
}
