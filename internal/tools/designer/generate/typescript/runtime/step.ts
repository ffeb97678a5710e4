// A step of a write, for one line if it runs per line: the item that it creates, or its changes.

import type { Assigned, Change, LinkedParam, LinkedStep, Operand, Target } from "./change.js";
import type { Condition } from "./condition.js";
import { Decimal } from "./decimal.js";
import type { Assignment, Term } from "./descriptor.js";
import { type Entity, fieldsOf, within } from "./entity.js";
import { ValueError, missing } from "./errors.js";
import { type LinkedField, checkValue, collection, innerField, nowAs, toStore } from "./types.js";
import { type AttributeValue, type Item, type Values, at, bare, decimalOf, emptySet, indexOf, numberOf, put } from "./values.js";
import type { Writing } from "./writing.js";

export function lineName(line: number, name: string): string {
  return `lines[${line}].${name}`;
}

/** Resolves a path. */
function targetOf(e: Entity, steps: readonly string[]): Target {
  const name = steps.join(".");
  const field = e.field(steps[0] ?? "");
  let member = field;
  let path = field?.path ?? [];
  for (const step of steps.slice(1)) {
    member = member && innerField(member.type, step);
    path = [...path, ...(member?.path ?? [])];
  }
  if (!field || !member) {
    throw new Error(`entity ${e.name} has no field ${name}`);
  }
  return { field, path, member: { ...member, name }, whole: steps.length === 1 };
}

/** A step of a write, for one line if it runs per line. */
export class Occurrence {
  private readonly r: Writing;
  private readonly step: LinkedStep;
  private readonly number: number;
  private readonly line: number;
  private readonly entity: Entity;

  constructor(r: Writing, step: LinkedStep, number: number, line: number) {
    this.r = r;
    this.step = step;
    this.number = number;
    this.line = line;
    this.entity = step.entity;
  }

  change(): Change {
    try {
      return this.resolved();
    } catch (err) {
      if (err instanceof Error && !(err instanceof ValueError)) {
        err.message = `step ${this.number + 1}: ${err.message}`;
      }
      throw err;
    }
  }

  private resolved(): Change {
    const s = this.step;
    let values: Values;
    let assigned: Assigned[] = [];
    switch (s.action) {
      case "create":
      case "put":
        this.canPut();
        values = this.whole();
        break;
      case "update":
      case "upsert":
        values = this.keyValues();
        assigned = this.assignments();
        break;
      default:
        values = this.keyValues();
    }
    const c: Change = {
      of: this.r, number: this.number, line: this.line, action: s.action, refusedAs: s.action, entity: this.entity, values,
      primary: this.entity.keyOf(this.entity.key, values), assigned, when: s.when, refusals: s.else,
      inputs: { values: this.r.input.values, line: this.line >= 0 ? this.r.lines[this.line] : undefined, now: this.r.call.now },
      pinned: bare(),
    };
    for (const condition of [c.when, ...c.refusals.map((x) => x.when)]) {
      this.checkCondition(c, condition);
    }
    c.pinned = pins(c);
    return c;
  }

  private checkCondition(c: Change, condition: Condition | undefined): void {
    try {
      condition?.check(c.inputs);
    } catch (err) {
      if (err instanceof ValueError && c.line >= 0 && err.field.startsWith("line.")) {
        throw new ValueError(lineName(c.line, err.field.slice("line.".length)), err.reason);
      }
      throw err;
    }
  }

  /** Rejects a put without a read that would leave dependents of the overwritten item. */
  private canPut(): void {
    const e = this.entity;
    if (this.step.action !== "put") {
      return;
    }
    let stays = "";
    if (e.markers.length > 0) {
      stays = `marker ${e.markers[0]!.name}`;
    } else if (e.counts.length > 0) {
      stays = `counter ${e.counts[0]!.entity.name}.${e.counts[0]!.field}`;
    } else if (e.fields.some((f) => f.counter)) {
      stays = "its own counters";
    }
    for (const c of e.copies) {
      if (!within(fieldsOf(c.key), fieldsOf(e.key))) {
        stays = `copy ${c.name}`;
      }
    }
    if (stays !== "") {
      throw new Error(`put of ${e.name} cannot maintain ${stays}, because it does not know the item that it overwrites: use create, upsert or update`);
    }
  }

