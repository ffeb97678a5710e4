// Reads and collections.

import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import type { Call } from "./call.js";
import { type Condition, type Inputs, aliasIn } from "./condition.js";
import { type Position, decodePeriod, decodePositions, encodePeriod, encodePositions } from "./cursor.js";
import type { CollectionDescriptor, KeyAttribute, Part, Place, ReadDescriptor, Table } from "./descriptor.js";
import type { Entity } from "./entity.js";
import { builtin, missing } from "./errors.js";
import type { Bytes } from "./keytext.js";
import { Reading } from "./reading.js";
import { type Input, Source, type Start, normal } from "./source.js";
import { checkValue } from "./types.js";
import { type AttributeValue, type Item, type Values, bare, compareKeys, equal, own, sizedText } from "./values.js";
import { isOpen, since } from "./walk.js";

/** A read whose descriptor is linked. */
export interface Read extends Omit<ReadDescriptor, "entity" | "filter"> {
  entity: Entity;
  filter: Condition | undefined;
}

export interface Collection extends Omit<CollectionDescriptor, "table" | "members"> {
  table: Table;
  members: { entity: Entity; place: Place; fields?: string[] }[];
}

export interface PageOptions {
  /** The maximum number of items of the page; by default the pattern's own, at most 1000. */
  limit?: number | undefined;
  /** Continues after a page; "" starts from the beginning. */
  after?: string | undefined;
}

/** A page of a list. */
export interface PageOf<T> {
  items: T[];
  /** Continues after this page; "" at the end. A page may have fewer items than requested, or none, without being the last. */
  next: string;
}

export interface Found {
  member: number;
  values: Values;
}

const maxPage = 1000;

function pageSize(o: PageOptions, fallback: number): number {
  return Math.min(o.limit && o.limit > 0 ? o.limit : fallback > 0 ? fallback : maxPage, maxPage);
}

/** The caller's condition on one field: a prefix, or bounds. */
class Span {
  private part: Part = {};
  private prefix: Bytes = "";
  private lower: AttributeValue | undefined;
  private upper: AttributeValue | undefined;
  private readonly entity: Entity;

  constructor(r: Read, input: Input) {
    this.entity = r.entity;
    const c = r.sk?.find((x) => x.next?.field);
    if (!c) {
      return;
    }
    const part = normal(c.next!);
    const name = part.field!;
    if (c.comparison === "beginsWith") {
      const v = input.values[name];
      if (v !== undefined) {
        this.part = part;
        this.prefix = this.entity.textOf(part, v);
      }
      return;
    }
    if (input.from === undefined && input.to === undefined) {
      return;
    }
    this.part = part;
    const f = this.entity.field(name);
    const bound = (v: AttributeValue | undefined): AttributeValue | undefined => {
      if (v !== undefined && f) {
        checkValue(f.type, name, v);
      }
      return v && this.value(v);
    };
    this.lower = bound(input.from);
    this.upper = bound(input.to);
  }

  private value(v: AttributeValue): AttributeValue {
    return this.part.funcs!.length === 0 ? v : { B: Buffer.from(this.entity.textOf(this.part, v), "latin1") };
  }

  empty(): boolean {
    return this.lower !== undefined && this.upper !== undefined && compareKeys(this.lower, this.upper) > 0;
  }

  /** Whether an item's value is in the span. A field that the place does not have is not checked, unless the item is whole. */
  holds(values: Values, whole: boolean): boolean {
    if (!this.part.field) {
      return true;
    }
    const v = values[this.part.field];
    if (v === undefined) {
      return !whole;
    }
    if (this.lower === undefined && this.upper === undefined) {
      return this.entity.tryText(this.part, v)?.startsWith(this.prefix) ?? false;
    }
    try {
      const made = this.value(v);
      return (!this.lower || compareKeys(this.lower, made) <= 0) && (!this.upper || compareKeys(made, this.upper) <= 0);
    } catch {
      return false;
    }
  }
}

