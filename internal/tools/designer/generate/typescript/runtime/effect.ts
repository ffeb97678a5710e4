// A change in one attempt: what is known of its item, and the operations on it and on all that belongs to it.
//
// Fields are known from the input, from the condition, or because the item was read. What rests on a field that was read makes
// the transaction depend on it (relied): it is held to the value that it had. What depends on fields that are not known throws
// Unread; the attempt then reads the item and asks again.

import type { TransactWriteItem, WriteRequest } from "@aws-sdk/client-dynamodb";
import { type Assigned, type Change, type Learned, plus, within } from "./change.js";
import type { Condition } from "./condition.js";
import { Decimal } from "./decimal.js";
import type { KeyAttribute, Marker, Table } from "./descriptor.js";
import { type Entity, type LinkedCopy, type LinkedCount, type LinkedEntry, fieldsOf, identity, inKey, tryStore } from "./entity.js";
import { ValueError } from "./errors.js";
import { compareTexts } from "./keytext.js";
import { type LinkedField, toStore } from "./types.js";
import { Expression, applied, conjunction, native } from "./update.js";
import { type AttributeValue, type Item, type Values, at, bare, decimalOf, numberOf, put, stored } from "./values.js";

/** It depends on an item that was not read. */
export class Unread extends Error {}

/** A fault that may come from items that were read at different times. It counts as a conflict; the last attempt fails with it. */
export class Unsettled extends Error {
  override readonly cause: unknown;

  constructor(cause: unknown) {
    super("unsettled");
    this.cause = cause;
  }
}

/**
 * What an operation's refusal means. itself: the change is refused, or its item is not as it was read. elsewhere: a copy or marker
 * is not as the item lets expect. occupying: a new copy has another item's place. taking: a marker is taken. releasing: a marker is
 * another item's by now. nothing: an item that was not there, and so needed not be deleted, has come.
 */
export type Role = "itself" | "elsewhere" | "occupying" | "taking" | "releasing" | "nothing";

/** What a request does to one item. */
export class Operation {
  readonly kind: "putting" | "updating" | "deleting" | "checking";
  role: Role;
  readonly of: Effect;
  /** What it is about, for errors that count operations. */
  readonly noun: string;
  /** What is put, and the key of what is updated, deleted or checked. */
  readonly item: Item;
  update = "";
  marker: Marker | undefined;
  private condition = "";
  private x: Expression | undefined;

  constructor(kind: Operation["kind"], role: Role, of: Effect, noun: string, item: Item) {
    this.kind = kind;
    this.role = role;
    this.of = of;
    this.noun = noun;
    this.item = item;
  }

  get identity(): string {
    return identity(this.of.c.entity.table, this.item);
  }

  get table(): Table {
    return this.of.c.entity.table;
  }

  /** Sets the condition with the names and values that it shares with the update. */
  keeps(x: Expression, ...conditions: string[]): void {
    this.condition = conjunction(...conditions);
    this.x = x;
  }

  /** What requests of all kinds have. */
  common(): { ConditionExpression?: string; ExpressionAttributeNames?: { [alias: string]: string }; ExpressionAttributeValues?: Item } {
    const x = this.x;
    return {
      ...(this.condition ? { ConditionExpression: this.condition } : {}),
      ...(x && Object.keys(x.names).length > 0 ? { ExpressionAttributeNames: x.names } : {}),
      ...(x && Object.keys(x.values).length > 0 ? { ExpressionAttributeValues: x.values } : {}),
    };
  }

  /** The operation as a part of a transaction. */
  transactItem(table: string): TransactWriteItem {
    const common = { TableName: table, ...this.common(), ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const };
    switch (this.kind) {
      case "putting":
        return { Put: { ...common, Item: this.item } };
      case "deleting":
        return { Delete: { ...common, Key: this.item } };
      case "updating":
        if (this.update !== "") {
          return { Update: { ...common, Key: this.item, UpdateExpression: this.update } };
        }
        break; // a transaction has no update of nothing: only the condition is asked
      default:
    }
    return { ConditionCheck: { ...common, Key: this.item, ConditionExpression: common.ConditionExpression } };
  }

