// Update expressions: as sent in a request, and evaluated on an item that was read.

import { aliasIn, free } from "./condition.js";
import type { Assigned } from "./change.js";
import { Decimal } from "./decimal.js";
import { parse, print } from "./expression.js";
import { plus } from "./step.js";
import { checkValue } from "./types.js";
import {
  type AttributeValue, type Item, at, bare, canonical, decimalOf, indexOf, membersOf, numberOf, own, setOf, stored, storedAs,
} from "./values.js";

/** Builds the update expression of a request, and shares its names and values with the request's condition. */
export class Expression {
  readonly names: { [alias: string]: string } = {};
  readonly values: Item = {};
  private readonly sets: string[] = [];
  private readonly adds: string[] = [];
  private readonly drops: string[] = [];
  private readonly gone: string[] = [];

  /** A document path of aliases, which avoid reserved words. */
  path(steps: readonly string[]): string {
    return steps.map((step, i) => {
      if (i > 0 && indexOf(step) !== undefined) {
        return step;
      }
      return (i > 0 ? "." : "") + aliasIn(this.names, step);
    }).join("");
  }

  value(v: AttributeValue): string {
    const placeholder = free(this.values, ":v");
    this.values[placeholder] = v;
    return placeholder;
  }

  /** Sets a path to a value, or removes it if there is none. */
  set(path: readonly string[], v: AttributeValue | undefined): void {
    if (v === undefined) {
      this.remove(path);
      return;
    }
    this.sets.push(`${this.path(path)} = ${this.value(v)}`);
  }

  /** Sets a missing path to a value. */
  begin(path: readonly string[], v: AttributeValue): void {
    const p = this.path(path);
    this.sets.push(`${p} = if_not_exists(${p}, ${this.value(v)})`);
  }

  remove(path: readonly string[]): void {
    this.gone.push(this.path(path));
  }

  /** Adds a native assignment. */
  assign(a: Assigned): void {
    if (a.how === "initialising") {
      this.begin(a.path, a.value!);
    } else if (a.how === "uniting") {
      this.adds.push(`${this.path(a.path)} ${this.value(a.value!)}`);
    } else if (a.how === "dropping") {
      this.drops.push(`${this.path(a.path)} ${this.value(a.value!)}`);
    } else if (a.how === "appending" || a.how === "prepending") {
      const p = this.path(a.path);
      const lists = [`if_not_exists(${p}, ${this.value({ L: [] })})`, this.value(a.value!)];
      this.sets.push(`${p} = list_append(${(a.how === "appending" ? lists : lists.reverse()).join(", ")})`);
    } else if (a.how === "adding" && a.path.length === 1) {
      this.adds.push(`${this.path(a.path)} ${this.value(a.value!)}`);
    } else if (a.how === "adding") { // ADD is for top-level attributes
      const p = this.path(a.path);
      this.sets.push(`${p} = if_not_exists(${p}, ${this.value({ N: "0" })}) + ${this.value(a.value!)}`);
    } else if (a.operands.length === 0) {
      this.set(a.path, a.value);
    } else {
      this.sets.push(`${this.path(a.path)} = ${this.sum(a)}`);
    }
  }

  private sum(a: Assigned): string {
    const operands = [...a.operands].sort((l, r) => Number(l.negative) - Number(r.negative)); // the subtrahend is second
    const terms = operands.map((o) => this.path(o.path));
    const last = operands[operands.length - 1]!.negative;
    if (a.value !== undefined) {
      terms.push(this.value(a.value));
      if (last) {
        terms.reverse(); // :v - field
      }
    }
    return terms.join(last ? " - " : " + ");
  }

  /** The expression; "" without changes. */
  text(): string {
    const sections = [["SET", this.sets], ["ADD", this.adds], ["DELETE", this.drops], ["REMOVE", this.gone]] as const;
    return sections.filter(([, parts]) => parts.length > 0).map(([verb, parts]) => `${verb} ${parts.join(", ")}`).join(" ");
  }