interface FilledPart {
  part: Part;
  text: Bytes;
}

/**
 * The parts of templates that inputs determine, with their texts. Some keys only contain a shard, a band, a prefix, a hash or the
 * second of a time, which other values have too: these are compared without that function and those after it. Of the bucket, the
 * band is compared.
 */
function fill(e: Entity, templates: readonly (readonly Part[] | undefined)[], by: readonly string[], bucket: string, v: Values): FilledPart[] {
  const out: FilledPart[] = [];
  for (const p of templates.flatMap((t) => t ?? [])) {
    const value = p.field && by.includes(p.field) ? v[p.field] : undefined;
    if (value !== undefined) {
      const funcs = p.funcs ?? [];
      const lossy = p.field === bucket ? -1 : funcs.findIndex(lossyFunc);
      const part = { ...p, funcs: lossy < 0 ? funcs : funcs.slice(0, lossy) };
      out.push({ part, text: e.textOf(part, value) });
    }
  }
  return out;
}

function lossyFunc(f: { name: string; arg?: string }): boolean {
  return ["band", "mod", "shard", "first", "hash"].includes(f.name) || (f.name === "ts" && f.arg === "s");
}

/** Whether an item's values give the parts the same texts. */
function fills(filled: readonly FilledPart[], e: Entity, v: Values, whole: boolean): boolean {
  return filled.every(({ part, text }) => {
    const value = v[part.field!];
    return value === undefined ? !whole : e.tryText(part, value) === text;
  });
}

function templates(keys: readonly KeyAttribute[] | undefined): (readonly Part[] | undefined)[] {
  return (keys ?? []).map((a) => a.template);
}

/** A read with its validated input. */
class Question {
  readonly read: Read;
  readonly input: Input;
  readonly span: Span;
  /** Set if the filter is evaluated here and not by the request. */
  here = false;
  private readonly filled: FilledPart[];
  private readonly at: Inputs;

  constructor(r: Read, given: Input, now: number) {
    const input = since(r, given, now);
    this.read = r;
    this.input = input;
    this.at = { values: input.values, now };
    for (const name of this.inputs()) {
      const v = input.values[name];
      if (v === undefined) {
        throw missing(name);
      }
      const f = r.entity.field(name);
      if (f) {
        checkValue(f.type, name, v, f.minBytes, f.maxBytes);
      }
    }
    const known = [...templates(r.key), ...templates(r.pk), ...(r.sk ?? []).map((c) => c.known)];
    this.filled = fill(r.entity, known, r.by ?? [], r.bucket ?? "", input.values);
    this.span = new Span(r, input);
  }

  private inputs(): string[] {
    return [...(this.read.by ?? []), ...(this.read.filterBy ?? []), ...(this.read.owner ? [this.read.owner] : [])];
  }

  /** The inputs that determine the result. */
  names(): string[] {
    const params = this.read.filter?.params.map((p) => p.input) ?? [];
    return [...this.inputs(), ...(this.read.prefix ? [this.read.prefix] : []), ...params];
  }

  matches(v: Values, whole: boolean): boolean {
    return fills(this.filled, this.read.entity, v, whole) && this.span.holds(v, whole);
  }

  /** Whether an item passes the filter and belongs to the owner. */
  admits(item: Item | undefined, v: Values): boolean {
    const owner = this.read.owner;
    if (owner && !equal(v[owner], this.input.values[owner])) {
      return false;
    }
    if (!this.here) {
      return true;
    }
    if ((this.read.filterBy ?? []).some((name) => !equal(v[name], this.input.values[name]))) {
      return false;
    }
    return !this.read.filter || this.read.filter.holds(item, this.at);
  }

