// TypeScript's values as stored values, and vice versa:
//
//   id, uuid, ulid, ksuid, slug, email, text, enum, date  string
//   secret         Secret
//   int, money     bigint, for they have 64 bits
//   decimal        string: its shortest text, for it has up to 38 digits
//   bool           boolean
//   time, ttl      Date
//   bytes          Uint8Array
//   list, set      array; a set's is sorted, with each member once
//   map, struct    object

import { inspect } from "node:util";
import { DecodeError, ValueError, missing } from "./errors.js";
import { compareTexts, decimal, isDate, parseTime, whole } from "./keytext.js";
import { type LinkedField, type LinkedType, collection, described, emptyInside } from "./types.js";
import { type AttributeValue, type Item, type Values, at, bare, compareKeys, membersOf, own, put, setOf, storedAs } from "./values.js";

/** A text that must not appear in logs, messages or JSON: all of these show [secret]. reveal returns it. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return "[secret]";
  }

  toJSON(): string {
    return "[secret]";
  }

  [inspect.custom](): string {
    return "[secret]";
  }
}

/** A value as stored; undefined for an empty set, which is not stored. */
export function encode(t: LinkedType, name: string, x: unknown): AttributeValue | undefined {
  const refuse = (): ValueError => new ValueError(name, `is not ${described(t)}`);
  switch (t.kind) {
    case "secret":
      if (!(x instanceof Secret)) {
        throw new ValueError(name, "is not a Secret: give new Secret(text)");
      }
      return { S: x.reveal() };
    case "int":
    case "money":
      if (typeof x !== "bigint" && !Number.isSafeInteger(x)) {
        throw new ValueError(name, "is not a bigint: write 12n");
      }
      return { N: String(x) };
    case "decimal": {
      const text = typeof x === "string" || typeof x === "bigint" ? decimal(String(x)) : undefined;
      if (text === undefined) {
        throw new ValueError(name, 'is not the text of a number of at most 38 digits: write "12.50"');
      }
      return { N: text };
    }
    case "bool":
      if (typeof x !== "boolean") {
        throw refuse();
      }
      return { BOOL: x };
    case "time":
    case "ttl":
      if (!(x instanceof Date) || Number.isNaN(x.getTime())) {
        throw new ValueError(name, "is not a valid Date");
      }
      return t.kind === "ttl" ? { N: String(Math.floor(x.getTime() / 1000)) } : { S: x.toISOString() };
    case "bytes":
      if (!(x instanceof Uint8Array)) {
        throw new ValueError(name, "is not a Uint8Array");
      }
      return { B: x };
    case "list":
      return { L: elements(t, name, x) };
    case "set": {
      const members = elements(t, name, x).sort(compareKeys).filter((v, i, list) => i === 0 || compareKeys(list[i - 1], v) !== 0);
      return setOf(members);
    }
    case "map": {
      const m: Item = bare();
      for (const [key, e] of Object.entries(object(t, name, x))) {
        const v = encode(t.elem!, `${name}.${key}`, e);
        if (v !== undefined) {
          m[key] = v;
        }
      }
      return { M: m };
    }
    case "struct": {
      const m: Item = bare();
      const from = object(t, name, x);
      for (const f of t.fields ?? []) {
        const v = encodeField(f, `${name}.${f.name}`, own(from, f.name));
        if (v !== undefined) {
          put(m, f.path, v);
        }
      }
      return { M: m };
    }
    default:
      if (typeof x !== "string") {
        throw refuse();
      }
      return { S: x };
  }
}

function encodeField(f: LinkedField, name: string, x: unknown): AttributeValue | undefined {
  if (x !== undefined && x !== null) {
    return encode(f.type, name, x);
  }
  if (f.optional || collection(f.type.kind)) {
    return undefined;
  }
  throw missing(name);
}

function elements(t: LinkedType, name: string, x: unknown): AttributeValue[] {
  if (!Array.isArray(x) && !(x instanceof Set)) {
    throw new ValueError(name, "is not an array");
  }
  return [...(x as Iterable<unknown>)].map((e, i) => {
    const v = encode(t.elem!, `${name}[${i}]`, e);
    if (v === undefined) {
      throw emptyInside(`${name}[${i}]`); // left out, it would move the elements after it
    }
    return v;
  });
}

