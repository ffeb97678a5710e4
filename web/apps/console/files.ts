// Items in files: DynamoDB JSON lines, as in AWS's exports, or CSV; plain or compressed by gzip. An export's folder is read
// according to its manifest.
import { Problem } from "#ui";
import { BadField, type CSVColumn, type ColumnType, columnOf, itemOfRow, rowsOf } from "./csv.ts";
import { isItem } from "./tree.ts";
import type { Item } from "./value.ts";
import { t } from "./words.ts";

/** An item of a file, or the error in that line. */
export interface Entry {
  item?: Item;
  fault?: string;
  /** Its position: file and line. */
  at: string;
}

export interface Source {
  format: "csv" | "json";
  files: readonly File[];
  /** The number of items in an export's manifest. */
  expected: number | undefined;
  columns: readonly CSVColumn[];
}

function refused(text: string): Problem {
  return new Problem({ status: 0, code: "File", detail: text });
}

function plain(file: File): ReadableStream<Uint8Array> {
  const stream = file.stream() as ReadableStream<Uint8Array>;
  return file.name.endsWith(".gz") ? stream.pipeThrough(new DecompressionStream("gzip") as unknown as ReadableWritablePair<Uint8Array, Uint8Array>) : stream;
}

async function* textsOf(file: File): AsyncGenerator<string> {
  const reader = plain(file).pipeThrough(new TextDecoderStream("utf-8", { fatal: true }) as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } catch {
    throw refused(t("import.unreadable", { name: file.name }));
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function* linesOf(file: File): AsyncGenerator<string> {
  let rest = "";
  for await (const text of textsOf(file)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield rest;
}

const bare = (name: string) => name.replace(/\.gz$/, "");

interface ManifestLine { itemCount?: number; dataFileS3Key?: string }

/** The data files of an export's folder: all that its manifest names. */
async function exported(files: readonly File[], manifest: File): Promise<{ files: File[]; expected: number }> {
  const summary = files.find((f) => f.name === "manifest-summary.json");
  const about = summary ? (JSON.parse(await summary.text()) as { outputFormat?: string; exportType?: string }) : {};
  if (about.exportType === "INCREMENTAL_EXPORT") throw refused(t("import.incremental"));
  if (about.outputFormat !== undefined && about.outputFormat !== "DYNAMODB_JSON") throw refused(t("import.ion", { format: about.outputFormat }));
  const lines = (await manifest.text()).split("\n").filter((l) => l.trim() !== "").map((l) => JSON.parse(l) as ManifestLine);
  let expected = 0;
  const found = lines.map((line) => {
    const name = (line.dataFileS3Key ?? "").split("/").pop() ?? "";
    const file = files.find((f) => f.name === name);
    if (!file) throw refused(t("import.missing", { name }));
    expected += line.itemCount ?? 0;
    return file;
  });
  return { files: found, expected };
}

/** The chosen files, and how they are read. */
export async function sourceOf(chosen: readonly File[], typeOfKey: (name: string) => ColumnType | undefined): Promise<Source> {
  const manifests = chosen.filter((f) => f.name === "manifest-files.json");
  if (manifests.length > 1) throw refused(t("import.several"));
  if (manifests[0]) return { format: "json", columns: [], ...(await exported(chosen, manifests[0])) };
  const files = chosen.filter((f) => /\.(csv|json|jsonl|ndjson|txt)$/i.test(bare(f.name)) && !f.name.startsWith("manifest-")).sort((a, b) => (a.name < b.name ? -1 : 1));
  const [first] = files;
  if (!first) throw refused(t("import.noFile"));
  const csv = /\.csv$/i.test(bare(first.name));
  if (files.some((f) => /\.csv$/i.test(bare(f.name)) !== csv)) throw refused(t("import.mixed"));
  return { format: csv ? "csv" : "json", files, expected: undefined, columns: csv ? await headOf(first, typeOfKey) : [] };
}

async function headOf(file: File, typeOfKey: (name: string) => ColumnType | undefined): Promise<CSVColumn[]> {
  for await (const row of rowsOf(textsOf(file))) return row.map((head) => columnOf(head, typeOfKey));
  throw refused(t("import.noFile"));
}

/** A line of DynamoDB JSON: an item, or {"Item": …} as in exports. */
function itemOfLine(line: string): Item | undefined {
  try {
    const v: unknown = JSON.parse(line);
    if (isItem(v)) return v;
    const wrapped = typeof v === "object" && v !== null && Object.keys(v).length === 1 ? (v as { Item?: unknown }).Item : undefined;
    return isItem(wrapped) ? wrapped : undefined;
  } catch {
    return undefined;
  }
}

async function* entriesOfJSON(file: File): AsyncGenerator<Entry> {
  let n = 0;
  for await (const line of linesOf(file)) {
    n++;
    if (n === 1 && /^\s*\[/.test(line)) { // one array of items
      yield* entriesOfArray(file);
      return;
    }
    if (line.trim() === "") continue;
    const item = itemOfLine(line);
    yield item ? { item, at: `${file.name}:${n}` } : { fault: t("import.notItem"), at: `${file.name}:${n}` };
  }
}

async function* entriesOfArray(file: File): AsyncGenerator<Entry> {
  let list: unknown;
  try {
    list = JSON.parse(await new Response(plain(file)).text());
  } catch {
    throw refused(t("import.unreadable", { name: file.name }));
  }
  for (const [n, v] of (list as unknown[]).entries()) {
    const at = `${file.name}[${n}]`;
    const item = itemOfLine(JSON.stringify(v));
    yield item ? { item, at } : { fault: t("import.notItem"), at };
  }
}

async function* entriesOfCSV(file: File, columns: readonly CSVColumn[]): AsyncGenerator<Entry> {
  let n = 0;
  for await (const row of rowsOf(textsOf(file))) {
    if (n++ === 0) continue; // the names
    const at = `${file.name}:${n}`;
    if (row.slice(columns.length).some(Boolean)) {
      yield { fault: t("import.fields", { n: row.length, columns: columns.length }), at };
      continue;
    }
    try {
      yield { item: itemOfRow(row, columns), at };
    } catch (thrown) {
      if (!(thrown instanceof BadField)) throw thrown;
      yield { fault: t("import.badField", { name: thrown.column.name, type: thrown.column.type, text: thrown.text.slice(0, 60) }), at };
    }
  }
}

export async function* entriesOf(source: Source): AsyncGenerator<Entry> {
  for (const file of source.files) yield* source.format === "csv" ? entriesOfCSV(file, source.columns) : entriesOfJSON(file);
}

/** A file written in pieces; the browser keeps the pieces, on disk if they are many. */
export class Pieces {
  private readonly blobs: Blob[] = [];
  private pending: string[] = [];
  private letters = 0;

  add(text: string): void {
    this.pending.push(text);
    this.letters += text.length;
    if (this.letters > 1 << 20) this.flush();
  }

  private flush(): void {
    this.blobs.push(new Blob(this.pending));
    this.pending = [];
    this.letters = 0;
  }

  whole(): Blob {
    this.flush();
    return new Blob(this.blobs);
  }
}

export async function compressed(blob: Blob): Promise<Blob> {
  return new Response((blob.stream() as ReadableStream<Uint8Array>).pipeThrough(new CompressionStream("gzip") as unknown as ReadableWritablePair<Uint8Array, Uint8Array>)).blob();
}