  /** The values of an item that is created or put. */
  private whole(): Values {
    const v: Values = bare();
    for (const f of this.entity.fields) {
      const value = this.field(f);
      if (value !== undefined) {
        v[f.name] = value;
      }
    }
    const out = this.entity.counted(v);
    this.entity.check(out);
    return out;
  }

  /** The value of a field of a created item: from the step, otherwise the line, otherwise the caller. */
  private field(f: LinkedField): AttributeValue | undefined {
    const s = this.step;
    const about = [...(s.by ?? []), ...(s.set ?? []), ...(s.init ?? []), ...(s.add ?? [])].filter((a) => a.path[0] === f.name);
    const inside: Assignment[] = [];
    for (const a of about) {
      if (a.path.length === 1) {
        return this.constant(a);
      }
      inside.push(a);
    }
    if (f.counter) {
      return undefined; // it starts at 0, which is set by the item
    }
    let v = this.given(f);
    for (const a of inside) {
      v = this.putInside(v, a);
    }
    if (v !== undefined) {
      return v;
    }
    const ttl = this.entity.ttl;
    if (ttl?.field === f.name && ttl.after) {
      return nowAs(f.type.kind, f.name, this.r.call.now + ttl.after);
    }
    if (f.optional || collection(f.type.kind)) {
      return undefined;
    }
    throw missing(this.label(f.name));
  }

  /** The value of an assignment that must not depend on an item. */
  private constant(a: Assignment): AttributeValue | undefined {
    const t = this.target(a.path);
    const { value, operands } = this.resolve(t, a.value);
    if (operands.length > 0) {
      throw new Error(`${t.member.name} is computed from a field of ${this.entity.name}, but there is no item yet`);
    }
    if (value === undefined) {
      if (!t.member.optional && !collection(t.member.type.kind)) {
        throw missing(t.member.name);
      }
      return undefined;
    }
    checkValue(t.member.type, t.member.name, value, t.member.minBytes, t.member.maxBytes);
    return value;
  }

  /** Stores a value inside a structure, without changing the structure. */
  private putInside(outer: AttributeValue | undefined, a: Assignment): AttributeValue | undefined {
    const v = this.constant(a);
    if (v === undefined) {
      return outer;
    }
    const t = this.target(a.path);
    const whole: Item = bare();
    if (outer !== undefined) {
      put(whole, t.field.path, outer);
    }
    put(whole, t.path, v);
    return at(whole, t.field.path);
  }

  /** The input with a field's name, from the line if it has one. */
  private given(f: LinkedField): AttributeValue | undefined {
    const v = this.input(f.name);
    if (v !== undefined) {
      checkValue(f.type, this.label(f.name), v, f.minBytes, f.maxBytes);
    }
    return v;
  }

  /** The input with a name, from the line if it has one. */
  private input(name: string): AttributeValue | undefined {
    return this.lineValue(name) ?? this.r.input.values[name];
  }

  private lineValue(name: string): AttributeValue | undefined {
    return this.line >= 0 ? this.r.lines[this.line]![name] : undefined;
  }

  /** The name of an input in errors. */
  private label(name: string): string {
    const ofLine = this.line >= 0 && (this.lineValue(name) !== undefined || this.r.input.values[name] === undefined);
    return ofLine ? lineName(this.line, name) : name;
  }

  /** The fields of the primary key of an item that exists or may exist. */
  private keyValues(): Values {
    const v: Values = bare();
    for (const name of fieldsOf(this.entity.key)) {
      const f = this.entity.field(name);
      if (!f) {
        throw new Error(`entity ${this.entity.name} has no field ${name}, which its key needs`);
      }
      const a = [...(this.step.by ?? []), ...(this.step.set ?? [])].find((x) => x.path.length === 1 && x.path[0] === name);
      const value = a ? this.constant(a) : this.given(f);
      if (value === undefined) {
        throw missing(this.label(name));
      }
      v[name] = value;
    }
    return v;
  }

