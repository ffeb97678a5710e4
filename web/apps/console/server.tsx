// Metrics of a table, or of all tables of a server, over the last hours: requests, latencies, capacity, errors.
import { Gauge } from "lucide";
import { useEffect } from "preact/hooks";
import { Badge, Empty, Select, Stat, Table as Rows, TableSkeleton, format, useLoaded, useTitle } from "#ui";
import { onAWS } from "./api.ts";
import { choice } from "./asked.ts";
import { Chart } from "./chart.tsx";
import { Fault } from "./fault.tsx";
import { HotKeys } from "./hot-keys.tsx";
import { type Metrics, type OperationSum, measure } from "./metrics.ts";
import { ServerHead } from "./server-views.tsx";
import { TablePlace } from "./table-place.tsx";
import { t } from "./words.ts";

/** All tables of this server. */
export function ServerPage() {
  useTitle(t("server"));
  return <div class="stack"><ServerHead /><Measured table={undefined} /></div>;
}

export function TableMetricsPage({ name }: { name: string }) {
  useTitle(`${name} · ${t("metrics")}`);
  return <TablePlace name={name}>{() => <><Measured table={name} /><HotKeys table={name} /></>}</TablePlace>;
}

const pause = onAWS ? 60_000 : 5000; // milliseconds: AWS counts by the minute, and each request costs money
const stretches = { "60": "metrics.hour", "180": "metrics.hours3", "720": "metrics.hours12" } as const;
type Stretch = keyof typeof stretches;
const choices = Object.keys(stretches) as Stretch[];

function Measured({ table }: { table: string | undefined }) {
  const [stretch, choose] = choice("minutes", choices, "60");
  const loaded = useLoaded((abort) => measure(table, Number(stretch), abort), [table, stretch]);
  const m = loaded.value.value;
  useEffect(() => {
    const timer = m ? setTimeout(() => void loaded.reload(), pause) : undefined;
    return () => clearTimeout(timer);
  }, [m]);
  return (
    <>
      <div class="row metrics-head">
        <p class="muted small grow">{t(onAWS ? "metrics.aws" : "metrics.live")}</p>
        <Select label={t("metrics.stretch")} labelHidden value={stretch} onInput={choose} choices={choices.map((k) => ({ value: k, label: t(stretches[k]) }))} />
      </div>
      {loaded.problem.value && !m ? <Fault problem={loaded.problem.value} onRetry={() => loaded.reload()} /> : !m ? <TableSkeleton columns={4} rows={6} />
        : m.operations.length === 0 ? <Empty level={2} icon={Gauge} title={t("metrics.none")}>{t("metrics.noneText")}</Empty>
        : <Measures m={m} />}
      {loaded.problem.value && m && <Fault problem={loaded.problem.value} />}
    </>
  );
}

const small = { maximumFractionDigits: 2, maximumSignificantDigits: 3 } as const;
const plain = (v: number) => format.number(v, small);
const milliseconds = (v: number) => format.number(v, { ...small, style: "unit", unit: "millisecond", unitDisplay: "short" });

function Measures({ m }: { m: Metrics }) {
  const all = m.operations.reduce((sum, o) => sum + o.requests, 0);
  const lost = m.operations.reduce((sum, o) => sum + o.errors, 0);
  const throttled = m.operations.reduce((sum, o) => sum + o.throttled, 0);
  const average = all === 0 ? 0 : m.operations.reduce((sum, o) => sum + o.average * o.requests, 0) / all;
  return (
    <>
      <div class="grid" style={{ "--column": "11rem" }}>
        <Stat label={t("metrics.requests")} value={format.number(all)} />
        <Stat label={t("metrics.average")} value={milliseconds(average)} />
        <Stat label={t("metrics.throttled")} value={<Count n={throttled} />} />
        <Stat label={t("metrics.errors")} value={<Count n={lost} />} />
      </div>
      <div class="grid charts" style={{ "--column": "28rem" }}>
        <Chart title={t("metrics.perSecond")} times={m.times} series={m.requests} show={plain} />
        <Chart title={t("metrics.p99")} times={m.times} series={m.latency} show={milliseconds} />
        <Chart title={t("metrics.units")} times={m.times} series={m.capacity} show={plain} />
        <Chart title={t("metrics.trouble")} times={m.times} series={m.trouble} show={plain} />
      </div>
      <Rows caption={t("metrics.operations")} rows={m.operations} rowKey={(o) => o.name} columns={[
        { key: "name", title: t("metrics.operation"), cell: (o: OperationSum) => o.name },
        { key: "requests", title: t("metrics.requests"), numeric: true, cell: (o) => format.number(o.requests) },
        { key: "average", title: t("metrics.average"), numeric: true, cell: (o) => milliseconds(o.average) },
        { key: "p99", title: t("metrics.p99"), numeric: true, cell: (o) => milliseconds(o.p99) },
        { key: "throttled", title: t("metrics.throttled"), numeric: true, cell: (o) => <Count n={o.throttled} /> },
        { key: "errors", title: t("metrics.errors"), numeric: true, cell: (o) => <Count n={o.errors} /> },
      ]} />
    </>
  );
}

/** A number that should be zero. */
function Count({ n }: { n: number }) {
  return n === 0 ? <span class="muted">0</span> : <Badge tone="danger">{format.number(n)}</Badge>;
}
