// One pattern: description and cost, a form to run it, its exact requests, and the result.
import { Eye, Play, SearchX } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { Badge, Button, Empty, JSONText, Notice, Problem, Stat, Tabs, go, here, link, useTitle } from "#ui";
import { about, askDesign } from "./api.ts";
import { type Design, type Pattern, findingsOf } from "./design.ts";
import { Findings, dollars } from "./design-bits.tsx";
import { Entities } from "./entities.tsx";
import { Fault } from "./fault.tsx";
import { ArgumentFields, type Typed, Unfit, argumentsOf, typedOf } from "./pattern-form.tsx";
import { Designed, KindBadge, PatternSidebar, does, units } from "./patterns.tsx";
import { type Table, keyNames, keysFor, keysOf } from "./schema.ts";
import { type Item, pick } from "./value.ts";
import { t } from "./words.ts";

interface Exchange { operation: string; input: string; status?: number; output?: string; milliseconds?: number }
interface Ran { exchanges: Exchange[]; preview?: boolean; result?: string; error?: string; readUnits: number; writeUnits: number; attempts: number; milliseconds: number }

export function PatternPage({ name, pattern }: { name: string; pattern: string }) {
  useTitle(`${pattern} · ${name}`);
  return (
    <Designed name={name} side={(d) => <PatternSidebar table={name} design={d} />}>
      {(design, table) => {
        const p = design.patterns.find((x) => x.name === pattern);
        return p ? <Run key={p.name} design={design} table={table} pattern={p} /> : <Empty level={2} icon={SearchX} title={t("pattern.missing", { name: pattern })} action={<Button href={link("/tables/:table/patterns", { table: name })}>{t("design.patterns")}</Button>} />;
      }}
    </Designed>
  );
}

function Run({ design, table, pattern: p }: { design: Design; table: Table; pattern: Pattern }) {
  const name = table.description.TableName;
  const findings = findingsOf(design, p.name);
  return (
    <div class="stack pattern">
      <p class="narrow-only"><a class="back" href={link("/tables/:table/patterns", { table: name })}>← {t("design.patterns")}</a></p>
      <div class="stack" style={{ "--gap": "var(--space-1)" }}>
        <div class="row"><h2 class="pattern-name">{p.name}</h2><KindBadge kind={p.kind} /></div>
        <p>{p.doc ?? p.summary}</p>
        {p.doc && <p class="muted small">{p.summary}</p>}
      </div>
      <div class="grid stats-row pattern-stats">
        <Stat label={t("pattern.units")} value={units(p)} note={bounds(p)} />
        <Stat label={t("pattern.rate")} value={p.rate ? t("pattern.perSecond", { n: p.rate }) : "–"} note={t("pattern.declared")} />
        <Stat label={t("pattern.month")} value={dollars(p.month)} note={t("pattern.monthNote")} />
      </div>
      <p class="does"><strong>{t("does")}</strong> {does(p)}</p>
      {findings.length > 0 && <Findings findings={findings} />}
      {p.schema ? <Form table={table} pattern={p} /> : <Notice tone="warning">{p.fault}</Notice>}
      <Why pattern={p} />
    </div>
  );
}

function bounds(p: Pattern): string {
  return p.mostUnits ? t("pattern.bounds", { least: p.leastUnits ?? 0, most: p.mostUnits }) : p.leastUnits ? t("pattern.least", { least: p.leastUnits }) : t("pattern.estimate");
}

/** Keeps the digits of whole numbers that JavaScript would round. */
function withDigits(_: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) ? context?.source ?? value : value;
}

function givenIn(query: URLSearchParams): unknown {
  try {
    return JSON.parse(query.get("with") ?? "{}", withDigits);
  } catch {
    return {}; // a truncated address
  }
}

