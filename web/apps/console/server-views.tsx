// The server's views next to its metrics: slow requests, storage, and the servers that share the store.
import { Gauge, HardDrive, Network, Timer, Turtle, type IconNode } from "lucide";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Badge, Button, Card, Empty, Icon, Notice, Stat, Table as Rows, TableSkeleton, format, here, link, useChosenInSight, useTitle } from "#ui";
import { Chart } from "./chart.tsx";
import { Fault } from "./fault.tsx";
import { type ServerState, type Sharer, type SlowRequest, type Storage, type Watched, perSecond, useServer } from "./server-state.ts";
import { bytes } from "./show.tsx";
import { t } from "./words.ts";

const views: readonly { path: `/server${string}`; label: "metrics" | "slow" | "storage" | "members"; icon: IconNode }[] = [
  { path: "/server", label: "metrics", icon: Gauge }, { path: "/server/slow", label: "slow", icon: Timer },
  { path: "/server/storage", label: "storage", icon: HardDrive }, { path: "/server/members", label: "members", icon: Network },
];

export function ServerHead() {
  const row = useChosenInSight<HTMLElement>(here.value.path);
  return (
    <>
      <h1>{t("server")}</h1>
      <nav class="table-views" aria-label={t("server.views")} ref={row}>
        {views.map((v) => <a key={v.path} href={link(v.path)} aria-current={here.value.path === v.path ? "page" : undefined}><Icon of={v.icon} size={15} />{t(v.label)}</a>)}
      </nav>
    </>
  );
}

function Watching({ title, children }: { title: "slow" | "storage" | "members"; children: (state: ServerState, watched: Watched) => ComponentChildren }) {
  useTitle(`${t("server")} · ${t(title)}`);
  const watched = useServer();
  const { state, problem } = watched;
  return (
    <div class="stack">
      <ServerHead />
      {problem && !state ? <Fault problem={problem} onRetry={watched.reload} /> : !state ? <TableSkeleton columns={5} rows={6} /> : children(state, watched)}
      {problem && state && <Fault problem={problem} />}
    </div>
  );
}

export const milliseconds = (v: number) => format.number(v, { style: "unit", unit: "millisecond", unitDisplay: "short", maximumFractionDigits: v < 10 ? 2 : 0 });

const shownFirst = 25; // rows

export function SlowPage() {
  const [all, showAll] = useState(false);
  return (
    <Watching title="slow">
      {(s) => (s.SlowRequests.length === 0
        ? <Empty level={2} icon={Turtle} title={t("slow.none", { from: milliseconds(s.SlowFrom) })}>{t("slow.noneText")}</Empty>
        : (
          <>
            <p class="muted small">{t("slow.text", { n: s.SlowRequests.length, total: s.SlowTotal, from: milliseconds(s.SlowFrom), since: format.dateTime(s.Started * 1000) })}</p>
            <Rows caption={t("slow")} rows={all ? s.SlowRequests : s.SlowRequests.slice(0, shownFirst)} rowKey={(r) => r.ID}
              foot={!all && s.SlowRequests.length > shownFirst ? <Button onPress={() => showAll(true)}>{t("slow.all", { n: s.SlowRequests.length })}</Button> : undefined} columns={[
              { key: "time", title: t("slow.time"), cell: (r) => <span class="number">{format.dateTime(r.Time * 1000, { dateStyle: "short", timeStyle: "medium" })}</span> },
              { key: "operation", title: t("metrics.operation"), cell: (r) => <span class="row slow-operation">{r.Operation}{r.Error !== undefined && <Badge plain tone="danger">{r.Error}</Badge>}</span> },
              { key: "tables", title: t("tables"), cell: (r) => r.Tables.map((name, n) => <span key={name}>{n > 0 && ", "}<a href={link("/tables/:table/metrics", { table: name })}>{name}</a></span>) },
              { key: "took", title: t("slow.took"), numeric: true, cell: (r) => milliseconds(r.Took) },
              { key: "waits", title: t("slow.waits"), cell: (r) => <Waits request={r} /> },
              { key: "id", title: t("slow.id"), cell: (r) => <code class="slow-id">{r.ID}</code> },
            ]} />
          </>
        ))}
    </Watching>
  );
}

