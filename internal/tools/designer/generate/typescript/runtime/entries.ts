// The changes of the index attributes of a changed item, or of its copy, and of their fields.

import type { KeyAttribute } from "./descriptor.js";
import { type LinkedEntry, fieldsOf, within } from "./entity.js";
import { compareTexts } from "./keytext.js";
import { type Known, Unread, truth } from "./known.js";
import type { Expression } from "./update.js";
import { type AttributeValue, type Item, type Values, bare } from "./values.js";

/** Changes the index attributes of a list of entries. */
export function changeEntries(e: Known, list: readonly LinkedEntry[], x: Expression): void {
  for (const entry of list) {
    checkPlain(e, [...entry.pk, ...entry.sk]);
  }
  const keys = new IndexKeys(e, list);
  keys.decide();
  keys.write(x);
}

/** Rejects values that are invalid as the index attribute in which their field is stored. */
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

/** Collects the changes of index attributes. */
class IndexKeys {
  private readonly e: Known;
  private readonly list: readonly LinkedEntry[];
  /** The attributes that several entries share: one entry may remove what another one needs. */
  private readonly shared = new Set<string>();
  private readonly set: Item = bare();
  /** The values that attributes get if they are missing. */
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
      if (this.set[name] === undefined && this.begin[name] === undefined) { // an attribute may belong to several indexes
        x.remove([name]);
      }
    }
  }

  /**
   * The entries that may change: all if the item may be created, otherwise those that depend on the change, with the entries that
   * share attributes.
   */
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

  /** Handles one entry. */
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
    if (e.exists() === "unknown") {
      this.enterOptional(entry, own);
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

  /** Whether the item certainly has no entry: the condition does not hold, or a field of the key is missing. */
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

  /** Whether an item that has the entry now also had it before. It must be known to have the entry now. */
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

  /** Handles an entry of an item that an upsert may create or find. */
  private enterOptional(entry: LinkedEntry, own: readonly KeyAttribute[]): void {
    const { entity, after } = this.e;
    const { holds, known, relies } = truth(entity, entry.where, after);
    if (!known || !holds) {
      throw new Unread();
    }
    const always = within(relies, fieldsOf(entity.key)) && !fieldsOf(entry.pk, entry.sk).some((name) => entity.field(name)?.optional ?? true);
    for (const a of own) {
      const { v, begins } = this.optionalValues(fieldsOf([a]));
      if (begins && !always) {
        throw new Unread();
      }
      Object.assign(begins ? this.begin : this.set, entity.keyOf([a], v));
    }
  }

  /** Fields after an upsert; begins is set if they are those of a new item. */
  private optionalValues(fields: readonly string[]): { v: Values; begins: boolean } {
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
      throw new Unread(); // the key combines a new value and an old one
    }
    return { v, begins };
  }

  /** The value that an upsert gives to a missing field; undefined if it does not, or if the field is optional. */
  private initial(field: string): AttributeValue | undefined {
    const a = this.e.assigned.find((x) => x.field.name === field);
    return a && a.how === "initialising" && a.whole && a.operands.length === 0 && !a.field.optional ? a.value : undefined;
  }
}
