// Where a Query looks: its partitions, the bounds of its sort key, and the merged reading of what the partitions answer.

import { QueryCommand, type QueryCommandInput, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { Call } from "./call.js";
import { type Position, cursorVersion } from "./cursor.js";
import type { Attribute, KeyAttribute, Part, Place, SortCondition, Table } from "./descriptor.js";
import { type Entity, emptyKey, keyValue, makes, maxSortKeyBytes } from "./entity.js";
import { ValueError } from "./errors.js";
import { type Bytes, apply, bytesOf, compareBytes, ofTime, parseTime } from "./keytext.js";
import { type AttributeValue, type Item, type Values, bare, canonical, compareKeys, keyText, own, sizedText, uvarint } from "./values.js";

/** What a pattern is asked with. */
export interface Input {
  values: Values;
  /** Bounds of a range, inclusive. */
  from?: AttributeValue | undefined;
  to?: AttributeValue | undefined;
  /** What a write repeats steps for. */
  lines?: Values[];
}

interface Bound {
  equal?: AttributeValue;
  prefix?: AttributeValue;
  lower?: AttributeValue | undefined;
  upper?: AttributeValue | undefined;
}

/** What leaves nothing to ask for. */
const nothing = Symbol("nothing");

/** What reads and collections have in common. */
export interface SourceOptions {
  pattern: string;
  entity: Entity;
  table: Table;
  index: string;
  by: readonly string[];
  pk: readonly KeyAttribute[];
  sk: readonly SortCondition[];
  sort: readonly Attribute[];
  reverse: boolean;
  consistent: boolean;
  /** Reads all of the place, in so many segments. */
  segments?: number;
  /** Walks the partitions of periods, so many at most, between bounds of a field. */
  over?: { layout: string; maxBuckets: number; field: string };
}

export class Source {
  readonly o: SourceOptions;
  /** The attributes of all keys of what is found, with their templates. */
  private made: readonly KeyAttribute[];
  /** The attributes that say where in a partition an item stands. */
  readonly positioned: Attribute[] = [];
  /** How many partitions there are of each period of a walk; 0 of what is no walk. */
  shardsOfPeriod = 0;

  constructor(o: SourceOptions, place: Place) {
    this.o = o;
    const attributes: Attribute[] = [...o.sort];
    this.made = o.entity.primaryKey(place) ?? [];
    const entry = o.index ? o.entity.entryAt(place) : undefined;
    if (entry) {
      this.made = [...entry.pk, ...entry.sk, ...this.made];
      attributes.push(...entry.sk, ...entry.pk); // of the partition key only a Scan does not know
    }
    attributes.push(o.table.pk);
    if (o.table.sk) {
      attributes.push(o.table.sk);
    }
    for (const a of attributes) {
      if (!this.positioned.some((b) => b.name === a.name) && !this.inPartitionKey(a.name)) {
        this.positioned.push({ name: a.name, type: a.type });
      }
    }
  }

  private inPartitionKey(attribute: string): boolean {
    return this.o.pk.some((a) => a.name === attribute);
  }

  /** Whether the attribute is in a key of what is queried, so that no filter of a Query may name it. */
  keys(attribute: string): boolean {
    return this.inPartitionKey(attribute) || (!this.scans && this.positioned.some((a) => a.name === attribute));
  }

  get scans(): boolean {
    return this.o.segments !== undefined;
  }

  /** Whether at most one item is asked for. */
  single(): boolean {
    return !this.scans && !this.o.index && (!this.o.table.sk || (this.o.sk.length === 1 && this.o.sk[0]!.comparison === "equal"));
  }

  /** The partition keys that are asked: one, or those of all shards. A Scan has none in each of its segments. */
  partitions(input: Input): Item[] {
    if (this.o.segments !== undefined) {
      return Array.from({ length: Math.max(this.o.segments, 1) }, () => bare());
    }
    const keys = this.spread(this.o.pk);
    const { over, entity } = this.o;
    if (!over) {
      return keys.map((key) => entity.keyOf(key, input.values));
    }
    this.shardsOfPeriod = keys.length;
    return this.periods(input, over).flatMap((at) => keys.map((key) => entity.keyOf(key, bare(input.values, { [over.field]: { S: at } }))));
  }

  /** A time of each period between the bounds, in the order in which they are read. */
  private periods(input: Input, { layout, maxBuckets, field }: NonNullable<SourceOptions["over"]>): string[] {
    const [from, to] = [input.from, input.to].map((bound) => {
      if (bound?.S === undefined) {
        throw new ValueError(field, "needs both bounds: it is walked from one to the other");
      }
      const at = parseTime(bound.S);
      if (at === undefined) {
        throw new ValueError(field, `${JSON.stringify(bound.S)} is not a time: write 2024-01-15T10:00:00.000Z`);
      }
      return at;
    }) as [number, number];
    const out: string[] = [];
    for (let next = period(from, layout, 0); next <= to && from <= to; next = period(next, layout, 1)) {
      if (out.length === maxBuckets) {
        throw new ValueError(field, `has bounds that are more than ${maxBuckets} partitions apart`);
      }
      const text = ofTime(next);
      if (text === undefined) {
        break; // behind the last year
      }
      out.push(text);
    }
    return this.o.reverse ? out.reverse() : out;
  }

  private spread(key: readonly KeyAttribute[]): (readonly KeyAttribute[])[] {
    for (const [i, a] of key.entries()) {
      for (const [j, p] of (a.template ?? []).entries()) {
        const texts = this.shards(p);
        if (texts) {
          return texts.flatMap((text) => {
            const template = a.template!.map((other, n) => (n === j ? { literal: text } : other));
            return this.spread(key.map((other, n) => (n === i ? { ...a, template } : other)));
          });
        }
      }
    }
    return [key];
  }

  /** The texts of a part that spreads a key by a field that is no input. */
  private shards(p: Part): string[] | undefined {
    const funcs = p.funcs ?? [];
    const at = funcs.findIndex((f) => f.name === "shard" || f.name === "mod");
    if (!p.field || this.o.by.includes(p.field) || p.field === this.o.over?.field || at < 0) {
      return undefined;
    }
    const n = /^\d+$/.test(funcs[at]!.arg ?? "") ? Number(funcs[at]!.arg) : 1; // |shard(auto) is one partition
    const out = new Set<string>();
    for (let i = 0; i < Math.max(n, 1); i++) {
      try {
        out.add(funcs.slice(at + 1).reduce((text, f) => apply(f.name, f.arg ?? "", text), String(i)));
      } catch {
        // no item can be there
      }
    }
    return [...out];
  }

  /** A Query as all partitions are asked with it, but for the values of the partition key; undefined where bounds leave nothing. */
  request(table: string, input: Input): QueryCommandInput | undefined {
    const names: { [alias: string]: string } = {};
    const values: Item = {};
    const terms = this.o.pk.map((a, i) => {
      names[`#p${i}`] = a.name;
      return `#p${i} = :p${i}`;
    });
    let room = maxSortKeyBytes;
    for (const [i, c] of this.o.sk.entries()) {
      const b = this.bound(c, input, room);
      if (b === nothing) {
        return undefined;
      }
      const text = keyText(b.equal);
      if (text !== undefined) {
        room = Math.max(room - text.length, 1);
      }
      const term = termOf(b, i, values);
      if (term !== "") {
        names[`#s${i}`] = c.name;
        terms.push(term);
      }
    }
    return {
      TableName: table,
      ...(this.o.index ? { IndexName: this.o.index } : {}),
      ScanIndexForward: !this.o.reverse,
      ConsistentRead: this.o.consistent,
      ...(this.scans ? {} : { KeyConditionExpression: terms.join(" AND ") }),
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    };
  }

  private bound(c: SortCondition, input: Input, room: number): Bound | typeof nothing {
    let known = this.o.entity.render(c.known ?? [], input.values);
    if (c.comparison === "equal") {
      if (known.length > room && c.type !== "N") {
        return nothing; // no key is so long
      }
      if (known === "") {
        throw emptyKey({ name: c.name, type: c.type, template: c.known ?? [] });
      }
      return { equal: keyValue(c, known) };
    }
    if (c.comparison === "within") {
      return this.within(c, input, known, room);
    }
    if (c.comparison === "between" && (input.from !== undefined || input.to !== undefined)) {
      return this.between(c, input, known, room);
    }
    if (c.comparison === "beginsWith" && c.next?.field) {
      known += this.beginning(c.next, input.values[c.next.field]);
    }
    if (known === "" || c.type === "N") {
      return {};
    }
    return known.length > room ? nothing : { prefix: keyValue(c, known) };
  }

  /** The text in the key of what the caller gives as the beginning of a field. */
  private beginning(p: Part, v: AttributeValue | undefined): Bytes {
    if (v === undefined) {
      return "";
    }
    let text = this.o.entity.textOf(normal(p), v);
    for (const f of p.funcs ?? []) {
      if (f.name === "first") {
        text = apply(f.name, f.arg ?? "", text);
      } else if (f.name === "date") {
        text = text.slice(0, (f.arg ?? "").length); // a cut of the text that times have
      }
    }
    return text;
  }

  /** Bounds an attribute by the texts that the caller's bounds have in the key. */
  private between(c: SortCondition, input: Input, known: Bytes, room: number): Bound | typeof nothing {
    const next = c.next!;
    const falling = next.funcs?.some((f) => f.name === "desc") ?? false;
    const [lower, upper] = falling ? [input.to, input.from] : [input.from, input.to];
    const text = (v: AttributeValue | undefined): Bytes => (v === undefined ? known : known + this.o.entity.textOf(next, v));
    let low = text(lower);
    let high = text(upper);
    if (c.type === "N") {
      return { lower: lower && keyValue(c, low), upper: upper && keyValue(c, high) };
    }
    const greatest = c.type === "B" ? greatestBytes : greatestText;
    if (upper === undefined) {
      high = known === "" ? "" : greatest(high, room);
    } else if (c.open) {
      high = greatest(this.highest(c, known, high.slice(known.length)), room);
    } else if (high === "") {
      return nothing; // what is not greater than nothing
    } else if (high.length > room) {
      high = greatest(high, room);
    }
    if (c.type !== "B") {
      low = wholeCharacters(low, room);
    }
    low = low.slice(0, room);
    return high !== "" && low > high ? nothing : characters(c, low, high);
  }

  /** Bounds an attribute by two texts. */
  private within(c: SortCondition, input: Input, low: Bytes, room: number): Bound | typeof nothing {
    let high = this.o.entity.render(c.to ?? [], input.values);
    if (low.length > room) {
      return nothing; // no key is so long
    }
    if ((c.open && high !== "") || high.length > room) {
      high = greatestText(high, room);
    }
    return high !== "" && low > high ? nothing : characters(c, low, high);
  }

  /**
   * What the greatest keys begin with whose field is not greater than a bound. Most often that is the bound; but of "ann" and
   * the bound "ann b" the key "ann#1" is greater than all that begin with "ann b".
   */
  private highest(c: SortCondition, known: Bytes, bound: Bytes): Bytes {
    let high = known + bound;
    const next = c.next!;
    const follows = this.follows(c);
    const f = this.o.entity.field(next.field ?? "");
    if (!f || follows === "") {
      return high;
    }
    for (let i = 0; i < bound.length; i++) {
      if (!runeStart(bound, i)) {
        continue;
      }
      const shorter = known + bound.slice(0, i) + follows;
      if (shorter > high && makes(f, next, c.type, bound.slice(0, i))) {
        high = shorter;
      }
    }
    return high;
  }

  /** The literal behind the field that a condition bounds. */
  private follows(c: SortCondition): Bytes {
    const a = this.made.find((x) => x.name === c.name);
    return bytesOf(a?.template?.[(c.known ?? []).length + 1]?.literal ?? "");
  }

  /** What a cursor is bound to: no two questions have the same. */
  scope(table: string, input: Input, names: readonly string[]): Bytes {
    let b = cursorVersion + [this.o.pattern, table, this.o.index].map(sizedText).join("") + (this.o.reverse ? "t" : "f");
    for (const attributes of [this.positioned, this.o.sort]) {
      b += uvarint(attributes.length) + attributes.map((a) => sizedText(a.name) + sizedText(a.type)).join("");
    }
    b += canonical(input.from) + canonical(input.to);
    const sorted = [...new Set(names)].sort((x, y) => compareBytes(bytesOf(x), bytesOf(y)));
    return b + uvarint(sorted.length) + sorted.map((name) => sizedText(name) + canonical(input.values[name])).join("");
  }

  /** Orders two items as the source does; equal ones keep their partitions' order. */
  compare(a: Item, b: Item): number {
    for (const key of this.o.sort) {
      const c = compareKeys(own(a, key.name), own(b, key.name)) * (this.o.reverse ? -1 : 1);
      if (c !== 0) {
        return c;
      }
    }
    return 0;
  }

  /** Where an item stands, as a start key says it. */
  keyOfItem(item: Item): Item {
    const key: Item = bare();
    for (const a of [...this.o.pk, ...this.positioned]) {
      const v = own(item, a.name);
      if (v !== undefined) {
        key[a.name] = v;
      }
    }
    return key;
  }
}

/** The beginning of a time's period, or of the one that follows, in milliseconds; NaN behind the last year. */
function period(at: number, layout: string, following: number): number {
  const monthly = layout === "yyyy-MM";
  if (!monthly && layout !== "yyyy") {
    const unit = layout === "yyyy-MM-dd" ? 86_400_000 : 3_600_000;
    return (Math.floor(at / unit) + following) * unit;
  }
  const text = ofTime(at) ?? "";
  const months = 12 * Number(text.slice(0, 4)) + (monthly ? Number(text.slice(5, 7)) - 1 + following : 12 * following);
  const [year, month] = [Math.floor(months / 12), (months % 12) + 1].map((n) => String(n).padStart(2, "0")) as [string, string];
  return parseTime(`${year.padStart(4, "0")}-${month}-01T00:00:00.000Z`) ?? Number.NaN;
}

/** A part with those of its functions that write equal what is meant to be equal. */
export function normal(p: Part): Part {
  return { ...p, funcs: (p.funcs ?? []).filter((f) => ["lower", "fold", "slug"].includes(f.name)) };
}

function termOf(b: Bound, i: number, values: Item): string {
  const name = `#s${i}`;
  const set = (placeholder: string, v: AttributeValue): string => {
    values[placeholder] = v;
    return placeholder;
  };
  if (b.equal) return `${name} = ${set(`:s${i}`, b.equal)}`;
  if (b.prefix) return `begins_with(${name}, ${set(`:s${i}`, b.prefix)})`;
  if (b.lower && b.upper) return `${name} BETWEEN ${set(`:s${i}`, b.lower)} AND ${set(`:t${i}`, b.upper)}`;
  if (b.lower) return `${name} >= ${set(`:s${i}`, b.lower)}`;
  if (b.upper) return `${name} <= ${set(`:s${i}`, b.upper)}`;
  return "";
}

function characters(a: Attribute, low: Bytes, high: Bytes): Bound {
  return { lower: low === "" ? undefined : keyValue(a, low), upper: high === "" ? undefined : keyValue(a, high) };
}

function runeStart(s: Bytes, i: number): boolean {
  return (s.charCodeAt(i) & 0xc0) !== 0x80;
}

/** Cuts a text to at most n bytes, between characters. */
function wholeCharacters(s: Bytes, n: number): Bytes {
  if (s.length <= n) {
    return s;
  }
  let end = n;
  while (end > 0 && !runeStart(s, end)) {
    end--;
  }
  return s.slice(0, end);
}

/** The greatest text of at most n bytes among those that begin with s, as far as one more character tells. */
function greatestText(s: Bytes, n: number): Bytes {
  const cut = wholeCharacters(s, n);
  const last = ["", "\x7f", bytesOf("\u07ff"), bytesOf("\uffff")][n - cut.length] ?? bytesOf("\u{10ffff}");
  return cut + last;
}

function greatestBytes(s: Bytes, n: number): Bytes {
  return s.slice(0, n).padEnd(n, "\xff");
}

/** A partition that is read: what was answered and is not consumed, and how far it is consumed. */
interface Lane {
  request: QueryCommandInput;
  buffer: Item[];
  next: Item | undefined;
  position: Position;
  /** Its segment of a Scan. */
  number: number;
}

const maxConcurrentQueries = 8;
const maxPageRounds = 10;

/** Reads the partitions of a source, and merges what they answer. */
export class Reading {
  private readonly call: Call;
  private readonly source: Source;
  private readonly lanes: Lane[];
  /** How many groups of lanes are asked at once: one, and twice as many after each round that finds nothing. */
  private ahead = 1;

  constructor(call: Call, source: Source, request: QueryCommandInput | undefined, partitions: readonly Item[], positions?: readonly Position[]) {
    this.call = call;
    this.source = source;
    this.lanes = !request ? [] : partitions.map((partition, i) => {
      const values: Item = { ...request.ExpressionAttributeValues };
      source.o.pk.forEach((a, n) => (values[`:p${n}`] = partition[a.name]!));
      const position = positions?.[i] ?? {};
      return { request: { ...request, ExpressionAttributeValues: values }, buffer: [], next: position.at, position, number: i };
    });
  }

  /** In how many rounds a page is read, at most. A walk is over periods, any of which may have nothing. */
  get rounds(): number {
    return maxPageRounds + (this.source.shardsOfPeriod > 0 ? this.lanes.length : 0);
  }

  /** The lanes that are read together, so many groups from the first that is not done: all, but of a walk those of one period. */
  private groups(n: number): Lane[] {
    const size = this.source.shardsOfPeriod;
    if (size === 0) {
      return this.lanes;
    }
    const first = this.lanes.findIndex((l) => !l.position.done);
    const from = first - (first % size);
    return first < 0 ? [] : this.lanes.slice(from, from + n * size);
  }

  /** The number of what there is, which the requests count. */
  async count(): Promise<number> {
    let total = 0;
    await this.call.concurrently(this.lanes.length, maxConcurrentQueries, async (i) => {
      for (let next: Item | undefined; ; ) {
        const answer = await this.call.read(new QueryCommand({ ...this.lanes[i]!.request, Select: "COUNT", ExclusiveStartKey: next }));
        total += answer.Count ?? 0;
        next = answer.LastEvaluatedKey;
        if (!next || Object.keys(next).length === 0) {
          return;
        }
      }
    });
    return total;
  }

  done(): boolean {
    return this.lanes.every((l) => l.position.done);
  }

  positions(): Position[] {
    return this.lanes.map((l) => l.position);
  }

  /** Consumes up to n items in order. It asks every partition that ran dry once, so there may be fewer before the end. */
  async next(n: number): Promise<Item[]> {
    const dry = this.groups(this.ahead).filter(isDry);
    await this.call.concurrently(dry.length, maxConcurrentQueries, (i) => this.ask(dry[i]!, n));
    this.ahead = Math.min(2 * this.ahead, maxConcurrentQueries);
    const out: Item[] = [];
    while (out.length < n) {
      const l = this.least();
      if (!l) {
        break;
      }
      this.ahead = 1;
      const item = l.buffer.shift()!;
      out.push(item);
      l.position = { at: this.source.keyOfItem(item) };
      settle(l);
    }
    return out;
  }

  private async ask(l: Lane, limit: number): Promise<void> {
    const answer = await this.call.read(this.command(l, { ...l.request, Limit: limit, ExclusiveStartKey: l.next }));
    l.buffer = answer.Items ?? [];
    const more = answer.LastEvaluatedKey && Object.keys(answer.LastEvaluatedKey).length > 0;
    l.next = more && !(l.buffer.length > 0 && this.source.single()) ? answer.LastEvaluatedKey : undefined;
    settle(l);
  }

  /** A lane's request: a Query, or a Scan of a segment. */
  private command(l: Lane, q: QueryCommandInput): QueryCommand | ScanCommand {
    if (!this.source.scans) {
      return new QueryCommand(q);
    }
    const { ScanIndexForward: _, ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {}, ...rest } = q;
    return new ScanCommand({
      ...rest,
      ...(Object.keys(names).length > 0 ? { ExpressionAttributeNames: names } : {}),
      ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
      ...(this.lanes.length > 1 ? { Segment: l.number, TotalSegments: this.lanes.length } : {}),
    });
  }

  /** The lane whose next item comes first; undefined where there is none, or a lane must be asked to tell. */
  private least(): Lane | undefined {
    let least: Lane | undefined;
    for (const l of this.groups(1)) {
      if (isDry(l) && !this.source.scans) { // what a Scan finds is in no order
        return undefined;
      }
      if (l.buffer.length > 0 && (!least || this.source.compare(l.buffer[0]!, least.buffer[0]!) < 0)) {
        least = l;
      }
    }
    return least;
  }
}

function isDry(l: Lane): boolean {
  return l.buffer.length === 0 && !l.position.done;
}

/** Moves a lane without buffer to where its next request begins, or to its end. */
function settle(l: Lane): void {
  if (l.buffer.length === 0) {
    l.position = l.next ? { at: l.next } : { done: true };
  }
}
