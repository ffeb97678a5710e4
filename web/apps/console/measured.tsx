// Declared next to measured rates, by operation: metrics do not contain keys, so requests cannot be distinguished further.
import { Ruler } from "lucide";
import { Badge, Button, Notice, Skeleton, Stat, Table, format, useLoaded } from "#ui";
import { useState } from "preact/hooks";
import { onAWS } from "./api.ts";
import type { Design, Pattern, Request } from "./design.ts";
import { type Metrics, measure } from "./metrics.ts";
import { t } from "./words.ts";

interface Row { operation: string; patterns: string[]; declared: number; measured: number; average?: number; p99?: number }

const minutes = 60;

export function Measured({ table, design }: { table: string; design: Design }) {
  const [asked, ask] = useState(!onAWS); // there, each request costs money
  return (
    <section class="stack">
      <h2 class="part">{t("measured")}</h2>
      <p class="muted reading">{t("measured.text")}</p>
      {asked ? <Loaded table={table} design={design} /> : <p><Button icon={Ruler} onPress={() => ask(true)}>{t("measured.ask")}</Button></p>}
    </section>
  );
}

function Loaded({ table, design }: { table: string; design: Design }) {
  const loaded = useLoaded((abort) => measure(table, minutes, abort), [table]);
  const m = loaded.value.value;
  if (loaded.problem.value) {
    return <Notice tone="info">{t("measured.missing")} {loaded.problem.value.detail}</Notice>;
  }
  if (!m) {
    return <Skeleton lines={4} />;
  }
  const rows = rowsOf(design, m);
  const strange = rows.filter((r) => r.patterns.length === 0);
  const units = (kind: "readUnits" | "writeUnits") => design.patterns.reduce((sum, p) => sum + (p.rate ?? 0) * (p[kind] ?? 0), 0);
  return (
    <>
      <div class="grid stats-row">
        <Stat label={t("measured.read")} value={figure(meanOf(m, "RCU"))} note={t("measured.declaredNote", { n: figure(units("readUnits")) })} />
        <Stat label={t("measured.write")} value={figure(meanOf(m, "WCU"))} note={t("measured.declaredNote", { n: figure(units("writeUnits")) })} />
        <Stat label={t("measured.strange")} value={format.number(strange.length)} note={strange.map((r) => r.operation).join(", ")} />
      </div>
      <Table caption={t("measured")} rows={rows} rowKey={(r) => r.operation} columns={[
        { key: "operation", title: t("metrics.operation"), cell: (r) => r.operation },
        { key: "patterns", title: t("design.patterns"), cell: (r) => (r.patterns.length === 0 ? <Badge tone="warning">{t("measured.none")}</Badge> : <span class="small">{r.patterns.join(", ")}</span>) },
        { key: "declared", title: t("measured.declared"), numeric: true, cell: (r) => figure(r.declared) },
        { key: "measured", title: t("measured.measured"), numeric: true, cell: (r) => figure(r.measured) },
        { key: "average", title: t("metrics.average"), numeric: true, cell: (r) => milliseconds(r.average) },
        { key: "p99", title: t("metrics.p99"), numeric: true, cell: (r) => milliseconds(r.p99) },
      ]} />
    </>
  );
}

/** One row per operation that a pattern makes or that was measured. */
function rowsOf(design: Design, m: Metrics): Row[] {
  const rows = new Map<string, Row>();
  const row = (operation: string) => {
    const known = rows.get(operation) ?? { operation, patterns: [], declared: 0, measured: 0 };
    rows.set(operation, known);
    return known;
  };
  for (const p of design.patterns) {
    for (const [operation, times] of operationsOf(p)) {
      const r = row(operation);
      r.declared += (p.rate ?? 0) * times;
      if (!r.patterns.includes(p.name)) r.patterns.push(p.name);
    }
  }
  const seconds = m.times.length * m.period;
  for (const o of m.operations) Object.assign(row(o.name), { measured: o.requests / seconds, average: o.average, p99: o.p99 });
  return [...rows.values()].sort((a, b) => b.measured - a.measured || b.declared - a.declared);
}

/** The operations of a pattern, with their number. */
function operationsOf(p: Pattern): [string, number][] {
  if (p.kind === "write") {
    if (p.batch) return [["BatchWriteItem", 1]];
    if (p.transaction) return [["TransactWriteItems", 1]];
    return (p.items ?? []).map((i): [string, number] => [i.action === "update" || i.action === "upsert" ? "UpdateItem" : i.action === "delete" ? "DeleteItem" : "PutItem", 1]);
  }
  const out: [string, number][] = [];
  const add = (r: Request | undefined) => {
    if (!r) return;
    out.push([r.operation, Math.max(1, r.times)]);
    add(r.first);
    add(r.then);
  };
  add(p.request);
  return out;
}

function meanOf(m: Metrics, name: string): number {
  const values = m.capacity.find((s) => s.name === name)?.values ?? [];
  return values.length === 0 ? 0 : values.reduce<number>((sum, v) => sum + (v ?? 0), 0) / values.length;
}

const figure = (n: number) => format.number(n, { maximumSignificantDigits: 3 });

function milliseconds(n: number | undefined) {
  return n === undefined ? <span class="absent">–</span> : format.number(n, { maximumSignificantDigits: 3, style: "unit", unit: "millisecond", unitDisplay: "short" });
}