  /** The operation as a part of a batch, which asks no condition. */
  batchItem(): WriteRequest {
    return this.kind === "deleting" ? { DeleteRequest: { Key: this.item } } : { PutRequest: { Item: this.item } };
  }
}

/** What a change moves a counter by. */
export interface Movement {
  count: LinkedCount;
  key: Values;
  by: Decimal;
}

interface Tally {
  counts: boolean;
  key: Values;
  n: Decimal;
}

type Known = { v: AttributeValue | undefined } | undefined; // undefined is not known

export class Effect {
  c: Change;
  assigned: Assigned[];
  /** Set where nothing but counters is changed, in an item that no step is about. */
  counters = false;
  read = false;
  old: Item | undefined;
  will: Values = bare();
  /** Set where the item that was read shows that the change will be refused. */
  doomed = false;
  /** Set where a counter of the item is moved. */
  moved = false;
  counted = false;
  planned = false;
  ops: Operation[] = [];
  readonly learned: Learned;
  private was: Values = bare();
  private relied = new Set<string>();
  private made = false; // an upsert makes an item, for there was none when it was read

  constructor(c: Change, learned: Learned) {
    this.c = c;
    this.assigned = c.assigned;
    this.learned = learned;
  }

  private get entity(): Entity {
    return this.c.entity;
  }

  /** An error of the effect's own. */
  fault(err: unknown): unknown {
    return this.moved && !(err instanceof Unread) ? new Unsettled(err) : err;
  }

  /** Whether the whole item is put. */
  creates(): boolean {
    return this.c.action === "create" || this.c.action === "put" || this.made;
  }

  /** What is known of the item before the change. */
  private exists(): "perhaps" | "present" | "absent" {
    if (this.creates() || (this.read && !this.old)) {
      return "absent";
    }
    return this.read || this.c.action === "update" || (this.c.action === "delete" && this.c.when) ? "present" : "perhaps";
  }

  private changed(field: string): boolean {
    return this.assigned.some((a) => a.field.name === field);
  }

  private changes(fields: readonly string[]): boolean {
    return fields.some((f) => this.changed(f));
  }

  private readonly before = (field: string): Known => {
    const ofKey = this.c.values[field];
    if (ofKey !== undefined && !this.creates()) {
      return { v: ofKey };
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

  private readonly after = (field: string): Known => {
    if (this.creates()) {
      return { v: this.c.values[field] };
    }
    if (!this.changed(field) && this.exists() === "present") {
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

  /** Makes the change depend on fields being as they were read. */
  private readonly relyBefore = (fields: readonly string[]): void => {
    if (!this.read || !this.old) {
      return;
    }
    for (const name of fields) {
      if (this.c.values[name] === undefined && this.c.pinned[name] === undefined) {
        this.relied.add(name);
      }
    }
  };

  /** Makes the change depend on all that fields have been computed of. */
  private readonly relyAfter = (fields: readonly string[]): void => {
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

  private valuesBefore(fields: readonly string[]): Values {
    return collect(fields, this.before);
  }

  private valuesAfter(fields: readonly string[]): Values {
    return collect(fields, this.after);
  }

  /** The key that a copy or marker has; undefined where the item lacks fields of it, and so has none. */
  private keyBefore(key: readonly KeyAttribute[]): Item | undefined {
    const fields = fieldsOf(key);
    const v = this.valuesBefore(fields);
    this.relyBefore(fields);
    return Object.keys(v).length < fields.length ? undefined : this.entity.keyOf(key, v);
  }

  /** Moves a counter of the item. What is added to begins with 0. */
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

  /** Takes what a counter is moved by into the values of an item that is made in the same write. */
  begin(f: LinkedField, by: Decimal): void {
    const sum = movedBy(f, decimalOf(this.c.values[f.name]), by);
    this.c = { ...this.c, values: bare(this.c.values, { [f.name]: numberOf(sum) }) };
  }

  /** Takes the item that was read, undefined for none, and computes what becomes of it. */
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

  /** Makes the new item as the request will. */
  compute(): void {
    this.settle();
    let next: Item;
    try {
      next = applied(this.assigned, this.old ?? emptyMaps(this.entity));
    } catch (err) {
      throw new Error(`compute what becomes of ${this.entity.name}: ${(err as Error).message}`);
    }
    this.will = bare(this.entity.counted(this.entity.valuesOf(next)), this.c.values);
    if (!this.old) {
      this.c = { ...this.c, values: this.will };
      this.made = true;
    }
  }

  /** Computes the sums that DynamoDB has no expression for. The item was read. */
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
          throw new ValueError(a.member.name, `is computed of ${o.field.name}, which is no number in the item`);
        }
        sum = plus(sum, n, o.negative, a.member.name);
      }
      return { ...a, how: a.how === "adding" ? "setting" : a.how, value: numberOf(sum), operands: [] };
    });
  }

