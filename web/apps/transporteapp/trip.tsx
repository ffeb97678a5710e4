import { Download, MapPin, Truck, UserRound } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { Badge, Button, Confirm, Dialog, Drawer, Failed, Icon, Notice, Problem, Progress, RequestKey, Skeleton, Switch, TextField, ask, format, toast, toastProblem, useLoaded } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";
import { Assign } from "./assign.tsx";
import { alertOf, times } from "./board.tsx";
import { standing, tones, type Fleet } from "./data.ts";
import { hour, localInput } from "./day.ts";
import { t } from "./words.ts";

type Whole = Schemas["ViajeConCarta"];

/** The whole of a trip beside the board, with the one step that comes next as the main button. */
export function TripDrawer({ id, fleet, onClose, onChanged }: { id: string | undefined; fleet: Fleet | undefined; onClose: () => void; onChanged: () => void }) {
  const [assigning, setAssigning] = useState(false);
  const [cancelling, setCancelling] = useState(false);
  const loaded = useLoaded<Whole | undefined>((signal) => (id ? ask(api.GET("/viajes/{id}", { params: { path: { id } }, signal })) : Promise.resolve(undefined)), [id]);
  const trip = loaded.value.value?.viajeId === id ? loaded.value.value : undefined;

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
      <Drawer open={id !== undefined && !assigning} title={trip?.nombre ?? t("trip")} onClose={onClose} actions={s && next[s] && (
        <>
          <Button kind="quiet" onPress={() => setCancelling(true)}>{t("do.cancel")}</Button>
          {next[s]}
        </>
      )}>
        {trip
          ? <Facts trip={trip} onAssign={() => setAssigning(true)} onTakeBack={act(() => ask(api.DELETE("/viajes/{id}/recursos", params)), t("done.takenBack"))} />
          : loaded.problem.value ? <Failed problem={loaded.problem.value} onRetry={() => void loaded.reload()} /> : <Skeleton lines={6} />}
      </Drawer>
      {trip && assigning && fleet && <Assign trip={trip} fleet={fleet} onClose={() => setAssigning(false)} onDone={() => { setAssigning(false); void loaded.reload(); onChanged(); }} />}
      <Confirm open={cancelling} title={t("cancel.title")} action={t("do.cancel")} danger onClose={() => setCancelling(false)}
        onConfirm={async () => { await act(() => ask(api.POST("/viajes/{id}/cancelar", params)), t("done.cancelled"))(); setCancelling(false); }}>
        {t("cancel.text", { name: trip?.nombre ?? "" })}
      </Confirm>
    </>
  );
}

function Facts({ trip, onAssign, onTakeBack }: { trip: Whole; onAssign: () => void; onTakeBack: () => Promise<void> }) {
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
        {!trip.local && (
          <div><dt>{t("trip.carta")}</dt><dd>
            {trip.fiscal ? <>{trip.fiscal.cartaPorteFolio} · {t(`carta.${trip.fiscal.cartaPorteStatus}`)}</> : <span class="muted">{t("trip.noCarta")}</span>}
            {trip.fiscal?.cartaPorteStatus === "timbrada" && (
              <div class="document"><Button size="small" icon={Download} onPress={() => download(trip.fiscal?.cartaPorteId ?? "", `${trip.fiscal?.cartaPorteFolio}.xml`)}>{t("carta.xml")}</Button></div>
            )}
          </dd></div>
        )}
      </dl>
      {s === "programado" && <div class="row"><Button size="small" onPress={onAssign}>{t("do.reassign")}</Button><Button size="small" kind="quiet" onPress={onTakeBack}>{t("do.takeBack")}</Button></div>}
    </div>
  );
}

/** Keeps the document of a stamped carta as a file. */
async function download(id: string, name: string): Promise<void> {
  try {
    const text = await ask(api.GET("/cartas/{id}/xml", { params: { path: { id } }, parseAs: "text" })) as string;
    const url = URL.createObjectURL(new Blob([text], { type: "application/xml" }));
    const a = Object.assign(document.createElement("a"), { href: url, download: name });
    a.click();
    URL.revokeObjectURL(url);
  } catch (thrown) {
    toastProblem(thrown);
  }
}

/** A trip is planned: from where to where, when, how far. Its name is its way, unless it gets one. */
export function NewTrip({ open, day, onClose, onMade }: { open: boolean; day: Date; onClose: () => void; onMade: (trip: Whole) => void }) {
  return (
    <Dialog open={open} title={t("trip.new")} onClose={onClose} actions={<><Button onPress={onClose}>{t("back")}</Button><Button kind="primary" type="submit" form="new-trip">{t("trip.save")}</Button></>}>
      <TripForm day={day} onMade={onMade} />
    </Dialog>
  );
}

function TripForm({ day, onMade }: { day: Date; onMade: (trip: Whole) => void }) {
  const begins = new Date(Math.max(day.getTime() + 8 * hour, Math.ceil(Date.now() / hour) * hour));
  const [nombre, setName] = useState("");
  const [origen, setFrom] = useState("");
  const [destino, setTo] = useState("");
  const [start, setStart] = useState(localInput(begins));
  const [end, setEnd] = useState(localInput(new Date(begins.getTime() + 8 * hour)));
  const [km, setKm] = useState("");
  const [local, setLocal] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const key = useMemo(() => new RequestKey(), []);
  const backwards = end !== "" && start !== "" && end < start;
  const send = async (event: Event) => {
    event.preventDefault();
    if (backwards) return;
    const body = {
      estado: "programado" as const, nombre: nombre.trim() || `${origen.trim()} – ${destino.trim()}`, origen: origen.trim(), destino: destino.trim(), local, distanciaTotal: Number(km),
      fechaInicioProgramada: new Date(start).toISOString(), fechaFinProgramada: new Date(end).toISOString(),
    };
    try {
      const made = await ask(api.POST("/viajes", { params: { header: { "Idempotency-Key": key.for(body) } }, body }));
      key.done();
      toast("success", t("trip.made"));
      onMade(made);
    } catch (thrown) {
      const p = Problem.of(thrown);
      setProblem(p);
      if (p.fields.length === 0) toastProblem(p);
    }
  };
  return (
    <form id="new-trip" class="stack" onSubmit={send}>
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
    </form>
  );
}
