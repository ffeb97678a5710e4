// CloudWatch's metrics of tables by minute, of this server and of AWS.
import { call } from "./api.ts";

export interface Series {
  /** Its subject: an operation or a kind of event. */
  name: string;
  /** Values aligned with Metrics.times; null if nothing was measured. */
  values: (number | null)[];
}

/** Totals of an operation over the whole range. */
export interface OperationSum {
  name: string;
  requests: number;
  average: number;
  p99: number;
  throttled: number;
  errors: number;
}

export interface Metrics {
  /** The starts of the periods, in seconds. */
  times: number[];
  period: number;
  requests: Series[];
  latency: Series[];
  capacity: Series[];
  trouble: Series[];
  operations: OperationSum[];
}

interface Metric { Namespace: string; MetricName: string; Dimensions: { Name: string; Value: string }[] }
interface Query { metric: Metric; stat: string; operation: string }

const namespace = "AWS/DynamoDB";
const pagesMax = 40; // of 500 metrics
const queriesMax = 500; // of a request
const minute = 60;

/** Metrics with data in the last three hours; of a table, or of all. */
async function listMetrics(table: string | undefined, names: readonly string[] | undefined, abort: AbortSignal | undefined): Promise<Metric[]> {
  const found: Metric[] = [];
  let token: string | undefined;
  for (let n = 0; n < pagesMax; n++) {
    const page: { Metrics?: Metric[]; NextToken?: string } = await call("ListMetrics", {
      Namespace: namespace, RecentlyActive: "PT3H", ...(table === undefined ? {} : { Dimensions: [{ Name: "TableName", Value: table }] }), ...(names?.length === 1 ? { MetricName: names[0] } : {}), ...(token === undefined ? {} : { NextToken: token }),
    }, abort);
    found.push(...page.Metrics ?? []);
    token = page.NextToken;
    if (token === undefined) break;
  }
  return found.filter((m) => !m.Dimensions.some((d) => d.Name === "GlobalSecondaryIndexName") && (!names || names.includes(m.MetricName)));
}

/** The results of the queries by time, in as many requests of queriesMax queries as needed. */
async function values(queries: readonly Query[], from: number, to: number, period: number, abort: AbortSignal | undefined): Promise<Map<number, number>[]> {
  const found = queries.map(() => new Map<number, number>());
  for (let first = 0; first < queries.length; first += queriesMax) {
    const some = queries.slice(first, first + queriesMax);
    let token: string | undefined;
    do {
      const page: { MetricDataResults: { Id: string; Timestamps: number[]; Values: number[] }[]; NextToken?: string } = await call("GetMetricData", {
        StartTime: from, EndTime: to, ScanBy: "TimestampAscending", ...(token === undefined ? {} : { NextToken: token }),
        MetricDataQueries: some.map((q, n) => ({ Id: `q${n}`, MetricStat: { Metric: q.metric, Period: period, Stat: q.stat } })),
      }, abort);
      for (const r of page.MetricDataResults) r.Timestamps.forEach((at, n) => found[first + Number(r.Id.slice(1))]?.set(at, r.Values[n] ?? 0));
      token = page.NextToken;
    } while (token !== undefined);
  }
  return found;
}

