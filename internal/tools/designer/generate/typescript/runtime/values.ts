// Attribute values, items, and the canonical form for comparisons.

import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { Decimal } from "./decimal.js";
import { type Bytes, bytesOf, compareBytes } from "./keytext.js";

export type { AttributeValue };

/** A stored item: values by attribute. */
export type Item = { [attribute: string]: AttributeValue };

/** An entity's values by field, each as stored; or a pattern's inputs. It has no prototype. */
export type Values = { [name: string]: AttributeValue };

/** A map of names without inherited members. */
export function bare<T>(...from: { [name: string]: T }[]): { [name: string]: T } {
  return Object.assign(Object.create(null), ...from) as { [name: string]: T };
}

/** A member of a map that may have a prototype. */
export function own<T>(m: { [name: string]: T } | undefined, name: string): T | undefined {
  return m !== undefined && Object.hasOwn(m, name) ? m[name] : undefined;
}

export type StoredType = "S" | "N" | "B" | "BOOL" | "NULL" | "L" | "M" | "SS" | "NS" | "BS" | "none";

/** The attribute type of a value. */
export function storedAs(v: AttributeValue | undefined): StoredType {
  if (v === undefined) {
    return "none";
  }
  if (v.S !== undefined) return "S";
  if (v.N !== undefined) return "N";
  if (v.B !== undefined) return "B";
  if (v.BOOL !== undefined) return "BOOL";
  if (v.NULL !== undefined) return "NULL";
  if (v.L !== undefined) return "L";
  if (v.M !== undefined) return "M";
  if (v.SS !== undefined) return "SS";
  if (v.NS !== undefined) return "NS";
  if (v.BS !== undefined) return "BS";
  return "none";
}

export function latin1(b: Uint8Array): Bytes {
  return Buffer.from(b.buffer, b.byteOffset, b.byteLength).toString("latin1");
}

/** The value at the end of a path; NULL counts as missing, because no type is stored as NULL. */
export function at(m: Item | undefined, path: readonly string[]): AttributeValue | undefined {
  const v = stored(m, path);
  return v?.NULL !== undefined ? undefined : v;
}

/** The value at the end of a path, unchanged. */
export function stored(m: Item | undefined, path: readonly string[]): AttributeValue | undefined {
  if (path.length === 0) {
    return undefined;
  }
  let v = own(m, path[0]!);
  for (const step of path.slice(1)) {
    const n = v?.L && indexOf(step);
    v = v?.M ? own(v.M, step) : n === undefined ? undefined : v?.L?.[n];
  }
  return v;
}

/** The position of a step into a list: [0]. */
export function indexOf(step: string): number | undefined {
  const n = /^\[(?:\+?\d+|-0+)\]$/.test(step) ? BigInt(step.replace(/[[\]+-]/g, "")) : -1n;
  return n >= 0n && n < 1n << 63n ? Number(n) : undefined;
}

/** Stores a value at the end of a path, and creates the maps on the path, as copies. */
export function put(m: Item, path: readonly string[], v: AttributeValue): void {
  let inner = m;
  for (const step of path.slice(0, -1)) {
    const there = own(inner, step)?.M;
    const copy: Item = bare(there ?? {});
    inner[step] = { M: copy };
    inner = copy;
  }
  inner[path[path.length - 1]!] = v;
}

/** Whether a value is an empty set. */
export function emptySet(v: AttributeValue | undefined): boolean {
  return v?.SS?.length === 0 || v?.NS?.length === 0 || v?.BS?.length === 0;
}

export function decimalOf(v: AttributeValue | undefined): Decimal | undefined {
  return v?.N === undefined ? undefined : Decimal.tryParse(v.N);
}

export function numberOf(d: Decimal): AttributeValue {
  return { N: d.toString() };
}

