// The runtime of the code that monotable generate --lang typescript writes: it sends the requests of a design's patterns and
// decodes the responses. It corresponds to the Go package github.com/monotable/monotable/design/table, which has more comments:
// equal descriptors give equal items.

import { type BatchItems, Call, type CallOptions, type Client, type Environment, type Observation, maxBatchItems } from "./call.js";
import { decodeAll, encode, encodeAll } from "./codec.js";
import { Sealer } from "./cursor.js";
import type { Document, Place, Table } from "./descriptor.js";
import { type Entity, identity } from "./entity.js";
import { builtin, named } from "./errors.js";
import { type Program, link } from "./link.js";
import { type Erased, type PersonItem, type Runner, erasePerson, exportPerson } from "./person.js";
import { type PageOf, type PageOptions, type Read, all, batch, collect, count, get, page } from "./read.js";
import type { Input } from "./source.js";
import { compareTexts } from "./keytext.js";
import type { LinkedField } from "./types.js";
import { type Item, type Values, bare, own } from "./values.js";
import { type Outcome, tx, write } from "./write.js";

export type { CreateTableCommandInput, UpdateTimeToLiveCommandInput } from "@aws-sdk/client-dynamodb";
export type { CallOptions, Client, Observation } from "./call.js";
export { Secret } from "./codec.js";
export type { Document, Place } from "./descriptor.js";
export { type BuiltinCode, DecodeError, Refusal, TableError, UnfinishedError, ValueError, isError } from "./errors.js";
export type { Erased, Kept, PersonItem } from "./person.js";
export type { PageOf, PageOptions } from "./read.js";
export type { AttributeValue, Item, Values } from "./values.js";

/** The configuration of a database, besides its client. */
export interface Settings {
  /** The names of the tables in DynamoDB, by their names in the design. By default they are equal. */
  tables?: { [name: string]: string | undefined };
  /**
   * Seals cursors: at least 32 bytes, the same in all processes that continue each other's pages. Without it there are no
   * cursors.
   */
  cursorKey?: Uint8Array;
  /** Earlier cursor keys, which still open cursors sealed with them. */
  oldCursorKeys?: readonly Uint8Array[];
  /** Returns the caller, from an AsyncLocalStorage for example: a cursor is then valid for that caller only. */
  caller?: () => string;
  /** Returns the current time; Date.now by default. */
  clock?: () => Date;
  /** Called after each call of a method. */
  observe?: (o: Observation) => void;
  /** Generates the IDs for writes, by kind; random by default. */
  newID?: (kind: string) => string;
  /** For tests: requests are sent sequentially, and attempts have no pauses. */
  sequential?: boolean;
}

/** An entity's item for load. */
export interface LoadRecord {
  entity: string;
  value: object;
}

/** What a stored item represents. */
export interface Decoded {
  entity: string;
  place: Place;
  value: object;
}

/** A write with its input, for a tx. R is its result. */
export class Op<R> {
  readonly runtime: Runtime;
  readonly name: string;
  readonly given: object;
  /** Converts the outcome to the write's result. */
  readonly result: (call: Call, input: Input, outcome: Outcome) => Promise<R>;

  constructor(runtime: Runtime, name: string, given: object, result: (call: Call, input: Input, outcome: Outcome) => Promise<R>) {
    this.runtime = runtime;
    this.name = name;
    this.given = given;
    this.result = result;
  }
}

/**
 * The results of the writes of a tx, in their order. If the tx is a repetition, nothing was done, and only the results of
 * idempotent writes are known, unless their records no longer exist.
 */
export type TxResult<W extends readonly Op<unknown>[]> =
  | { replayed: false; results: { [I in keyof W]: W[I] extends Op<infer R> ? Exclude<R, { replayed: true }> : never } }
  | { replayed: true; results: { [I in keyof W]: W[I] extends Op<infer R> ? Extract<R, { replayed: true }> | undefined : never } };

/** Runs the patterns of a document. Generated code adds names and types. */
export class Runtime implements Runner {
  readonly program: Program;
  private readonly env: Environment;
  private readonly names = new Map<string, string>();

  constructor(document: Document, client: Client, settings: Settings) {
    this.program = link(document);
    this.physicalNames(document, settings.tables ?? {});
    const { cursorKey, oldCursorKeys = [], clock } = settings;
    this.env = {
      client,
      tableName: (t: Table) => this.names.get(t.name) ?? t.physical,
      clock: clock ? () => clock().getTime() : Date.now,
      sealer: cursorKey || oldCursorKeys.length > 0 ? new Sealer([cursorKey ?? new Uint8Array(0), ...oldCursorKeys]) : undefined,
      caller: settings.caller,
      observe: settings.observe,
      newID: settings.newID,
      sequential: settings.sequential ?? false,
      errors: document.errors ?? {},
    };
  }