function object(t: LinkedType, name: string, x: unknown): { [key: string]: unknown } {
  if (typeof x !== "object" || x === null || Array.isArray(x)) {
    throw new ValueError(name, `is not ${described(t)}`);
  }
  return x as { [key: string]: unknown };
}

/** The input of a pattern, as values by their names. Missing inputs are omitted. */
export function encodeAll(fields: readonly { name: string; type: LinkedType; removable?: boolean }[], from: object): Values {
  const out: Values = bare();
  for (const f of fields) {
    const x = own(from as { [name: string]: unknown }, f.name);
    let v = x === undefined || x === null ? undefined : encode(f.type, f.name, x);
    if (v === undefined && x !== undefined && f.removable) {
      v = { NULL: true }; // null, or an empty set, which is not stored
    }
    if (v !== undefined) {
      out[f.name] = v;
    }
  }
  return out;
}

/** An object from stored values: of all fields, or of some. */
export function decodeAll(entity: string, fields: readonly LinkedField[], v: Values): object {
  return Object.fromEntries(fields.flatMap((f) => {
    const name = `${entity}.${f.name}`;
    const x = decodeField(f, name, v[f.name]);
    return x === undefined ? [] : [[f.name, x]];
  }));
}

function decodeField(f: LinkedField, name: string, v: AttributeValue | undefined): unknown {
  if ((v === undefined || v.NULL !== undefined) && f.optional) {
    return undefined;
  }
  return decode(f.type, name, v?.NULL === undefined ? v : undefined);
}

function dateOf(name: string, ms: number): Date {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) {
    throw new DecodeError(name, "is a time that Date cannot represent");
  }
  return at;
}

/** Decodes a stored value; throws a DecodeError if it is not of the type. */
export function decode(t: LinkedType, name: string, v: AttributeValue | undefined): unknown {
  const typed = <T>(x: T | undefined, as: string): T => {
    if (x === undefined) {
      throw new DecodeError(name, v === undefined ? "is missing" : `is stored as ${storedAs(v)}, not as ${as}`);
    }
    return x;
  };
  switch (t.kind) {
    case "secret":
      return new Secret(typed(v?.S, "S"));
    case "int":
    case "money":
    case "ttl": {
      const text = typed(v?.N, "N");
      const n = whole(text);
      if (n === undefined) {
        throw new DecodeError(name, `is not a whole number of 64 bits: ${text}`);
      }
      return t.kind === "ttl" ? dateOf(name, Number(n) * 1000) : BigInt(n);
    }
    case "decimal": {
      const text = typed(v?.N, "N");
      const n = decimal(text);
      if (n === undefined) {
        throw new DecodeError(name, `is not a number: ${text}`);
      }
      return n;
    }
    case "bool":
      return typed(v?.BOOL, "BOOL");
    case "time": {
      const text = typed(v?.S, "S");
      const ms = parseTime(text);
      if (ms === undefined) {
        throw new DecodeError(name, `is not a time: ${text}`);
      }
      return new Date(ms);
    }
    case "date": {
      const text = typed(v?.S, "S");
      if (!isDate(text)) {
        throw new DecodeError(name, `is not a date: ${text}`);
      }
      return text;
    }
    case "bytes":
      return typed(v?.B, "B");
    case "list":
      return v === undefined ? [] : typed(v.L, "L").map((e, i) => decode(t.elem!, `${name}[${i}]`, e));
    case "set":
      return v === undefined ? [] : typed(membersOf(v), "a set").sort(compareKeys).map((e, i) => decode(t.elem!, `${name}[${i}]`, e));
    case "map": {
      const m = v === undefined ? {} : typed(v.M, "M");
      return Object.fromEntries(Object.keys(m).sort(compareTexts).map((key) => [key, decode(t.elem!, `${name}.${key}`, m[key])]));
    }
    case "struct": {
      const m = typed(v?.M, "M");
      return Object.fromEntries((t.fields ?? []).flatMap((f) => {
        const x = decodeField(f, `${name}.${f.name}`, at(m, f.path));
        return x === undefined ? [] : [[f.name, x]];
      }));
    }
    default:
      return typed(v?.S, "S");
  }
}
