import { CircleAlert, CircleCheck, Plus, Stamp, Trash2 } from "lucide";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Badge, Breadcrumb, Button, Card, Confirm, Conflict, Dialog, Failed, Form, Icon, Notice, Problem, RequestKey, Select, Skeleton, TextField, ask, format, link, toast, useLeaveGuard, useLoaded, useTitle, useVersion } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";
import { lines, numbered, open, parts, placeLines, read, same, sent, store, type Draft, type Opened, type Part, type Stored } from "./carta-draft.ts";
import { Goods } from "./carta-goods.tsx";
import type { Profile } from "./data.ts";
import { dayKey } from "./day.ts";
import { Differences, Documents, NewCarta } from "./documents.tsx";
import { Lines, search, type Catalog, type Line, type Texts } from "./form.tsx";
import { useLive } from "./live.ts";
import { t } from "./words.ts";

type Fault = Schemas["Falta"];
type Section = Part | "mercancias";

const sections: readonly Section[] = ["receptor", "ubicaciones", "mercancias", "autotransporte", "figuras"];
const tones = { borrador: undefined, en_timbrado: "warning", timbrada: "success", en_cancelacion: "warning", cancelada: undefined } as const;

/** The editor of a carta: its parts, the tax office's checks, and the next step. */
export function CartaPage({ id, profile }: { id: string; profile: Profile }) {
  const loaded = useLoaded((signal) => open(id, profile.timezone, signal), [id]);
  const opened = loaded.value.value;
  useTitle(opened ? `${t("carta")} ${opened.carta.folio}` : t("carta"));
  const look = async () => { // what happened while no events arrived
    if (!opened) return;
    const now = await ask(api.GET("/cartas/{id}", { params: { path: { id } } }));
    const trip = await ask(api.GET("/viajes/{id}", { params: { path: { id: now.viajeId } } }));
    if (now.updatedAt !== opened.carta.updatedAt || planOf(trip) !== planOf(opened.trip)) await loaded.reload();
  };
  useLive({ ready: () => void look().catch(() => {}), trip: (trip) => { // stamped, cancelled, reassigned or moved by someone else
    if (trip.viajeId !== opened?.trip.viajeId) return;
    if (planOf(trip) !== planOf(opened.trip) || (trip.fiscal?.cartaPorteId === id && trip.fiscal.cartaPorteStatus !== opened.carta.status)) void loaded.reload();
  } });
  if (!opened) {
    return loaded.problem.value
      ? <Failed problem={loaded.problem.value} onRetry={() => void loaded.reload()} />
      : <div class="stack" aria-busy="true"><Skeleton width="16rem" height="2rem" /><Skeleton height="20rem" /></div>;
  }
  return <Editor key={`${opened.carta.status} ${opened.carta.sellada}`} opened={opened} reload={() => loaded.reload()} load={() => open(id, profile.timezone, new AbortController().signal)} />;
}

function resourcesOf({ resources: r }: Pick<Opened["trip"], "resources">): string {
  return r ? `${r.conductorId} ${r.vehiculoId} ${r.remolqueId ?? ""}` : "";
}

function timesOf({ fechaInicioProgramada, fechaFinProgramada }: Pick<Opened["trip"], "fechaInicioProgramada" | "fechaFinProgramada">): string {
  return `${Date.parse(fechaInicioProgramada)} ${Date.parse(fechaFinProgramada)}`;
}

function planOf(trip: Pick<Opened["trip"], "resources" | "fechaInicioProgramada" | "fechaFinProgramada">): string {
  return `${resourcesOf(trip)} ${timesOf(trip)}`;
}

