// Observe: the requests on a table while the page is open, by pattern, and those that match none.
import { Eye, Pause, Play, RotateCcw } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Badge, Button, Empty, Notice, Problem, Stat, Table, format, link, useTitle } from "#ui";
import { askDesign, onAWS, served } from "./api.ts";
import type { Design } from "./design.ts";
import { Fault } from "./fault.tsx";
import { type Group, type Observed, type Row, type Sum, add, nothing, quantile, rowsOf } from "./observed.ts";
import { Designed, PatternSidebar } from "./patterns.tsx";
import { milliseconds } from "./server-views.tsx";
import { t } from "./words.ts";

const pause = 2000; // milliseconds between polls

export function ObservePage({ name }: { name: string }) {
  useTitle(`${name} · ${t("observe")}`);
  return (
    <Designed name={name} side={(d) => <PatternSidebar table={name} design={d} />}>
      {(d) => (served.value.server ? <Observe key={name} table={name} design={d} /> : <Empty level={2} icon={Eye} title={t("observe.missing")}>{t(onAWS ? "observe.onAWS" : "observe.missingText")}</Empty>)}
    </Designed>
  );
}

/** Polls while it runs, and aggregates the results. */
function useObserved(table: string, running: boolean): { sum: Sum; problem: Problem | undefined; restart: () => void } {
  const [sum, set] = useState<Sum>(nothing);
  const [problem, fail] = useState<Problem | undefined>(undefined);
  const [run, again] = useState(0);
  useEffect(() => {
    if (!running) return undefined;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    let after = "";
    let since = 0;
    const look = async () => {
      try {
        const seen = await askDesign<Observed>("observe", { table, after }, abort.signal);
        const seconds = after === "" ? 0 : Math.max(0, seen.now - since);
        after = seen.after;
        since = seen.now;
        set((before) => add(before, seen, seconds));
        fail(undefined);
      } catch (thrown) {
        if (abort.signal.aborted) return;
        fail(Problem.of(thrown));
      }
      timer = setTimeout(() => void look(), pause);
    };
    void look();
    return () => { abort.abort(); clearTimeout(timer); };
  }, [table, running, run]);
  return { sum, problem, restart: () => { set(nothing); again((n) => n + 1); } };
}

