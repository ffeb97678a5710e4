// How an entity is stored: keys from templates, index entries, copies, markers, and decoding of items to values.

import type { Condition } from "./condition.js";
import type { Copy, Entry, EntityDescriptor, KeyAttribute, Marker, Part, Place, Table } from "./descriptor.js";
import { ValueError, missing } from "./errors.js";
import { type Bytes, apply, bytesOf, decimal, textOf } from "./keytext.js";
import { type LinkedField, checkValue, fits, hasText, textOfValue, toStore } from "./types.js";
import { type AttributeValue, type Item, type Values, at, bare, canonical, decimalOf, keyText, own, put, storedAs } from "./values.js";

const maxPartitionKeyBytes = 2048;
export const maxSortKeyBytes = 1024;

export interface LinkedEntry extends Omit<Entry, "name" | "pk" | "sk" | "where"> {
  name: string;
  pk: KeyAttribute[];
  sk: KeyAttribute[];
  where: Condition | undefined;
}

export interface LinkedCopy extends Omit<Copy, "entries"> {
  entries: LinkedEntry[];
}

export interface LinkedCount {
  entity: Entity;
  field: string;
  sum: string;
  by: Record<string, string>;
  where: Condition | undefined;
}

/** The fields of a counted item that identify the item with the counter. */
export function ownerFields(c: LinkedCount): string[] {
  return fieldsOf(c.entity.key).map((name) => own(c.by, name) ?? name);
}

/** The key fields of the item with the counter, from a counted item's values. */
export function ownerOf(c: LinkedCount, v: Values): Values | undefined {
  const out: Values = bare();
  for (const name of fieldsOf(c.entity.key)) {
    const value = v[own(c.by, name) ?? name];
    if (value === undefined) {
      return undefined;
    }
    out[name] = value;
  }
  return out;
}

/** A text that is equal for keys of the same item, and different for others. */
export function identity(t: Table, item: Item): string {
  return t.name + "\0" + canonical(own(item, t.pk.name)) + (t.sk ? canonical(own(item, t.sk.name)) : "");
}

/** The distinct names of the fields in templates. */
export function fieldsOf(...keys: (readonly KeyAttribute[])[]): string[] {
  const names = new Set<string>();
  for (const key of keys) {
    for (const a of key) {
      for (const p of a.template ?? []) {
        if (p.field) {
          names.add(p.field);
        }
      }
    }
  }
  return [...names];
}