  /** Adds the filter to the request, unless it must be evaluated here. */
  filter(s: Source, request: QueryCommandInput): void {
    this.here ||= this.filtersKeys(s);
    if (this.here) {
      return;
    }
    const names = request.ExpressionAttributeNames!;
    const values = request.ExpressionAttributeValues!;
    const terms: string[] = [];
    for (const [i, name] of (this.read.filterBy ?? []).entries()) {
      const f = this.read.entity.field(name);
      if (f) {
        values[`:f${i}`] = this.input.values[name]!;
        terms.push(`${f.path.map((step) => aliasIn(names, step)).join(".")} = :f${i}`);
      }
    }
    if (this.read.filter) {
      terms.push(`(${this.read.filter.bind(this.at, names, values)})`);
    }
    if (terms.length > 0) {
      request.FilterExpression = terms.join(" AND ");
    }
  }

  /** Whether the filter uses key attributes of the queried table or index. */
  private filtersKeys(s: Source): boolean {
    const attributes = (this.read.filterBy ?? []).flatMap((name) => this.read.entity.field(name)?.path[0] ?? []);
    return [...attributes, ...Object.values(this.read.filter?.names ?? {})].some((a) => s.keys(a));
  }
}

/** An item that may be a result. */
interface Candidate {
  question: Question;
  item: Item | undefined;
  values: Values | undefined;
  /** Set if the item that was read for it no longer exists, or no longer matches. */
  strayed?: boolean;
}

function sourceOf(r: Read): Source {
  return new Source({
    pattern: r.pattern, entity: r.entity, table: r.entity.table, index: r.place.index ?? "", by: r.by ?? [], pk: r.pk ?? [], sk: r.sk ?? [],
    sort: r.sort ?? [], reverse: r.reverse ?? false, consistent: r.consistent ?? false,
    ...(r.scan ? { segments: r.segments ?? 1 } : {}),
    ...(r.over ? { over: { layout: r.over, maxBuckets: r.maxBuckets ?? 0, field: r.range ?? "", open: isOpen(r) } } : {}),
  }, r.place);
}

/** One item; a missing item, or another owner's, is NotFound. */
export async function get(call: Call, r: Read, input: Input): Promise<Values> {
  const q = new Question(r, input, call.now);
  const v = r.key ? await getByKey(call, q) : await getByQuery(call, q);
  if (!v) {
    throw builtin("NotFound");
  }
  return v;
}

/** From a marker, the second attempt reads consistently: the first may have seen the marker or the item before both changed. */
async function getByKey(call: Call, q: Question): Promise<Values | undefined> {
  const r = q.read;
  const key = r.entity.keyOf(r.key!, q.input.values);
  q.here = true; // GetItem has no filter
  for (const consistent of [r.consistent ?? false, true]) {
    const item = await call.get(r.entity.table, key, consistent);
    const candidate: Candidate = { question: q, item, values: undefined };
    await judge(call, r, consistent, [candidate]);
    if (candidate.values || !item || r.place.kind !== "marker" || !candidate.strayed) {
      return candidate.values;
    }
  }
  return undefined;
}

/** Requests one item, and twice as many each time that all are dropped. */
async function getByQuery(call: Call, q: Question): Promise<Values | undefined> {
  const reading = query(call, q, sourceOf(q.read));
  for (let n = 1; reading && !reading.done(); n = Math.min(2 * n, maxPage)) {
    const found = await results(call, q, reading, n);
    if (found.length > 0) {
      return found[0];
    }
  }
  return undefined;
}

/** Starts the reading of a question; undefined if its bounds exclude everything. */
function query(call: Call, q: Question, s: Source, start = s.begin(q.input), positions?: readonly Position[], most?: number): Reading | undefined {
  const request = s.request(call.env.tableName(s.o.table), q.input);
  if (!request || q.span.empty()) {
    return undefined;
  }
  q.here = q.read.hydrate ?? false;
  q.filter(s, request);
  return new Reading(call, s, request, start, positions, most);
}

