// A query or scan of a table: the form's values, the view's address, and the resulting request.
import type { TableDescription } from "./api.ts";
import { type Keys, keyNames, keyType, keysFor, keysOf } from "./schema.ts";
import { type Value, isBase64, isNumber } from "./value.ts";

export const keyOps = ["", "=", "<", "<=", ">", ">=", "between", "begins_with"] as const;
export type KeyOp = (typeof keyOps)[number];
export const filterOps = ["=", "<>", "<", "<=", ">", ">=", "between", "in", "begins_with", "contains", "not_contains", "exists", "not_exists", "type"] as const;
export type FilterOp = (typeof filterOps)[number];
export const filterTypes = ["S", "N", "BOOL", "NULL", "B"] as const;
export type FilterType = (typeof filterTypes)[number];
export const views = ["table", "entities", "collection", "json"] as const;
export type View = (typeof views)[number];
export const limits = [10, 25, 50, 100, 250, 1000, 10000] as const;

export interface Filter {
  name: string;
  op: FilterOp;
  type: FilterType;
  a: string;
  b: string;
}

export interface Question {
  how: "scan" | "query";
  index: string;
  pk: string;
  /** The values of moreOf, "" where there is none. */
  more: readonly string[];
  skOp: KeyOp;
  sk: string;
  sk2: string;
  filters: Filter[];
  project: string;
  backwards: boolean;
  consistent: boolean;
  limit: number;
}

export const scan: Question = { how: "scan", index: "", pk: "", more: [], skOp: "", sk: "", sk2: "", filters: [], project: "", backwards: false, consistent: false, limit: 50 };

/** The attributes of an index with several that a query must equal, and those it may equal: partition keys after the first, sort keys before the last. */
export function moreOf(keys: Keys): string[] {
  return [...keys.pks.slice(1), ...keys.sks.slice(0, -1)];
}

/** The position of the sort key that the operator is for: the first that need not be equal. */
export function sortAt(keys: Keys, more: readonly string[]): number {
  const given = more.slice(keys.pks.length - 1, keys.pks.length + keys.sks.length - 2);
  const open = given.indexOf("");
  return open < 0 ? given.length : open;
}

/** The query for a key, as values of an address. */
export function keyAddress(keys: Keys, valueOf: (attribute: string) => string | undefined): Record<string, string | undefined> {
  const sk = keys.sks[keys.sks.length - 1];
  const more = moreOf(keys).map((k) => valueOf(k) ?? "");
  return { pk: valueOf(keys.pk), ...(more.length > 0 ? { more: JSON.stringify(more) } : {}), ...(sk === undefined ? {} : { op: "=", sk: valueOf(sk) }) };
}

function textsIn(text: string | null): string[] {
  try {
    const list: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    return []; // a truncated address
  }
}

function oneOf<T extends string>(all: readonly T[], text: string | null, otherwise: T): T {
  return all.find((x) => x === text) ?? otherwise;
}

export function questionOf(query: URLSearchParams): Question {
  let filters: Filter[] = [];
  try {
    filters = (JSON.parse(query.get("filters") ?? "[]") as [string, string, string, string?, string?][]).map(([name, op, type, a = "", b = ""]) => ({
      name: String(name), op: oneOf(filterOps, op, "="), type: oneOf(filterTypes, type, "S"), a: String(a), b: String(b),
    }));
  } catch {
    // a truncated address
  }
  return {
    how: query.has("pk") ? "query" : "scan", index: query.get("index") ?? "", pk: query.get("pk") ?? "", more: textsIn(query.get("more")), skOp: oneOf(keyOps, query.get("op"), ""), sk: query.get("sk") ?? "", sk2: query.get("sk2") ?? "",
    filters, project: query.get("project") ?? "", backwards: query.get("order") === "desc", consistent: query.has("consistent"), limit: limits.find((n) => String(n) === query.get("limit")) ?? scan.limit,
  };
}

export function viewOf(query: URLSearchParams): View {
  return oneOf(views, query.get("view"), "table");
}

/** The values of an address, for link(). */
export function addressOf(q: Question): Record<string, string | undefined> {
  const asks = q.how === "query";
  return {
    index: q.index, pk: asks ? q.pk : undefined, more: asks && q.more.some(Boolean) ? JSON.stringify(q.more) : undefined, op: asks && q.skOp !== "" ? q.skOp : undefined, sk: asks && q.skOp !== "" ? q.sk : undefined, sk2: asks && q.skOp === "between" ? q.sk2 : undefined,
    filters: q.filters.length > 0 ? JSON.stringify(q.filters.map((f) => [f.name, f.op, f.type, f.a, f.b])) : undefined,
    project: q.project, order: asks && q.backwards ? "desc" : undefined, consistent: q.consistent ? "1" : undefined, limit: q.limit === scan.limit ? undefined : String(q.limit),
  };
}

export interface Request {
  operation: "Query" | "Scan";
  input: Record<string, unknown>;
}

/** A form field whose value does not match its type. Its place: "pk", "sk", "sk2", "filter.0". */
export class Unfit extends Error {
  readonly field: string;
  readonly type: string;

  constructor(field: string, type: string) {
    super(field);
    this.field = field;
    this.type = type;
  }
}

/** Names and values of an expression, each once. */
class Placeholders {
  readonly names: Record<string, string> = {};
  readonly values: Record<string, Value> = {};

  name(attribute: string): string {
    const known = Object.entries(this.names).find(([, n]) => n === attribute)?.[0];
    const key = known ?? `#n${Object.keys(this.names).length}`;
    this.names[key] = attribute;
    return key;
  }