  /** Makes the operations: on the item itself, which stands first, and on its copies and markers. */
  derive(): void {
    this.ops = [];
    this.planned = false;
    if (this.doomed) {
      this.refuse();
    } else if (this.creates()) {
      this.deriveWhole();
    } else if (this.c.action === "delete") {
      this.deriveDelete();
    } else if (this.c.action === "check") {
      this.deriveCheck();
    } else {
      this.deriveUpdate();
    }
    this.planned = true;
  }

  private operation(kind: Operation["kind"], role: Role, noun: string, item: Item): Operation {
    const o = new Operation(kind, role, this, `${noun} of ${this.entity.name}`, item);
    this.ops.push(o);
    return o;
  }

  private isThere(x: Expression): string {
    return `attribute_exists(${x.path([this.entity.table.pk.name])})`;
  }

  private isAbsent(x: Expression): string {
    return `attribute_not_exists(${x.path([this.entity.table.pk.name])})`;
  }

  /** That no item is there, or one whose time is over, which DynamoDB has not removed yet. */
  private isFree(x: Expression): string {
    const f = this.entity.ttlField();
    if (!f) {
      return this.isAbsent(x);
    }
    const now = x.value({ N: String(Math.floor(this.c.inputs.now / 1000)) });
    return `${this.isAbsent(x)} OR ${x.path(f.path)} < ${now}`;
  }

  private when(x: Expression): string {
    return this.c.when?.bind(this.c.inputs, x.names, x.values) ?? "";
  }

  /** Takes the place of a change that is refused already: an earlier one may be refused too. */
  private refuse(): void {
    const x = new Expression();
    this.operation("checking", "itself", "update", this.c.primary).keeps(x, this.isThere(x), this.isAbsent(x));
  }

  /** Puts a whole item with its copies and markers. */
  private deriveWhole(): void {
    const x = new Expression();
    const o = this.operation("putting", "itself", this.c.action === "put" ? "put" : "create", this.entity.item(undefined, this.c.values));
    const when = this.when(x);
    if (this.made) {
      o.keeps(x, this.isAbsent(x), when);
    } else if (this.c.action === "create") {
      o.keeps(x, this.isFree(x), when);
    } else {
      o.keeps(x, when);
    }
    this.entity.copies.forEach((c) => this.putCopy(c, this.c.values));
    this.entity.markers.forEach((m) => this.take(m, this.c.values));
  }

  /** Deletes an item with its copies and markers. One that is not there has none. */
  private deriveDelete(): void {
    const x = new Expression();
    if (this.exists() === "absent") {
      this.operation("checking", "nothing", "delete", this.c.primary).keeps(x, this.isAbsent(x));
      return;
    }
    const o = this.operation("deleting", "itself", "delete", this.c.primary);
    for (const c of this.entity.copies) {
      const key = this.keyBefore(c.key);
      if (key) {
        this.operation("deleting", "elsewhere", `delete of copy ${c.name}`, key);
      }
    }
    this.entity.markers.forEach((m) => this.release(m));
    const when = this.when(x);
    if (this.exists() === "present") {
      o.keeps(x, this.isThere(x), when, this.guards(x));
    }
  }

