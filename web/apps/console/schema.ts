// Table descriptions, loaded once per name, a few at a time.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Problem } from "#ui";
import { type IndexDescription, type KeyElement, type TableDescription, call } from "./api.ts";

export interface Table {
  description: TableDescription;
  /** The TTL attribute; "" if there is none, undefined if the endpoint does not say. */
  ttl: string | undefined;
  pitr: boolean | undefined;
}

export type TableState = Table | Problem | "loading";

/** The names of all tables; undefined until loaded. */
export const names = signal<readonly string[] | undefined>(undefined);
export const namesProblem = signal<Problem | undefined>(undefined);

export async function loadNames(): Promise<void> {
  namesProblem.value = undefined;
  const found: string[] = [];
  try {
    let after: string | undefined;
    do {
      const page: { TableNames: string[]; LastEvaluatedTableName?: string } = await call("ListTables", after === undefined ? {} : { ExclusiveStartTableName: after });
      found.push(...page.TableNames);
      after = page.LastEvaluatedTableName;
    } while (after !== undefined);
    names.value = found;
  } catch (thrown) {
    namesProblem.value = Problem.of(thrown);
  }
}

const states = signal<ReadonlyMap<string, TableState>>(new Map());
const stale = new Set<string>();
const waiting: string[] = [];
let running = 0;
const atOnce = 4;

/** A table's description if loaded; otherwise starts loading it. */
export function tableState(name: string): TableState {
  const known = states.value.get(name);
  if ((stale.delete(name) || known === undefined) && !waiting.includes(name)) {
    queueMicrotask(() => loadTable(name));
  }
  return known ?? "loading";
}

/** Loads each description once more when it is next shown: other programs change tables, too. */
export function refresh(): void {
  for (const name of states.value.keys()) stale.add(name);
}

/** A table that is already loaded. */
export function knownTable(name: string): Table | undefined {
  const state = states.value.get(name);
  return state === undefined || state === "loading" || state instanceof Problem ? undefined : state;
}

export function loadTable(name: string): void {
  if (!waiting.includes(name)) waiting.push(name);
  void next();
}

async function next(): Promise<void> {
  const name = running < atOnce ? waiting.shift() : undefined;
  if (name === undefined) {
    return;
  }
  running++;
  if (!states.value.has(name)) set(name, "loading");
  try {
    set(name, await describe(name));
  } catch (thrown) {
    set(name, Problem.of(thrown));
  }
  running--;
  void next();
}

function set(name: string, state: TableState): void {
  states.value = new Map(states.value).set(name, state);
}

/** Forgets a deleted table. */
export function forget(name: string): void {
  states.value = new Map([...states.value].filter(([n]) => n !== name));
  names.value = names.value?.filter((n) => n !== name);
}

async function describe(name: string): Promise<Table> {
  const input = { TableName: name };
  const [about, ttl, pitr] = await Promise.all([
    call<{ Table: TableDescription }>("DescribeTable", input),
    call<{ TimeToLiveDescription?: { TimeToLiveStatus?: string; AttributeName?: string } }>("DescribeTimeToLive", input).catch(() => undefined),
    call<{ ContinuousBackupsDescription?: { PointInTimeRecoveryDescription?: { PointInTimeRecoveryStatus?: string } } }>("DescribeContinuousBackups", input).catch(() => undefined),
  ]);
  const ttlOn = ttl?.TimeToLiveDescription?.TimeToLiveStatus?.startsWith("ENABL");
  return {
    description: about.Table,
    ttl: ttl && (ttlOn ? ttl.TimeToLiveDescription?.AttributeName ?? "" : ""),
    pitr: pitr && pitr.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === "ENABLED",
  };
}

export interface Keys {
  pk: string;
  sk: string | undefined;
  /** All of them, in order: a global index may have several of each. */
  pks: readonly string[];
  sks: readonly string[];
}

export function keysOf(schema: readonly KeyElement[]): Keys {
  const names = (type: KeyElement["KeyType"]) => schema.filter((k) => k.KeyType === type).map((k) => k.AttributeName);
  const [pks, sks] = [names("HASH"), names("RANGE")];
  return { pk: pks[0] ?? "", sk: sks[0], pks, sks };
}

export function keyNames(k: Keys): string[] {
  return [...k.pks, ...k.sks];
}

export interface Index extends IndexDescription {
  global: boolean;
}

export function indexesOf(t: TableDescription): Index[] {
  return [...(t.GlobalSecondaryIndexes ?? []).map((i) => ({ ...i, global: true })), ...(t.LocalSecondaryIndexes ?? []).map((i) => ({ ...i, global: false }))];
}

/** The keys of the table, or of one of its indexes. */
export function keysFor(t: TableDescription, index: string): Keys {
  return keysOf(indexesOf(t).find((i) => i.IndexName === index)?.KeySchema ?? t.KeySchema);
}

export function keyType(t: TableDescription, attribute: string): "S" | "N" | "B" {
  return t.AttributeDefinitions.find((a) => a.AttributeName === attribute)?.AttributeType ?? "S";
}

export function onDemand(t: TableDescription): boolean {
  return t.BillingModeSummary?.BillingMode === "PAY_PER_REQUEST";
}

const pause = 1000; // milliseconds between polls of a changing table

/** Polls a table while something about it is in progress. */
export function useSettled(table: Table): void {
  const d = table.description;
  const moving = d.TableStatus !== "ACTIVE" || (d.GlobalSecondaryIndexes ?? []).some((i) => i.IndexStatus !== "ACTIVE");
  useEffect(() => {
    const timer = moving ? setTimeout(() => loadTable(d.TableName), pause) : undefined;
    return () => clearTimeout(timer);
  }, [table]);
}
