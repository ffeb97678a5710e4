// The languages of types: the values that a field takes, and the text of each in keys.

import type { Field, Kind, Type } from "./descriptor.js";
import { ValueError, missing } from "./errors.js";
import { type Bytes, bytesOf, compareTexts, decimal, isDate, isTime, ofTime, textOf, wellFormed, whole } from "./keytext.js";
import { type AttributeValue, at, emptySet, indexOf, latin1, membersOf, storedAs } from "./values.js";

/** A type with its structure's fields resolved. */
export interface LinkedType extends Omit<Type, "fields" | "elem"> {
  fields?: readonly LinkedField[];
  elem?: LinkedType;
}

export interface LinkedField extends Omit<Field, "type"> {
  type: LinkedType;
}

export function numeric(k: Kind): boolean {
  return k === "int" || k === "decimal" || k === "money" || k === "ttl";
}

export function textual(k: Kind): boolean {
  return ["id", "uuid", "ulid", "ksuid", "slug", "email", "text", "secret", "time", "date", "enum"].includes(k);
}

/** Whether a missing value of the kind is equivalent to an empty one. */
export function collection(k: Kind): boolean {
  return k === "list" || k === "set" || k === "map";
}

const greatestKSUID = "aWgEPTl1tmebfsQzFP4bxwgy80V";