/** What a request waited for, as shares of its time and as text. */
function Waits({ request: r }: { request: SlowRequest }) {
  const known = [{ name: "slow.latch", ms: r.LatchWait, kind: 1 }, { name: "slow.sync", ms: r.SyncWait, kind: 2 }, { name: "slow.read", ms: r.ReadTime, kind: 3 }] as const;
  const rest = Math.max(0, r.Took - known.reduce((n, w) => n + w.ms, 0));
  const parts = [...known, { name: "slow.rest", ms: rest, kind: 8 } as const].filter((p) => p.ms >= r.Took / 200);
  return (
    <div class="waits">
      <div class="waits-bar" aria-hidden="true">{parts.map((p) => <span key={p.name} style={{ "--share": `${(100 * p.ms) / Math.max(r.Took, 0.001)}%`, "--kind": `var(--kind-${p.kind})` }} />)}</div>
      <span class="small">{parts.map((p) => `${t(p.name)} ${milliseconds(p.ms)}`).join(" · ")}</span>
    </div>
  );
}

export function StoragePage() {
  return (
    <Watching title="storage">
      {(s, { samples }) => (s.Storage ? <Stored storage={s.Storage} samples={samples} /> : <Empty level={2} icon={HardDrive} title={t("storage.none")}>{t("storage.noneText")}</Empty>)}
    </Watching>
  );
}

const ratio = (v: number) => `${format.number(v, { maximumFractionDigits: 1 })}×`;

function Stored({ storage: s, samples }: { storage: Storage; samples: readonly ServerState[] }) {
  const asked = s.CacheHits + s.CacheMisses;
  const times = samples.slice(1).map((x) => x.Now);
  const rate = (v: number) => t("storage.each", { size: bytes(v) });
  return (
    <>
      {s.Stalled && <Notice tone="danger">{t("storage.stalled")}</Notice>}
      {s.FileSystemBytes > 0 && s.FileSystemWritable === 0 && <Notice tone="danger">{t("storage.full")}</Notice>}
      <div class="grid" style={{ "--column": "11rem" }}>
        <Stat label={t("storage.disk")} value={bytes(s.TablesBytes + s.LogBytes + s.ObsoleteBytes)} note={t("storage.log", { size: bytes(s.LogBytes), n: s.LogFiles })} />
        {s.FileSystemBytes > 0 && <Stat label={t("storage.free")} value={bytes(s.FileSystemFree)} note={t("storage.of", { size: bytes(s.FileSystemBytes) })} />}
        <Stat label={t("storage.writeAmplification")} value={s.WriteAmplification > 0 ? ratio(s.WriteAmplification) : "–"} note={t("storage.writeText")} />
        <Stat label={t("storage.readAmplification")} value={format.number(s.ReadAmplification)} note={t("storage.readText")} />
        <Stat label={t("storage.cache")} value={asked > 0 ? format.percent(s.CacheHits / asked) : "–"} note={bytes(s.CacheBytes)} />
        <Stat label={t("storage.sync")} value={s.Syncs > 0 ? milliseconds(s.SyncMean) : "–"} note={t("storage.syncs", { n: s.Syncs })} />
      </div>
      <Room storage={s} />
      <Card level={2} title={t("storage.levels")}>
        <p class="muted small levels-text">{t("storage.levelsText")}</p>
        <Rows caption={t("storage.levels")} cards={false} rows={s.Levels.map((l, n) => ({ ...l, n })).filter((l) => l.n === 0 || l.Files + l.Out > 0 || l.n === s.Levels.length - 1)} rowKey={(l) => String(l.n)} columns={[
          { key: "level", title: t("storage.level"), cell: (l) => <span class="strong">L{l.n}</span> },
          { key: "files", title: t("storage.files"), numeric: true, cell: (l) => format.number(l.Files) },
          { key: "bytes", title: t("table.size"), numeric: true, cell: (l) => bytes(l.Bytes) },
          { key: "in", title: t("storage.in"), numeric: true, cell: (l) => bytes(l.In) },
          { key: "out", title: t("storage.out"), numeric: true, cell: (l) => bytes(l.Out) },
          { key: "due", title: t("storage.due"), cell: (l) => (l.Score >= 1 ? <Badge tone="warning">{t("storage.dueNow")}</Badge> : <span class="muted">–</span>) },
        ]} />
      </Card>
      <h2 class="part">{t("compaction")}</h2>
      <div class="grid" style={{ "--column": "11rem" }}>
        <Stat label={t("compaction.running")} value={format.number(s.CompactionsRunning)} note={t("compaction.ended", { n: s.Compactions })} />
        <Stat label={t("compaction.debt")} value={bytes(s.CompactionDebt)} note={t("compaction.debtText")} />
        <Stat label={t("compaction.stalls")} value={s.Stalls === 0 ? <span class="muted">0</span> : <Badge tone="danger">{format.number(s.Stalls)}</Badge>} note={s.Stalls > 0 ? milliseconds(s.StallTime) : t("compaction.stallsText")} />
        <Stat label={t("compaction.failed")} value={s.CompactionsFailed === 0 ? <span class="muted">0</span> : <Badge tone="danger">{format.number(s.CompactionsFailed)}</Badge>} note={t("compaction.failedText")} />
      </div>
      <div class="grid charts">
        <Chart title={t("compaction.written")} times={times} show={rate} least={10_000} series={times.length < 2 ? [] : [{ name: t("compaction.toLog"), values: perSecond(samples, (x) => x.WrittenToLog) }, { name: t("compaction.toTables"), values: perSecond(samples, (x) => x.WrittenToTables) }]} />
        <Chart title={t("compaction.debt")} times={times} show={bytes} least={10_000} series={times.length < 2 ? [] : [{ name: t("compaction.debt"), values: samples.slice(1).map((x) => x.Storage?.CompactionDebt ?? null) }]} />
      </div>
    </>
  );
}