  /** Requires a path to have the value that was read. */
  guard(path: readonly string[], v: AttributeValue | undefined): string {
    return v === undefined ? `attribute_not_exists(${this.path(path)})` : `${this.path(path)} = ${this.value(v)}`;
  }
}

/** Joins conditions that must all hold; "" for none. */
export function conjunction(...conditions: string[]): string {
  const out = conditions.filter((c) => c !== "");
  if (out.length === 1) {
    return out[0]!;
  }
  return out.map((c) => {
    const tree = parse(c);
    return tree.is === "or" ? `(${print(tree)})` : c; // without its own parentheses, because DynamoDB rejects double ones
  }).join(" AND ");
}

/** An amount of which a thousand do not fit into 64 bits. */
const largeAmount = Decimal.ofInteger(1n << 53n);
const [least, greatest] = [Decimal.ofInteger(-(1n << 63n)), Decimal.ofInteger((1n << 63n) - 1n)];

/** The amount that an assignment adds to a number of 64 bits, if it is large. */
function addsLarge(a: Assigned): Decimal | undefined {
  const n = a.how === "adding" && a.member.type.kind !== "decimal" ? decimalOf(a.value) : undefined;
  return n && (n.compare(largeAmount) >= 0 || n.negated().compare(largeAmount) >= 0) ? n : undefined;
}

/**
 * Requires that sums with large amounts fit into 64 bits: DynamoDB's numbers are larger, and such a sum could not be decoded.
 */
export function bounds(assigned: readonly Assigned[], x: Expression): string {
  return conjunction(...assigned.map((a) => {
    const by = addsLarge(a);
    if (!by) {
      return "";
    }
    const negative = by.compare(Decimal.zero) < 0;
    const most = plus(negative ? least : greatest, by, true, a.member.name);
    const within = `${x.path(a.path)} ${negative ? ">=" : "<="} ${x.value(numberOf(most))}`;
    return by.int64() === undefined ? within : `attribute_not_exists(${x.path(a.path)}) OR ${within}`;
  }));
}

/** The error of a sum with a large amount that does not fit into 64 bits; undefined if all do. */
export function beyond(assigned: readonly Assigned[], old: Item | undefined): unknown {
  try {
    for (const a of assigned) {
      const by = addsLarge(a);
      if (by) {
        const sum = plus(decimalOf(at(old, a.path)) ?? Decimal.zero, by, false, a.member.name);
        checkValue(a.member.type, a.member.name, numberOf(sum));
      }
    }
    return undefined;
  } catch (err) {
    return err;
  }
}

/** Whether DynamoDB can express an assignment: a sum has at most two operands, the first of which is not negative. */
export function native(a: Assigned): boolean {
  const n = a.operands.length;
  if (n === 0) {
    return true;
  }
  if (a.how !== "setting") {
    return false;
  }
  if (n === 1) {
    return !a.operands[0]!.negative || a.value !== undefined;
  }
  return n === 2 && a.value === undefined && !(a.operands[0]!.negative && a.operands[1]!.negative);
}

/** The new value at a path; nothing if there is no value. */
interface Changed {
  path: readonly string[];
  value: AttributeValue | undefined;
}

/** The item after native assignments: all of them read the old item. Like DynamoDB, it looks at paths before operands. */
export function applied(assigned: readonly Assigned[], old: Item): Item {
  for (const { path } of assigned.filter((a) => a.path.length > 1)) {
    const parent = stored(old, path.slice(0, -1));
    if (!(indexOf(path[path.length - 1]!) === undefined ? parent?.M : parent?.L)) {
      throw wrongPath();
    }
  }
  const changes = assigned.map((a): Changed => ({ path: a.path, value: computed(a, old) }));
  return changes.length === 0 ? old : inMap(old, changes, 0);
}

