// The patterns of a table's design with their costs; in other views, a list of links.
import { Workflow } from "lucide";
import { Badge, Empty, Problem, Skeleton, Stat, Table, format, here, link, useTitle } from "#ui";
import { served } from "./api.ts";
import { type Design, type Pattern, type Request, designState, findingsOf, loadDesign } from "./design.ts";
import { EntityName, Findings, dollars } from "./design-bits.tsx";
import { Fault } from "./fault.tsx";
import { Measured } from "./measured.tsx";
import { TableHead } from "./items.tsx";
import { type Table as Described, loadTable, tableState } from "./schema.ts";
import { Waiting } from "./tables.tsx";
import { t } from "./words.ts";

/** A view of a table that needs its design. */
export function Designed({ name, side, children }: { name: string; side: (design: Design) => preact.ComponentChildren; children: (design: Design, table: Described) => preact.ComponentChildren }) {
  const table = tableState(name);
  const design = designState(name);
  if (table === "loading" || table instanceof Problem) {
    return <Waiting state={table} onRetry={() => loadTable(name)} />;
  }
  if (design === "loading") {
    return <Skeleton lines={8} />;
  }
  if (design instanceof Problem) {
    return <Fault problem={design} onRetry={() => loadDesign(name)} />;
  }
  if (design === null) {
    return <Empty level={1} icon={Workflow} title={t("design.none")} action={<code>monotable design attach FILE --table {name}</code>}>{t("design.noneText")}</Empty>;
  }
  return (
    <div class="with-sidebar">
      {side(design)}
      <div class="stack beside">
        <TableHead table={table} />
        {children(design, table)}
      </div>
    </div>
  );
}

export function PatternSidebar({ table, design }: { table: string; design: Design }) {
  return (
    <nav class="sidebar" aria-label={t("design.patterns")}>
      <div class="sidebar-list">
        {byEntity(design).map(([entity, patterns]) => (
          <section key={entity} class="sidebar-group">
            <h2><EntityName design={design} entity={entity} /></h2>
            <ul>
              {patterns.map((p) => {
                const to = link("/tables/:table/patterns/:pattern", { table, pattern: p.name });
                return <li key={p.name}><a href={to} aria-current={here.value.path === to.slice(1) ? "page" : undefined}><span class="clip">{p.name}</span><span class="index-sort number">{p.rate ? t("pattern.perSecond", { n: p.rate }) : ""}</span></a></li>;
              })}
            </ul>
          </section>
        ))}
      </div>
    </nav>
  );
}

export function byEntity(design: Design): [string, Pattern[]][] {
  const names = [...new Set([...design.entities.map((e) => e.name), ...design.patterns.map((p) => p.entity)])];
  return names.map((n): [string, Pattern[]] => [n, design.patterns.filter((p) => p.entity === n)]).filter(([, list]) => list.length > 0);
}

export function KindBadge({ kind }: { kind: Pattern["kind"] }) {
  return <Badge plain tone={kind === "write" ? "warning" : "info"}>{t(`pattern.${kind}`)}</Badge>;
}

/** Describes in a sentence what DynamoDB does for a pattern. */
export function does(p: Pattern): string {
  if (p.kind === "write") {
    const n = p.items?.length ?? 0;
    return t(p.batch ? "does.batch" : p.transaction ? "does.transaction" : "does.write", { n });
  }
  if (!p.request) {
    return t("does.nothing");
  }
  return [...(p.request.first ? [t("does.first")] : []), one(p.request), ...(p.request.times > 1 ? [t("does.times", { n: p.request.times })] : []), ...(p.request.then ? [t("does.then")] : []), t(p.request.consistent ? "does.consistent" : "does.eventual")].join(" ");
}

function one(r: Request): string {
  const where = r.index ? t("does.index", { name: r.index }) : t("does.table");
  switch (r.operation) {
    case "GetItem": return t("does.get");
    case "BatchGetItem": return t("does.batchGet");
    case "Scan": return t("does.scan", { where });
    default: return t(r.forward ? "does.query" : "does.queryBack", { where }) + (r.limit ? ` ${t("does.limit", { n: r.limit })}` : "");
  }
}

export function units(p: Pattern): string {
  return p.kind === "write" ? t("units.write", { n: p.writeUnits ?? 0 }) : t("units.read", { n: p.readUnits ?? 0 });
}

export function PatternsPage({ name }: { name: string }) {
  useTitle(`${name} · ${t("design.patterns")}`);
  return <Designed name={name} side={(d) => <PatternSidebar table={name} design={d} />}>{(d) => <Overview table={name} design={d} />}</Designed>;
}

function Overview({ table, design }: { table: string; design: Design }) {
  const rows = byEntity(design).flatMap(([, list]) => list);
  const open = design.findings.filter((f) => f.accepted === undefined);
  const worst = (p: Pattern) => findingsOf(design, p.name).map((f) => f.severity);
  return (
    <>
      {design.doc && <p class="muted reading">{design.doc}</p>}
      <div class="grid stats-row">
        <Stat label={t("design.month")} value={dollars(design.month.total)} note={t("design.monthNote", { region: design.month.region })} />
        <Stat label={t("design.patterns")} value={format.number(rows.length)} note={t("design.rates", { n: rows.reduce((sum, p) => sum + (p.rate ?? 0), 0) })} />
        <Stat label={t("design.findings")} value={format.number(open.length)} note={t("design.findingsNote", { errors: open.filter((f) => f.severity === "error").length, warnings: open.filter((f) => f.severity === "warning").length })} />
      </div>
      <Table caption={t("design.patterns")} rows={rows} rowKey={(p) => p.name} columns={[
        { key: "name", title: t("pattern"), cell: (p) => <a class="strong" href={link("/tables/:table/patterns/:pattern", { table, pattern: p.name })}>{p.name}</a> },
        { key: "kind", title: t("pattern.kind"), beside: true, cell: (p) => <KindBadge kind={p.kind} /> },
        { key: "entity", title: t("design.entity"), cell: (p) => <EntityName design={design} entity={p.entity} /> },
        { key: "summary", title: t("pattern.summary"), cell: (p) => <span class="small">{p.summary}</span> },
        { key: "units", title: t("pattern.units"), numeric: true, cell: (p) => units(p) },
        { key: "rate", title: t("pattern.rate"), numeric: true, cell: (p) => (p.rate ? t("pattern.perSecond", { n: p.rate }) : <span class="absent">–</span>) },
        { key: "month", title: t("pattern.month"), numeric: true, cell: (p) => dollars(p.month) },
        { key: "findings", title: t("design.findings"), cell: (p) => { const s = worst(p); return s.includes("error") ? <Badge tone="danger">{t("severity.error")}</Badge> : s.includes("warning") ? <Badge tone="warning">{t("severity.warning")}</Badge> : s.length > 0 ? <Badge plain>{t("severity.info")}</Badge> : <span class="absent">–</span>; } },
      ]} />
      {served.value.metrics && <Measured table={table} design={design} />}
      {open.length > 0 && <section class="stack"><h2 class="part">{t("design.findings")}</h2><Findings findings={open} /></section>}
    </>
  );
}

