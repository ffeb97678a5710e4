// The design of a table, from the back end, and items interpreted by it.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { Problem, language } from "#ui";
import { askDesign } from "./api.ts";
import type { Item, Value } from "./value.ts";

export interface Field { name: string; doc?: string; type: string; kind: string; optional?: boolean; path: string[]; values?: string[]; to?: string[] }
export interface KeyTemplate { attribute: string; template: string; parts: { text: string; field?: string }[] }
export interface DesignPlace { name: string; kind: "key" | "copy" | "marker" | "entry"; index?: string; keys: KeyTemplate[]; where?: string }
export interface Entity { name: string; doc?: string; table: string; fields: Field[]; places: DesignPlace[]; items?: number; size?: number }
export interface Finding { rule: string; severity: "error" | "warning" | "info"; subject: string; message: string; witness?: string; fix?: string; accepted?: string }

export interface Request { operation: string; table: string; index?: string; forward: boolean; limit?: number; consistent: boolean; times: number; then?: Request; first?: Request; keyCondition?: string }

export interface Schema {
  type?: string | string[];
  description?: string;
  enum?: string[];
  format?: string;
  contentEncoding?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

export interface Pattern {
  name: string;
  kind: "read" | "collection" | "write";
  doc?: string;
  summary: string;
  entity: string;
  request?: Request;
  place?: string;
  freshness?: string;
  readUnits?: number;
  leastUnits?: number;
  mostUnits?: number;
  writeUnits?: number;
  lacks?: string[];
  near?: { place: string; serves: boolean; readUnits?: number; lacks?: string[] }[];
  items?: { action: string; place: string; key: string; each?: boolean; when?: string; units: number; entries?: string[] }[];
  transaction?: boolean;
  batch?: boolean;
  rate?: number;
  month: number;
  schema?: Schema;
  fault?: string;
}

export interface Design {
  name: string;
  doc?: string;
  source: { file: string; version?: number; at?: string };
  /** The actual table names by those in the design; of is this table's name in the design. */
  own: Record<string, string>;
  of: string;
  tables: { name: string; physical: string; typeAttr?: string; ttlAttr?: string }[];
  entities: Entity[];
  patterns: Pattern[];
  findings: Finding[];
  month: { region: string; onDemand: number; storageCost: number; total: number };
}

export interface Segment { text: string; field?: string }
export interface Link { entity?: string; table?: string; key?: Item; pattern?: string; arguments?: Record<string, unknown> }
export interface Meaning { entity?: string; place?: string; entries?: string[]; keys?: Record<string, Segment[]>; links?: Link[] }

export type DesignState = Design | Problem | null | "loading";

const states = signal<Readonly<Record<string, DesignState>>>({});

/** The back end describes a design in the language of the page. */
const keyOf = (table: string) => `${language.value} ${table}`;

/** The design of a table if known; null if it has none. */
export function designState(table: string): DesignState {
  const known = states.value[keyOf(table)];
  if (known === undefined) queueMicrotask(() => void loadDesign(table));
  return known ?? "loading";
}

export function designOf(table: string): Design | undefined {
  const state = designState(table);
  return state === "loading" || state === null || state instanceof Problem ? undefined : state;
}

const asked = new Set<string>();

export async function loadDesign(table: string): Promise<void> {
  const key = keyOf(table);
  if (asked.has(key)) return;
  asked.add(key);
  let state: DesignState;
  try {
    state = (await askDesign<{ design: Design | null }>("model", { table })).design;
  } catch (thrown) {
    state = Problem.of(thrown);
  }
  asked.delete(key);
  states.value = { ...states.value, [key]: state };
}

/** The interpretation of items; undefined until known, or without a design; a Problem if the back end refuses. */
export function useMeanings(table: string, index: string, items: readonly Item[]): readonly Meaning[] | Problem | undefined {
  const design = designOf(table);
  const [known, set] = useState<{ of: readonly Item[]; meanings: readonly Meaning[] | Problem } | undefined>();
  const text = JSON.stringify(items);
  useEffect(() => {
    if (!design) return;
    const mine = new AbortController();
    askDesign<{ items: Meaning[] }>("items", { table, index, items }, mine.signal)
      .then((said) => said.items, (thrown: unknown) => Problem.of(thrown)).then((meanings) => { if (!mine.signal.aborted) set({ of: items, meanings }); });
    return () => mine.abort();
  }, [table, index, text, design]);
  return known !== undefined && design && (known.of === items || JSON.stringify(known.of) === text) ? known.meanings : undefined;
}

/** The value of a field in a stored item. */
export function fieldOf(item: Item, field: Field): Value | undefined {
  let at: Value | undefined = { M: item };
  for (const step of field.path) {
    at = at && "M" in at ? at.M[step] : undefined;
  }
  return at;
}

/** The colour of a field or entity, the same everywhere. */
export function fieldColour(design: Design, field: string): string {
  const all = [...new Set(design.entities.flatMap((e) => e.places.flatMap((p) => p.keys.flatMap((k) => k.parts.flatMap((x) => (x.field ? [x.field] : []))))))];
  const n = all.indexOf(field);
  return `var(--kind-${n < 0 ? 8 : (n % 7) + 1})`;
}

const glyphs = ["●", "■", "▲", "◆", "★", "⬟", "✚", "○"];

export function entityMark(design: Design, entity: string | undefined): { glyph: string; colour: string } {
  const n = design.entities.findIndex((e) => e.name === entity);
  return n < 0 ? { glyph: "?", colour: "var(--warning)" } : { glyph: glyphs[n % glyphs.length] ?? "●", colour: `var(--kind-${(n % 8) + 1})` };
}

/** The findings about a pattern or an entity and its parts, without accepted ones. */
export function findingsOf(design: Design, subject: string): Finding[] {
  return design.findings.filter((f) => f.accepted === undefined && (f.subject === subject || f.subject.startsWith(`${subject}.`)));
}