  /** The changes of an update or upsert. An upsert sets all required fields, because it may create an item. */
  private assignments(): Assigned[] {
    const out: Assigned[] = [];
    const key = fieldsOf(this.entity.key);
    const s = this.step;
    const lists = [
      ["setting", s.set], ["adding", s.add], ["initialising", s.init], ["dropping", s.drop], ["appending", s.append], ["prepending", s.prepend],
    ] as const;
    for (const [how, list] of lists) {
      for (const a of list ?? []) {
        if (a.path.length === 1 && key.includes(a.path[0]!)) {
          continue; // it identifies the item
        }
        const x = this.assignment(how, a);
        if (x) {
          out.push(x);
        }
      }
    }
    for (const path of s.remove ?? []) {
      const t = this.target(path);
      out.push({ ...t, how: "setting", value: toStore(t.member, undefined), operands: [] });
    }
    apart(out);
    for (const name of s.patch ?? []) {
      const x = this.patch(name);
      if (x) {
        out.push(x);
      }
    }
    if (s.action !== "upsert") {
      return out;
    }
    for (const f of this.entity.fields) {
      if (!key.includes(f.name) && !out.some((a) => a.field.name === f.name)) {
        const x = this.beginning(f);
        if (x) {
          out.push(x);
        }
      }
    }
    return out;
  }

  /** Resolves the path of an assignment, with inputs as keys of maps. */
  private target(path: readonly string[]): Target {
    return targetOf(this.entity, path.map((step) => (step.startsWith(":") ? this.mapKey(step.slice(1)) : step)));
  }

  /** An input as the key of a map. */
  private mapKey(name: string): string {
    const ofLine = name.startsWith("line.");
    const bareName = ofLine ? name.slice("line.".length) : name;
    const label = ofLine && this.line >= 0 ? lineName(this.line, bareName) : name;
    const v = ofLine && this.line >= 0 ? this.lineValue(bareName) : this.r.input.values[bareName];
    if (v === undefined) {
      throw missing(label);
    }
    if (!v.S) {
      throw new ValueError(label, "is a map key and must be a non-empty text");
    }
    if (indexOf(v.S) !== undefined) {
      throw new ValueError(label, `is ${v.S}, which is not a map key but a list index`);
    }
    return v.S;
  }

  /** The assignment of an optional input's field; undefined if it does not change. */
  private patch(name: string): Assigned | undefined {
    const t = targetOf(this.entity, [name]);
    const v = this.input(name);
    if (v === undefined) {
      return undefined;
    }
    const x: Assigned = { ...t, how: "setting", value: undefined, operands: [] };
    if ((t.member.optional || t.member.type.kind === "set") && v.NULL !== undefined) {
      return x;
    }
    checkValue(t.member.type, this.label(name), v, t.member.minBytes, t.member.maxBytes);
    return { ...x, value: toStore(t.member, v) };
  }

  private assignment(how: Assigned["how"], a: Assignment): Assigned | undefined {
    const t = this.target(a.path);
    const x: Assigned = { ...t, how: how === "adding" && t.member.type.kind === "set" ? "uniting" : how, ...this.resolve(t, a.value) };
    if (gathers.has(x.how)) {
      return gathering(x);
    }
    const known = x.operands.length === 0;
    if (known && x.value === undefined && how !== "setting") {
      return undefined; // a missing optional input adds and initializes nothing
    }
    if (how === "adding") {
      addable(x);
      return x;
    }
    if (known) {
      if (x.value !== undefined) {
        checkValue(t.member.type, t.member.name, x.value, t.member.minBytes, t.member.maxBytes);
      }
      x.value = toStore(t.member, x.value);
      if (x.value === undefined && how === "initialising") {
        return undefined; // an empty set, which is not stored
      }
    }
    return x;
  }

