import { Ellipsis, FileClock, Plus, Truck, UserRound } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { Avatar, Badge, Button, Confirm, Conflict, Dialog, Empty, Failed, Form, Menu, Problem, Progress, RequestKey, Skeleton, Stat, Table, Tabs, ask, format, go, here, link, tagged, toast, toastProblem, useLoaded, useTitle, useVersion, type Tagged } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";
import { daysLeft, fleet, soon, type Driver, type Profile, type Trailer, type Vehicle } from "./data.ts";
import { Lines, made, texts, type Line, type Texts } from "./form.tsx";
import { t } from "./words.ts";

type Kind = "drivers" | "vehicles" | "trailers";
type State = Driver["estado"];
type Unit = Driver | Vehicle | Trailer;

const kinds = ["drivers", "vehicles", "trailers"] as const;
const tones = { disponible: "success", en_viaje: "accent", inactivo: undefined, taller: "warning" } as const;

function StateBadge({ state }: { state: State }) {
  const tone = tones[state];
  return <Badge {...(tone ? { tone } : {})}>{t(`resource.${state}`)}</Badge>;
}

/** The company's drivers, vehicles and trailers, usage against the plan, and upcoming expiries. */
export function FleetPage({ profile }: { profile: Profile }) {
  const shown = ([...kinds, "ending"] as const).find((k) => k === here.value.query.get("show")) ?? "drivers";
  const kind = shown === "ending" ? "drivers" : shown;
  const [editing, setEditing] = useState<Tagged<Unit> | "new" | undefined>();
  const [removing, setRemoving] = useState<Unit | undefined>();
  const all = useLoaded((signal) => fleet(signal), []);
  const company = useLoaded((signal) => ask(api.GET("/perfil", { signal })), []);
  const ending = useLoaded((signal) => ask(api.GET("/vencimientos", { params: { query: { dias: soon } }, signal })), []);
  const p = company.value.value ?? profile;
  const f = all.value.value;
  const late = ending.value.value?.items.length ?? 0;
  useTitle(t("nav.fleet"));
  const changed = async () => {
    setEditing(undefined);
    setRemoving(undefined);
    await Promise.all([all.reload(), company.reload(), ending.reload()]);
  };
  // A list may be stale, so the form loads the stored version.
  const edit = async (unit: Unit) => {
    try {
      setEditing(await stored(unit));
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  const remove = async (unit: Unit) => {
    try {
      const path = { params: { path: { id: idOf(unit) } } };
      await (kind === "drivers" ? ask(api.DELETE("/conductores/{id}", path)) : kind === "vehicles" ? ask(api.DELETE("/vehiculos/{id}", path)) : ask(api.DELETE("/remolques/{id}", path)));
      toast("success", t("fleet.removed", { name: nameOf(unit) }));
    } catch (thrown) {
      toastProblem(thrown);
    }
    await changed();
  };
  const open = (x: Schemas["Vencimiento"]) => {
    const to = { conductor: "drivers", vehiculo: "vehicles", remolque: "trailers" } as const;
    const list: readonly Unit[] = f ? f[to[x.tipo]] : [];
    go(link("/fleet", { show: to[x.tipo] }), "replace");
    const unit = list.find((u) => idOf(u) === x.recursoId);
    if (unit) void edit(unit);
  };
  return (
    <div class="stack">
      <div class="row"><h1 class="grow">{t("nav.fleet")}</h1>{shown !== "ending" && <Button kind="primary" icon={Plus} onPress={() => setEditing("new")}>{t(`add.${kind}`)}</Button>}</div>
      <div class="grid usage">
        <Usage label={t("kind.drivers")} used={p.numConductores} of={p.subscription.limits.conductores} />
        <Usage label={t("kind.vehicles")} used={p.numVehiculos} of={p.subscription.limits.vehiculos} />
        <Usage label={t("usage.cartas")} used={p.credits.monthlyUsed} of={p.subscription.limits.cartasPorteMes} />
        <Stat label={t("usage.credits")} value={format.number(p.credits.balance)} note={t("usage.reserved", { n: p.credits.reserved })} />
      </div>
      <Tabs label={t("nav.fleet")} chosen={shown} onChoose={(show) => go(link("/fleet", { show }), "replace")}
        tabs={[...kinds.map((key) => ({ key, label: t(`kind.${key}`) })), { key: "ending" as const, label: late > 0 ? t("ending.tab", { n: late }) : t("ending.none") }]}>
        {shown === "ending"
          ? ending.value.value ? <Ending list={ending.value.value.items} onOpen={open} /> : ending.problem.value ? <Failed problem={ending.problem.value} onRetry={() => void ending.reload()} /> : <Skeleton lines={4} />
          : f ? <List kind={kind} drivers={f.drivers} vehicles={f.vehicles} trailers={f.trailers} onAdd={() => setEditing("new")} onEdit={(unit) => void edit(unit)} onRemove={setRemoving} />
            : all.problem.value ? <Failed problem={all.problem.value} onRetry={() => void all.reload()} /> : <Skeleton lines={6} />}
      </Tabs>
      {editing && <Edit key={editing === "new" ? kind : editing.tag} kind={kind} loaded={editing === "new" ? undefined : editing} onLoad={setEditing} onClose={() => setEditing(undefined)} onDone={changed} />}
      <Confirm open={removing !== undefined} title={t("fleet.remove")} action={t("fleet.remove")} danger onClose={() => setRemoving(undefined)} onConfirm={() => removing && remove(removing)}>
        {t("fleet.removeText", { name: removing ? nameOf(removing) : "" })}
      </Confirm>
    </div>
  );
}

function idOf(unit: Unit): string {
  return "conductorId" in unit ? unit.conductorId : "vehiculoId" in unit ? unit.vehiculoId : unit.remolqueId;
}

function nameOf(unit: Unit): string {
  return "nombre" in unit ? unit.nombre : unit.placa;
}

/** A driver, vehicle or trailer as currently stored. */
function stored(unit: Unit): Promise<Tagged<Unit>> {
  const path = { params: { path: { id: idOf(unit) } } };
  return "conductorId" in unit ? tagged(api.GET("/conductores/{id}", path)) : "vehiculoId" in unit ? tagged(api.GET("/vehiculos/{id}", path)) : tagged(api.GET("/remolques/{id}", path));
}

/** Licences, permits and insurance that expire soon or have expired, each with a link to renew it. */
function Ending({ list, onOpen }: { list: readonly Schemas["Vencimiento"][]; onOpen: (x: Schemas["Vencimiento"]) => void }) {
  if (list.length === 0) {
    return <Empty icon={FileClock} title={t("ending.nothing")}>{t("ending.nothingText", { n: soon })}</Empty>;
  }
  return (
    <Table caption={t("ending.caption")} rows={[...list]} rowKey={(x) => x.recursoId + x.documento} columns={[
      { key: "what", title: t("ending.document"), cell: (x) => <b>{t(`document.${x.documento}`)}</b> },
      { key: "whose", title: t("ending.whose"), cell: (x) => `${x.nombre} · ${t(`unit.${x.tipo}`)}` },
      { key: "when", title: t("ending.when"), cell: (x) => <Badge tone={daysLeft(x.vence) < 0 ? "danger" : "warning"}>{licence(x.vence)}</Badge> },
      { key: "do", title: t("actions"), titleHidden: true, cell: (x) => <Button size="small" onPress={() => onOpen(x)}>{t("ending.renew")}</Button> },
    ]} />
  );
}

function licence(day: string): string {
  return t(daysLeft(day) < 0 ? "licence.ended" : "licence.until", { day: format.day(day) });
}

function Usage({ label, used, of }: { label: string; used: number; of: number }) {
  return <Stat label={label} value={<>{format.number(used)} <span class="usage-of">{t("usage.of", { n: of })}</span></>} note={<Progress label={label} value={used} max={Math.max(of, 1)} />} />;
}

function List({ kind, drivers, vehicles, trailers, onAdd, onEdit, onRemove }: {
  kind: Kind; drivers: readonly Driver[]; vehicles: readonly Vehicle[]; trailers: readonly Trailer[]; onAdd: () => void; onEdit: (unit: Unit) => void; onRemove: (unit: Unit) => void;
}) {
  const menu = { key: "do", title: t("actions"), titleHidden: true, cell: (u: Unit) => <Menu icon={Ellipsis} size="small" label={t("actions.of", { name: nameOf(u) })} items={[
    { label: t("edit"), onPress: () => onEdit(u) }, "line", { label: t("fleet.remove"), danger: true, onPress: () => onRemove(u) },
  ]} /> };
  const until = (days: readonly (string | undefined)[]) => { const first = days.filter((d) => d !== undefined).sort()[0]; return first === undefined ? "–" : daysLeft(first) <= soon ? <Badge tone={daysLeft(first) < 0 ? "danger" : "warning"}>{licence(first)}</Badge> : licence(first); };
  const state = { key: "state", title: t("column.state"), cell: (r: { estado: State }) => <StateBadge state={r.estado} /> };
  const plate = { key: "plate", title: t("vehicle.plate"), cell: (r: { placa: string }) => <b class="number">{r.placa}</b> };
  const empty = <Empty icon={kind === "drivers" ? UserRound : Truck} title={t(`none.${kind}`)} action={<Button kind="primary" icon={Plus} onPress={onAdd}>{t(`add.${kind}`)}</Button>} />;
  const byPlate = <T extends { placa: string }>(list: readonly T[]) => [...list].sort((a, b) => format.compare(a.placa, b.placa));
  if (kind === "drivers") {
    return drivers.length === 0 ? empty : (
      <Table caption={t("kind.drivers")} rows={[...drivers].sort((a, b) => format.compare(a.nombre, b.nombre))} rowKey={(d) => d.conductorId} columns={[
        { key: "name", title: t("driver.name"), cell: (d) => <span class="row fixed"><Avatar name={d.nombre} size={28} /><b>{d.nombre}</b></span> },
        state,
        { key: "licence", title: t("driver.licence"), cell: (d) => <span>{d.licencia.tipo} · {daysLeft(d.licencia.vigencia) <= soon ? <Badge tone={daysLeft(d.licencia.vigencia) < 0 ? "danger" : "warning"}>{licence(d.licencia.vigencia)}</Badge> : licence(d.licencia.vigencia)}</span> },
        { key: "where", title: t("driver.where"), cell: (d) => d.asignacion.ubicacionActual || "–" },
        { key: "trips", title: t("driver.trips"), numeric: true, cell: (d) => format.number(d.performance.viajesCompletados) },
        { key: "onTime", title: t("driver.onTime"), numeric: true, cell: (d) => (d.performance.puntualidadPromedio === undefined ? "–" : format.percent(d.performance.puntualidadPromedio / 100)) }, menu,
      ]} />
    );
  }
  if (kind === "vehicles") {
    return vehicles.length === 0 ? empty : (
      <Table caption={t("kind.vehicles")} rows={byPlate(vehicles)} rowKey={(v) => v.vehiculoId} columns={[
        plate, state,
        { key: "config", title: t("vehicle.config"), cell: (v) => `${v.configVehicular} · ${v.anioModeloVm}` },
        { key: "permit", title: t("vehicle.permit"), cell: (v) => `${v.permSct} ${v.numPermisoSct}` },
        { key: "insurer", title: t("vehicle.insurer"), cell: (v) => `${v.aseguraRespCivil} ${v.polizaRespCivil}` },
        { key: "until", title: t("ending.when"), cell: (v) => until([v.permisoVigencia, v.seguroVigencia]) },
        { key: "km", title: t("vehicle.km"), numeric: true, cell: (v) => format.number(v.kmTotales, { maximumFractionDigits: 0 }) }, menu,
      ]} />
    );
  }
  return trailers.length === 0 ? empty : (
    <Table caption={t("kind.trailers")} rows={byPlate(trailers)} rowKey={(r) => r.remolqueId} columns={[plate, state, { key: "type", title: t("trailer.type"), cell: (r) => r.subTipoRem }, { key: "until", title: t("ending.when"), cell: (r) => until([r.seguroVigencia]) }, menu]} />
  );
}

const state: Line = { name: "estado", label: "column.state", choices: [] };

/** The fields of a form by their API names. */
const fields: Record<Kind, readonly Line[]> = {
  drivers: [
    { name: "nombre", label: "driver.name", max: 100 }, { name: "rfc", label: "driver.rfc", max: 13, upper: true }, { name: "curp", label: "driver.curp", max: 18, upper: true },
    { name: "licencia.tipo", label: "licence.type", max: 10, upper: true }, { name: "licencia.numero", label: "licence.number", max: 16, upper: true },
    { name: "licencia.vigencia", label: "licence.valid", type: "date" }, { name: "telefono", label: "driver.phone", max: 30, optional: true }, state,
  ],
  vehicles: [
    { name: "placa", label: "vehicle.plate", max: 10, upper: true }, { name: "configVehicular", label: "vehicle.config", catalog: "config_autotransporte" },
    { name: "anioModeloVm", label: "vehicle.year", type: "number" }, { name: "pesoBrutoVehicular", label: "vehicle.weight", type: "number" },
    { name: "permSct", label: "vehicle.permitType", catalog: "tipo_permiso" }, { name: "numPermisoSct", label: "vehicle.permit", max: 50 },
    { name: "permisoVigencia", label: "vehicle.permitUntil", type: "date", optional: true },
    { name: "aseguraRespCivil", label: "vehicle.insurer", max: 50 }, { name: "polizaRespCivil", label: "vehicle.policy", max: 30 },
    { name: "seguroVigencia", label: "vehicle.insuredUntil", type: "date", optional: true }, state,
  ],
  trailers: [
    { name: "placa", label: "vehicle.plate", max: 10, upper: true }, { name: "subTipoRem", label: "trailer.type", catalog: "sub_tipo_rem" },
    { name: "seguroVigencia", label: "vehicle.insuredUntil", type: "date", optional: true }, state,
  ],
};

const begun: Record<Kind, Texts> = {
  drivers: { "licencia.tipo": "E", estado: "disponible" }, vehicles: { configVehicular: "C2", permSct: "TPAF01", estado: "disponible" }, trailers: { subTipoRem: "CTR007", estado: "disponible" },
};

/** Adds or changes a driver, vehicle or trailer. */
function Edit({ kind, loaded, onLoad, onClose, onDone }: { kind: Kind; loaded: Tagged<Unit> | undefined; onLoad: (unit: Tagged<Unit>) => void; onClose: () => void; onDone: () => Promise<void> }) {
  const unit = loaded?.value;
  const version = useVersion(loaded, () => (unit ? stored(unit) : Promise.reject(new Error("nothing is stored yet"))), onLoad);
  const lines = fields[kind].map((l) => (l.name !== "estado" ? l : {
    ...l, choices: (kind === "drivers" ? ["disponible", "inactivo"] as const : ["disponible", "taller", "inactivo"] as const).map((s) => ({ value: s, label: t(`resource.${s}`) })),
  })).filter((l) => l.name !== "estado" || unit !== undefined);
  const [values, setValues] = useState<Texts>(() => {
    const all = unit ? texts(unit) : begun[kind];
    const own = Object.fromEntries(fields[kind].map((l) => [l.name, all[l.name] ?? ""]));
    return own["estado"] === "en_viaje" ? { ...own, estado: "disponible" } : own;
  });
  const [problem, setProblem] = useState<Problem | undefined>();
  const key = useMemo(() => new RequestKey(), []);
  const send = async () => {
    try {
      await save(kind, unit, version.header(), values, key);
      key.done();
      toast("success", t(unit ? "fleet.saved" : "add.done"));
      await onDone();
    } catch (thrown) {
      const p = Problem.of(thrown);
      setProblem(p);
      if (!version.refused(p) && p.fields.length === 0) toastProblem(p);
    }
  };
  return (
    <Dialog open wide title={unit ? nameOf(unit) : t(`add.${kind}`)} onClose={onClose} actions={<><Button onPress={onClose}>{t("back")}</Button><Button kind="primary" type="submit" form="unit">{t(unit ? "save" : "add.save")}</Button></>}>
      <Form id="unit" class="stack" onSubmit={send}><Conflict version={version} /><Lines lines={lines} values={values} onInput={setValues} wrong={(name) => problem?.field(name)} /></Form>
    </Dialog>
  );
}

/** Fields of a driver that the form does not show are preserved. */
function kept(d: Driver) {
  return {
    activo: d.activo, ...(d.email ? { email: d.email } : {}), ...(d.compensacion ? { compensacion: d.compensacion } : {}),
    ...(d.asignacion.vehiculoAsignadoId ? { vehiculoAsignadoId: d.asignacion.vehiculoAsignadoId } : {}), ...(d.asignacion.ubicacionActual ? { ubicacionActual: d.asignacion.ubicacionActual } : {}),
  };
}

function save(kind: Kind, unit: Unit | undefined, match: { "If-Match"?: string }, values: Texts, key: RequestKey): Promise<unknown> {
  const at = { params: { path: { id: unit ? idOf(unit) : "" }, header: match } };
  const header = (body: unknown) => ({ header: { "Idempotency-Key": key.for(body) } });
  if (kind === "drivers") {
    const body = { ...(unit ? kept(unit as Driver) : {}), ...made<Schemas["NuevoConductor"]>(values, fields.drivers) };
    return unit ? ask(api.PUT("/conductores/{id}", { ...at, body })) : ask(api.POST("/conductores", { params: header(body), body }));
  }
  if (kind === "trailers") {
    const body = made<Schemas["NuevoRemolque"]>(values, fields.trailers);
    return unit ? ask(api.PUT("/remolques/{id}", { ...at, body })) : ask(api.POST("/remolques", { params: header(body), body }));
  }
  const body = made<Schemas["NuevoVehiculo"]>(values, fields.vehicles);
  return unit ? ask(api.PUT("/vehiculos/{id}", { ...at, body })) : ask(api.POST("/vehiculos", { params: header(body), body }));
}