/** Whether a text is valid for a textual type. */
export function contains(t: LinkedType, s: string): boolean {
  switch (t.kind) {
    case "id":
      return /^[0-9A-Za-z._:@-]+$/.test(s) && !s.endsWith("\n");
    case "uuid":
      return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(s);
    case "ulid":
      return /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(s);
    case "ksuid":
      return /^[0-9A-Za-z]{27}$/.test(s) && s <= greatestKSUID;
    case "slug":
      return /^[a-z0-9-]+$/.test(s);
    case "email":
      return /^[0-9A-Za-z!#$%&'*+/=?^_`{|}~.-]+@[0-9A-Za-z.-]+$/.test(s) && s.length <= 254;
    case "text":
    case "secret":
      return wellFormed(s);
    case "time":
      return isTime(s);
    case "date":
      return isDate(s);
    case "enum":
      return (t.enum ?? []).includes(s);
    default:
      return false;
  }
}

/** A description of a type's values, after "is". */
export function described(t: LinkedType): string {
  switch (t.kind) {
    case "id":
      return "an id: one or more of A-Z a-z 0-9 . _ : @ -";
    case "uuid":
      return "a uuid: 36 characters in lower case";
    case "ulid":
      return "a ulid: 26 characters of Crockford's base 32";
    case "ksuid":
      return "a ksuid: 27 characters of base 62";
    case "slug":
      return "a slug: one or more of a-z 0-9 -";
    case "email":
      return "an email address";
    case "text":
    case "secret":
      return "a UTF-8 text";
    case "int":
    case "money":
      return "a whole number of 64 bits";
    case "decimal":
      return "a number that DynamoDB can store";
    case "bool":
      return "true or false";
    case "time":
      return "a time: 2006-01-02T15:04:05.000Z";
    case "date":
      return "a date: 2006-01-02";
    case "ttl":
      return "a number of seconds since 1970";
    case "enum":
      return `one of ${(t.enum ?? []).join(", ")}`;
    case "bytes":
      return "bytes";
    case "struct":
      return "a structure";
    default:
      return `a ${t.kind}`;
  }
}

function storedType(t: LinkedType): string {
  if (textual(t.kind)) return "S";
  if (numeric(t.kind)) return "N";
  switch (t.kind) {
    case "bool":
      return "BOOL";
    case "bytes":
      return "B";
    case "struct":
    case "map":
      return "M";
    case "list":
      return "L";
    case "set":
      return t.elem ? `${storedType(t.elem)}S` : "";
    default:
      return "";
  }
}

/** The error of a value of the wrong type. It does not contain the value, which may be a secret. */
function refuse(t: LinkedType, name: string, v: AttributeValue): ValueError {
  const stored = storedAs(v);
  const is = stored === storedType(t) ? "is not " : `is a value of type ${stored}, not `;
  return new ValueError(name, is + described(t));
}

/** The text of a scalar value, as in keys before functions. */
export function textOfValue(t: LinkedType, name: string, v: AttributeValue): Bytes {
  if (v.S !== undefined && textual(t.kind) && wellFormed(v.S)) {
    return bytesOf(v.S);
  }
  if (v.N !== undefined && numeric(t.kind)) {
    const text = t.kind === "decimal" ? decimal(v.N) : whole(v.N);
    if (text !== undefined) {
      return text;
    }
  }
  if (v.BOOL !== undefined && t.kind === "bool") {
    return String(v.BOOL);
  }
  if (v.B !== undefined && t.kind === "bytes") {
    return latin1(v.B);
  }
  throw refuse(t, name, v);
}

/** Rejects a value of the wrong type. */
export function checkValue(t: LinkedType, name: string, v: AttributeValue, minBytes = 0, maxBytes = 0): void {
  const elem = t.elem;
  switch (t.kind) {
    case "struct":
      checkStruct(t, name, v);
      return;
    case "list":
      if (v.L === undefined || !elem) {
        throw refuse(t, name, v);
      }
      v.L.forEach((e, i) => checkInner(elem, `${name}[${i}]`, e));
      return;
    case "map": {
      const m = v.M;
      if (m === undefined || !elem) {
        throw refuse(t, name, v);
      }
      for (const key of Object.keys(m).sort(compareTexts)) {
        if (key === "") {
          throw new ValueError(name, "has an empty key, which DynamoDB cannot store");
        }
        checkInner(elem, `${name}.${key}`, m[key]!);
      }
      return;
    }
    case "set":
      checkSet(t, name, v);
      return;
    default: {
      const text = textOfValue(t, name, v);
      if ((textual(t.kind) && !contains(t, v.S!)) || (t.kind === "ttl" && text.startsWith("-"))) {
        throw refuse(t, name, v);
      }
      fits(name, text, minBytes, maxBytes);
    }
  }
}

/** The error for an empty set inside a value. */
export function emptyInside(name: string): ValueError {
  return new ValueError(name, "is an empty set, which DynamoDB cannot store: leave it out");
}

/** Rejects invalid values inside a value. */
function checkInner(t: LinkedType, name: string, v: AttributeValue, minBytes = 0, maxBytes = 0): void {
  if (emptySet(v)) {
    throw emptyInside(name);
  }
  checkValue(t, name, v, minBytes, maxBytes);
}

function checkStruct(t: LinkedType, name: string, v: AttributeValue): void {
  if (v.M === undefined || !t.fields) {
    throw refuse(t, name, v);
  }
  for (const f of t.fields) {
    const step = `${name}.${f.name}`;
    const value = at(v.M, f.path);
    if (value !== undefined) {
      checkInner(f.type, step, value, f.minBytes, f.maxBytes);
    } else if (!f.optional && !collection(f.type.kind)) {
      throw missing(step);
    }
  }
}

function checkSet(t: LinkedType, name: string, v: AttributeValue): void {
  const members = membersOf(v);
  const elem = t.elem;
  if (members === undefined || !elem) {
    throw refuse(t, name, v);
  }
  const met = new Set<Bytes>();
  members.forEach((member, i) => {
    const step = `${name}[${i}]`;
    checkValue(elem, step, member);
    const text = textOfValue(elem, step, member);
    if (met.has(text)) {
      throw new ValueError(step, "is already in the set");
    }
    met.add(text);
  });
}

/** Checks a text against the field's limits. where is " in a key" if the text is not the value itself. */
export function fits(name: string, text: Bytes, minBytes = 0, maxBytes = 0, where = ""): void {
  if (text.length < minBytes) {
    throw new ValueError(name, `has ${text.length} ${text.length === 1 ? "byte" : "bytes"}${where}: the minimum is ${minBytes}`);
  }
  if (maxBytes > 0 && text.length > maxBytes) {
    throw new ValueError(name, `has ${text.length} bytes${where}: the maximum is ${maxBytes}`);
  }
}

/** The stored form of a field's value; undefined for none. */
export function toStore(f: LinkedField, v: AttributeValue | undefined): AttributeValue | undefined {
  if (emptySet(v)) return undefined; // DynamoDB has no empty sets: a missing one is empty
  if (v !== undefined) return v;
  if (f.optional || f.type.kind === "set") return undefined;
  if (f.type.kind === "list") return { L: [] };
  if (f.type.kind === "map") return { M: {} };
  throw missing(f.name);
}

/** A time as a value of a type: a time, a date or a number of seconds. */
export function timeAs(kind: Kind | undefined, name: string, now: number): AttributeValue {
  if (Number.isNaN(now)) {
    throw missing(name);
  }
  if (kind !== undefined && numeric(kind)) {
    return { N: String(Math.floor(now / 1000)) };
  }
  if (kind === undefined || !textual(kind)) {
    throw missing(name);
  }
  const text = ofTime(now);
  if (text === undefined) {
    throw new ValueError(name, `is not a time: the year ${new Date(now).getUTCFullYear()} does not have four digits`);
  }
  return { S: kind === "date" ? text.slice(0, 10) : text };
}

/** The time of a call in the stored form of a field: seconds for a ttl, milliseconds for another number, otherwise a text. */
export function nowAs(kind: Kind, name: string, now: number): AttributeValue {
  return numeric(kind) && kind !== "ttl" ? { N: String(now) } : timeAs(kind, name, now);
}

/** Whether a text may be a value of the field. */
export function hasText(f: LinkedField, s: Bytes): boolean {
  if (f.maxBytes && s.length > f.maxBytes) return false;
  if (s.length < (f.minBytes ?? 0)) return false;
  if (textual(f.type.kind)) {
    const text = textOf(s);
    return bytesOf(text) === s && contains(f.type, text);
  }
  if (f.type.kind === "bool") return s === "true" || s === "false";
  if (numeric(f.type.kind)) return (f.type.kind === "decimal" ? decimal(s) : whole(s)) === s;
  return true;
}

/** A structure's field, a map's element or a list's; undefined if the type has none. */
export function innerField(t: LinkedType, name: string): LinkedField | undefined {
  if ((t.kind === "map" || (t.kind === "list" && indexOf(name) !== undefined)) && t.elem) {
    return { name, path: [name], type: t.elem, optional: true };
  }
  return t.kind === "struct" ? t.fields?.find((f) => f.name === name) : undefined;
}