  private physicalNames(d: Document, configured: { [name: string]: string | undefined }): void {
    for (const t of Object.values(d.tables)) {
      const name = own(configured, t.name);
      if (name === "") {
        throw builtin("Config", `: the name of table ${t.name} is empty: tables.${t.name} must be its name on DynamoDB`);
      }
      if (name === undefined && /[{}]/.test(t.physical)) {
        throw builtin("Config", `: the name of table ${t.name} is ${t.physical}, which depends on the deployment: set tables.${t.name} to its name there`);
      }
      this.names.set(t.name, name ?? t.physical);
    }
    for (const name of Object.keys(configured)) {
      if (!this.names.has(name)) {
        throw builtin("Config", `: tables names ${JSON.stringify(name)}, which is not in the design: ${[...this.names.keys()].join(", ")}`);
      }
    }
  }

  /** Runs a call and reports it to the observer. */
  async call<T>(pattern: string, o: CallOptions, run: (call: Call) => Promise<T>): Promise<T> {
    const call = new Call(this.env, pattern, o);
    try {
      const out = await run(call);
      call.end();
      return out;
    } catch (err) {
      const out = named(pattern, err);
      call.end(out);
      throw out;
    }
  }

  read(name: string): Program["reads"] extends Map<string, infer R> ? R : never {
    return this.program.reads.get(name)!;
  }

  /** The input of a read, encoded. */
  input(name: string, given: object): Input {
    const r = this.read(name);
    const from = given as { [name: string]: unknown };
    const out: Input = { values: bare() };
    for (const p of r.params) {
      const x = own(from, p.name === r.prefix ? `${p.name}Prefix` : p.name);
      const v = x === undefined || x === null || (p.name === r.prefix && x === "") ? undefined : encode(p.type, p.name, x);
      if (v !== undefined) {
        out.values[p.name] = v;
      }
    }
    const f = r.range ? r.entity.field(r.range) : undefined;
    if (f) {
      const [low, high] = [own(from, `${f.name}From`), own(from, `${f.name}To`)];
      out.from = low === undefined ? undefined : encode(f.type, f.name, low);
      out.to = high === undefined ? undefined : encode(f.type, f.name, high);
    }
    return out;
  }

  private decoded<T>(e: Entity, fields: readonly string[] | undefined, v: Values): T {
    return decodeAll(e.name, shown(e, fields), v) as T;
  }

  private decodedOf<T>(r: Read, v: Values): T {
    return this.decoded(r.entity, r.fields, v);
  }

  /** One item. */
  one<T>(name: string, given: object, o: CallOptions = {}): Promise<T> {
    const r = this.read(name);
    return this.call(name, o, async (call) => this.decodedOf<T>(r, await get(call, r, this.input(name, given))));
  }

  /** One item for each of several inputs. */
  batch<T>(name: string, given: readonly object[], o: CallOptions = {}): Promise<(T | undefined)[]> {
    const r = this.read(name);
    return this.call(name, o, async (call) => {
      const found = await batch(call, r, given.map((one) => this.input(name, one)));
      return found.map((v) => v && this.decodedOf<T>(r, v));
    });
  }

  /** The number of the items of a list. */
  count(name: string, given: object, o: CallOptions = {}): Promise<number> {
    const r = this.read(name);
    return this.call(name, o, (call) => count(call, r, this.input(name, given)));
  }

  /** A page of a list. */
  page<T>(name: string, given: object, options: PageOptions = {}, o: CallOptions = {}): Promise<PageOf<T>> {
    const r = this.read(name);
    return this.call(name, o, async (call) => {
      const { items, next } = await page(call, r, this.input(name, given), options);
      return { items: items.map((v) => this.decodedOf<T>(r, v)), next };
    });
  }

  /** A list up to the read's limit. */
  async list<T>(name: string, given: object, o: CallOptions = {}): Promise<T[]> {
    const out: T[] = [];
    for await (const x of this.each<T>(name, given, o)) {
      out.push(x);
    }
    return out;
  }

  /** Walks all pages, and requests each when it is needed. */
  async *each<T>(name: string, given: object, o: CallOptions = {}): AsyncGenerator<T, void, undefined> {
    const r = this.read(name);
    const found = this.input.bind(this);
    const decoded = (v: Values): T => this.decodedOf<T>(r, v);
    yield* this.walk(name, o, async function* (call) {
      for await (const v of all(call, r, found(name, given))) {
        yield decoded(v);
      }
    });
  }

