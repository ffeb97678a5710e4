// A change in one attempt: the operations on its item, copies, markers and counters.

import type { Change, Learned } from "./change.js";
import type { KeyAttribute, Marker } from "./descriptor.js";
import { type LinkedCopy, fieldsOf, identity, inKey, within } from "./entity.js";
import { changeEntries } from "./entries.js";
import { compareTexts } from "./keytext.js";
import { Known, Unread } from "./known.js";
import { Operation, type Role } from "./operation.js";
import { toStore } from "./types.js";
import { Expression, bounds, conjunction, native } from "./update.js";
import { type Item, type Values, bare, put, stored } from "./values.js";

export class Effect extends Known {
  /** Set if only counters change, in an item without a step of its own. */
  counters = false;
  /** The counters that it moves have been determined. */
  counted = false;
  ops: Operation[] = [];
  private readonly learned: Learned;

  constructor(c: Change, learned: Learned) {
    super(c);
    this.learned = learned;
  }

  /** Creates the operations: on the item itself, which is first, and on its copies and markers. */
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

  /** Requires that the item is missing, or has expired but is not deleted yet. */
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

  /** Replaces a change that is already known to be rejected; an earlier one may be rejected too. */
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

  /** Deletes an item with its copies and markers. A missing item has none. */
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

  /** Changes an item that exists or may exist. */
  private deriveUpdate(): void {
    if (this.assigned.some((a) => !native(a))) {
      throw new Unread();
    }
    if (this.exists() === "unknown" && (this.entity.markers.length > 0 || this.assigned.some((a) => a.path.length > 1))) {
      throw new Unread(); // a marker is created with its item, and so is a map before something is set in it
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
    changeEntries(this, this.entity.entries, x);
    this.entity.copies.forEach((c) => this.deriveCopy(c));
    this.entity.markers.forEach((m) => this.deriveMarker(m));
    const when = this.when(x);
    o.keeps(x, this.exists() === "present" ? this.isThere(x) : "", when, this.guards(x), bounds(this.assigned, x));
    o.update = x.text();
    if (o.update === "" && this.exists() === "unknown") {
      throw new Unread(); // the item has only its key: an update in a transaction cannot create it explicitly
    }
  }

  /** Sets the attributes that identify an item that may be created: the fields of the primary key, if stored, and the type. */
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

  /** Requires the fields on which the change depends to have the values that were read. */
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

  /** Keeps a copy in sync with a changed item: it is changed in the same way, or moved if its key changes. */
  private deriveCopy(c: LinkedCopy): void {
    const held = this.entity.heldBy(c) ?? this.entity.fields.map((f) => f.name);
    const indexed = c.entries.flatMap((x) => this.entity.entryFields(x));
    const key = fieldsOf(c.key);
    if (this.exists() === "unknown") {
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

  /** Deletes a copy and puts it at its new key. */
  private moveCopy(c: LinkedCopy, old: Item | undefined, needs: readonly string[]): void {
    if (old) {
      this.operation("deleting", "elsewhere", `delete of copy ${c.name}`, old);
    }
    const v = this.valuesAfter(needs);
    this.relyAfter(needs);
    this.putCopy(c, v);
  }

  /** Changes a copy in place. */
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
    changeEntries(this, c.entries, x);
    const update = x.text();
    if (update === "") {
      return; // nothing in the copy changes
    }
    const o = this.operation("updating", "elsewhere", `update of copy ${c.name}`, key);
    o.update = update;
    o.keeps(x, this.exists() === "present" ? this.isThere(x) : "");
  }

  /**
   * The attributes of a copy that are set to their final values, because they cannot be changed like the item's: they are
   * computed from fields that the copy does not have, or are inside a map that it may not have.
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

  /** Whether a copy with some fields certainly has the map of a path: if a required field is in it. */
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

  /** Puts a marker that must not exist. */
  private take(m: Marker, v: Values): void {
    const o = this.operation("putting", "taking", `put of marker ${m.name}`, this.entity.marker(m, v));
    o.marker = m;
    const x = new Expression();
    o.keeps(x, this.isFree(x));
  }

  /** Deletes the item's marker. If items expire, or there may be no item, it may belong to another item; then it stays. */
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

  /** The condition that a marker belongs to the item, by the fields of the item's key in it. */
  private owns(m: Marker, x: Expression): string {
    const fields = fieldsOf(this.entity.key).map((name) => this.entity.field(name)!).filter((f) => !inKey(m.key, f.path));
    return conjunction(...fields.map((f) =>
      `attribute_not_exists(${x.path(f.path)}) OR ${x.path(f.path)} = ${x.value(this.before(f.name)?.v ?? this.c.values[f.name]!)}`));
  }

  /** Puts an existing marker again. If items expire it may now belong to another item; then it counts as taken. */
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

  /** Keeps the marker of a changed item in sync: moved if its key changes, otherwise put again if its contents change. */
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
}
