// What is known about a change's item in one attempt.
//
// Fields are known from the input, from the condition, or because the item was read. A result that uses a field that was read
// makes the transaction conditional on its value (relied). A result that depends on unknown fields throws Unread; the attempt
// then reads the item and repeats.

import type { Assigned, Change } from "./change.js";
import type { Condition } from "./condition.js";
import { Decimal } from "./decimal.js";
import type { KeyAttribute } from "./descriptor.js";
import { type Entity, fieldsOf, tryStore } from "./entity.js";
import { ValueError } from "./errors.js";
import { plus } from "./step.js";
import { type LinkedField, checkValue, numeric } from "./types.js";
import { applied, native } from "./update.js";
import { type AttributeValue, type Item, type Values, at, bare, decimalOf, numberOf, put } from "./values.js";

/** The result depends on an item that has not been read. */
export class Unread extends Error {}

/**
 * An error that may be due to items that were read at different times. It counts as a conflict; the last attempt fails with it.
 */
export class Unsettled extends Error {
  override readonly cause: unknown;

  constructor(cause: unknown) {
    super("unsettled");
    this.cause = cause;
  }
}

/** A field's value, if it is known whether it exists. */
export type FieldValue = { v: AttributeValue | undefined } | undefined;

export class Known {
  c: Change;
  /** The fields of the change and of its counters. */
  assigned: Assigned[];
  read = false;
  old: Item | undefined;
  will: Values = bare();
  /** Set if the item that was read shows that the change will be rejected. */
  doomed = false;
  /** Set if a counter of the item moves. */
  moved = false;
  /** The consequences of what is known have been determined. */
  planned = false;
  /** An upsert creates the item, because there was none when it was read. */
  protected made = false;
  protected readonly relied = new Set<string>();
  private was: Values = bare();

  constructor(c: Change) {
    this.c = c;
    this.assigned = c.assigned;
  }

  get entity(): Entity {
    return this.c.entity;
  }

  /** An error of this effect. */
  fault(err: unknown): unknown {
    if (err instanceof Unread || err instanceof Unsettled) {
      return err;
    }
    const own = this.c.of.fault(err);
    return this.moved ? new Unsettled(own) : own;
  }

  /** Whether the whole item is put. */
  creates(): boolean {
    return this.c.action === "create" || this.c.action === "put" || this.made;
  }

  /** What is known about the item before the change. */
  exists(): "unknown" | "present" | "absent" {
    if (this.creates() || (this.read && !this.old)) {
      return "absent";
    }
    return this.read || this.c.action === "update" || (this.c.action === "delete" && this.c.when) ? "present" : "unknown";
  }

  /** An upsert also assigns the fields of its key, which matters where another spelling of one makes another key. */
  changed(field: string): boolean {
    return (this.c.action === "upsert" && this.entity.respells(field)) || this.assigned.some((a) => a.field.name === field);
  }

  changes(fields: readonly string[]): boolean {
    return fields.some((f) => this.changed(f));
  }

  readonly before = (field: string): FieldValue => {
    const ofKey = this.c.values[field];
    if (ofKey !== undefined && !this.creates()) {
      if (!this.read && this.entity.respells(field)) {
        return undefined;
      }
      return { v: this.was[field] ?? ofKey }; // the item may have another spelling of it
    }
    if (this.exists() === "absent") {
      return { v: undefined };
    }
    if (this.read) {
      return { v: this.was[field] };
    }
    const pinned = this.c.pinned[field];
    return pinned && { v: pinned };
  };

  readonly after = (field: string): FieldValue => {
    if (this.creates()) {
      return { v: this.c.values[field] };
    }
    const respelled = this.c.action === "upsert" && this.c.values[field] !== undefined;
    if (!this.changed(field) && this.exists() === "present" && !respelled) {
      return this.before(field);
    }
    if (this.read) {
      return { v: this.will[field] };
    }
    const ofKey = this.c.values[field];
    if (ofKey !== undefined) {
      return { v: ofKey };
    }
    const a = this.assigned.find((x) => x.field.name === field && x.whole && x.how === "setting" && x.operands.length === 0);
    return a && { v: a.value };
  };

  /** Makes the change conditional on the values of fields that were read. */
  readonly relyBefore = (fields: readonly string[]): void => {
    if (!this.read || !this.old) {
      return;
    }
    for (const name of fields) {
      if ((this.c.values[name] === undefined || this.entity.folds(name)) && this.c.pinned[name] === undefined) {
        this.relied.add(name);
      }
    }
  };

  /** Makes the change conditional on everything from which fields were computed. */
  readonly relyAfter = (fields: readonly string[]): void => {
    for (const name of fields) {
      if (!this.changed(name)) {
        this.relyBefore([name]);
      }
      for (const a of this.assigned.filter((x) => x.field.name === name)) {
        if (!a.whole || a.how !== "setting") {
          this.relyBefore([name]);
        }
        this.relyBefore(a.operands.map((o) => o.field.name));
      }
    }
  };

  valuesBefore(fields: readonly string[]): Values {
    return collect(fields, this.before);
  }

  valuesAfter(fields: readonly string[]): Values {
    return collect(fields, this.after);
  }

  /** The key of a copy or marker; undefined if the item does not have the fields, and so has none. */
  keyBefore(key: readonly KeyAttribute[]): Item | undefined {
    const fields = fieldsOf(key);
    const v = this.valuesBefore(fields);
    this.relyBefore(fields);
    return Object.keys(v).length < fields.length ? undefined : this.entity.keyOf(key, v);
  }