function Form({ table, pattern: p }: { table: Table; pattern: Pattern }) {
  const schema = p.schema ?? {};
  const query = here.value.query;
  const [typed, type] = useState<Typed>(() => typedOf(schema, givenIn(query)));
  const [fault, setFault] = useState<string | undefined>();
  const [ran, set] = useState<Ran | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const [busy, setBusy] = useState<"run" | "preview" | undefined>();
  const box = useRef<HTMLDivElement>(null);
  const name = table.description.TableName;
  const run = async (preview: boolean, values = typed) => {
    let text: string;
    try {
      text = argumentsOf(schema, values);
    } catch (thrown) {
      if (!(thrown instanceof Unfit)) throw thrown;
      setFault(thrown.field);
      return;
    }
    setFault(undefined);
    setProblem(undefined);
    setBusy(preview ? "preview" : "run");
    try {
      set(await askDesign<Ran>("run", { table: name, pattern: p.name, arguments: text, preview }));
      if (p.kind !== "write") go(link("/tables/:table/patterns/:pattern", { table: name, pattern: p.name, with: text }), "replace");
    } catch (thrown) {
      setProblem(Problem.of(thrown));
    }
    setBusy(undefined);
  };
  const wanted = query.get("run") !== null ? query.get("with") : null;
  useEffect(() => { // opening a link runs a read immediately; a write waits for its button
    if (wanted === null || p.kind === "write") return;
    const values = typedOf(schema, givenIn(query));
    type(values);
    void run(false, values);
  }, [wanted]);
  const more = afterOf(ran);
  const writes = p.kind === "write";
  return (
    <div class="pattern-sides">
      <form class="stack pattern-form" noValidate onSubmit={(e) => { e.preventDefault(); void run(writes && about.readOnly); }} aria-label={p.name}>
        <ArgumentFields schema={schema} typed={typed} fault={fault} onChange={(now) => { type(now); setFault(undefined); }} />
        <div class="row">
          {!(writes && about.readOnly) && <Button kind={writes ? "danger" : "primary"} icon={Play} type="submit" loading={busy === "run"}>{t(writes ? "pattern.runWrite" : "run")}</Button>}
          <Button icon={Eye} loading={busy === "preview"} onPress={() => run(true)}>{t("pattern.preview")}</Button>
        </div>
        {writes && <p class="field-hint">{t(about.readOnly ? "pattern.readOnly" : "pattern.writes")}</p>}
      </form>
      <div class="stack pattern-result" ref={box} aria-live="polite" aria-busy={busy !== undefined}>
        {problem ? <Fault problem={problem} /> : ran ? (
          <Answer table={table} pattern={p} ran={ran} onMore={more === undefined ? undefined : () => {
            const values = { ...typed, after: more };
            return run(false, values);
          }} />
        ) : <p class="muted pattern-hint">{t("pattern.notYet")}</p>}
      </div>
    </div>
  );
}

function afterOf(ran: Ran | undefined): string | undefined {
  if (!ran?.result) {
    return undefined;
  }
  const { next } = JSON.parse(ran.result) as { next?: string };
  return next || undefined;
}

function Answer({ table, pattern: p, ran, onMore }: { table: Table; pattern: Pattern; ran: Ran; onMore: (() => Promise<void>) | undefined }) {
  const [chosen, choose] = useState<"items" | "requests" | "result">(ran.preview || p.kind === "write" ? "requests" : "items");
  const name = table.description.TableName;
  const index = p.request?.index ?? "";
  const items = ran.exchanges.flatMap(itemsIn);
  const asked = keyNames(keysFor(table.description, index));
  const keys = keyNames(keysOf(table.description.KeySchema));
  const shown = chosen === "items" && items.length === 0 ? "requests" : chosen;
  const consumed = ran.readUnits + ran.writeUnits;
  return (
    <>
      {ran.error !== undefined && <Notice tone="danger"><strong>{t("pattern.failed")}</strong> {ran.error}</Notice>}
      {ran.preview && <Notice tone="info">{t("pattern.previewed")}</Notice>}
      {!ran.preview && (
        <p class="row small pattern-cost">
          {ran.error === undefined && <Badge tone="success">{t("pattern.ok")}</Badge>}
          <span>{t("pattern.requests", { n: ran.exchanges.length })}</span>
          {ran.readUnits > 0 && <span>{t("units.read", { n: ran.readUnits })}</span>}
          {ran.writeUnits > 0 && <span>{t("units.write", { n: ran.writeUnits })}</span>}
          <span>{t("cost.took", { n: ran.milliseconds })}</span>
          {consumed > 0 && <Against pattern={p} ran={ran} />}
        </p>
      )}
      <Tabs label={t("results")} chosen={shown} onChoose={choose} tabs={[
        ...(items.length > 0 ? [{ key: "items" as const, label: t("items") }] : []),
        { key: "requests" as const, label: t("pattern.exchange") },
        ...(ran.result !== undefined ? [{ key: "result" as const, label: t("pattern.result") }] : []),
      ]}>
        {shown === "items" ? <Entities table={name} index={index} items={items} keys={asked} open={(item: Item) => link("/tables/:table", { table: name, item: JSON.stringify(pick(item, keys)) })} />
          : shown === "result" ? <JSONText label={t("pattern.result")} text={ran.result ?? ""} />
          : <div class="stack">{ran.exchanges.map((e, n) => <ExchangeView key={n} n={n + 1} exchange={e} />)}</div>}
      </Tabs>
      {onMore && <div><Button onPress={onMore}>{t("next")}</Button></div>}
    </>
  );
}