const dimension = (m: Metric, name: string) => m.Dimensions.find((d) => d.Name === name)?.Value ?? "";
const latencyStats = ["SampleCount", "Sum", "p99"];
const others = ["ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "ThrottledRequests", "SystemErrors", "UserErrors", "ConditionalCheckFailedRequests", "TransactionConflict"];

/** The counts of the last minutes, of a table or of all. */
export async function measure(table: string | undefined, minutes: number, abort?: AbortSignal): Promise<Metrics> {
  const period = minutes > 180 ? 5 * minute : minute;
  const to = Math.floor(Date.now() / 1000 / period) * period + period;
  const from = to - minutes * minute;
  const known = await listMetrics(table, undefined, abort);
  const queries = known.flatMap((metric): Query[] => {
    const operation = dimension(metric, "Operation");
    if (metric.MetricName === "SuccessfulRequestLatency") return latencyStats.map((stat) => ({ metric, stat, operation }));
    return others.includes(metric.MetricName) ? [{ metric, stat: "Sum", operation }] : [];
  });
  const read = queries.length === 0 ? [] : await values(queries, from, to, period, abort);
  const times = Array.from({ length: (to - from) / period }, (_, n) => from + n * period);
  const of = (metric: string, stat: string, operation?: string) => read.filter((_, n) => {
    const q = queries[n];
    return q?.metric.MetricName === metric && q.stat === stat && (operation === undefined || q.operation === operation);
  });
  const total = (all: readonly Map<number, number>[]) => all.reduce((sum, m) => sum + [...m.values()].reduce((a, b) => a + b, 0), 0);
  const added = (all: readonly Map<number, number>[], by: number) => times.map((at) => all.reduce((sum, m) => sum + (m.get(at) ?? 0), 0) / by);
  const worst = (all: readonly Map<number, number>[]) => times.map((at) => {
    const there = all.flatMap((m) => m.get(at) ?? []);
    return there.length === 0 ? null : Math.max(...there);
  });
  const names = [...new Set(queries.map((q) => q.operation).filter(Boolean))];
  const operations = names.map((name): OperationSum => {
    const requests = total(of("SuccessfulRequestLatency", "SampleCount", name));
    return {
      name, requests, average: requests === 0 ? 0 : total(of("SuccessfulRequestLatency", "Sum", name)) / requests,
      p99: Math.max(0, ...worst(of("SuccessfulRequestLatency", "p99", name)).map((v) => v ?? 0)),
      throttled: total(of("ThrottledRequests", "Sum", name)), errors: total(of("SystemErrors", "Sum", name)),
    };
  }).filter((o) => o.requests + o.throttled + o.errors > 0).sort((a, b) => b.requests - a.requests);
  const drawn = operations.slice(0, 8).map((o) => o.name); // as many as there are colours
  const events = ["ThrottledRequests", "SystemErrors", "UserErrors", "ConditionalCheckFailedRequests", "TransactionConflict"];
  return {
    times, period, operations,
    requests: drawn.map((name) => ({ name, values: added(of("SuccessfulRequestLatency", "SampleCount", name), period) })),
    latency: drawn.map((name) => ({ name, values: worst(of("SuccessfulRequestLatency", "p99", name)) })),
    capacity: [{ name: "RCU", values: added(of("ConsumedReadCapacityUnits", "Sum"), period) }, { name: "WCU", values: added(of("ConsumedWriteCapacityUnits", "Sum"), period) }],
    trouble: events.map((name) => ({ name, values: added(of(name, "Sum"), 1) })).filter((s) => s.values.some((v) => v > 0)),
  };
}

/** A table's metrics of the last five minutes. */
export interface Rate { perSecond: number; throttled: number; errors: number }

const lately = 5 * minute;

/** The rates of all tables, by name. */
export async function rates(abort?: AbortSignal): Promise<Map<string, Rate>> {
  const queries = (await listMetrics(undefined, ["SuccessfulRequestLatency", "ThrottledRequests", "SystemErrors"], abort)).map((metric): Query => ({ metric, stat: metric.MetricName === "SuccessfulRequestLatency" ? "SampleCount" : "Sum", operation: "" }));
  const to = Math.floor(Date.now() / 1000 / minute) * minute + minute;
  const found = new Map<string, Rate>();
  if (queries.length === 0) return found;
  const read = await values(queries, to - lately, to, minute, abort);
  for (const [n, q] of queries.entries()) {
    const table = dimension(q.metric, "TableName");
    const rate = found.get(table) ?? { perSecond: 0, throttled: 0, errors: 0 };
    const sum = [...(read[n] ?? new Map<number, number>()).values()].reduce((a, b) => a + b, 0);
    if (q.metric.MetricName === "SuccessfulRequestLatency") rate.perSecond += sum / lately;
    else if (q.metric.MetricName === "ThrottledRequests") rate.throttled += sum;
    else rate.errors += sum;
    found.set(table, rate);
  }
  return found;
}
