// Lossless CSV. A column is an attribute: "name" has strings, "name:N" numbers, "name:BOOL" booleans. A value of
// another type is written in DynamoDB's JSON, {"SS":["a","b"]}, and an empty field is an absent attribute.
import Papa from "papaparse";
import type { Item, Value } from "./value.ts";
import { attribute, inner, isNumber, typeOf } from "./value.ts";
import { isValue } from "./tree.ts";

export const columnTypes = ["S", "N", "BOOL", "JSON"] as const;
export type ColumnType = (typeof columnTypes)[number];

export interface CSVColumn {
  /** The name in the file's first line. */
  head: string;
  /** The attribute; "" leaves the column out. */
  name: string;
  type: ColumnType;
}

const headForm = /^(.*):(S|N|BOOL|JSON)$/s;

export function columnOf(head: string, typeOfKey: (name: string) => ColumnType | undefined): CSVColumn {
  const [, name = head, type] = headForm.exec(head) ?? [];
  return { head, name, type: typeOfKey(name) ?? (type as ColumnType | undefined) ?? "S" };
}

/** Counts the types of attributes, to choose the columns of a file whose items are not all in memory. */
export class Columns {
  private readonly counts = new Map<string, Map<ColumnType, number>>();

  add(item: Item): void {
    for (const [name, v] of Object.entries(item)) {
      const type = typeOf(v);
      const column = type === "S" || type === "N" || type === "BOOL" ? type : "JSON";
      const types = this.counts.get(name) ?? new Map<ColumnType, number>();
      types.set(column, (types.get(column) ?? 0) + 1);
      this.counts.set(name, types);
    }
  }

  /** Keys first, then the attributes that most items have. */
  list(keys: readonly string[]): CSVColumn[] {
    const rest = [...this.counts.keys()].filter((n) => !keys.includes(n));
    return [...keys.filter((k) => this.counts.has(k)), ...rest].map((name) => {
      const types = [...(this.counts.get(name) ?? [])].sort(([, a], [, b]) => b - a);
      const type = types[0]?.[0] ?? "S";
      return { head: type === "S" && !headForm.test(name) ? name : `${name}:${type}`, name, type };
    });
  }
}

const likeJSON = /^\s*\{/;

function field(v: Value | undefined, type: ColumnType): string {
  if (!v) return "";
  const own = typeOf(v);
  if (own === type && !("S" in v && (v.S === "" || likeJSON.test(v.S)))) return String(inner(v));
  return JSON.stringify(v);
}

const newline = "\r\n";

export function csvHead(columns: readonly CSVColumn[]): string {
  return Papa.unparse([columns.map((c) => c.head)], { newline }) + newline;
}

export function csvLine(item: Item, columns: readonly CSVColumn[]): string {
  return Papa.unparse([columns.map((c) => field(attribute(item, c.name), c.type))], { newline }) + newline;
}

/** A field that is not a value of its column's type. */
export class BadField extends Error {
  constructor(readonly column: CSVColumn, readonly text: string) {
    super(column.name);
  }
}

function valueOf(text: string, column: CSVColumn): Value | undefined {
  if (text === "") return undefined;
  if (likeJSON.test(text)) {
    try {
      const v: unknown = JSON.parse(text);
      if (isValue(v)) return v;
    } catch {
      // a string that looks like JSON
    }
  }
  const plain = text.trim();
  if (column.type === "N" && isNumber(plain)) return { N: plain };
  if (column.type === "BOOL" && /^(true|false)$/i.test(plain)) return { BOOL: plain.toLowerCase() === "true" };
  if (column.type === "S") return { S: text };
  throw new BadField(column, text);
}

export function itemOfRow(row: readonly string[], columns: readonly CSVColumn[]): Item {
  const item: Item = {};
  for (const [n, column] of columns.entries()) {
    const value = column.name === "" ? undefined : valueOf(row[n] ?? "", column);
    if (value) item[column.name] = value;
  }
  return item;
}

/**
 * The rows of a file, streamed. Papa Parse's own streaming decodes each piece of a file separately, which breaks characters at the
 * edges, so it gets decoded text here, and the last row of a piece waits for the next piece.
 */
export async function* rowsOf(texts: AsyncIterable<string>): AsyncGenerator<string[]> {
  let rest = "";
  let delimiter = "";
  for await (const text of texts) {
    rest = rest === "" && delimiter === "" ? text.replace(/^\uFEFF/, "") : rest + text;
    const rows: string[][] = [];
    const ends: number[] = [0];
    Papa.parse<string[]>(rest, { delimiter, step: (r) => { rows.push(r.data); ends.push(r.meta.cursor); delimiter ||= r.meta.delimiter; } });
    if (rows.length > 1) {
      yield* rows.slice(0, -1).filter(notEmpty);
      rest = rest.slice(ends[rows.length - 1]);
    }
  }
  yield* Papa.parse<string[]>(rest, { delimiter }).data.filter(notEmpty);
}

const notEmpty = (row: readonly string[]) => row.length > 1 || (row[0] ?? "") !== "";