function Editor({ opened, reload, load }: { opened: Opened; reload: () => Promise<void>; load: () => Promise<Opened> }) {
  const { carta, trip } = opened;
  const id = carta.cartaId;
  const editable = carta.status === "borrador" && !carta.sellada;
  const [draft, setDraft] = useState<Draft>(opened.draft);
  const [dirty, setDirty] = useState<ReadonlySet<Part>>(() => new Set(filled(opened)));
  const [typed, setTyped] = useState(false);
  const base = useRef<Stored>(opened); // what the draft was made from
  const [goods, setGoods] = useState(0); // number of changes
  const faults = useFaults(id, draft, editable, goods);
  const change = (part: Part) => (value: Draft[Part]) => {
    setDraft((d) => ({ ...d, [part]: value }));
    setDirty((d) => new Set(d).add(part));
    setTyped(true);
  };
  const latest = async () => { const now = await load(); base.current = now; return { value: now, tag: now.tag }; };
  const version = useVersion<Opened>(undefined, latest, ({ value }) => {
    setDraft(value.draft);
    setDirty(new Set(filled(value)));
    setTyped(false);
  });
  // A part is not stored over someone else's. Their changes of other parts and of goods are no conflict.
  const put = async (part: Part) => {
    try {
      base.current = await store(part, draft, base.current);
    } catch (thrown) {
      if (Problem.of(thrown).code !== "changed_since") throw thrown;
      const now = await read(id);
      if (!same(part, now, base.current)) throw thrown;
      const { tag, parts: made } = await store(part, draft, now);
      const others = parts.some((p) => p !== part && !same(p, now, base.current)); // they stay unseen
      base.current = { ...base.current, parts: { ...base.current.parts, [part]: made[part] }, ...(others ? {} : { tag }) };
    }
  };
  const save = async () => {
    try {
      for (const part of parts.filter((p) => dirty.has(p))) {
        await put(part);
        setDirty((d) => new Set([...d].filter((p) => p !== part)));
      }
      setTyped(false);
    } catch (thrown) {
      version.refused(Problem.of(thrown));
      throw thrown;
    }
  };
  const resources = resourcesOf(opened.trip);
  const had = useRef(resources);
  useEffect(() => { // the trip has been reassigned: its vehicle and driver replace those that have been filled in from it
    if (resources === had.current) return;
    had.current = resources;
    if (!editable || resources === "") return;
    const again = filled(opened).filter((p) => p === "autotransporte" || p === "figuras");
    setDraft((d) => ({ ...d, ...Object.fromEntries(again.map((p) => [p, opened.draft[p]])) }));
    setDirty((d) => new Set([...d, ...again]));
  }, [resources]);
  const times = timesOf(opened.trip);
  const planned = useRef(times);
  useEffect(() => { // the trip has been moved, and the stored places with it; input stays
    if (times === planned.current) return;
    planned.current = times;
    if (!editable || (typed && dirty.has("ubicaciones"))) return;
    base.current = { ...base.current, parts: { ...base.current.parts, ubicaciones: opened.parts.ubicaciones } };
    setDraft((d) => ({ ...d, ubicaciones: opened.draft.ubicaciones }));
  }, [times]);
  useLeaveGuard(() => typed);
  const wrong = (path: string) => faults?.find((f) => f.campo === path)?.mensaje;
  const places = (at: number, values: Texts) => change("ubicaciones")(draft.ubicaciones.map((u, n) => (n === at ? values : u)));
  const people = (at: number, values: Texts) => change("figuras")(draft.figuras.map((f, n) => (n === at ? values : f)));
  const without = <T,>(list: readonly T[], at: number) => list.filter((_, n) => n !== at);
  return (
    <div class={editable ? "carta" : "carta closed"}>
      <div class="carta-head stack">
        <Breadcrumb steps={[{ label: t("nav.board"), href: link("/", { day: dayKey(new Date(trip.fechaInicioProgramada)), trip: trip.viajeId }) }, { label: trip.nombre }, { label: carta.folio }]} />
        <div class="row"><h1>{t("carta")} <span class="number">{carta.folio}</span></h1><Badge {...(tones[carta.status] ? { tone: tones[carta.status] } : {})}>{t(`carta.${carta.status}`)}</Badge></div>
      </div>
      <div class="carta-parts stack">
        <Part of="receptor" faults={faults}>
          {editable ? <Lines lines={lines.receptor} values={draft.receptor} onInput={change("receptor")} wrong={(n) => wrong(`receptor.${n}`)} /> : <Shown lines={lines.receptor} values={draft.receptor} />}
        </Part>
        <Part of="ubicaciones" faults={faults}>
          {draft.ubicaciones.map((u, n) => (
            <fieldset key={`${n} ${draft.ubicaciones.length}`} class="carta-item">
              <legend>{t(u["tipo"] === "Origen" ? "place.origin" : "place.destination")} <span class="muted number">{u["idUbicacion"]}</span></legend>
              {editable ? <Lines lines={placeLines(u)} values={u} onInput={(v) => places(n, v)} wrong={(name) => wrong(`ubicaciones[${n}].${name}`)} /> : <Shown lines={placeLines(u)} values={u} />}
              {editable && u["tipo"] === "Destino" && draft.ubicaciones.length > 2 && <div class="row"><Button size="small" kind="quiet" icon={Trash2} onPress={() => change("ubicaciones")(numbered(without(draft.ubicaciones, n)))}>{t("place.remove")}</Button></div>}
            </fieldset>
          ))}
          {editable && draft.ubicaciones.length < 50 && <div class="row"><Button size="small" icon={Plus} onPress={() => change("ubicaciones")(numbered([...draft.ubicaciones, { tipo: "Destino" }]))}>{t("place.add")}</Button></div>}
        </Part>
        <Part of="mercancias" faults={faults}>
          <Goods opened={opened} editable={editable} onChanged={() => setGoods(goods + 1)} wrong={wrong} />
        </Part>
        <Part of="autotransporte" faults={faults}>
          {editable ? <Lines lines={lines.autotransporte} values={draft.autotransporte} onInput={change("autotransporte")} wrong={(n) => wrong(`autotransporte.${n}`)} /> : <Shown lines={lines.autotransporte} values={draft.autotransporte} />}
        </Part>
        <Part of="figuras" faults={faults}>
          {draft.figuras.map((f, n) => (
            <fieldset key={`${n} ${draft.figuras.length}`} class="carta-item">
              <legend>{t("person")} <span class="muted number">{n + 1}</span></legend>
              {editable ? <Lines lines={lines.figuras} values={f} onInput={(v) => people(n, v)} wrong={(name) => wrong(`figuras[${n}].${name}`)} /> : <Shown lines={lines.figuras} values={f} />}
              {editable && draft.figuras.length > 1 && <div class="row"><Button size="small" kind="quiet" icon={Trash2} onPress={() => change("figuras")(without(draft.figuras, n))}>{t("person.remove")}</Button></div>}
            </fieldset>
          ))}
          {editable && draft.figuras.length < 20 && <div class="row"><Button size="small" icon={Plus} onPress={() => change("figuras")([...draft.figuras, {}])}>{t("person.add")}</Button></div>}
        </Part>
      </div>
      <aside class="carta-aside" aria-label={t("carta.next")}>
        <Card>
          <div class="stack">
            {trip.fiscal?.cartaPorteId === id && <Differences trip={trip} view="carta" taken={opened.taken.some((p) => p === "autotransporte" || p === "figuras")} />}
            <Conflict version={version} />
            {carta.sustituye && <Replaces carta={carta} of={carta.sustituye} />}
            <Next opened={opened} distance={editable ? draft.ubicaciones.reduce((sum, u) => sum + Number(u["distanciaRecorrida"] ?? 0), 0) : undefined} faults={faults} dirty={dirty.size > 0} save={save} reload={reload} goods={goods} />
          </div>
        </Card>
      </aside>
    </div>
  );
}