/** The results among the next n items of a reading. */
async function results(call: Call, q: Question, reading: Reading, n: number): Promise<Values[]> {
  const items = await reading.next(n);
  const candidates = items.map((item): Candidate => ({ question: q, item, values: undefined }));
  await judge(call, q.read, q.read.consistent ?? false, candidates);
  return candidates.map((c) => c.values).filter((v) => v !== undefined);
}

/** Determines which candidates are results, and reads the whole items if the place does not have the requested fields. */
async function judge(call: Call, r: Read, consistent: boolean, candidates: Candidate[]): Promise<void> {
  for (const c of candidates) {
    const v = r.entity.is(r.place, c.item);
    c.values = v && c.question.matches(v, r.place.kind === "key") ? v : undefined;
  }
  if (r.hydrate || r.place.kind === "marker") {
    await hydrate(call, r, consistent, candidates);
  }
  for (const c of candidates) {
    c.values = c.values && c.question.admits(c.item, c.values) ? restricted(c.values, r.fields) : undefined;
  }
}

/** Reads the items of candidates. Items that no longer exist or match are no results. */
async function hydrate(call: Call, r: Read, consistent: boolean, candidates: Candidate[]): Promise<void> {
  const found = candidates.filter((c) => c.values);
  const items = await call.fetch(r.entity.table, found.map((c) => primaryKey(r, c.item!, c.values!)), consistent);
  for (const [i, c] of found.entries()) {
    const v = r.entity.is({ kind: "key" }, items[i]);
    c.strayed = !v || !c.question.matches(v, true);
    c.item = items[i];
    c.values = c.strayed ? undefined : v;
  }
}

/** The key of the item after another one at the read's place. An entry of the item itself has it. */
function primaryKey(r: Read, item: Item, v: Values): Item {
  const e = r.entity;
  if (r.place.kind !== "entry" || r.place.copy) {
    return e.keyOf(e.key, v);
  }
  const key: Item = bare();
  for (const a of e.key) {
    const value = own(item, a.name);
    if (value === undefined) {
      throw new Error(`index ${r.place.index} returned an item without ${a.name}`);
    }
    key[a.name] = value;
  }
  return key;
}

function restricted(v: Values, fields: readonly string[] | undefined): Values {
  if (!fields) {
    return v;
  }
  const out: Values = bare();
  for (const name of Object.keys(v)) {
    if (fields.includes(name)) {
      out[name] = v[name]!;
    }
  }
  return out;
}

/** One item for each of several inputs; undefined for a missing one, or another owner's. */
export async function batch(call: Call, r: Read, inputs: readonly Input[]): Promise<(Values | undefined)[]> {
  if (!r.key) {
    throw new Error("it is served by a Query, which cannot be batched: read one item at a time");
  }
  if (r.maxKeys && inputs.length > r.maxKeys) {
    throw builtin("Lines", `: there are ${inputs.length}, but the maximum is ${r.maxKeys}`);
  }
  const keys: Item[] = [];
  const candidates = inputs.map((input): Candidate => {
    const question = new Question(r, input, call.now);
    question.here = true; // BatchGetItem has no filter
    keys.push(r.entity.keyOf(r.key!, input.values));
    return { question, item: undefined, values: undefined };
  });
  const items = await call.fetch(r.entity.table, keys, r.consistent ?? false);
  candidates.forEach((c, i) => (c.item = items[i]));
  await judge(call, r, r.consistent ?? false, candidates);
  return candidates.map((c) => c.values);
}

/** The number of items of a read of many. If the request may select other items too, they are read and checked. */
export async function count(call: Call, r: Read, input: Input): Promise<number> {
  const q = new Question(r, input, call.now);
  const reading = query(call, q, sourceOf(r));
  if (reading && r.select && !q.here) {
    return reading.count();
  }
  let n = 0;
  while (reading && !reading.done()) {
    n += (await results(call, q, reading, maxPage)).length;
  }
  return n;
}

