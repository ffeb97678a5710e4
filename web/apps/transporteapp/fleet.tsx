import { Plus, Truck, UserRound } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { Avatar, Badge, Button, Dialog, Empty, Failed, Notice, Problem, Progress, RequestKey, Skeleton, Stat, Table, Tabs, TextField, ask, format, go, here, link, toast, toastProblem, useLoaded, useTitle } from "#ui";
import { api } from "#clients/transporteapp";
import { daysLeft, fleet, soon, type Driver, type Profile, type Trailer, type Vehicle } from "./data.ts";
import { t } from "./words.ts";

type Kind = "drivers" | "vehicles" | "trailers";
type State = Driver["estado"];

const tones = { disponible: "success", en_viaje: "accent", inactivo: undefined, taller: "warning" } as const;

function StateBadge({ state }: { state: State }) {
  const tone = tones[state];
  return <Badge {...(tone ? { tone } : {})}>{t(`resource.${state}`)}</Badge>;
}

/** Who and what a company has, how much of its plan that is, and what ends soon. */
export function FleetPage({ profile }: { profile: Profile }) {
  const shown = (["drivers", "vehicles", "trailers"] as const).find((k) => k === here.value.query.get("show")) ?? "drivers";
  const [adding, setAdding] = useState(false);
  const all = useLoaded((signal) => fleet(signal), []);
  const company = useLoaded((signal) => ask(api.GET("/perfil", { signal })), []);
  const p = company.value.value ?? profile;
  const f = all.value.value;
  useTitle(t("nav.fleet"));
  const ending = (f?.drivers ?? []).filter((d) => d.activo && daysLeft(d.licencia.vigencia) <= soon).sort((a, b) => a.licencia.vigencia.localeCompare(b.licencia.vigencia));
  return (
    <div class="stack">
      <div class="row"><h1 class="grow">{t("nav.fleet")}</h1><Button kind="primary" icon={Plus} onPress={() => setAdding(true)}>{t(`add.${shown}`)}</Button></div>
      <div class="grid usage">
        <Usage label={t("kind.drivers")} used={p.numConductores} of={p.subscription.limits.conductores} />
        <Usage label={t("kind.vehicles")} used={p.numVehiculos} of={p.subscription.limits.vehiculos} />
        <Usage label={t("usage.cartas")} used={p.credits.monthlyUsed} of={p.subscription.limits.cartasPorteMes} />
        <Stat label={t("usage.credits")} value={format.number(p.credits.balance)} note={t("usage.reserved", { n: p.credits.reserved })} />
      </div>
      {ending.length > 0 && (
        <Notice tone="warning">
          <b>{t("ending.title", { n: ending.length })}</b>
          <ul class="ending">{ending.map((d) => <li key={d.conductorId}>{d.nombre}: {licence(d.licencia.vigencia)}</li>)}</ul>
        </Notice>
      )}
      <Tabs label={t("nav.fleet")} chosen={shown} onChoose={(show) => go(link("/fleet", { show }), "replace")}
        tabs={(["drivers", "vehicles", "trailers"] as const).map((key) => ({ key, label: t(`kind.${key}`) }))}>
        {f ? <List kind={shown} drivers={f.drivers} vehicles={f.vehicles} trailers={f.trailers} onAdd={() => setAdding(true)} />
          : all.problem.value ? <Failed problem={all.problem.value} onRetry={() => void all.reload()} /> : <Skeleton lines={6} />}
      </Tabs>
      <Dialog open={adding} title={t(`add.${shown}`)} onClose={() => setAdding(false)} actions={<><Button onPress={() => setAdding(false)}>{t("back")}</Button><Button kind="primary" type="submit" form="add">{t("add.save")}</Button></>}>
        <Add kind={shown} onDone={() => { setAdding(false); void all.reload(); void company.reload(); }} />
      </Dialog>
    </div>
  );
}

function licence(day: string): string {
  return t(daysLeft(day) < 0 ? "licence.ended" : "licence.until", { day: format.day(day) });
}

function Usage({ label, used, of }: { label: string; used: number; of: number }) {
  return <Stat label={label} value={<>{format.number(used)} <span class="usage-of">{t("usage.of", { n: of })}</span></>} note={<Progress label={label} value={used} max={Math.max(of, 1)} />} />;
}