/** How each part of a key makes several values of a field equal. */
function foldings(key: readonly KeyAttribute[], field: string): string[] {
  const parts = key.flatMap((a) => a.template ?? []).filter((p) => p.field === field);
  return parts.map((p) => {
    const names = (p.funcs ?? []).map((f) => `${f.name}(${f.arg ?? ""})`);
    const end = names.findIndex((n) => !/^(lower|fold|slug|date)\(/.test(n));
    return (end < 0 ? names : names.slice(0, end)).join("|");
  });
}

/** Whether all names are in another list. */
export function within(names: readonly string[], others: readonly string[]): boolean {
  return names.every((n) => others.includes(n));
}

export function inKey(key: readonly KeyAttribute[], path: readonly string[]): boolean {
  return path.length === 1 && key.some((a) => a.name === path[0]);
}

/** A rendered text as the value of a key attribute. */
export function keyValue(a: { name: string; type: string }, text: Bytes): AttributeValue {
  switch (a.type) {
    case "N": {
      const number = decimal(text);
      if (number === undefined) {
        throw new ValueError(a.name, `cannot be computed: ${JSON.stringify(textOf(text))} is not a number that DynamoDB can store`);
      }
      return { N: number };
    }
    case "B":
      return { B: new Uint8Array(Buffer.from(text, "latin1")) };
    default: {
      const s = textOf(text);
      if (bytesOf(s) !== text) {
        throw new ValueError(a.name, "cannot contain bytes that are not valid UTF-8");
      }
      return { S: s };
    }
  }
}

function subject(a: KeyAttribute): string {
  return fieldsOf([a])[0] ?? a.name;
}

/** The error for an empty key. */
export function emptyKey(a: KeyAttribute): ValueError {
  return new ValueError(subject(a), `makes the key ${a.name} empty`);
}

export class Entity {
  readonly name: string;
  readonly table: Table;
  readonly typeValue: string;
  readonly fields: readonly LinkedField[];
  readonly key: readonly KeyAttribute[];
  readonly markers: readonly Marker[];
  readonly ttl: { field: string; after?: number } | undefined;
  readonly notFound: string;
  readonly exists: string;
  // Set by link, because conditions and counters need entities.
  entries: LinkedEntry[] = [];
  copies: LinkedCopy[] = [];
  counts: LinkedCount[] = [];
  private readonly byName = new Map<string, LinkedField>();

  constructor(d: EntityDescriptor, table: Table, fields: readonly LinkedField[]) {
    this.name = d.name;
    this.table = table;
    this.typeValue = d.typeValue ?? "";
    this.fields = fields;
    this.key = d.key;
    this.markers = d.markers ?? [];
    this.ttl = d.ttl;
    this.notFound = d.notFound ?? "NotFound";
    this.exists = d.exists ?? "Exists";
    for (const f of fields) {
      this.byName.set(f.name, f);
    }
  }

  field(name: string): LinkedField | undefined {
    return this.byName.get(name);
  }

  /** Whether several values of a field identify the same item. */
  folds(field: string): boolean {
    const own = foldings(this.key, field);
    return own.length > 0 && own.every((f) => f !== "");
  }

  /** Whether these values differ elsewhere: in the key of a copy, marker, index entry or counter's item. */
  respells(field: string): boolean {
    if (!this.folds(field)) {
      return false;
    }
    const own = foldings(this.key, field);
    const entries = [...this.entries, ...this.copies.flatMap((c) => c.entries)].flatMap((x) => [x.pk, x.sk]);
    const keys = [...entries, ...this.copies.map((c) => c.key), ...this.markers.map((m) => m.key)];
    return keys.some((k) => foldings(k, field).some((f) => !own.includes(f))) ||
      this.counts.some((c) => fieldsOf(c.entity.key).some((name, i) =>
        ownerFields(c)[i] === field && foldings(c.entity.key, name).some((f) => !own.includes(f))));
  }

  /** Rejects values of the wrong type. Missing fields are not checked. */
  check(v: Values): void {
    for (const f of this.fields) {
      const value = v[f.name];
      if (value !== undefined) {
        checkValue(f.type, f.name, value, f.minBytes, f.maxBytes);
      }
    }
  }

  /** The attributes of a key, rendered from values. */
  keyOf(attributes: readonly KeyAttribute[], v: Values): Item {
    const out: Item = bare();
    for (const a of attributes) {
      const text = this.render(a.template ?? [], v);
      if (text === "") {
        throw emptyKey(a);
      }
      this.hasRoom(a, text, v);
      out[a.name] = keyValue(a, text);
    }
    return out;
  }

  /** Rejects a text that is too long for its attribute, and names the field with the longest part. */
  private hasRoom(a: KeyAttribute, text: Bytes, v: Values): void {
    if (text.length <= maxSortKeyBytes || a.type === "N") {
      return;
    }
    const room = this.room(a.name);
    if (text.length <= room) {
      return;
    }
    let field = subject(a);
    let longest = 0;
    for (const p of a.template ?? []) {
      if (p.field) {
        const part = this.tryText(p, v[p.field]);
        if (part !== undefined && part.length > longest) {
          [field, longest] = [p.field, part.length];
        }
      }
    }
    throw new ValueError(field, `makes the key ${a.name} ${text.length} bytes long: DynamoDB's maximum is ${room}`);
  }

  private room(attribute: string): number {
    const sorts = [this.key.slice(1), ...[...this.entries, ...this.copies.flatMap((c) => c.entries)].map((e) => e.sk)];
    return sorts.some((keys) => keys.some((a) => a.name === attribute)) ? maxSortKeyBytes : maxPartitionKeyBytes;
  }

  /** A template's text for some values. */
  render(template: readonly Part[], v: Values): Bytes {
    let out = "";
    for (const p of template) {
      if (!p.field) {
        out += bytesOf(p.literal ?? "");
        continue;
      }
      const value = v[p.field];
      if (value === undefined) {
        throw missing(p.field);
      }
      const f = this.field(p.field);
      if (f) {
        checkValue(f.type, f.name, value, f.minBytes, f.maxBytes);
      }
      out += this.textOf(p, value, f?.minBytes);
    }
    return out;
  }

  /** The text of a part's value after its functions. The value may be a prefix of one: minBytes applies to whole values. */
  textOf(p: Part, v: AttributeValue, minBytes = 0): Bytes {
    const f = this.field(p.field ?? "");
    if (!f) {
      throw new ValueError(p.field ?? "", `is not a field of ${this.name}`);
    }
    let text = textOfValue(f.type, f.name, v);
    fits(f.name, text, minBytes, f.maxBytes);
    for (const fn of p.funcs ?? []) {
      try {
        text = apply(fn.name, fn.arg ?? "", text);
      } catch (err) {
        throw new ValueError(f.name, `cannot be used in a key: ${(err as Error).message}`);
      }
      if (fn.name === "lower" || fn.name === "fold" || fn.name === "slug") {
        fits(f.name, text, minBytes, f.maxBytes, " in a key"); // these can make a text longer, or empty
      }
    }
    return text;
  }

  tryText(p: Part, v: AttributeValue | undefined): Bytes | undefined {
    if (v === undefined) {
      return undefined;
    }
    try {
      return this.textOf(p, v);
    } catch {
      return undefined;
    }
  }

  /** Values with all counters, which start at 0. */
  counted(v: Values): Values {
    const out = bare(v);
    for (const f of this.fields) {
      if (f.counter && out[f.name] === undefined) {
        out[f.name] = { N: "0" };
      }
    }
    return out;
  }

  /** The entity's own item, or a copy of it, with keys, type attribute and index entries. */
  item(copy: LinkedCopy | undefined, given: Values): Item {
    const v = this.counted(given);
    const out = this.fieldsAndKey(copy && this.heldBy(copy), copy ? copy.key : this.key, v);
    if (this.table.typeAttr) {
      out[this.table.typeAttr] = { S: this.typeValue };
    }
    return Object.assign(out, this.entryKeys(copy ? copy.entries : this.entries, v, out));
  }

  /** A marker's item: the fields that locate the entity's item, the unique ones, and their common expiry. */
  marker(m: Marker, v: Values): Item {
    return this.fieldsAndKey(this.withTTL(fieldsOf(this.key, m.key)), m.key, this.counted(v));
  }

  /** All items for some values: the item itself, its copies and its markers. */
  items(v: Values): Item[] {
    return [this.item(undefined, v), ...this.copies.map((c) => this.item(c, v)), ...this.markers.map((m) => this.marker(m, v))];
  }

  private fieldsAndKey(held: readonly string[] | undefined, key: readonly KeyAttribute[], v: Values): Item {
    this.check(v);
    const out: Item = bare();
    for (const f of this.fields) {
      if (held && !held.includes(f.name)) {
        continue;
      }
      const value = toStore(f, v[f.name]);
      if (value !== undefined) {
        put(out, f.path, value);
      }
    }
    return Object.assign(out, this.keyOf(key, v));
  }

  /** The index attributes of a whole item that do not store a field directly. */
  private entryKeys(list: readonly LinkedEntry[], v: Values, item: Item): Item {
    const out: Item = bare();
    for (const entry of list) {
      this.plainKeys([...entry.pk, ...entry.sk], v);
      if (this.enters(entry, v, item)) {
        Object.assign(out, this.keyOf(this.synthetic(entry), v));
      }
    }
    return out;
  }

  /** Whether an item has an entry: its condition holds, and the fields of its keys are present. */
  private enters(entry: LinkedEntry, v: Values, item: Item): boolean {
    if (fieldsOf(entry.pk, entry.sk).some((name) => v[name] === undefined)) {
      return false;
    }
    return !entry.where || entry.where.holds(this.wholly(item, v), { values: v, now: 0 });
  }

  /** An item with all of the values: a copy may not have those on which its entries depend. */
  private wholly(item: Item, v: Values): Item {
    const out: Item = bare(item);
    for (const f of this.fields) {
      if (at(out, f.path) !== undefined) {
        continue;
      }
      const value = tryStore(f, v[f.name]);
      if (value !== undefined) {
        put(out, f.path, value);
      }
    }
    return out;
  }

  /** Rejects fields that are invalid as the index attribute in which they are stored. */
  plainKeys(attributes: readonly KeyAttribute[], v: Values): void {
    for (const a of attributes) {
      if (a.field && v[a.field] !== undefined) {
        this.keyOf([a], v);
      }
    }
  }

  /** The attributes that exist only for an entry, in addition to those of the fields. */
  synthetic(x: LinkedEntry): KeyAttribute[] {
    return [...x.pk, ...x.sk].filter((a) => !a.field && !this.inPrimaryKey(a));
  }

  private inPrimaryKey(a: KeyAttribute): boolean {
    return a.name === this.table.pk.name || a.name === this.table.sk?.name;
  }

  copyOf(name: string | undefined): LinkedCopy | undefined {
    return name ? this.copies.find((c) => c.name === name) : undefined;
  }

  /** The fields of a copy, undefined for all: including those of its keys, and its expiry. */
  heldBy(c: LinkedCopy): string[] | undefined {
    return c.fields && this.withTTL([...fieldsOf(c.key, ...c.entries.flatMap((x) => [x.pk, x.sk])), ...c.fields]);
  }

  private withTTL(fields: string[]): string[] {
    return this.ttl?.field ? [...fields, this.ttl.field] : fields;
  }

  /** The fields of a marker. */
  heldByMarker(m: Marker): string[] {
    return this.withTTL(fieldsOf(this.key, m.key));
  }

  /** The fields of a stored item. */
  valuesOf(item: Item | undefined): Values {
    const v: Values = bare();
    for (const f of this.fields) {
      const value = at(item, f.path);
      if (value !== undefined) {
        v[f.name] = value;
      }
    }
    return v;
  }

  ttlField(): LinkedField | undefined {
    return this.ttl && this.field(this.ttl.field);
  }

  /** Whether an item has expired, at a time in seconds. */
  expired(item: Item | undefined, now: number): boolean {
    const f = this.ttlField();
    const seconds = f && item && decimalOf(at(item, f.path))?.int64();
    return seconds !== undefined && seconds < BigInt(now);
  }

  /** The fields that a condition reads. */
  readBy(c: Condition | undefined): string[] {
    if (!c) {
      return [];
    }
    const attributes = c.attributes();
    return this.fields.filter((f) => attributes.includes(f.path[0]!)).map((f) => f.name);
  }

  /** The fields that an entry depends on: those of its keys and of its condition. */
  entryFields(x: LinkedEntry): string[] {
    return [...fieldsOf(x.pk, x.sk), ...this.readBy(x.where)];
  }

  entriesAt(p: Place): LinkedEntry[] {
    return p.copy ? (this.copyOf(p.copy)?.entries ?? []) : this.entries;
  }

  /** The entry of a place in an index. */
  entryAt(p: Place): LinkedEntry | undefined {
    return this.entriesAt(p).find((x) => x.index === p.index && x.name === (p.entry ?? ""));
  }

  /** The primary key of the items at a place. */
  primaryKey(p: Place): readonly KeyAttribute[] | undefined {
    if (p.kind === "marker") {
      return this.markers.find((m) => m.name === p.marker)?.key;
    }
    return p.copy ? this.copyOf(p.copy)?.key : this.key;
  }

  /**
   * The values of a stored item if it belongs to the entity at a place: by the type attribute if there is one, and by its keys,
   * which must match its values. An entry in an index may not have all values; then the keys must be possible with the present
   * ones.
   */
  is(p: Place, item: Item | undefined): Values | undefined {
    if (!item || (p.kind !== "marker" && !this.typed(item))) {
      return undefined;
    }
    const primary = this.primaryKey(p);
    if (!primary) {
      return undefined;
    }
    const v = this.valuesOf(item);
    if (p.kind !== "entry") {
      return this.madeOf(primary, v, item) ? v : undefined;
    }
    const entry = this.entryAt(p);
    if (!entry) {
      return undefined;
    }
    let met = 0;
    for (const a of [...primary, ...entry.pk, ...entry.sk]) {
      const text = keyText(own(item, a.name));
      if (text === undefined) {
        continue;
      }
      met++;
      if (!this.fitsKey(a, v, text)) {
        return undefined;
      }
    }
    return met > 0 ? v : undefined;
  }

  private typed(item: Item): boolean {
    const attribute = this.table.typeAttr;
    const v = attribute ? own(item, attribute) : undefined;
    return v === undefined || v.S === this.typeValue;
  }

  private madeOf(key: readonly KeyAttribute[], v: Values, item: Item): boolean {
    let made: Item;
    try {
      made = this.keyOf(key, v);
    } catch {
      return false;
    }
    return Object.keys(made).every((name) => {
      const [a, b] = [made[name], own(item, name)];
      return storedAs(a) === storedAs(b) && keyText(a) !== undefined && keyText(a) === keyText(b);
    });
  }

  /** Whether a stored key text matches a template with some values, for any values of the missing ones. */
  private fitsKey(a: KeyAttribute, v: Values, text: Bytes): boolean {
    const segments: (Bytes | ((s: Bytes) => boolean))[] = [];
    for (const p of a.template ?? []) {
      if (!p.field) {
        segments.push(bytesOf(p.literal ?? ""));
      } else if (v[p.field] === undefined) {
        const f = this.field(p.field);
        if (!f) {
          return false;
        }
        segments.push((s) => makes(f, p, a.type, s));
      } else {
        try {
          segments.push(this.render([p], v));
        } catch {
          return false;
        }
      }
    }
    const only = segments[0];
    if (a.type === "N" && segments.length === 1 && typeof only === "string") {
      return decimal(only) === text; // without the zeros added by |pad
    }
    return matches(segments, text);
  }
}

export function tryStore(f: LinkedField, v: AttributeValue | undefined): AttributeValue | undefined {
  return v === undefined && !f.optional && !["set", "list", "map"].includes(f.type.kind) ? undefined : toStore(f, v);
}

/** Whether a text consists of segments: it tracks the positions at which the segments so far can end. */
function matches(segments: (Bytes | ((s: Bytes) => boolean))[], text: Bytes): boolean {
  let ends = new Set([0]);
  for (const s of segments) {
    const next = new Set<number>();
    for (const from of ends) {
      if (typeof s === "string") {
        if (text.startsWith(s, from)) {
          next.add(from + s.length);
        }
        continue;
      }
      for (let to = from; to <= text.length; to++) {
        if (!next.has(to) && s(text.slice(from, to))) {
          next.add(to);
        }
      }
    }
    ends = next;
  }
  return ends.has(text.length);
}

/** Whether a text may be the result of a part's functions for some value of the field. It may accept other texts too. */
export function makes(f: LinkedField, p: Part, type: string, s: Bytes): boolean {
  if (type !== "S") {
    return true; // the whole attribute is this field
  }
  const last = p.funcs?.at(-1);
  if (!last) {
    return hasText(f, s);
  }
  const arg = last.arg ?? "";
  switch (last.name) {
    case "pad":
    case "desc":
      return s.length === Number(arg) && /^[0-9]*$/.test(s);
    case "ts":
      return s.length === (arg === "s" ? 10 : 13) && /^[0-9]*$/.test(s);
    case "date":
      return s.length === arg.length && /^[0-9T-]*$/.test(s);
    case "shard":
    case "mod":
      return /^[0-9]+$/.test(s);
    case "band":
      return /^-?[0-9]+$/.test(s);
    case "hash":
      return s.length === Number(arg) && /^[0-9a-f]*$/.test(s);
    case "slug":
      return /^[a-z0-9-]*$/.test(s);
    default: // lower, fold and first of any text
      return true;
  }
}