/** Consumed capacity compared with what the design expects. */
function Against({ pattern: p, ran }: { pattern: Pattern; ran: Ran }) {
  const expected = p.kind === "write" ? p.writeUnits ?? 0 : p.readUnits ?? 0;
  const got = p.kind === "write" ? ran.writeUnits : ran.readUnits;
  return <span class="muted">{t(got > expected * 1.5 && got > 1 ? "pattern.dearer" : "pattern.asExpected", { n: expected })}</span>;
}

function pretty(text: string | undefined): string {
  try {
    return JSON.stringify(JSON.parse(text ?? ""), null, 2); // numbers in items are strings
  } catch {
    return text ?? "";
  }
}

function itemsIn(e: Exchange): Item[] {
  try {
    const said = JSON.parse(e.output ?? "{}") as { Item?: Item; Items?: Item[]; Responses?: Record<string, Item[]> };
    return said.Items ?? (said.Item ? [said.Item] : Array.isArray(said.Responses) ? [] : Object.values(said.Responses ?? {}).flat());
  } catch {
    return [];
  }
}

function ExchangeView({ n, exchange: e }: { n: number; exchange: Exchange }) {
  return (
    <section class="exchange" aria-label={`${n}. ${e.operation}`}>
      <h3><span class="muted">{n}.</span> {e.operation} {e.status !== undefined && e.status !== 0 && <Badge tone={e.status === 200 ? "success" : "danger"}>{e.status}</Badge>}{e.milliseconds !== undefined && <span class="muted small">{t("cost.took", { n: e.milliseconds })}</span>}</h3>
      <div class="exchange-sides">
        <div><h4 class="small muted">{t("pattern.request")}</h4><JSONText label={t("pattern.request")} text={pretty(e.input)} /></div>
        <div><h4 class="small muted">{t("pattern.response")}</h4>{e.output ? <JSONText label={t("pattern.response")} text={pretty(e.output)} /> : <p class="muted small">{t("pattern.notSent")}</p>}</div>
      </div>
    </section>
  );
}

/** Alternatives for a read and why they were not chosen, or the items that a write touches. */
function Why({ pattern: p }: { pattern: Pattern }) {
  if (p.kind === "write" && p.items) {
    return (
      <details class="why">
        <summary>{t("pattern.touches", { n: p.items.length })}</summary>
        <ul>{p.items.map((i, n) => <li key={n}><strong>{i.action}</strong> {i.place} <code>{i.key}</code> {i.each && <Badge plain>{t("pattern.each")}</Badge>} <span class="muted small">{t("units.write", { n: i.units })}{i.when && <> · {i.when}</>}{i.entries && i.entries.length > 0 && <> · {i.entries.join(", ")}</>}</span></li>)}</ul>
      </details>
    );
  }
  const near = p.near ?? [];
  return near.length === 0 ? null : (
    <details class="why">
      <summary>{t("pattern.near", { n: near.length, place: p.place ?? "" })}</summary>
      <ul>{near.map((x) => <li key={x.place}><strong>{x.place}</strong> <span class="muted">{x.serves ? t("pattern.serves", { n: x.readUnits ?? 0 }) : (x.lacks ?? []).join("; ")}</span></li>)}</ul>
    </details>
  );
}