  private deriveCheck(): void {
    const x = new Expression();
    const when = this.when(x) || this.isThere(x);
    this.operation("checking", "itself", "check", this.c.primary).keeps(x, when);
  }

  /** Changes an item that is there, or may be. */
  private deriveUpdate(): void {
    if (this.assigned.some((a) => !native(a))) {
      throw new Unread();
    }
    if (this.exists() === "perhaps" && (this.entity.markers.length > 0 || this.assigned.some((a) => a.path.length > 1))) {
      throw new Unread(); // a marker is made with its item, and so is a map before something is set in it
    }
    const x = new Expression();
    const o = this.operation("updating", "itself", this.counters ? "count" : "update", this.c.primary);
    for (const a of this.assigned) {
      if (!inKey(this.entity.key, a.path)) {
        x.assign(a);
      }
    }
    if (this.c.action === "upsert") {
      this.identify(x, this.entity.key, undefined);
    }
    this.index(this.entity.entries, x);
    this.entity.copies.forEach((c) => this.deriveCopy(c));
    this.entity.markers.forEach((m) => this.deriveMarker(m));
    const when = this.when(x);
    o.keeps(x, this.exists() === "present" ? this.isThere(x) : "", when, this.guards(x));
    o.update = x.text();
    if (o.update === "" && this.exists() === "perhaps") {
      throw new Unread(); // of an item that is nothing but its key: a transaction cannot say that it is to be made
    }
  }

  /** Sets what tells an item that may be made: the fields of the primary key, as far as they are held, and the type. */
  private identify(x: Expression, key: readonly KeyAttribute[], held: readonly string[] | undefined): void {
    for (const name of fieldsOf(this.entity.key)) {
      const f = this.entity.field(name)!;
      if (!inKey(key, f.path) && (!held || held.includes(name))) {
        x.set(f.path, this.c.values[name]);
      }
    }
    if (this.entity.table.typeAttr) {
      x.set([this.entity.table.typeAttr], { S: this.entity.typeValue });
    }
  }

  /** Holds the fields that the change relies on to the values that they had. */
  private guards(x: Expression): string {
    const names = [...this.relied].sort(compareTexts);
    return conjunction(...names.map((name) => {
      const f = this.entity.field(name)!;
      return x.guard(f.path, stored(this.old, f.path));
    }));
  }

  // Copies.

  private putCopy(c: LinkedCopy, v: Values): void {
    const o = this.operation("putting", "elsewhere", `put of copy ${c.name}`, this.entity.item(c, v));
    if (this.c.action === "create") {
      const x = new Expression();
      o.role = "occupying";
      o.keeps(x, this.isFree(x));
    }
  }

  /** Keeps a copy equal to an item that is changed: it is changed as the item is, or moved where its key changes. */
  private deriveCopy(c: LinkedCopy): void {
    const held = this.entity.heldBy(c) ?? this.entity.fields.map((f) => f.name);
    const indexed = c.entries.flatMap((x) => this.entryFields(x));
    const key = fieldsOf(c.key);
    if (this.exists() === "perhaps") {
      if (!within(key, fieldsOf(this.entity.key))) {
        throw new Unread();
      }
    } else if (!this.changes(held) && !this.changes(indexed)) {
      return;
    }
    const old = this.keyBefore(c.key);
    if (this.changes(key)) {
      const v = this.valuesAfter(key);
      this.relyAfter(key);
      const moved = this.entity.keyOf(c.key, v);
      if (!old || identity(this.entity.table, old) !== identity(this.entity.table, moved)) {
        this.moveCopy(c, old, [...held, ...indexed]);
        return;
      }
    }
    if (!old) {
      return;
    }
    if (this.learned.lost.has(identity(this.entity.table, old))) {
      this.moveCopy(c, undefined, [...held, ...indexed]);
      return;
    }
    this.changeCopy(c, old, held);
  }