/** The carta that this one replaces. It is cancelled once this one is stamped. */
function Replaces({ carta, of }: { carta: Schemas["Carta"]; of: Schemas["Sustitucion"] }) {
  const before = useLoaded((signal) => ask(api.GET("/cartas/{id}", { params: { path: { id: of.cartaId } }, signal })), [of.cartaId, carta.status]);
  const due = carta.status === "timbrada" && before.value.value?.status === "timbrada";
  return (
    <Notice tone={due ? "warning" : "info"}>
      {t(due ? "replaces.cancel" : carta.status === "borrador" ? "replaces.draft" : "replaces", { folio: of.folio })} <a href={link("/cartas/:id", { id: of.cartaId })}>{t("replaces.open", { folio: of.folio })}</a>
    </Notice>
  );
}

/** The parts that are filled in from the trip and not stored yet. */
function filled({ taken, draft }: Opened): Part[] {
  return taken.filter((p) => p !== "autotransporte" || Object.keys(draft.autotransporte).length > 0);
}

/** What the tax office would reject in the carta including unsaved input; undefined until known. Later drafts win. */
function useFaults(id: string, draft: Draft, editable: boolean, goods: number): readonly Fault[] | undefined {
  const [faults, setFaults] = useState<readonly Fault[] | undefined>();
  useEffect(() => {
    if (!editable) return;
    const end = new AbortController();
    const timer = setTimeout(() => {
      ask(api.POST("/cartas/{id}/revision", { params: { path: { id } }, body: sent(draft), signal: end.signal })).then((r) => setFaults(r.faltas), () => {}); // retried on the next key press
    }, faults === undefined ? 0 : 350);
    return () => { clearTimeout(timer); end.abort(); };
  }, [draft, goods, editable]);
  return faults;
}