/** The disk as a bar: the store's use by kind, other use, and free space. */
function Room({ storage: s }: { storage: Storage }) {
  if (s.FileSystemBytes === 0) return null;
  const own = s.TablesBytes + s.LogBytes + s.ObsoleteBytes;
  const parts = [
    { label: t("storage.tables"), size: s.TablesBytes, kind: "var(--kind-1)" }, { label: t("storage.wal"), size: s.LogBytes, kind: "var(--kind-2)" },
    { label: t("storage.obsolete"), size: s.ObsoleteBytes, kind: "var(--kind-3)" }, { label: t("storage.others"), size: Math.max(0, s.FileSystemBytes - s.FileSystemFree - own), kind: "var(--border-strong)" },
    { label: t("storage.freeRoom"), size: s.FileSystemFree, kind: "var(--surface-3)" },
  ];
  return (
    <figure class="room">
      <div class="waits-bar" aria-hidden="true">{parts.map((p) => <span key={p.label} style={{ "--share": `${(100 * p.size) / s.FileSystemBytes}%`, "--kind": p.kind }} />)}</div>
      <figcaption><ul class="row chart-legend">{parts.map((p) => <li key={p.label}><span class="room-mark" aria-hidden="true" style={{ "--kind": p.kind }} />{p.label} <span class="muted number">{bytes(p.size)}</span></li>)}</ul></figcaption>
    </figure>
  );
}

export function MembersPage() {
  return (
    <Watching title="members">
      {(s) => (s.Servers.length === 0
        ? <Empty level={2} icon={Network} title={t("members.one")}>{t("members.oneText")}</Empty>
        : (
          <>
            <p class="muted small">{t("members.text")}</p>
            <Rows caption={t("members")} rows={s.Servers} rowKey={(m) => m.ID} columns={[
              { key: "id", title: t("members.id"), cell: (m: Sharer) => <span class="row slow-operation"><code>{m.ID}</code>{m.Self && <Badge plain tone="accent">{t("members.self")}</Badge>}</span> },
              { key: "state", title: t("table.status"), beside: true, cell: (m) => <Badge tone={m.Serves ? "success" : "warning"}>{t(m.Serves ? "members.serves" : "members.ended")}</Badge> },
              { key: "until", title: t("members.lease"), cell: (m) => (m.Left >= 0 ? t("members.left", { time: milliseconds(m.Left) }) : t("members.over", { at: format.dateTime(m.Until * 1000, { dateStyle: "short", timeStyle: "medium" }) })) },
              { key: "leads", title: t("members.leads"), cell: (m) => (m.Leads ? <span>{t("members.term", { n: m.Term ?? 0 })}</span> : <span class="muted">–</span>) },
              { key: "current", title: t("members.definitions"), cell: (m) => (m.Current ? t("members.current") : <Badge plain tone="warning">{t("members.behind")}</Badge>) },
            ]} />
          </>
        ))}
    </Watching>
  );
}