  /** The value that an upsert gives to a field without an assignment. */
  private beginning(f: LinkedField): Assigned | undefined {
    const x = (how: Assigned["how"], value: AttributeValue | undefined): Assigned => ({
      field: f, path: f.path, member: f, whole: true, how, value, operands: [],
    });
    if (f.counter) {
      return x("initialising", { N: "0" });
    }
    const v = this.given(f);
    if (v !== undefined && !this.gathers(f)) { // members to which nothing was added
      return x("setting", toStore(f, v));
    }
    const ttl = this.entity.ttl;
    if (ttl?.field === f.name && ttl.after) {
      return x("initialising", nowAs(f.type.kind, f.name, this.r.call.now + ttl.after));
    }
    if (f.optional) {
      return undefined; // it does not change
    }
    if (!collection(f.type.kind)) {
      throw missing(this.label(f.name));
    }
    const empty = toStore(f, undefined);
    return empty && x("initialising", empty);
  }

  /** Whether the step adds to a set or a list, or removes from a set. */
  private gathers(f: LinkedField): boolean {
    const s = this.step;
    const lists = [...(s.drop ?? []), ...(s.append ?? []), ...(s.prepend ?? []), ...(f.type.kind === "set" ? (s.add ?? []) : [])];
    return lists.some((a) => a.path[0] === f.name);
  }

  /** The value of terms as far as it is known without an item, and the item's fields to which it is added. */
  private resolve(t: Target, terms: readonly Term[]): { value: AttributeValue | undefined; operands: Operand[] } {
    const only = terms[0];
    if (terms.length === 1 && only && only.kind !== "field") {
      const value = this.term(t, only);
      if (value === undefined || !only.negative) {
        return { value, operands: [] };
      }
    }
    const operands: Operand[] = [];
    let sum: Decimal | undefined;
    for (const term of terms) {
      const negative = term.negative ?? false;
      if (term.kind === "field") {
        const from = targetOf(this.entity, term.path ?? []);
        operands.push({ negative, field: from.field, path: from.path });
        continue;
      }
      const n = this.numeric(t, term, this.term(t, term));
      sum = plus(sum ?? Decimal.zero, n, negative, t.member.name);
    }
    return { value: sum && numberOf(sum), operands };
  }

  /** A term's value as an operand of a sum. */
  private numeric(t: Target, term: Term, v: AttributeValue | undefined): Decimal {
    const name = term.kind === "line" ? lineName(this.line, term.name ?? "") : term.kind === "input" ? (term.name ?? "") : t.member.name;
    if (v === undefined) {
      throw missing(name);
    }
    const d = decimalOf(v);
    if (!d) {
      throw new ValueError(name, "is not a number and cannot be added to a sum");
    }
    return d;
  }

  /** The value of a term that is known without an item; undefined for a missing optional input. */
  private term(t: Target, term: Term): AttributeValue | undefined {
    const name = term.name ?? "";
    switch (term.kind) {
      case "constant":
        return term.constant;
      case "input":
        return inputOf(this.r.w.params, this.r.input.values, name, name, t.member);
      case "line":
        if (this.line < 0) {
          throw new Error(`${name} belongs to a line, but the step is not repeated for lines`);
        }
        return inputOf(this.r.w.lineParams, this.r.lines[this.line]!, name, lineName(this.line, name), t.member);
      case "now":
        return nowAs(t.member.type.kind, t.member.name, this.r.call.now);
      case "newID":
        return this.r.newID(t.member.type.kind);
      case "sum":
        return this.sum(name);
      case "count":
        return { N: String(this.r.lines.length) };
      default:
        throw new Error(`unknown term kind ${term.kind}`);
    }
  }