function of(section: Section, faults: readonly Fault[]): readonly Fault[] {
  const also: Partial<Record<Section, string>> = { ubicaciones: "totales.distanciaTotal", mercancias: "totales.pesoBrutoTotal" };
  return faults.filter((f) => new RegExp(`^${section}([.[]|$)`).test(f.campo) || f.campo === also[section]);
}

/** A part of the carta. Errors of the whole part are above its fields. */
function Part({ of: section, faults, children }: { of: Section; faults: readonly Fault[] | undefined; children: preact.ComponentChildren }) {
  const own = faults && of(section, faults);
  return (
    <section id={`part-${section}`} class="card stack" aria-labelledby={`title-${section}`}>
      <div class="row">
        <h2 id={`title-${section}`} class="grow carta-title">{t(`part.${section}`)}</h2>
        {own && <Standing faults={own.length} />}
      </div>
      {own?.filter((f) => (f.campo === section && section !== "mercancias") || f.campo.startsWith("totales.")).map((f) => <p key={f.campo + f.mensaje} class="field-error"><Icon of={CircleAlert} size={14} />{f.mensaje}</p>)}
      {children}
    </section>
  );
}

function Standing({ faults }: { faults: number }) {
  return faults === 0
    ? <span class="carta-standing done"><Icon of={CircleCheck} size={16} />{t("part.done")}</span>
    : <span class="carta-standing missing"><Icon of={CircleAlert} size={16} />{t("part.missing", { n: faults })}</span>;
}

function Shown({ lines, values }: { lines: readonly Line[]; values: Texts }) {
  return (
    <dl class="shown">
      {lines.filter((l) => values[l.name]).map((l) => {
        const value = values[l.name] ?? "";
        return <div key={l.name}><dt>{t(l.label)}</dt><dd>{inWords(l, value)}{l.catalog && <Means catalog={l.catalog} value={value} />}</dd></div>;
      })}
    </dl>
  );
}

/** A value formatted in the reader's language; years have no digit grouping. */
function inWords({ type }: Line, value: string): string {
  switch (type) {
    case "datetime-local": return format.dateTime(value);
    case "date": return format.day(value);
    case "number": return format.number(Number(value), { useGrouping: false, maximumFractionDigits: 6 });
    default: return value;
  }
}

/** The meaning of a tax office key. */
function Means({ catalog, value }: { catalog: Catalog; value: string }) {
  const found = useLoaded((signal) => search(catalog, value, signal), [catalog, value]);
  const label = found.value.value?.find((f) => f.value === value)?.label;
  return label ? <span class="muted"> · {label}</span> : null;
}

