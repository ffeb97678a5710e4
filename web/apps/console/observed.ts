// The requests on a table, aggregated by pattern.
import type { Design, Pattern } from "./design.ts";

/** A request that matches no pattern, with its keys as text. Requests that differ only in values have the same form. */
export interface Shape { operation: string; index?: string; keys?: string; more?: number; filtered?: boolean; form: string }

/** Requests of the same patterns, or of one form; durations are milliseconds. */
export interface Group { patterns?: string[]; shape?: Shape; count: number; readUnits: number; writeUnits: number; took: number[]; errors?: Record<string, number> }

/** The back end's report on the requests since the previous call: total have arrived, kept of them are in the groups. */
export interface Observed { after: string; total: number; kept: number; now: number; for: number; groups: Group[]; foreign: Group[]; unknownItems: number; cut: number; others?: number }

/** Everything since the page was opened. Counts and units are scaled if the server has not kept all requests. */
export interface Sum {
  seconds: number;
  total: number;
  kept: number;
  unknownItems: number;
  cut: number;
  /** Other servers of the same store, whose requests are not here. */
  others: number;
  groups: ReadonlyMap<string, Group>;
  foreign: ReadonlyMap<string, Group>;
}

export const nothing: Sum = { seconds: 0, total: 0, kept: 0, unknownItems: 0, cut: 0, others: 0, groups: new Map(), foreign: new Map() };

const tookMax = 5000; // durations kept per group
const foreignMax = 200; // shapes

/** Adds the requests of some seconds. */
export function add(sum: Sum, seen: Observed, seconds: number): Sum {
  const scale = seen.kept > 0 ? seen.total / seen.kept : 1;
  const merged = (known: ReadonlyMap<string, Group>, more: readonly Group[], keyOf: (g: Group) => string) => {
    const out = new Map(known);
    for (const g of more) {
      const before = out.get(keyOf(g));
      const errors = { ...before?.errors };
      for (const [code, n] of Object.entries(g.errors ?? {})) errors[code] = (errors[code] ?? 0) + n * scale;
      out.set(keyOf(g), {
        ...g, errors, count: (before?.count ?? 0) + g.count * scale, readUnits: (before?.readUnits ?? 0) + g.readUnits * scale, writeUnits: (before?.writeUnits ?? 0) + g.writeUnits * scale,
        took: [...(before?.took ?? []), ...g.took].slice(-tookMax),
      });
    }
    return out;
  };
  const foreign = merged(sum.foreign, seen.foreign, (g) => g.shape?.form ?? "");
  return {
    seconds: sum.seconds + seconds, total: sum.total + seen.total, kept: sum.kept + seen.kept, unknownItems: sum.unknownItems + seen.unknownItems, cut: sum.cut + seen.cut, others: seen.others ?? 0,
    groups: merged(sum.groups, seen.groups, (g) => g.patterns?.join(" ") ?? ""),
    foreign: foreign.size <= foreignMax ? foreign : new Map([...foreign].sort(([, a], [, b]) => b.count - a.count).slice(0, foreignMax)),
  };
}

/** A quantile of durations; undefined if there are none. */
export function quantile(took: readonly number[], q: number): number | undefined {
  const sorted = [...took].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

export interface Row { key: string; patterns: Pattern[]; group: Group | undefined }

/** One row per pattern, or set of patterns that send the same request; those with requests first. */
export function rowsOf(design: Design, sum: Sum): Row[] {
  const rows: Row[] = [...sum.groups].map(([key, group]) => ({ key, group, patterns: design.patterns.filter((p) => group.patterns?.includes(p.name)) }));
  const shown = new Set(rows.flatMap((r) => r.patterns.map((p) => p.name)));
  for (const p of design.patterns) {
    if (!shown.has(p.name)) rows.push({ key: p.name, group: undefined, patterns: [p] });
  }
  const declared = (r: Row) => r.patterns.reduce((n, p) => n + (p.rate ?? 0), 0);
  return rows.sort((a, b) => (b.group?.count ?? 0) - (a.group?.count ?? 0) || declared(b) - declared(a));
}
