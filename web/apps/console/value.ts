// Values in DynamoDB's JSON: one member, named after the type.
export type Value =
  | { S: string } | { N: string } | { B: string } | { BOOL: boolean } | { NULL: boolean }
  | { SS: string[] } | { NS: string[] } | { BS: string[] } | { L: Value[] } | { M: Item };
export type Item = { [name: string]: Value };
export const types = ["S", "N", "BOOL", "NULL", "M", "L", "SS", "NS", "B", "BS"] as const;
export type Type = (typeof types)[number];

export function typeOf(v: Value): Type {
  return Object.keys(v)[0] as Type;
}

/** The content of a value, without its type. */
export function inner(v: Value): unknown {
  return Object.values(v)[0];
}

export function isSet(type: Type): type is "SS" | "NS" | "BS" {
  return type === "SS" || type === "NS" || type === "BS";
}

/** An attribute of an item. Every object inherits a property "constructor" and others, which are no attributes. */
export function attribute(item: Item, name: string): Value | undefined {
  return Object.hasOwn(item, name) ? item[name] : undefined;
}

/** Whether two values are equal; the order of sets is ignored. */
export function same(a: Value | undefined, b: Value | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && canonical(a) === canonical(b));
}

function canonical(v: Value): string {
  const type = typeOf(v);
  if ("M" in v) return `M{${Object.keys(v.M).sort().map((k) => `${JSON.stringify(k)}:${canonical(v.M[k] as Value)}`).join()}}`;
  if ("L" in v) return `L[${v.L.map(canonical).join()}]`;
  return `${type} ${JSON.stringify(isSet(type) ? [...(inner(v) as string[])].sort() : inner(v))}`;
}

/** A value on one line. */
export function short(v: Value): string {
  if ("S" in v) return v.S;
  if ("N" in v) return v.N;
  if ("BOOL" in v) return String(v.BOOL);
  if ("NULL" in v) return "null";
  if ("B" in v) return v.B;
  if ("M" in v) return `{${Object.entries(v.M).map(([k, x]) => `${k}: ${quoted(x)}`).join(", ")}}`;
  if ("L" in v) return `[${v.L.map(quoted).join(", ")}]`;
  return `{${(inner(v) as string[]).join(", ")}}`;
}

function quoted(v: Value): string {
  return "S" in v ? JSON.stringify(v.S) : short(v);
}

/** The beginning of short(v), limited in length, whatever the size of the value. */
export function brief(v: Value, most: number): string {
  let text = "";
  const add = (more: string) => { text += more.slice(0, most - text.length + 1); return text.length <= most; };
  const all = <T>(list: Iterable<T>, put: (x: T) => boolean): boolean => {
    let n = 0;
    for (const x of list) if ((n++ > 0 && !add(", ")) || !put(x)) return false;
    return true;
  };
  const put = (x: Value, inside: boolean): boolean => {
    if ("M" in x) return add("{") && all(Object.entries(x.M), ([k, y]) => add(`${k}: `) && put(y, true)) && add("}");
    if ("L" in x) return add("[") && all(x.L, (y) => put(y, true)) && add("]");
    if (isSet(typeOf(x))) return add("{") && all(inner(x) as string[], add) && add("}");
    return add("S" in x ? (inside ? JSON.stringify(x.S.slice(0, most)) : x.S) : "B" in x ? x.B : short(x));
  };
  return put(v, false) ? text : `${text.slice(0, most)}…`;
}

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text).length;
const binary = (text: string) => Math.floor((text.length * 3) / 4) - (/=*$/.exec(text)?.[0].length ?? 0);
const number = (text: string) => Math.ceil(text.replace(/^-/, "").replace(/e.*$/i, "").replace(".", "").replace(/^0+|0+$/g, "").length / 2) + 1 + (text.startsWith("-") ? 1 : 0);

/** The approximate size of a value as DynamoDB counts it. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html */
function size(v: Value): number {
  if ("S" in v) return bytesOf(v.S);
  if ("N" in v) return number(v.N);
  if ("B" in v) return binary(v.B);
  if ("SS" in v) return v.SS.reduce((n, x) => n + bytesOf(x), 0);
  if ("NS" in v) return v.NS.reduce((n, x) => n + number(x), 0);
  if ("BS" in v) return v.BS.reduce((n, x) => n + binary(x), 0);
  if ("L" in v) return v.L.reduce((n, x) => n + size(x) + 1, 3);
  if ("M" in v) return Object.entries(v.M).reduce((n, [k, x]) => n + bytesOf(k) + size(x) + 1, 3);
  return 1;
}

export function itemSize(item: Item): number {
  return Object.entries(item).reduce((n, [k, v]) => n + bytesOf(k) + size(v), 0);
}

const numberForm = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const base64Form = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Whether a text is a DynamoDB number, with at most 38 digits. The endpoint checks the range. */
export function isNumber(text: string): boolean {
  return numberForm.test(text) && text.replace(/e.*$/i, "").replace(/[+\-.]/g, "").replace(/^0+|0+$/g, "").length <= 38;
}

export function isBase64(text: string): boolean {
  return base64Form.test(text);
}

export function pick(item: Item, names: readonly string[]): Item {
  return Object.fromEntries(names.flatMap((n) => (item[n] ? [[n, item[n]]] : [])));
}

/** An item's kind by the conventions of single-table designs: an attribute, or the words of its sort key, ORDER#…#LINE#…. */
export function kindOf(item: Item, keys: readonly string[]): string {
  for (const [name, v] of Object.entries(item)) {
    if (/^_?_?(entity|entity_?type|type|kind|_et)(__)?$/i.test(name) && !keys.includes(name) && "S" in v && v.S.length <= 32) return v.S;
  }
  const last = item[keys[keys.length - 1] ?? ""];
  return last && "S" in last ? last.S.split("#").filter((part, n) => n % 2 === 0 && /^[\p{L}_-]{1,32}$/u.test(part)).join(" ") : "";
}