/** What is missing, and the next step. */
function Next({ opened, distance, faults, dirty, save, reload, goods }: { opened: Opened; distance: number | undefined; faults: readonly Fault[] | undefined; dirty: boolean; save: () => Promise<void>; reload: () => Promise<void>; goods: number }) {
  const { carta, trip } = opened;
  const id = carta.cartaId;
  const replacing = trip.carta?.sustituye?.cartaId === id ? trip.carta : undefined;
  const path = { params: { path: { id } } };
  const [asking, setAsking] = useState(false);
  const [cancelling, setCancelling] = useState(false);
  const [reissuing, setReissuing] = useState(false);
  const key = useMemo(() => new RequestKey(), []);
  const head = useLoaded((signal) => ask(api.GET("/cartas/{id}", { ...path, signal })), [goods, dirty]);
  const totals = head.value.value?.totales ?? carta.totales;
  const act = async (call: () => Promise<unknown>, said?: string) => {
    try {
      await call();
      if (said) toast("success", said);
    } catch (thrown) {
      const p = Problem.of(thrown);
      if (p.code !== "changed_since") toast("danger", [p.detail, ...p.fields.slice(0, 3).map((f) => f.message)].join(" · "));
      return false;
    } finally {
      setAsking(false);
    }
    return true;
  };
  const again = async (call: () => Promise<unknown>, said?: string) => {
    const done = await act(call, said);
    await reload();
    return done;
  };
  const seal = async () => {
    await save();
    await ask(api.POST("/cartas/{id}/sellar", path));
  };
  const stamp = () => ask(api.POST("/cartas/{id}/timbrado", { params: { path: { id }, header: { "Idempotency-Key": key.for(carta.updatedAt) } } }));
  const count = faults?.length;
  const facts = (
    <dl class="carta-facts">
      <div><dt>{t("total.distance")}</dt><dd class="number">{t("km", { n: distance ?? totals.distanciaTotal })}</dd></div>
      <div><dt>{t("total.weight")}</dt><dd class="number">{format.number(totals.pesoBrutoTotal)} kg</dd></div>
      <div><dt>{t("part.mercancias")}</dt><dd class="number">{format.number(totals.numeroTotalMercancias)}</dd></div>
      {carta.timbrado && <div><dt>{t("stamp.at")}</dt><dd>{format.dateTime(carta.timbrado.fechaTimbrado)}</dd></div>}
      {carta.timbrado && <div><dt>UUID</dt><dd class="uuid">{carta.timbrado.uuidFiscal}</dd></div>}
    </dl>
  );
  const cancel = cancelling && <Cancel by={replacing?.status === "timbrada" ? replacing.timbrado?.uuidFiscal : undefined} onClose={() => setCancelling(false)} onSend={async (body) => { if (await again(() => ask(api.POST("/cartas/{id}/cancelacion", { ...path, body })), t("carta.cancelled"))) setCancelling(false); }} />;
  if (carta.status === "timbrada" || carta.status === "cancelada") {
    return (
      <div class="stack">
        <h2 class="carta-title">{t("documents")}</h2>
        {carta.timbrado?.prueba && <Notice>{t("stamp.test")}</Notice>}
        {carta.timbrado && <div class="row"><Documents id={id} folio={carta.folio} size="medium" /></div>}
        {facts}
        {carta.status === "timbrada" && replacing && <Notice tone="warning">{t(replacing.status === "timbrada" ? "replaced.cancel" : "replaced.draft", { folio: replacing.folio })} <a href={link("/cartas/:id", { id: replacing.cartaId })}>{t("replaces.open", { folio: replacing.folio })}</a></Notice>}
        {carta.status === "timbrada" && trip.fiscal?.cartaPorteId === id && (trip.estado === "borrador" || trip.estado === "programado") && <Button onPress={() => setReissuing(true)}>{t("carta.replace")}</Button>}
        {reissuing && <NewCarta trip={trip} replaces={carta} onClose={() => setReissuing(false)} />}
        {carta.status === "timbrada" && <Button kind="quiet" onPress={() => setCancelling(true)}>{t("carta.cancel")}</Button>}
        {cancel}
      </div>
    );
  }
  if (carta.status !== "borrador") {
    return (
      <div class="stack">
        <Notice tone="warning">{t(carta.status === "en_timbrado" ? "stamp.waiting" : "cancel.waiting")}</Notice>
        {carta.status === "en_timbrado"
          ? <Button kind="primary" wide icon={Stamp} onPress={() => again(stamp, t("stamp.done"))}>{t("stamp.again")}</Button>
          : <Button kind="primary" wide onPress={() => setCancelling(true)}>{t("stamp.again")}</Button>}
        {cancel}
        {facts}
      </div>
    );
  }
  if (carta.sellada) {
    return (
      <div class="stack">
        <h2 class="carta-title">{t("sealed.title")}</h2>
        <p class="muted">{t("sealed.text")}</p>
        {facts}
        <Button kind="primary" wide icon={Stamp} onPress={() => again(stamp, t("stamp.done"))}>{t("stamp.do")}</Button>
        <Button wide onPress={() => again(() => ask(api.POST("/cartas/{id}/abrir", path)))}>{t("sealed.open")}</Button>
      </div>
    );
  }
  const issuer = faults?.filter((f) => f.campo.startsWith("emisor")) ?? [];
  return (
    <div class="stack">
      <h2 class="carta-title">{count === 0 ? t("carta.ready") : t("carta.missing")}</h2>
      <ol class="carta-steps">
        {sections.map((s) => {
          const own = faults && of(s, faults);
          return (
            <li key={s}><a href={`#part-${s}`} onClick={(e) => { e.preventDefault(); const to = document.getElementById(`part-${s}`); to?.scrollIntoView({ block: "start" }); to?.querySelector<HTMLElement>("[aria-invalid], input, button")?.focus({ preventScroll: true }); }}>
              <Icon of={own?.length === 0 ? CircleCheck : CircleAlert} size={16} /><span class="grow">{t(`part.${s}`)}</span>{own && own.length > 0 && <span class="number">{format.number(own.length)}</span>}
            </a></li>
          );
        })}
      </ol>
      {issuer.length > 0 && <Notice tone="warning">{t("carta.issuer")}: {issuer.map((f) => f.mensaje).join(", ")}</Notice>}
      {facts}
      <Button kind="primary" wide icon={Stamp} disabled={count !== 0} onPress={() => setAsking(true)}>{t("stamp.do")}</Button>
      <Button wide disabled={!dirty} onPress={() => again(save, t("carta.saved"))}>{t("carta.save")}</Button>
      <Button kind="quiet" onPress={() => setCancelling(true)}>{t("carta.discard")}</Button>
      <Confirm open={asking} title={t("stamp.ask")} action={t("stamp.do")} onClose={() => setAsking(false)} onConfirm={() => again(async () => { await seal(); await stamp(); }, t("stamp.done"))}>
        {t("stamp.text", { folio: carta.folio })}
      </Confirm>
      <Confirm open={cancelling} title={t("carta.discard")} action={t("carta.discard")} danger onClose={() => setCancelling(false)}
        onConfirm={async () => { await again(() => ask(api.POST("/cartas/{id}/cancelacion", { ...path, body: {} })), t("carta.cancelled")); setCancelling(false); }}>
        {t("carta.discardText")}
      </Confirm>
    </div>
  );
}