/** The value of a key attribute as Bytes; equal values of one type have equal Bytes. */
export function keyText(v: AttributeValue | undefined): Bytes | undefined {
  if (v?.S !== undefined) return bytesOf(v.S);
  if (v?.N !== undefined) return Decimal.tryParse(v.N)?.toString();
  if (v?.B !== undefined) return latin1(v.B);
  return undefined;
}

/** Compares values of one key attribute in DynamoDB's order. A missing one is first. */
export function compareKeys(a: AttributeValue | undefined, b: AttributeValue | undefined): number {
  if (a?.N !== undefined && b?.N !== undefined) {
    return (Decimal.tryParse(a.N) ?? Decimal.zero).compare(Decimal.tryParse(b.N) ?? Decimal.zero);
  }
  const [x, y] = [storedAs(a), storedAs(b)];
  if (x === y && (x === "S" || x === "B")) {
    return compareBytes(keyText(a)!, keyText(b)!);
  }
  return compareBytes(x, y);
}

/** A set's members as values; undefined if it is not a set. */
export function membersOf(v: AttributeValue | undefined): AttributeValue[] | undefined {
  return v?.SS?.map((S) => ({ S })) ?? v?.NS?.map((N) => ({ N })) ?? v?.BS?.map((B) => ({ B }));
}

/** A set of members of one type; undefined if there are none. */
export function setOf(members: readonly AttributeValue[]): AttributeValue | undefined {
  switch (storedAs(members[0])) {
    case "S":
      return { SS: members.map((v) => v.S!) };
    case "N":
      return { NS: members.map((v) => v.N!) };
    case "B":
      return { BS: members.map((v) => v.B!) };
    default:
      return undefined;
  }
}

export function uvarint(n: number): Bytes {
  let out = "";
  while (n >= 0x80) {
    out += String.fromCharCode((n % 0x80) | 0x80);
    n = Math.floor(n / 0x80);
  }
  return out + String.fromCharCode(n);
}

/** Bytes with their length, so that concatenations are unambiguous. */
export function sized(tag: string, bytes: Bytes): Bytes {
  return tag + uvarint(bytes.length) + bytes;
}

/** A text in its canonical form. */
export function sizedText(text: string): Bytes {
  return sized("s", bytesOf(text));
}

function canonicalNumber(text: string): string {
  return Decimal.tryParse(text)?.toString() ?? text;
}

/** The canonical form of a value: equal if and only if the values are equal. */
export function canonical(v: AttributeValue | undefined): Bytes {
  if (v === undefined) return "-";
  if (v.S !== undefined) return sizedText(v.S);
  if (v.N !== undefined) return sized("n", bytesOf(canonicalNumber(v.N)));
  if (v.B !== undefined) return sized("b", latin1(v.B));
  if (v.BOOL !== undefined) return v.BOOL ? "t" : "f";
  if (v.NULL !== undefined) return "0";
  if (v.L !== undefined) return "l" + uvarint(v.L.length) + v.L.map(canonical).join("");
  if (v.M !== undefined) {
    const names = Object.keys(v.M).map(bytesOf).sort(compareBytes);
    const m = v.M;
    return "m" + uvarint(names.length) + names.map((name) => sized("s", name) + canonical(m[Buffer.from(name, "latin1").toString("utf8")])).join("");
  }
  if (v.SS !== undefined) return canonicalSet("s", v.SS.map(bytesOf));
  if (v.NS !== undefined) return canonicalSet("n", v.NS.map(canonicalNumber));
  if (v.BS !== undefined) return canonicalSet("b", v.BS.map(latin1));
  return "-";
}

function canonicalSet(tag: string, members: Bytes[]): Bytes {
  return "u" + tag + uvarint(members.length) + members.sort(compareBytes).map((m) => sized(tag, m)).join("");
}

/** Whether two values are equal, whatever the form of their numbers and the order of their sets. */
export function equal(a: AttributeValue | undefined, b: AttributeValue | undefined): boolean {
  return canonical(a) === canonical(b);
}