function Observe({ table, design }: { table: string; design: Design }) {
  const [running, setRunning] = useState(true);
  const { sum, problem, restart } = useObserved(table, running);
  const foreign = [...sum.foreign.values()].sort((a, b) => b.count - a.count);
  const unknown = foreign.reduce((n, g) => n + g.count, 0);
  const each = (n: number) => figure(sum.seconds > 0 ? n / sum.seconds : 0);
  const units = (of: "readUnits" | "writeUnits") => [...sum.groups.values(), ...foreign].reduce((n, g) => n + g[of], 0);
  const declared = (of: "readUnits" | "writeUnits") => figure(design.patterns.reduce((n, p) => n + (p.rate ?? 0) * (p[of] ?? 0), 0));
  return (
    <section class="stack observe" aria-label={t("observe")}>
      <h2 class="part">{t("observe")}</h2>
      <p class="muted reading">{t("observe.text")}</p>
      <div class="row map-bar">
        <Button icon={running ? Pause : Play} onPress={() => setRunning(!running)}>{t(running ? "observe.pause" : "observe.resume")}</Button>
        <Button icon={RotateCcw} onPress={restart}>{t("observe.restart")}</Button>
        <p class="muted small grow" role="status">{t("observe.seen", { n: sum.total, seconds: Math.round(sum.seconds) })}</p>
      </div>
      {problem && <Fault problem={problem} />}
      {sum.others > 0 && <Notice tone="info">{t("observe.others", { n: sum.others })}</Notice>}
      {sum.total > sum.kept && <Notice tone="info">{t("observe.sampled", { kept: sum.kept, total: sum.total })}</Notice>}
      {sum.cut > 0 && <Notice tone="info">{t("observe.cut", { n: sum.cut })}</Notice>}
      <div class="grid stats-row">
        <Stat label={t("observe.requests")} value={each(sum.total)} note={t("measured.declaredNote", { n: figure(design.patterns.reduce((n, p) => n + (p.rate ?? 0), 0)) })} />
        <Stat label={t("measured.read")} value={each(units("readUnits"))} note={t("measured.declaredNote", { n: declared("readUnits") })} />
        <Stat label={t("measured.write")} value={each(units("writeUnits"))} note={t("measured.declaredNote", { n: declared("writeUnits") })} />
        <Stat label={t("observe.foreign")} value={format.number(Math.round(unknown))} note={t("observe.shapes", { n: foreign.length })} />
        <Stat label={t("observe.unknownItems")} value={format.number(sum.unknownItems)} note={<a href={link("/tables/:table/checks", { table })}>{t("observe.check")}</a>} />
      </div>
      <Table caption={t("observe.byPattern")} rows={rowsOf(design, sum)} rowKey={(r) => r.key} columns={[
        { key: "pattern", title: t("pattern"), cell: (r) => <PatternLinks table={table} row={r} /> },
        { key: "rate", title: t("observe.rate"), numeric: true, cell: (r) => (r.group ? each(r.group.count) : <span class="absent">–</span>) },
        { key: "declared", title: t("measured.declared"), numeric: true, cell: (r) => figure(r.patterns.reduce((n, p) => n + (p.rate ?? 0), 0)) },
        { key: "units", title: t("observe.units"), numeric: true, cell: (r) => (r.group ? unitsOf(r.group) : <span class="absent">–</span>) },
        { key: "expected", title: t("observe.expected"), numeric: true, cell: (r) => r.patterns.map((p) => figure(p.kind === "write" ? p.writeUnits ?? 0 : p.readUnits ?? 0)).join(" / ") },
        ...latencies<Row>((r) => r.group),
      ]} />
      <h3 class="part">{t("observe.none")}</h3>
      {foreign.length === 0 ? <p class="muted">{t("observe.noneYet")}</p> : (
        <Table caption={t("observe.none")} rows={foreign} rowKey={(g) => g.shape?.form ?? ""} columns={[
          { key: "operation", title: t("metrics.operation"), cell: (g) => <span class="row">{g.shape?.operation}{g.shape?.index !== undefined && <Badge plain>{g.shape.index}</Badge>}{g.shape?.filtered === true && <Badge plain tone="warning">{t("observe.filtered")}</Badge>}</span> },
          { key: "keys", title: t("observe.keys"), cell: (g) => (g.shape?.keys === undefined ? <span class="absent">–</span> : <span><code class="observed-keys">{g.shape.keys}</code>{(g.shape.more ?? 0) > 0 && <span class="muted small"> {t("observe.more", { n: g.shape.more ?? 0 })}</span>}</span>) },
          { key: "count", title: t("observe.requestsIn"), numeric: true, cell: (g) => format.number(Math.round(g.count)) },
          { key: "rate", title: t("observe.rate"), numeric: true, cell: (g) => each(g.count) },
          { key: "units", title: t("observe.units"), numeric: true, cell: (g) => unitsOf(g) },
          ...latencies<Group>((g) => g),
        ]} />
      )}
    </section>
  );
}

function PatternLinks({ table, row }: { table: string; row: Row }) {
  return (
    <span class="row">
      {row.patterns.map((p, n) => <span key={p.name}>{n > 0 && <span class="muted">{t("observe.or")} </span>}<a class="strong" href={link("/tables/:table/patterns/:pattern", { table, pattern: p.name })}>{p.name}</a></span>)}
      {Object.entries(row.group?.errors ?? {}).map(([code, n]) => <Badge key={code} plain tone="danger">{code} × {format.number(Math.round(n))}</Badge>)}
    </span>
  );
}

/** Average units of a request. */
function unitsOf(g: Group): string {
  return [...(g.readUnits > 0 || g.writeUnits === 0 ? [`${figure(g.readUnits / g.count)} RCU`] : []), ...(g.writeUnits > 0 ? [`${figure(g.writeUnits / g.count)} WCU`] : [])].join(" · ");
}

function latencies<R>(of: (row: R) => Group | undefined) {
  const cell = (q: number) => (row: R) => {
    const value = quantile(of(row)?.took ?? [], q);
    return value === undefined ? <span class="absent">–</span> : milliseconds(value);
  };
  return [{ key: "p50", title: t("observe.p50"), numeric: true, cell: cell(0.5) }, { key: "p99", title: t("metrics.p99"), numeric: true, cell: cell(0.99) }];
}

const figure = (n: number) => format.number(n, { maximumSignificantDigits: 3 });
