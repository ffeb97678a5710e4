// The texts of keys. A key's text is a Bytes: a string whose characters are the bytes of its UTF-8, so that lengths, comparisons
// and cuts are those of DynamoDB.

import { createHash } from "node:crypto";
import { Decimal } from "./decimal.js";

/** Bytes, one character per byte. */
export type Bytes = string;

export function bytesOf(text: string): Bytes {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0x7f) {
      return Buffer.from(text, "utf8").toString("latin1");
    }
  }
  return text;
}

export function textOf(bytes: Bytes): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

export function compareBytes(a: Bytes, b: Bytes): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares texts by their bytes in UTF-8, not in UTF-16. */
export function compareTexts(a: string, b: string): number {
  return compareBytes(bytesOf(a), bytesOf(b));
}

/** Whether a text can be encoded as UTF-8: it has no lone surrogates. */
export function wellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

export function whole(text: string): string | undefined {
  return Decimal.tryParse(text)?.int64()?.toString();
}

export function decimal(text: string): string | undefined {
  return Decimal.tryParse(text)?.toString();
}

const greatestTime = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const leastTime = new Date("0000-01-01T00:00:00.000Z").getTime();

/** The text of a time in milliseconds since 1970; undefined for years without four digits. */
export function ofTime(ms: number): string | undefined {
  return ms >= leastTime && ms <= greatestTime ? new Date(ms).toISOString() : undefined;
}

/** The time of an RFC 3339 text in milliseconds; undefined if it is invalid. */
export function parseTime(text: string): number | undefined {
  const found = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/.exec(text);
  if (!found || !isDate(found[1]!)) {
    return undefined;
  }
  const [hour, minute, second] = [Number(found[2]), Number(found[3]), Number(found[4])];
  const [zoneHour, zoneMinute] = [Number(found[7] ?? 0), Number(found[8] ?? 0)];
  if (hour > 23 || minute > 59 || second > 59 || zoneHour > 23 || zoneMinute > 59) {
    return undefined;
  }
  const ms = Number((found[5] ?? "").slice(0, 3).padEnd(3, "0"));
  const zone = (zoneHour * 60 + zoneMinute) * (found[6] === "-" ? -1 : 1);
  const at = new Date(`${found[1]}T00:00:00.000Z`).getTime() + ((hour * 60 + minute - zone) * 60 + second) * 1000 + ms;
  return ofTime(at) === undefined ? undefined : at;
}

export function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) {
    return false;
  }
  const at = new Date(`${text}T00:00:00.000Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().slice(0, 10) === text;
}

/** Whether a text is a time in the stored format. */
export function isTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text)) {
    return false;
  }
  return parseTime(text) !== undefined;
}

/** A function of templates. For an invalid text it returns an Error whose message quotes the text. */
export function apply(name: string, arg: string, of: Bytes): Bytes {
  const n = /^\d+$/.test(arg) ? Number(arg) : 0;
  switch (name) {
    case "lower":
      return bytesOf(lower(textOf(of)));
    case "fold":
      return bytesOf(fold(textOf(of)));
    case "slug":
      return slug(textOf(of));
    case "pad":
      return pad(of, n);
    case "desc":
      return pad((10n ** BigInt(n) - 1n - BigInt(pad(of, n))).toString(), n);
    case "ts":
      return timestamp(of, arg);
    case "date":
      if (!["yyyy", "yyyy-MM", "yyyy-MM-dd", "yyyy-MM-ddTHH"].includes(arg) || of.length < arg.length) {
        throw new Error(`|date(${arg}) does not apply to ${quoted(of)}`);
      }
      return of.slice(0, arg.length);
    case "band":
    case "mod":
      return divided(name, of, n);
    case "shard":
      return String(fnv(of) % Math.max(n, 1));
    case "first":
      return bytesOf(Array.from(textOf(of)).slice(0, n).join(""));
    case "hash":
      return createHash("sha256").update(Buffer.from(of, "latin1")).digest("hex").slice(0, n);
    default:
      throw new Error(`there is no function |${name}`);
  }
}

function quoted(of: Bytes): string {
  return JSON.stringify(textOf(of));
}

/** Lower case letter by letter: independent of the context and of the same length. */
function lower(text: string): string {
  let out = "";
  for (const c of text) {
    const small = c.toLowerCase();
    out += String.fromCodePoint(small.codePointAt(0)!);
  }
  return out;
}

function fold(text: string): string {
  const bare = lower(text.normalize("NFKD").replace(/\p{M}/gu, ""));
  return bare.split(/\p{White_Space}+/u).filter((word) => word !== "").join(" ");
}

function slug(text: string): string {
  return fold(text).replace(/[^a-z0-9]+/g, "-");
}

function pad(of: Bytes, n: number): Bytes {
  if (/[^0-9]/.test(of)) {
    throw new Error(`${quoted(of)} is not a whole number of at least 0`);
  }
  if (of === "" || of.length > n) {
    throw new Error(`${quoted(of)} does not fit into ${n} digits`);
  }
  return of.padStart(n, "0");
}

function timestamp(of: Bytes, unit: string): Bytes {
  const at = parseTime(of);
  if (at === undefined) {
    throw new Error(`${quoted(of)} is not a time: write 2024-01-15T10:00:00.000Z`);
  }
  return unit === "s" ? pad(String(Math.floor(at / 1000)), 10) : pad(String(at), 13);
}

/** band is the quotient rounded down, mod the remainder: never negative. */
function divided(name: string, of: Bytes, n: number): Bytes {
  if (!/^[+-]?[0-9]+$/.test(of) || n < 1) {
    throw new Error(`${quoted(of)} is not a whole number`);
  }
  const [value, by] = [BigInt(of), BigInt(n)];
  const rest = ((value % by) + by) % by;
  return (name === "mod" ? rest : (value - rest) / by).toString();
}

function fnv(of: Bytes): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < of.length; i++) {
    h = Math.imul(h ^ of.charCodeAt(i), 0x01000193) >>> 0;
  }
  return h;
}