  /** Runs a call that returns an iterator, and reports it to the observer. */
  async *walk<T>(pattern: string, o: CallOptions, run: (call: Call) => AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    const call = new Call(this.env, pattern, o);
    let failed: unknown;
    try {
      yield* run(call);
    } catch (err) {
      failed = named(pattern, err);
      throw failed;
    } finally {
      call.end(failed);
    }
  }

  /** Whether there are cursors. */
  get paged(): boolean {
    return this.env.sealer !== undefined;
  }

  /** Walks the items of a person. */
  exportPerson<T extends LoadRecord>(id: string, after: string, o: CallOptions): AsyncGenerator<PersonItem & T, void, undefined> {
    return exportPerson(this, this.program.person, id, after, o) as AsyncGenerator<PersonItem & T, void, undefined>;
  }

  /** Erases the items of a person. */
  erasePerson(id: string, o: CallOptions): Promise<Erased> {
    const pause = (ms: number): Promise<void> => (this.env.sequential ? Promise.resolve() : new Call(this.env, "erase", o).pause(ms));
    return erasePerson(this, this.program.person, id, pause, o);
  }

  /** A collection: an array for each member, and the root. */
  collect<T>(name: string, given: object, options: PageOptions = {}, o: CallOptions = {}): Promise<T> {
    const c = this.program.collections.get(name)!;
    return this.call(name, o, async (call) => {
      const { items, next } = await collect(call, c, { values: encodeAll(c.params, given) }, options);
      const out: { [name: string]: unknown } = {};
      c.results.forEach((result, i) => {
        if (i !== c.root) {
          out[result] = [];
        }
      });
      for (const f of items) {
        const m = c.members[f.member]!;
        const x = this.decoded(m.entity, m.fields, f.values);
        const result = c.results[f.member]!;
        if (f.member === c.root) {
          out[result] = x;
        } else {
          (out[result] as unknown[]).push(x);
        }
      }
      if (c.page) {
        out["next"] = next;
      }
      return out as T;
    });
  }

  /** The input of a write, encoded. */
  writeInput(name: string, given: object): Input {
    const w = this.program.writes.get(name)!;
    const lines = own(given as { lines?: unknown } & { [name: string]: unknown }, "lines");
    return {
      values: encodeAll(w.params, given),
      ...(w.lines ? { lines: (Array.isArray(lines) ? lines : []).map((line: object) => encodeAll(w.lineParams, line)) } : {}),
    };
  }

  /** A write with its result. */
  write<T>(name: string, given: object, o: CallOptions = {}): Promise<T> {
    return this.call(name, o, async (call) => {
      const input = this.writeInput(name, given);
      return this.outcome<T>(call, name, input, await write(call, this.program.writes.get(name)!, input));
    });
  }

  /** Converts an outcome to a write's result. */
  private async outcome<T>(call: Call, name: string, input: Input, { items, replayed, record }: Outcome): Promise<T> {
    const w = this.program.writes.get(name)!;
    const out: { [name: string]: unknown } = {};
    if (replayed && record) {
      out["replayed"] = true;
      out["record"] = this.decoded(w.idempotent!.record, undefined, record);
      return Object.assign(out, await this.replayed(call, name, input, record)) as T;
    }
    if (w.idempotent) {
      out["replayed"] = false;
    }
    for (const returned of w.returned ?? []) {
      const e = w.steps[returned.step]!.entity;
      const all = (items[returned.step] ?? []).map((v) => v && this.decoded(e, undefined, v));
      const x = returned.each ? all : all[0];
      if (x !== undefined) {
        out[returned.name] = x;
      }
    }
    return out as T;
  }

  /** A write for tx. */
  op<R>(name: string, given: object): Op<R> {
    return new Op<R>(this, name, given, (call, input, outcome) => this.outcome<R>(call, name, input, outcome));
  }

  /** Executes several writes as one transaction. */
  tx<W extends readonly Op<unknown>[]>(ops: W, o: CallOptions = {}): Promise<TxResult<W>> {
    const foreign = ops.findIndex((op) => !(op instanceof Op) || op.runtime !== this);
    if (ops.length === 0 || foreign >= 0) {
      return Promise.reject(new Error(ops.length === 0 ? "a tx has no writes" : `write ${foreign} of a tx belongs to another DB`));
    }
    const name = `Tx of ${ops.map((op) => op.name).sort(compareTexts).join(", ")}`;
    return this.call(name, o, async (call) => {
      const inputs: Input[] = [];
      const outcomes = await tx(call, ops.map((op, i) => ({
        w: this.program.writes.get(op.name)!, input: () => (inputs[i] = this.writeInput(op.name, op.given)),
      })));
      const results: unknown[] = [];
      for (const [i, op] of ops.entries()) {
        const known = !outcomes[i]!.replayed || outcomes[i]!.record !== undefined;
        results.push(known ? await op.result(call, inputs[i]!, outcomes[i]!) : undefined);
      }
      return { replayed: outcomes[0]!.replayed, results } as TxResult<W>;
    });
  }