  /** Moves a counter of the item. The initial value is 0. */
  add(f: LinkedField, by: Decimal): void {
    const i = this.assigned.findIndex((a) => {
      const begins = a.how === "initialising" && (decimalOf(a.value)?.isZero ?? true);
      return a.field === f && (a.how === "adding" || begins) && a.operands.length === 0;
    });
    if (i < 0) {
      this.assigned = [...this.assigned, { field: f, path: f.path, member: f, whole: true, how: "adding", value: numberOf(by), operands: [] }];
      return;
    }
    const a = this.assigned[i]!;
    const sum = movedBy(f, decimalOf(a.value), by);
    this.assigned = this.assigned.map((x) => (x === a ? { ...a, how: "adding", value: numberOf(sum) } : x));
  }

  /** Adds a counter's move to the values of an item that the same write creates. */
  begin(f: LinkedField, by: Decimal): void {
    const sum = movedBy(f, decimalOf(this.c.values[f.name]), by);
    this.c = { ...this.c, values: bare(this.c.values, { [f.name]: numberOf(sum) }) };
  }

  /** Sets the item that was read, undefined for none, and computes the new one. */
  see(old: Item | undefined): void {
    this.read = true;
    this.old = old;
    this.planned = false;
    this.was = this.entity.counted(this.entity.valuesOf(old));
    const { action, when } = this.c;
    if (!old && (action === "update" || action === "check" || (action === "delete" && when))) {
      this.doomed = true;
      return;
    }
    this.doomed = when ? !when.holds(old, this.c.inputs) : false;
    if (!this.doomed && (action === "update" || action === "upsert")) {
      this.compute();
    }
  }

  /** Computes the new item as DynamoDB will. */
  compute(): void {
    this.settle();
    let next: Item;
    try {
      next = applied(this.assigned, this.old ?? emptyMaps(this.entity));
    } catch (err) {
      if (err instanceof ValueError) {
        throw err;
      }
      throw new Error(`compute the new item of ${this.entity.name}: ${(err as Error).message}`);
    }
    for (const a of this.assigned) {
      const v = at(next, a.path);
      if (v !== undefined && numeric(a.member.type.kind)) {
        checkValue(a.member.type, a.member.name, v);
      }
    }
    const stored = this.entity.counted(this.entity.valuesOf(next));
    this.will = this.c.action === "upsert" ? bare(stored, this.c.values) : bare(this.c.values, stored); // an update leaves the spelling of the key
    if (!this.old) {
      this.c = { ...this.c, values: this.will };
      this.made = true;
    }
  }

  /** Computes the sums that DynamoDB cannot express. The item was read. */
  private settle(): void {
    this.assigned = this.assigned.map((a) => {
      if (native(a)) {
        return a;
      }
      let sum = decimalOf(a.value) ?? Decimal.zero;
      const operands = a.how === "adding" ? [...a.operands, { negative: false, field: a.field, path: a.path, zero: true }] : a.operands;
      for (const o of operands) {
        this.relyBefore([o.field.name]);
        const v = at(this.old, o.path);
        if (v === undefined && o.zero) {
          continue;
        }
        const n = decimalOf(v);
        if (!n) {
          throw new ValueError(a.member.name, `is computed from ${o.field.name}, which is not a number in the item`);
        }
        sum = plus(sum, n, o.negative, a.member.name);
      }
      return { ...a, how: a.how === "adding" ? "setting" : a.how, value: numberOf(sum), operands: [] };
    });
  }
}

function movedBy(f: LinkedField, n: Decimal | undefined, by: Decimal): Decimal {
  try {
    return (n ?? Decimal.zero).plus(by);
  } catch (err) {
    throw new ValueError(f.name, `changes by more than DynamoDB can store: ${(err as Error).message}`);
  }
}

export function collect(fields: readonly string[], of: (field: string) => FieldValue): Values {
  const out: Values = bare();
  for (const name of fields) {
    const known = of(name);
    if (!known) {
      throw new Unread();
    }
    if (known.v !== undefined) {
      out[name] = known.v;
    }
  }
  return out;
}

/** Whether a condition holds, if some fields determine that; relies are the fields used. */
export function truth(e: Entity, c: Condition | undefined, value: (field: string) => FieldValue): { holds: boolean; known: boolean; relies: string[] } {
  const relies: string[] = [];
  let known = true;
  for (const part of c?.conjuncts() ?? []) {
    const fields = e.readBy(part);
    const item = partial(e, fields, value);
    if (!item) {
      known = false;
      continue;
    }
    if (!part.holds(item, { values: bare(), now: Number.NaN })) {
      return { holds: false, known: true, relies: fields };
    }
    relies.push(...fields);
  }
  return { holds: true, known, relies };
}

/** An item with some fields only; undefined if one of them is unknown. */
function partial(e: Entity, fields: readonly string[], value: (field: string) => FieldValue): Item | undefined {
  const item: Item = bare();
  for (const name of fields) {
    const f = e.field(name)!;
    const known = value(name);
    if (!known) {
      return undefined;
    }
    const v = tryStore(f, known.v);
    if (v !== undefined) {
      put(item, f.path, v);
    }
  }
  return item;
}

/** An item with only the maps that contain fields. */
function emptyMaps(e: Entity): Item {
  const item: Item = bare();
  for (const f of e.fields) {
    const inside = f.path.slice(0, -1);
    if (inside.length > 0 && at(item, inside) === undefined) {
      put(item, inside, { M: bare() });
    }
  }
  return item;
}