  /** Deletes a copy and puts it under its new key. */
  private moveCopy(c: LinkedCopy, old: Item | undefined, needs: readonly string[]): void {
    if (old) {
      this.operation("deleting", "elsewhere", `delete of copy ${c.name}`, old);
    }
    const v = this.valuesAfter(needs);
    this.relyAfter(needs);
    this.putCopy(c, v);
  }

  /** Changes a copy where it is. */
  private changeCopy(c: LinkedCopy, key: Item, held: readonly string[]): void {
    const x = new Expression();
    const whole = this.rewritten(held);
    for (const a of this.assigned) {
      if (held.includes(a.field.name) && !inKey(c.key, a.path) && !whole.includes(a.field.path[0]!)) {
        x.assign(a);
      }
    }
    whole.forEach((attribute) => this.rewrite(x, attribute, held));
    if (this.c.action === "upsert") {
      this.identify(x, c.key, held);
    }
    this.index(c.entries, x);
    const update = x.text();
    if (update === "") {
      return; // nothing of the copy changes
    }
    const o = this.operation("updating", "elsewhere", `update of copy ${c.name}`, key);
    o.update = update;
    o.keeps(x, this.exists() === "present" ? this.isThere(x) : "");
  }

  /**
   * The attributes of a copy that are set as they will be, for they cannot be changed as the item's are: they are computed of fields
   * that the copy does not hold, or are inside a map that it may lack.
   */
  private rewritten(held: readonly string[]): string[] {
    const out = new Set<string>();
    for (const a of this.assigned) {
      const strange = a.operands.some((o) => !held.includes(o.field.name));
      if (held.includes(a.field.name) && (strange || !this.hasMap(a.field.path, held))) {
        out.add(a.field.path[0]!);
      }
    }
    return [...out];
  }

  /** Whether a copy with some fields surely has the map that a path leads into: a required field is in it. */
  private hasMap(path: readonly string[], held: readonly string[]): boolean {
    const inside = path.slice(0, -1);
    return inside.length === 0 || this.entity.fields.some((f) =>
      !f.optional && f.type.kind !== "set" && held.includes(f.name) && f.path.length > inside.length && inside.every((step, i) => f.path[i] === step));
  }

  /** Sets a copy's attribute with all fields in it. */
  private rewrite(x: Expression, attribute: string, held: readonly string[]): void {
    const fields = this.entity.fields.filter((f) => f.path[0] === attribute && held.includes(f.name));
    const names = fields.map((f) => f.name);
    const v = this.valuesAfter(names);
    this.relyAfter(names);
    const item: Item = bare();
    for (const f of fields) {
      const value = toStore(f, v[f.name]);
      if (value !== undefined) {
        put(item, f.path, value);
      }
    }
    x.set([attribute], item[attribute]);
  }

  // Markers.

  /** Puts a marker that must be free. */
  private take(m: Marker, v: Values): void {
    const o = this.operation("putting", "taking", `put of marker ${m.name}`, this.entity.marker(m, v));
    o.marker = m;
    const x = new Expression();
    o.keeps(x, this.isFree(x));
  }

  /** Deletes the item's marker. Where items expire, or where there may be no item, it may be another's: then it stays. */
  private release(m: Marker): void {
    const key = this.keyBefore(m.key);
    if (!key || this.learned.foreign.has(identity(this.entity.table, key))) {
      return;
    }
    const o = this.operation("deleting", "releasing", `delete of marker ${m.name}`, key);
    o.marker = m;
    if (!this.entity.ttl && this.exists() === "present") {
      return;
    }
    const x = new Expression();
    o.keeps(x, this.owns(m, x));
  }