  /** Adds up an input of the lines. A missing optional one adds nothing. */
  private sum(name: string): AttributeValue {
    let sum = Decimal.zero;
    const p = this.r.w.lineParams.find((x) => x.name === name);
    this.r.lines.forEach((line, n) => {
      const v = line[name];
      if (v === undefined) {
        if (p?.optional) {
          return;
        }
        throw missing(lineName(n, name));
      }
      const d = decimalOf(v);
      if (!d) {
        throw new ValueError(lineName(n, name), "is not a number and cannot be added to a sum");
      }
      try {
        sum = sum.plus(d);
      } catch (err) {
        throw new ValueError(lineName(n, name), `makes a sum that DynamoDB cannot store: ${(err as Error).message}`);
      }
    });
    return numberOf(sum);
  }
}

/** Adds or subtracts; field is for the error of a sum out of DynamoDB's range. */
export function plus(a: Decimal, b: Decimal, negative: boolean, field: string): Decimal {
  try {
    return negative ? a.minus(b) : a.plus(b);
  } catch (err) {
    throw new ValueError(field, `is a sum that DynamoDB cannot store: ${(err as Error).message}`);
  }
}

/** An input by its name: a param, otherwise a value for the field that it is assigned to. */
function inputOf(params: readonly LinkedParam[], given: Values, name: string, label: string, f: LinkedField): AttributeValue | undefined {
  const v = given[name];
  const p = params.find((x) => x.name === name);
  if (v === undefined) {
    if (p || f.optional || collection(f.type.kind)) {
      return undefined;
    }
    throw missing(label);
  }
  if (!p) {
    checkValue(f.type, label, v, f.minBytes, f.maxBytes);
  }
  return v;
}

const gathers: ReadonlySet<string> = new Set(["uniting", "dropping", "appending", "prepending"]);

/** An assignment of members or elements from the caller; undefined if there are none. */
function gathering(a: Assigned): Assigned | undefined {
  if (a.operands.length > 0) {
    throw new Error(`${a.member.name} gets members of another field, which a request cannot express`);
  }
  if (a.value === undefined) {
    return undefined; // a missing optional input
  }
  checkValue(a.member.type, a.member.name, a.value, a.member.minBytes, a.member.maxBytes);
  return emptySet(a.value) || a.value.L?.length === 0 ? undefined : a;
}

/** Rejects equal keys of a map: a request may change each path once. */
function apart(list: readonly Assigned[]): void {
  list.forEach((a, i) => {
    if (list.slice(0, i).some((b) => a.path.length === b.path.length && a.path.every((step, n) => step === b.path[n]))) {
      throw new ValueError(a.member.name, "is changed twice");
    }
  });
}

/** Rejects operands that cannot be added to a number. */
function addable(a: Assigned): void {
  if (a.value === undefined) {
    return;
  }
  const d = decimalOf(a.value);
  if (!d) {
    throw new ValueError(a.member.name, "is not a number, so nothing can be added to it");
  }
  if (a.member.type.kind !== "decimal" && d.int64() === undefined) {
    throw new ValueError(a.member.name, "is a whole number of 64 bits: only whole numbers of 64 bits can be added to it");
  }
}

/** The fields whose values the condition of a change determines: with "status = :from", the item has that status. */
function pins(c: Change): Values {
  const out: Values = bare();
  if (!c.when || c.action === "create" || c.action === "put") {
    return out;
  }
  for (const part of c.when.conjuncts()) {
    const n = part.root;
    if (n.is !== "compare" || n.op !== "=") {
      continue;
    }
    for (const [path, value] of [[n.left, n.right], [n.right, n.left]] as const) {
      if (path.is !== "path" || path.steps.length !== 1 || value.is !== "value") {
        continue;
      }
      const attribute = part.attribute(path.steps);
      for (const f of c.entity.fields) {
        if (f.path.length === 1 && f.path[0] === attribute) {
          try {
            const v = part.value(value.placeholder, c.inputs);
            checkValue(f.type, f.name, v, f.minBytes, f.maxBytes);
            out[f.name] = v;
          } catch {
            // the condition does not give the field a value of its type
          }
        }
      }
    }
  }
  return out;
}