const reasons = ["01", "02", "03", "04"] as const;

/** Cancels a stamped carta with one of the tax office's reasons. by: the UUID of the stamped carta that replaces it. */
function Cancel({ by, onClose, onSend }: { by: string | undefined; onClose: () => void; onSend: (body: Schemas["Cancelacion"]) => Promise<void> }) {
  const [motivo, setReason] = useState<(typeof reasons)[number]>(by ? "01" : "02");
  const [instead, setInstead] = useState(by ?? "");
  const send = async () => {
    await onSend({ motivo, ...(motivo === "01" ? { sustituye: instead.trim() } : {}) });
  };
  return (
    <Dialog open title={t("carta.cancel")} onClose={onClose} actions={<><Button onPress={onClose}>{t("back")}</Button><Button kind="danger" type="submit" form="cancel">{t("carta.cancel")}</Button></>}>
      <Form id="cancel" class="stack" onSubmit={send}>
        <Select label={t("cancel.reason")} value={motivo} onInput={setReason} choices={reasons.map((r) => ({ value: r, label: `${r} · ${t(`reason.${r}`)}` }))} />
        {motivo === "01" && <TextField label={t("cancel.instead")} {...(by ? {} : { hint: t("cancel.insteadHint") })} name="sustituye" value={instead} onInput={setInstead} pattern="[0-9A-Fa-f\-]{36}" />}
      </Form>
    </Dialog>
  );
}