function List({ kind, drivers, vehicles, trailers, onAdd }: { kind: Kind; drivers: readonly Driver[]; vehicles: readonly Vehicle[]; trailers: readonly Trailer[]; onAdd: () => void }) {
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
        { key: "onTime", title: t("driver.onTime"), numeric: true, cell: (d) => (d.performance.puntualidadPromedio === undefined ? "–" : format.percent(d.performance.puntualidadPromedio / 100)) },
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
        { key: "km", title: t("vehicle.km"), numeric: true, cell: (v) => format.number(v.kmTotales, { maximumFractionDigits: 0 }) },
      ]} />
    );
  }
  return trailers.length === 0 ? empty : (
    <Table caption={t("kind.trailers")} rows={byPlate(trailers)} rowKey={(r) => r.remolqueId} columns={[plate, state, { key: "type", title: t("trailer.type"), cell: (r) => r.subTipoRem }]} />
  );
}

/** The fields of a form by the name that the API has for them. */
const fields: Record<Kind, readonly { name: string; label: Parameters<typeof t>[0]; type?: "date" | "number"; start?: string; max?: number; upper?: boolean }[]> = {
  drivers: [
    { name: "nombre", label: "driver.name", max: 100 }, { name: "rfc", label: "driver.rfc", max: 13, upper: true }, { name: "curp", label: "driver.curp", max: 18, upper: true },
    { name: "licencia.tipo", label: "licence.type", start: "E", max: 10, upper: true }, { name: "licencia.numero", label: "licence.number", max: 16, upper: true },
    { name: "licencia.vigencia", label: "licence.valid", type: "date" },
  ],
  vehicles: [
    { name: "placa", label: "vehicle.plate", max: 10, upper: true }, { name: "configVehicular", label: "vehicle.config", start: "C2", max: 10, upper: true },
    { name: "anioModeloVm", label: "vehicle.year", type: "number" }, { name: "pesoBrutoVehicular", label: "vehicle.weight", type: "number" },
    { name: "permSct", label: "vehicle.permitType", start: "TPAF01", max: 6, upper: true }, { name: "numPermisoSct", label: "vehicle.permit", max: 50 },
    { name: "aseguraRespCivil", label: "vehicle.insurer", max: 50 }, { name: "polizaRespCivil", label: "vehicle.policy", max: 30 },
  ],
  trailers: [{ name: "placa", label: "vehicle.plate", max: 10, upper: true }, { name: "subTipoRem", label: "trailer.type", start: "CTR007", max: 6, upper: true }],
};

function Add({ kind, onDone }: { kind: Kind; onDone: () => void }) {
  const [values, setValues] = useState<Record<string, string>>(() => Object.fromEntries(fields[kind].map((f) => [f.name, f.start ?? ""])));
  const [problem, setProblem] = useState<Problem | undefined>();
  const key = useMemo(() => new RequestKey(), []);
  const v = (name: string) => (values[name] ?? "").trim();
  const send = async (event: Event) => {
    event.preventDefault();
    try {
      await add(kind, v, key);
      key.done();
      toast("success", t("add.done"));
      onDone();
    } catch (thrown) {
      const p = Problem.of(thrown);
      setProblem(p);
      if (p.fields.length === 0) toastProblem(p);
    }
  };
  return (
    <form id="add" class="pairs" onSubmit={send}>
      {fields[kind].map((f) => (
        <TextField key={f.name} label={t(f.label)} name={f.name} type={f.type ?? "text"} value={values[f.name] ?? ""} error={problem?.field(f.name)} {...(f.max ? { maxLength: f.max } : {})}
          {...(f.type === "number" ? { step: "any", inputMode: "decimal" as const } : {})} onInput={(text) => setValues({ ...values, [f.name]: f.upper ? text.toUpperCase() : text })} />
      ))}
    </form>
  );
}

function add(kind: Kind, v: (name: string) => string, key: RequestKey): Promise<unknown> {
  const header = (body: unknown) => ({ header: { "Idempotency-Key": key.for(body) } });
  const estado = "disponible" as const;
  if (kind === "drivers") {
    const body = { activo: true, estado, nombre: v("nombre"), rfc: v("rfc"), curp: v("curp"), licencia: { tipo: v("licencia.tipo"), numero: v("licencia.numero"), vigencia: v("licencia.vigencia") } };
    return ask(api.POST("/conductores", { params: header(body), body }));
  }
  if (kind === "trailers") {
    const body = { estado, placa: v("placa"), subTipoRem: v("subTipoRem") };
    return ask(api.POST("/remolques", { params: header(body), body }));
  }
  const body = {
    estado, placa: v("placa"), configVehicular: v("configVehicular"), anioModeloVm: Number(v("anioModeloVm")), pesoBrutoVehicular: Number(v("pesoBrutoVehicular")),
    permSct: v("permSct"), numPermisoSct: v("numPermisoSct"), aseguraRespCivil: v("aseguraRespCivil"), polizaRespCivil: v("polizaRespCivil"),
  };
  return ask(api.POST("/vehiculos", { params: header(body), body }));
}