  value(v: Value): string {
    const key = `:v${Object.keys(this.values).length}`;
    this.values[key] = v;
    return key;
  }

  /** A path as displayed: address.city, tags[0]; "a.b" in quotes is one name. */
  path(text: string): string {
    return [...text.trim().matchAll(/"([^"]*)"|\[(\d+)\]|([^.[\]"]+)/g)]
      .map((m, n) => (m[2] !== undefined ? `[${m[2]}]` : `${n > 0 ? "." : ""}${this.name(m[1] ?? m[3]?.trim() ?? "")}`)).join("");
  }
}

export function valueOf(type: FilterType, text: string, field: string): Value {
  switch (type) {
    case "N":
      if (!isNumber(text.trim())) throw new Unfit(field, type);
      return { N: text.trim() };
    case "B":
      if (!isBase64(text.trim())) throw new Unfit(field, type);
      return { B: text.trim() };
    case "BOOL":
      return { BOOL: text === "true" };
    case "NULL":
      return { NULL: true };
    default:
      return { S: text };
  }
}

function filterText(f: Filter, p: Placeholders, field: string): string {
  const path = p.path(f.name);
  if (path === "") throw new Unfit(field, "name");
  const value = (text: string, type = f.type) => p.value(valueOf(type, text, field));
  switch (f.op) {
    case "between": return `${path} BETWEEN ${value(f.a)} AND ${value(f.b)}`;
    case "in": return `${path} IN (${f.a.split(",").map((a) => value(a.trim())).join(", ")})`;
    case "begins_with": return `begins_with(${path}, ${value(f.a)})`;
    case "contains": return `contains(${path}, ${value(f.a)})`;
    case "not_contains": return `NOT contains(${path}, ${value(f.a)})`;
    case "exists": return `attribute_exists(${path})`;
    case "not_exists": return `attribute_not_exists(${path})`;
    case "type": return `attribute_type(${path}, ${value(f.a, "S")})`;
    default: return `${path} ${f.op} ${value(f.a)}`;
  }
}

function keyCondition(q: Question, t: TableDescription, p: Placeholders): string {
  const keys = keysFor(t, q.index);
  const key = (name: string, text: string, field: string) => p.value(valueOf(keyType(t, name), text, field));
  if (q.pk === "") throw new Unfit("pk", "");
  const at = sortAt(keys, q.more);
  const required = keys.pks.length - 1;
  const more = moreOf(keys).slice(0, required + at).map((name, n) => {
    const text = q.more[n] ?? "";
    if (text === "") throw new Unfit(`more.${n}`, "");
    return `${p.name(name)} = ${key(name, text, `more.${n}`)}`;
  });
  const pk = [`${p.name(keys.pk)} = ${key(keys.pk, q.pk, "pk")}`, ...more].join(" AND ");
  const sorts = keys.sks[at];
  if (sorts === undefined || q.skOp === "") return pk;
  const sk = p.name(sorts);
  const a = key(sorts, q.sk, "sk");
  switch (q.skOp) {
    case "between": return `${pk} AND ${sk} BETWEEN ${a} AND ${key(sorts, q.sk2, "sk2")}`;
    case "begins_with": return `${pk} AND begins_with(${sk}, ${a})`;
    default: return `${pk} AND ${sk} ${q.skOp} ${a}`;
  }
}

/** The request of a query; throws Unfit. */
export function requestOf(q: Question, t: TableDescription): Request {
  const p = new Placeholders();
  const input: Record<string, unknown> = { TableName: t.TableName };
  if (q.index !== "") input["IndexName"] = q.index;
  if (q.how === "query") input["KeyConditionExpression"] = keyCondition(q, t, p);
  if (q.filters.length > 0) input["FilterExpression"] = q.filters.map((f, n) => filterText(f, p, `filter.${n}`)).join(" AND ");
  const project = q.project.split(",").map((x) => x.trim()).filter(Boolean);
  if (project.length > 0) { // with the keys, which are needed to open an item
    const keys = [...keyNames(keysOf(t.KeySchema)), ...keyNames(keysFor(t, q.index))].map((k) => `"${k}"`);
    input["ProjectionExpression"] = [...new Set([...keys, ...project].map((x) => p.path(x)))].join(", ");
  }
  if (Object.keys(p.names).length > 0) input["ExpressionAttributeNames"] = p.names;
  if (Object.keys(p.values).length > 0) input["ExpressionAttributeValues"] = p.values;
  if (q.how === "query" && q.backwards) input["ScanIndexForward"] = false;
  if (q.consistent) input["ConsistentRead"] = true;
  input["Limit"] = q.limit;
  input["ReturnConsumedCapacity"] = "TOTAL";
  return { operation: q.how === "query" ? "Query" : "Scan", input };
}

/** A request as text, with the expressions' placeholders replaced. */
export function inWords(r: Request): string {
  const names = (r.input["ExpressionAttributeNames"] ?? {}) as Record<string, string>;
  const values = (r.input["ExpressionAttributeValues"] ?? {}) as Record<string, Value>;
  const shown = (v: Value | undefined) => (v === undefined ? "" : "S" in v ? JSON.stringify(v.S) : String(Object.values(v)[0]));
  return [r.input["KeyConditionExpression"], r.input["FilterExpression"]].filter(Boolean).map((x) => String(x).replace(/#n\d+/g, (n) => names[n] ?? n).replace(/:v\d+/g, (v) => shown(values[v]))).join(" · ");
}