  /** The condition of a marker that is the item's own, by the fields of the item's key that it holds. */
  private owns(m: Marker, x: Expression): string {
    const fields = fieldsOf(this.entity.key).map((name) => this.entity.field(name)!).filter((f) => !inKey(m.key, f.path));
    return conjunction(...fields.map((f) =>
      `attribute_not_exists(${x.path(f.path)}) OR ${x.path(f.path)} = ${x.value(this.c.values[f.name]!)}`));
  }

  /** Puts the marker again where it is. Where items expire it may be another's by now: then it is taken. */
  private renew(m: Marker, v: Values): void {
    const o = this.operation("putting", "elsewhere", `put of marker ${m.name}`, this.entity.marker(m, v));
    if (!this.entity.ttl) {
      return;
    }
    const x = new Expression();
    const own = this.owns(m, x);
    if (own !== "") {
      o.role = "taking";
      o.marker = m;
      o.keeps(x, `${this.isFree(x)} OR ${own}`);
    }
  }

  /** Keeps a marker of an item that is changed: moved where its key changes, else put again where what it holds changes. */
  private deriveMarker(m: Marker): void {
    const key = fieldsOf(m.key);
    const held = this.entity.heldByMarker(m);
    if (!this.changes(held)) {
      return;
    }
    const old = this.keyBefore(m.key);
    const v = this.valuesAfter(held);
    this.relyAfter(key);
    const moved = this.entity.keyOf(m.key, v);
    if (old && identity(this.entity.table, old) === identity(this.entity.table, moved)) {
      this.relyAfter(held);
      this.renew(m, v);
      return;
    }
    if (old) {
      this.release(m);
    }
    this.relyAfter(held);
    this.take(m, v);
  }

  // Index entries.

  /** The fields that an entry depends on: those of its keys and of its condition. */
  private entryFields(x: LinkedEntry): string[] {
    return [...fieldsOf(x.pk, x.sk), ...this.entity.readBy(x.where)];
  }

  /** Changes the index attributes of an item that is changed, or of a copy of it, with the fields that they are made of. */
  private index(list: readonly LinkedEntry[], x: Expression): void {
    for (const entry of list) {
      const attributes = [...entry.pk, ...entry.sk];
      const known: Values = bare();
      for (const a of attributes) {
        const v = a.field && this.changed(a.field) ? this.after(a.field)?.v : undefined;
        if (v !== undefined) {
          known[a.field!] = v;
        }
      }
      this.entity.plainKeys(attributes, known);
    }
    const shared = new Set<string>();
    const met = new Set<string>();
    for (const a of list.flatMap((entry) => this.entity.synthetic(entry))) {
      (met.has(a.name) ? shared : met).add(a.name);
    }
    const set: Item = bare();
    const begin: Item = bare();
    const gone = new Set<string>();
    for (const entry of this.touched(list)) {
      this.enter(entry, shared, set, begin, gone);
    }
    for (const name of Object.keys(set).sort(compareTexts)) {
      x.set([name], set[name]);
    }
    for (const name of Object.keys(begin).sort(compareTexts)) {
      x.begin([name], begin[name]!);
    }
    for (const name of [...gone].sort(compareTexts)) {
      if (set[name] === undefined && begin[name] === undefined) { // an attribute may be of several indexes
        x.remove([name]);
      }
    }
  }

  /** The entries that may change: all where the item may be made, else those that depend on what changes, with their neighbours. */
  private touched(list: readonly LinkedEntry[]): LinkedEntry[] {
    const out = new Set<LinkedEntry>();
    const attributes = new Set<string>();
    for (let before = -1; before !== out.size; ) {
      before = out.size;
      for (const entry of list) {
        const own = this.entity.synthetic(entry);
        const shares = own.some((a) => attributes.has(a.name));
        if (!out.has(entry) && (this.exists() !== "present" || shares || this.changes(this.entryFields(entry)))) {
          out.add(entry);
          own.forEach((a) => attributes.add(a.name));
        }
      }
    }
    return [...out];
  }

