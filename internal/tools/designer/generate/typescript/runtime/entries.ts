// What becomes of the index attributes of an item that is changed, or of a copy of it, with the fields that they are made of.

import type { KeyAttribute } from "./descriptor.js";
import { type LinkedEntry, fieldsOf, within } from "./entity.js";
import { compareTexts } from "./keytext.js";
import { type Known, Unread, truth } from "./known.js";
import type { Expression } from "./update.js";
import { type AttributeValue, type Item, type Values, bare } from "./values.js";

/** Changes the index attributes that a list of entries has. */
export function changeEntries(e: Known, list: readonly LinkedEntry[], x: Expression): void {
  for (const entry of list) {
    checkPlain(e, [...entry.pk, ...entry.sk]);
  }
  const keys = new IndexKeys(e, list);
  keys.decide();
  keys.write(x);
}

/** Refuses values that could not stand in the index attribute that their field is itself. */
function checkPlain(e: Known, attributes: readonly KeyAttribute[]): void {
  const known: Values = bare();
  for (const a of attributes) {
    const v = a.field && e.changed(a.field) ? e.after(a.field)?.v : undefined;
    if (v !== undefined) {
      known[a.field!] = v;
    }
  }
  e.entity.plainKeys(attributes, known);
}

/** Gathers what becomes of index attributes. */
class IndexKeys {
  private readonly e: Known;
  private readonly list: readonly LinkedEntry[];
  /** The attributes that several entries have in common: one entry may lose what another needs. */
  private readonly shared = new Set<string>();
  private readonly set: Item = bare();
  /** The values that attributes get where they have none. */
  private readonly begin: Item = bare();
  private readonly gone = new Set<string>();

  constructor(e: Known, list: readonly LinkedEntry[]) {
    this.e = e;
    this.list = list;
    const met = new Set<string>();
    for (const a of list.flatMap((entry) => e.entity.synthetic(entry))) {
      (met.has(a.name) ? this.shared : met).add(a.name);
    }
  }

  decide(): void {
    this.touched().forEach((entry) => this.enter(entry));
  }

  write(x: Expression): void {
    for (const name of Object.keys(this.set).sort(compareTexts)) {
      x.set([name], this.set[name]);
    }
    for (const name of Object.keys(this.begin).sort(compareTexts)) {
      x.begin([name], this.begin[name]!);
    }
    for (const name of [...this.gone].sort(compareTexts)) {
      if (this.set[name] === undefined && this.begin[name] === undefined) { // an attribute may be of several indexes
        x.remove([name]);
      }
    }
  }

  /** The entries that may change: all where the item may be made, else those that depend on what changes, with their neighbours. */
  private touched(): LinkedEntry[] {
    const { e } = this;
    const out = new Set<LinkedEntry>();
    const attributes = new Set<string>();
    for (let before = -1; before !== out.size; ) {
      before = out.size;
      for (const entry of this.list) {
        const own = e.entity.synthetic(entry);
        const shares = own.some((a) => attributes.has(a.name));
        if (!out.has(entry) && (e.exists() !== "present" || shares || e.changes(e.entity.entryFields(entry)))) {
          out.add(entry);
          own.forEach((a) => attributes.add(a.name));
        }
      }
    }
    return [...out];
  }

  /** Decides about one entry. */
  private enter(entry: LinkedEntry): void {
    const { e } = this;
    const own = e.entity.synthetic(entry);
    if (own.length === 0) {
      return;
    }
    if (this.leaves(entry)) {
      own.forEach((a) => this.gone.add(a.name));
      return;
    }
    if (e.exists() === "perhaps") {
      this.enterPerhaps(entry, own);
      return;
    }
    const steady = this.steady(entry);
    for (const a of own) {
      const fields = fieldsOf([a]);
      if (steady && !this.shared.has(a.name) && !e.changes(fields)) {
        continue;
      }
      const v = e.valuesAfter(fields);
      e.relyAfter(fields);
      Object.assign(this.set, e.entity.keyOf([a], v));
    }
  }

  /** Whether the item surely has no entry: the condition does not hold, or a field of the key is absent. */
  private leaves(entry: LinkedEntry): boolean {
    const { e } = this;
    for (const name of fieldsOf(entry.pk, entry.sk)) {
      const known = e.after(name);
      if (known && known.v === undefined) {
        e.relyAfter([name]);
        return true;
      }
    }
    const { holds, known, relies } = truth(e.entity, entry.where, e.after);
    if (!known || holds) {
      return false;
    }
    e.relyAfter(relies);
    return true;
  }

  /** Whether an item that has the entry now has had it before. That it has the entry now must be known. */
  private steady(entry: LinkedEntry): boolean {
    const { e } = this;
    const { holds, known, relies } = truth(e.entity, entry.where, e.after);
    if (!known || !holds) {
      throw new Unread();
    }
    e.relyAfter(relies);
    let steady = !e.changes(e.entity.readBy(entry.where));
    for (const name of fieldsOf(entry.pk, entry.sk)) {
      const f = e.entity.field(name);
      if (!f?.optional) {
        continue;
      }
      if (!e.after(name)) {
        throw new Unread();
      }
      e.relyAfter([name]);
      steady = steady && !e.changed(name);
    }
    return steady;
  }

  /** Decides about an entry of an item that an upsert may make or may find. */
  private enterPerhaps(entry: LinkedEntry, own: readonly KeyAttribute[]): void {
    const { entity, after } = this.e;
    const { holds, known, relies } = truth(entity, entry.where, after);
    if (!known || !holds) {
      throw new Unread();
    }
    const always = within(relies, fieldsOf(entity.key)) && !fieldsOf(entry.pk, entry.sk).some((name) => entity.field(name)?.optional ?? true);
    for (const a of own) {
      const { v, begins } = this.valuesPerhaps(fieldsOf([a]));
      if (begins && !always) {
        throw new Unread();
      }
      Object.assign(begins ? this.begin : this.set, entity.keyOf([a], v));
    }
  }

  /** Fields after an upsert; begins is set where they are those of a new item. */
  private valuesPerhaps(fields: readonly string[]): { v: Values; begins: boolean } {
    const v: Values = bare();
    let begins = false;
    let changes = false;
    for (const name of fields) {
      const known = this.e.after(name);
      const value = known ? known.v : this.initial(name);
      if (value === undefined) {
        throw new Unread();
      }
      begins ||= !known;
      changes ||= known !== undefined && this.e.c.values[name] === undefined;
      v[name] = value;
    }
    if (begins && changes) {
      throw new Unread(); // a key of what is set and of what was there
    }
    return { v, begins };
  }

  /** What an upsert gives a field where there is nothing; undefined where it does not, or where an item may lack the field. */
  private initial(field: string): AttributeValue | undefined {
    const a = this.e.assigned.find((x) => x.field.name === field);
    return a && a.how === "initialising" && a.whole && a.operands.length === 0 && !a.field.optional ? a.value : undefined;
  }
}