/** The value of an assignment, computed from the old item. */
function computed(a: Assigned, old: Item): AttributeValue | undefined {
  const was = stored(old, a.path);
  switch (a.how) {
    case "initialising":
      return was ?? a.value;
    case "adding":
      return numberOf(plus(operandOf(was ?? { N: "0" }), operandOf(a.value), false, a.member.name));
    case "uniting":
      return was === undefined ? a.value : ofMembers(was, a.value, (before, given) => [...before, ...missingIn(before, given)]);
    case "dropping":
      return was && ofMembers(was, a.value, (before, given) => missingIn(given, before));
    case "appending":
    case "prepending": {
      const before = was === undefined ? [] : was.L;
      if (before === undefined) {
        throw wrongType();
      }
      return { L: a.how === "appending" ? [...before, ...a.value!.L!] : [...a.value!.L!, ...before] };
    }
    default:
  }
  if (a.operands.length === 0) {
    return a.value;
  }
  let sum = a.value === undefined ? Decimal.zero : operandOf(a.value);
  for (const o of a.operands) {
    const from = stored(old, o.path);
    if (from === undefined) {
      throw new Error("The provided expression refers to an attribute that does not exist in the item");
    }
    sum = o.negative ? sum.minus(operandOf(from)) : sum.plus(operandOf(from));
  }
  return numberOf(sum);
}

/** The union of two sets of one type; empty sets are not stored. */
function ofMembers(
  was: AttributeValue, given: AttributeValue | undefined, make: (before: AttributeValue[], given: AttributeValue[]) => AttributeValue[],
): AttributeValue | undefined {
  const [before, members] = [membersOf(was), membersOf(given)];
  if (!before || !members || storedAs(was) !== storedAs(given)) {
    throw wrongType();
  }
  return setOf(make(before, members));
}

/** The members of the second list that are not in the first. */
function missingIn(members: readonly AttributeValue[], among: readonly AttributeValue[]): AttributeValue[] {
  const met = new Set(members.map(canonical));
  return among.filter((v) => !met.has(canonical(v)));
}

function wrongType(): Error {
  return new Error("An operand in the update expression has an incorrect data type");
}

function wrongPath(): Error {
  return new Error("The document path provided in the update expression is invalid for update");
}

function operandOf(v: AttributeValue | undefined): Decimal {
  const d = decimalOf(v);
  if (!d) {
    throw wrongType();
  }
  return d;
}

/** Changes with a common prefix, by the next step. */
function grouped(changes: readonly Changed[], depth: number): Map<string, Changed[]> {
  const out = new Map<string, Changed[]>();
  for (const c of changes) {
    const step = c.path[depth];
    if (step === undefined) {
      throw new Error("Two document paths overlap with each other");
    }
    out.set(step, [...(out.get(step) ?? []), c]);
  }
  return out;
}

/** The value after changes; undefined for a missing one. */
function changed(old: AttributeValue | undefined, changes: readonly Changed[], depth: number): AttributeValue | undefined {
  if (changes.length === 1 && changes[0]!.path.length === depth) {
    return changes[0]!.value;
  }
  if (old?.M) {
    return { M: inMap(old.M, changes, depth) };
  }
  if (old?.L) {
    return { L: inList(old.L, changes, depth) };
  }
  throw wrongPath();
}

function inMap(old: Item, changes: readonly Changed[], depth: number): Item {
  const out: Item = bare(old);
  for (const [step, group] of grouped(changes, depth)) {
    if (depth > 0 && indexOf(step) !== undefined) {
      throw wrongPath();
    }
    const v = changed(own(old, step), group, depth + 1);
    if (v === undefined) {
      delete out[step];
    } else {
      out[step] = v;
    }
  }
  return out;
}

/** Elements keep their positions during the changes; elements set after the end are appended; removed ones leave no gap. */
function inList(old: readonly AttributeValue[], changes: readonly Changed[], depth: number): AttributeValue[] {
  const out: (AttributeValue | undefined)[] = [...old];
  const groups = [...grouped(changes, depth)].map(([step, group]) => ({ n: indexOf(step), group }));
  for (const { n, group } of groups.sort((a, b) => (a.n ?? 0) - (b.n ?? 0))) {
    if (n === undefined) {
      throw wrongPath();
    }
    out[Math.min(n, out.length)] = changed(old[n], group, depth + 1);
  }
  return out.filter((v) => v !== undefined);
}
