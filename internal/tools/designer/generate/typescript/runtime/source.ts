// The range of a Query: its partitions, and the bounds of its sort key.

import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import { cursorVersion } from "./cursor.js";
import type { Attribute, KeyAttribute, Part, Place, SortCondition, Table } from "./descriptor.js";
import { type Entity, emptyKey, keyValue, makes, maxSortKeyBytes } from "./entity.js";
import { type Bytes, apply, bytesOf, compareBytes } from "./keytext.js";
import { type AttributeValue, type Item, type Values, bare, canonical, compareKeys, keyText, own, sizedText, uvarint } from "./values.js";
import { type Over, Walk } from "./walk.js";

/** The input of a pattern. */
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

/** What reads and collections share. */
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
  /** Scans the place, in this number of segments. */
  segments?: number;
  /** Walks the partitions of periods. */
  over?: Over;
}

/** The start of a reading. */
export interface Start {
  partitions: readonly Item[];
  /** Creates the partitions of further periods, from the one of a time. */
  walk?: Walk;
  at?: string | undefined;
}

export class Source {
  readonly o: SourceOptions;
  /** The attributes of all keys of the items, with their templates. */
  private made: readonly KeyAttribute[];
  /** The attributes that determine an item's position in a partition. */
  readonly positioned: Attribute[] = [];

  constructor(o: SourceOptions, place: Place) {
    this.o = o;
    const attributes: Attribute[] = [...o.sort];
    this.made = o.entity.primaryKey(place) ?? [];
    const entry = o.index ? o.entity.entryAt(place) : undefined;
    if (entry) {
      this.made = [...entry.pk, ...entry.sk, ...this.made];
      attributes.push(...entry.sk, ...entry.pk); // only a Scan does not know the partition key
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

  /** Whether the attribute is a key of the queried table or index, which a Query's filter must not use. */
  keys(attribute: string): boolean {
    return this.inPartitionKey(attribute) || (!this.scans && this.positioned.some((a) => a.name === attribute));
  }

  get scans(): boolean {
    return this.o.segments !== undefined;
  }

  /** Whether at most one item is requested. */
  single(): boolean {
    return !this.scans && !this.o.index && (!this.o.table.sk || (this.o.sk.length === 1 && this.o.sk[0]!.comparison === "equal"));
  }

  /** The first partitions to read, and the walk with further ones, from the position of another walk; "" is its start. */
  begin(input: Input, at = ""): Start {
    const keys = this.o.segments === undefined ? this.spread(this.o.pk) : [];
    const { over, entity, segments } = this.o;
    if (over) {
      const walk = new Walk(this, over, keys, input, at);
      const first = walk.step();
      return { walk, at: first?.at, partitions: first?.partitions ?? [] };
    }
    // A Scan has no key in its segments.
    return { partitions: segments === undefined ? keys.map((key) => entity.keyOf(key, input.values)) : Array.from({ length: Math.max(segments, 1) }, () => bare()) };
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

  /** The texts of a part that shards a key by a field that is not an input. */
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

  /** The Query of all partitions, without the values of the partition key; undefined if bounds exclude everything. */
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
        return nothing; // no key is that long
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

  /** The text in the key for the caller's prefix of a field. */
  private beginning(p: Part, v: AttributeValue | undefined): Bytes {
    if (v === undefined) {
      return "";
    }
    let text = this.o.entity.textOf(normal(p), v);
    for (const f of p.funcs ?? []) {
      if (f.name === "first") {
        text = apply(f.name, f.arg ?? "", text);
      } else if (f.name === "date") {
        text = text.slice(0, (f.arg ?? "").length); // a prefix of a time's text
      }
    }
    return text;
  }

  /** Bounds an attribute by the key texts of the caller's bounds. */
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
      return nothing; // nothing is smaller
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
      return nothing; // no key is that long
    }
    if ((c.open && high !== "") || high.length > room) {
      high = greatestText(high, room);
    }
    return high !== "" && low > high ? nothing : characters(c, low, high);
  }

  /**
   * The prefix of the greatest keys whose field is not greater than a bound. Usually it is the bound; but with the field "ann"
   * and the bound "ann b", the key "ann#1" is greater than all that start with "ann b".
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

  /** The literal after the field that a condition bounds. */
  private follows(c: SortCondition): Bytes {
    const a = this.made.find((x) => x.name === c.name);
    return bytesOf(a?.template?.[(c.known ?? []).length + 1]?.literal ?? "");
  }

  /** What a cursor is bound to: different for any two questions. */
  scope(table: string, input: Input, names: readonly string[]): Bytes {
    let b = cursorVersion + [this.o.pattern, table, this.o.index].map(sizedText).join("") + (this.o.reverse ? "t" : "f");
    for (const attributes of [this.positioned, this.o.sort]) {
      b += uvarint(attributes.length) + attributes.map((a) => sizedText(a.name) + sizedText(a.type)).join("");
    }
    b += canonical(input.from) + canonical(input.to);
    const sorted = [...new Set(names)].sort((x, y) => compareBytes(bytesOf(x), bytesOf(y)));
    b += uvarint(sorted.length) + sorted.map((name) => sizedText(name) + canonical(input.values[name])).join("");
    return this.o.over ? b + sizedText(this.o.over.layout) : b; // cursors of a walk have a different format
  }

  /** Compares two items in the source's order; equal ones keep their partitions' order. */
  compare(a: Item, b: Item): number {
    for (const key of this.o.sort) {
      const c = compareKeys(own(a, key.name), own(b, key.name)) * (this.o.reverse ? -1 : 1);
      if (c !== 0) {
        return c;
      }
    }
    return 0;
  }

  /** An item's position, as a start key. */
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

/** A part with those of its functions that make values equal that must be equal. */
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

/** The greatest text of at most n bytes that starts with s, as far as one more character determines it. */
function greatestText(s: Bytes, n: number): Bytes {
  const cut = wholeCharacters(s, n);
  const last = ["", "\x7f", bytesOf("\u07ff"), bytesOf("\uffff")][n - cut.length] ?? bytesOf("\u{10ffff}");
  return cut + last;
}

function greatestBytes(s: Bytes, n: number): Bytes {
  return s.slice(0, n).padEnd(n, "\xff");
}