  /** Decides about one entry. */
  private enter(entry: LinkedEntry, shared: ReadonlySet<string>, set: Item, begin: Item, gone: Set<string>): void {
    const own = this.entity.synthetic(entry);
    if (own.length === 0) {
      return;
    }
    if (this.leaves(entry)) {
      own.forEach((a) => gone.add(a.name));
      return;
    }
    if (this.exists() === "perhaps") {
      this.enterPerhaps(entry, own, set, begin);
      return;
    }
    const steady = this.steady(entry);
    for (const a of own) {
      const fields = fieldsOf([a]);
      if (steady && !shared.has(a.name) && !this.changes(fields)) {
        continue;
      }
      const v = this.valuesAfter(fields);
      this.relyAfter(fields);
      Object.assign(set, this.entity.keyOf([a], v));
    }
  }

  /** Whether the item surely has no entry: the condition does not hold, or a field of the key is absent. */
  private leaves(entry: LinkedEntry): boolean {
    for (const name of fieldsOf(entry.pk, entry.sk)) {
      const known = this.after(name);
      if (known && known.v === undefined) {
        this.relyAfter([name]);
        return true;
      }
    }
    const { holds, known, relies } = truth(this.entity, entry.where, this.after);
    if (!known || holds) {
      return false;
    }
    this.relyAfter(relies);
    return true;
  }

  /** Whether an item that has the entry now has had it before. That it has the entry now must be known. */
  private steady(entry: LinkedEntry): boolean {
    const { holds, known, relies } = truth(this.entity, entry.where, this.after);
    if (!known || !holds) {
      throw new Unread();
    }
    this.relyAfter(relies);
    let steady = !this.changes(this.entity.readBy(entry.where));
    for (const name of fieldsOf(entry.pk, entry.sk)) {
      const f = this.entity.field(name);
      if (!f?.optional) {
        continue;
      }
      if (!this.after(name)) {
        throw new Unread();
      }
      this.relyAfter([name]);
      steady = steady && !this.changed(name);
    }
    return steady;
  }

  /** Decides about an entry of an item that an upsert may make or may find. */
  private enterPerhaps(entry: LinkedEntry, own: readonly KeyAttribute[], set: Item, begin: Item): void {
    const { holds, known, relies } = truth(this.entity, entry.where, this.after);
    if (!known || !holds) {
      throw new Unread();
    }
    const always = within(relies, fieldsOf(this.entity.key)) &&
      !fieldsOf(entry.pk, entry.sk).some((name) => this.entity.field(name)?.optional ?? true);
    for (const a of own) {
      const { v, begins } = this.valuesPerhaps(fieldsOf([a]));
      if (begins && !always) {
        throw new Unread();
      }
      Object.assign(begins ? begin : set, this.entity.keyOf([a], v));
    }
  }

  /** Fields after an upsert; begins is set where they are those of a new item. */
  private valuesPerhaps(fields: readonly string[]): { v: Values; begins: boolean } {
    const v: Values = bare();
    let begins = false;
    let changes = false;
    for (const name of fields) {
      const known = this.after(name);
      const value = known ? known.v : this.initial(name);
      if (value === undefined) {
        throw new Unread();
      }
      begins ||= !known;
      changes ||= known !== undefined && this.c.values[name] === undefined;
      v[name] = value;
    }
    if (begins && changes) {
      throw new Unread(); // a key of what is set and of what was there
    }
    return { v, begins };
  }

  /** What an upsert gives a field where there is nothing; undefined where it does not, or where an item may lack the field. */
  private initial(field: string): AttributeValue | undefined {
    const a = this.assigned.find((x) => x.field.name === field);
    return a && a.how === "initialising" && a.whole && a.operands.length === 0 && !a.field.optional ? a.value : undefined;
  }

  // Counters.

  /** What the effect moves counters by. */
  movements(): Movement[] {
    const { action } = this.c;
    if (this.doomed || action === "check" || action === "put" || (action === "delete" && this.exists() === "absent")) {
      return [];
    }
    return this.entity.counts.flatMap((c) => this.moves(c));
  }