/** A page of a read of many. */
export async function page(call: Call, r: Read, input: Input, o: PageOptions): Promise<PageOf<Values>> {
  let q = new Question(r, input, call.now);
  const s = sourceOf(r);
  const scope = scopeOf(call, s, input, q.names());
  let began = call.now;
  let left = r.limit ?? 0;
  let start: Start | undefined;
  let positions: Position[] | undefined;
  if (o.after) {
    let at = "";
    let text = opened(call, scope, o.after);
    if (s.o.over) {
      ({ began, at, rest: text } = decodePeriod(text));
      q = new Question(r, input, began); // as when the list began
    }
    start = s.begin(q.input, at);
    ({ left, positions } = decodePositions(text, start.partitions, s.positioned));
  }
  const reading = query(call, q, s, start, positions, s.o.over?.open ? s.o.over.maxBuckets : undefined);
  const items: Values[] = [];
  if (!reading) {
    return { items, next: "" };
  }
  let size = pageSize(o, r.page ?? 0);
  if (r.limit) {
    left = Math.min(left, r.limit);
    size = Math.min(size, left);
  }
  for (let round = 0; items.length < size && reading.another(round); round++) {
    items.push(...(await results(call, q, reading, size - items.length)));
  }
  left -= items.length;
  if (reading.done() || (r.limit && left === 0)) {
    return { items, next: "" };
  }
  return { items, next: cursor(call, scope, s, left, reading, began) };
}

/** Walks all pages, up to the read's limit if it has one. Requests are sent when they are needed. */
export async function* all(call: Call, r: Read, input: Input): AsyncGenerator<Values> {
  for await (const found of pages(call, r, input)) {
    yield* found;
  }
}

/** The items of all, as they arrive. */
export async function* pages(call: Call, r: Read, input: Input): AsyncGenerator<Values[]> {
  const q = new Question(r, input, call.now);
  const reading = query(call, q, sourceOf(r));
  const limit = r.limit ?? 0;
  const size = pageSize({ limit: r.page }, limit);
  for (let given = 0; reading && !reading.done() && (limit === 0 || given < limit); ) {
    const found = await results(call, q, reading, limit > 0 ? Math.min(size, limit - given) : size);
    given += found.length;
    yield found;
  }
}

function scopeOf(call: Call, s: Source, input: Input, names: readonly string[]): Bytes {
  const scope = s.scope(call.env.tableName(s.o.table), input, names);
  return call.env.caller ? scope + sizedText(call.env.caller()) : scope;
}

/** The text of a cursor. */
function opened(call: Call, scope: Bytes, after: string): Bytes {
  if (!call.env.sealer) {
    throw builtin("Cursor", ": cursorKey is not set, so there are no cursors");
  }
  return call.env.sealer.open(scope, after);
}

/** The position of a reading that started at a time; "" without a key. */
function cursor(call: Call, scope: Bytes, s: Source, left: number, reading: Reading, began: number): string {
  const { at, positions } = reading.progress();
  const text = encodePositions(left, positions, s.positioned);
  return call.env.sealer?.seal(scope, s.o.over ? encodePeriod(began, at) + text : text) ?? "";
}

/**
 * A page of a collection, or all of it if it has no pages. A root is on the first page, and NotFound if it is missing; later
 * pages rely on that.
 */