  /** What the design's replay returns for a repetition. */
  private async replayed(call: Call, name: string, input: Input, record: Values): Promise<object> {
    const w = this.program.writes.get(name)!;
    const { read, collection, owner } = w.replay ?? {};
    const values = bare(input.values, record);
    if (owner && input.values[owner] !== undefined) {
      values[owner] = input.values[owner]!; // the caller decides whose data it may be
    }
    const out: { [name: string]: unknown } = {};
    const add = (e: Entity, fields: readonly string[] | undefined, v: Values): void => {
      const returned = w.returned?.find((x) => w.steps[x.step]!.entity === e);
      if (returned) {
        const x = this.decoded(e, fields, v);
        out[returned.name] = returned.each ? [...((out[returned.name] as unknown[] | undefined) ?? []), x] : x;
      }
    };
    if (read) {
      const r = this.read(read);
      if (!r.many) {
        add(r.entity, r.fields, await get(call, r, { values }));
        return out;
      }
      for await (const v of all(call, r, { values })) {
        add(r.entity, r.fields, v);
      }
    } else if (collection) {
      const { page: _, ...c } = this.program.collections.get(collection)!;
      for (const f of (await collect(call, c, { values }, {})).items) {
        const m = c.members[f.member]!;
        add(m.entity, m.fields, f.values);
      }
    }
    return out;
  }

  /**
   * Puts records with their copies, index entries and markers unconditionally: for imports and samples. Of records with equal
   * keys, any one may remain.
   */
  load(records: Iterable<LoadRecord> | AsyncIterable<LoadRecord>, progress?: (stored: number) => void, o: CallOptions = {}): Promise<void> {
    return this.call("load", o, async (call) => {
      let next = new Map<string, { table: string; item: Item }>();
      let waiting = 0;
      let stored = 0;
      const flush = async (): Promise<void> => {
        await putAll(call, [...next.values()]);
        stored += waiting;
        next = new Map();
        waiting = 0;
        progress?.(stored);
      };
      for await (const r of records) {
        const e = this.program.entities.get(r.entity);
        if (!e) {
          throw builtin("Value", `: ${JSON.stringify(r.entity)} is not an entity of the design`);
        }
        const items = e.items(encodeAll(e.fields, r.value));
        if (next.size + items.length > maxBatchItems && waiting > 0) {
          await flush();
        }
        for (const item of items) {
          next.set(identity(e.table, item), { table: this.env.tableName(e.table), item });
        }
        waiting++;
      }
      if (waiting > 0) {
        await flush();
      }
    });
  }
}

/**
 * Finds the entity of a stored item, and its place: the item itself, a copy or a marker. For code that reads items without a
 * pattern: streams, exports, scans.
 */
export function decoder(document: Document): (item: Item) => Decoded | undefined {
  const entities = [...link(document).entities.values()];
  return (item) => {
    for (const e of entities) {
      const places: Place[] = [
        { kind: "key" },
        ...e.copies.map((c): Place => ({ kind: "copy", copy: c.name })),
        ...e.markers.map((m): Place => ({ kind: "marker", marker: m.name })),
      ];
      for (const place of places) {
        const v = e.is(place, item);
        if (v) {
          const copy = e.copyOf(place.copy);
          const marker = e.markers.find((m) => m.name === place.marker);
          const held = copy ? e.heldBy(copy) : marker && e.heldByMarker(marker);
          return { entity: e.name, place, value: decodeAll(e.name, shown(e, held), v) };
        }
      }
    }
    return undefined;
  };
}

function shown(e: Entity, fields: readonly string[] | undefined): readonly LinkedField[] {
  return fields ? e.fields.filter((f) => fields.includes(f.name)) : e.fields;
}

/** Puts items in batches, and retries the unprocessed ones. */
async function putAll(call: Call, items: readonly { table: string; item: Item }[]): Promise<void> {
  for (let i = 0; i < items.length; i += maxBatchItems) {
    let rest: BatchItems = {};
    for (const { table, item } of items.slice(i, i + maxBatchItems)) {
      (rest[table] ??= []).push({ PutRequest: { Item: item } });
    }
    for (let pause = 50; ; pause = Math.min(2 * pause, 5000)) {
      rest = await call.writeBatch(rest);
      if (Object.keys(rest).length === 0) {
        break;
      }
      await call.pause(pause);
    }
  }
}