  private moves(c: LinkedCount): Movement[] {
    if (this.creates()) {
      const after = this.tally(c, this.after, this.relyAfter);
      return nonzero(c, after.key, after.n);
    }
    if (this.exists() === "perhaps") {
      throw new Unread();
    }
    if (this.c.action === "delete") {
      const before = this.tally(c, this.before, this.relyBefore);
      return nonzero(c, before.key, before.n.negated());
    }
    const key = fieldsOf(c.entity.key);
    if (!this.changes(key) && !this.changes(this.entity.readBy(c.where)) && (c.sum === "" || !this.changed(c.sum))) {
      return [];
    }
    const added = this.added(c.sum);
    if (added && !c.where && !this.changes(key)) {
      const v = this.valuesBefore(key);
      this.relyBefore(key);
      return nonzero(c, v, added);
    }
    const before = this.tally(c, this.before, this.relyBefore);
    const after = this.tally(c, this.after, this.relyAfter);
    if (before.counts && after.counts && sameCounter(c.entity, before.key, after.key)) {
      return nonzero(c, after.key, after.n.minus(before.n));
    }
    return [...nonzero(c, before.key, before.n.negated()), ...nonzero(c, after.key, after.n)];
  }

  /** What an update adds to a field without reading it. */
  private added(field: string): Decimal | undefined {
    let sum: Decimal | undefined;
    for (const a of this.assigned) {
      if (a.field.name !== field) {
        continue;
      }
      const n = decimalOf(a.value);
      if (sum || !n || a.how !== "adding" || !a.whole || a.operands.length > 0) {
        return undefined;
      }
      sum = n;
    }
    return sum;
  }

  /** What the item counts for, in one state; it relies on the fields that this is told from. */
  private tally(c: LinkedCount, value: (field: string) => Known, rely: (fields: readonly string[]) => void): Tally {
    const { holds, known, relies } = truth(this.entity, c.where, value);
    if (!known) {
      throw new Unread();
    }
    rely(relies);
    if (!holds) {
      return { counts: false, key: bare(), n: Decimal.zero };
    }
    const fields = [...fieldsOf(c.entity.key), ...(c.sum === "" ? [] : [c.sum])];
    const key = collect(fields, value);
    rely(fields);
    if (c.sum === "") {
      return { counts: true, key, n: Decimal.ofInteger(1n) };
    }
    const n = decimalOf(key[c.sum]);
    if (!n && key[c.sum] !== undefined) {
      throw new ValueError(c.sum, "is no number, and so cannot be summed");
    }
    return { counts: true, key, n: n ?? Decimal.zero };
  }
}

/** Whether values make one key of the counter's item: it is the key that counts, which lower and fold make of several values. */
function sameCounter(e: Entity, a: Values, b: Values): boolean {
  try {
    return identity(e.table, e.keyOf(e.key, a)) === identity(e.table, e.keyOf(e.key, b));
  } catch {
    return false;
  }
}

function movedBy(f: LinkedField, n: Decimal | undefined, by: Decimal): Decimal {
  try {
    return (n ?? Decimal.zero).plus(by);
  } catch (err) {
    throw new ValueError(f.name, `is moved by more than DynamoDB can hold: ${(err as Error).message}`);
  }
}

function nonzero(count: LinkedCount, key: Values, by: Decimal): Movement[] {
  return by.isZero ? [] : [{ count, key, by }];
}

function collect(fields: readonly string[], of: (field: string) => Known): Values {
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

/** Whether a condition holds, as far as that is known from some fields; relies are the fields that it was told from. */
function truth(e: Entity, c: Condition | undefined, value: (field: string) => Known): { holds: boolean; known: boolean; relies: string[] } {
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

/** An item with some fields only; undefined where one of them is not known. */
function partial(e: Entity, fields: readonly string[], value: (field: string) => Known): Item | undefined {
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

/** An item with nothing but the maps that fields are in. */
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