export async function collect(call: Call, c: Collection, input: Input, o: PageOptions): Promise<PageOf<Found>> {
  const names = [...(c.by ?? []), ...(c.owner ? [c.owner] : [])];
  for (const name of names) {
    const v = input.values[name];
    if (v === undefined) {
      throw missing(name);
    }
    for (const m of c.members) {
      const f = m.entity.field(name);
      if (f) {
        checkValue(f.type, name, v, f.minBytes, f.maxBytes);
      }
    }
  }
  const first = c.members[0]!;
  const options = {
    pattern: c.pattern, entity: first.entity, table: c.table, index: c.index ?? "", by: c.by ?? [], pk: c.pk ?? [], sk: c.sk ?? [],
    sort: c.sort ?? [], reverse: c.reverse ?? false, consistent: c.consistent ?? false,
  };
  const s = new Source(options, first.place);
  const start = s.begin(input);
  const scope = scopeOf(call, s, { values: input.values }, names);
  let positions: Position[] | undefined;
  if (o.after) {
    ({ positions } = decodePositions(opened(call, scope, o.after), start.partitions, s.positioned));
  }
  const request = s.request(call.env.tableName(c.table), input);
  const g = new Gathering(c, input, !o.after, fill(first.entity, templates(c.pk), c.by ?? [], "", input.values));
  if (g.first && c.rootApart) {
    await g.seekRoot(call, new Source({ ...options, sk: c.rootSK ?? [], reverse: false }, first.place), start);
  }
  const reading = new Reading(call, s, request, start, positions); // without a request, the bounds exclude everything
  const items = await g.page(reading, o);
  if (g.first && c.root >= 0 && !(g.root && g.owned(g.root))) {
    throw builtin("NotFound");
  }
  return { items, next: reading.done() ? "" : cursor(call, scope, s, 0, reading, call.now) };
}

/** Reads a collection. */
class Gathering {
  readonly first: boolean;
  root: Values | undefined; // until it is found
  private apart = false; // the root was read separately, and is part of the first page
  private readonly c: Collection;
  private readonly owner: AttributeValue | undefined;
  private readonly filled: FilledPart[];

  constructor(c: Collection, input: Input, first: boolean, filled: FilledPart[]) {
    this.c = c;
    this.first = first;
    this.filled = filled;
    this.owner = c.owner ? input.values[c.owner] : undefined;
    this.input = input;
  }

  private readonly input: Input;

  owned(v: Values): boolean {
    return this.owner === undefined || equal(v[this.c.owner!], this.owner);
  }

  async page(reading: Reading, o: PageOptions): Promise<Found[]> {
    const everything = !this.c.page;
    const size = pageSize(o, this.c.page ?? 0);
    const items: Found[] = this.apart ? [this.shown({ member: this.c.root, values: this.root! })] : [];
    for (let round = 0; everything ? !reading.done() : items.length < size && reading.another(round); round++) {
      items.push(...(await this.next(reading, everything ? maxPage : size - items.length)));
    }
    return items;
  }

  /** The members' items among the next n. */
  private async next(reading: Reading, n: number): Promise<Found[]> {
    const out: Found[] = [];
    for (const item of await reading.next(n)) {
      const f = this.member(item);
      if (!f || (this.c.root < 0 && !this.owned(f.values))) {
        continue;
      }
      if (f.member === this.c.root) {
        if ((!this.first && this.c.rootApart) || this.apart) {
          continue; // the first page has it
        }
        this.root = f.values;
      }
      out.push(this.shown(f));
    }
    return out;
  }

  private shown(f: Found): Found {
    return { member: f.member, values: restricted(f.values, this.c.members[f.member]?.fields) };
  }

  private member(item: Item): Found | undefined {
    for (const [i, m] of this.c.members.entries()) {
      const values = m.entity.is(m.place, item);
      if (values && fills(this.filled, m.entity, values, m.place.kind === "key")) {
        return { member: i, values };
      }
    }
    return undefined;
  }

  /** Reads the root first. */
  async seekRoot(call: Call, s: Source, start: Start): Promise<void> {
    const request = s.request(call.env.tableName(s.o.table), this.input);
    if (!request) {
      throw builtin("NotFound");
    }
    const reading = new Reading(call, s, request, start);
    while (!this.root && !reading.done()) {
      await this.next(reading, maxPage);
    }
    if (!this.root || !this.owned(this.root)) {
      throw builtin("NotFound");
    }
    this.apart = true;
  }
}
