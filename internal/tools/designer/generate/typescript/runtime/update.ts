// Update expressions: as a request has them, and what they make of an item that was read.

import { aliasIn, free } from "./condition.js";
import type { Assigned } from "./change.js";
import { Decimal } from "./decimal.js";
import { parse, print } from "./expression.js";
import {
  type AttributeValue, type Item, bare, canonical, decimalOf, indexOf, membersOf, numberOf, own, setOf, stored, storedAs,
} from "./values.js";

/** Makes the update expression of a request, and shares its names and values with the request's condition. */
export class Expression {
  readonly names: { [alias: string]: string } = {};
  readonly values: Item = {};
  private readonly sets: string[] = [];
  private readonly adds: string[] = [];
  private readonly drops: string[] = [];
  private readonly gone: string[] = [];

  /** A document path by aliases, which need no care for reserved words. */
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

  /** Gives a path a value, or removes it where there is none. */
  set(path: readonly string[], v: AttributeValue | undefined): void {
    if (v === undefined) {
      this.remove(path);
      return;
    }
    this.sets.push(`${this.path(path)} = ${this.value(v)}`);
  }

  /** Gives a path a value where there is nothing. */
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
    } else if (a.how === "adding") { // ADD is for attributes at the top
      const p = this.path(a.path);
      this.sets.push(`${p} = if_not_exists(${p}, ${this.value({ N: "0" })}) + ${this.value(a.value!)}`);
    } else if (a.operands.length === 0) {
      this.set(a.path, a.value);
    } else {
      this.sets.push(`${this.path(a.path)} = ${this.sum(a)}`);
    }
  }

  private sum(a: Assigned): string {
    const operands = [...a.operands].sort((l, r) => Number(l.negative) - Number(r.negative)); // what is subtracted stands behind
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

  /** The expression; "" for one that changes nothing. */
  text(): string {
    const sections = [["SET", this.sets], ["ADD", this.adds], ["DELETE", this.drops], ["REMOVE", this.gone]] as const;
    return sections.filter(([, parts]) => parts.length > 0).map(([verb, parts]) => `${verb} ${parts.join(", ")}`).join(" ");
  }

  /** Holds a path to the value that was read. */
  guard(path: readonly string[], v: AttributeValue | undefined): string {
    return v === undefined ? `attribute_not_exists(${this.path(path)})` : `${this.path(path)} = ${this.value(v)}`;
  }
}

/** Joins conditions that must all hold; "" is none. */
export function conjunction(...conditions: string[]): string {
  const out = conditions.filter((c) => c !== "");
  if (out.length === 1) {
    return out[0]!;
  }
  return out.map((c) => {
    const tree = parse(c);
    return tree.is === "or" ? `(${print(tree)})` : c; // without parentheses of its own, of which DynamoDB refuses two pairs
  }).join(" AND ");
}

/** Whether DynamoDB has an expression for an assignment: a sum has two operands at most, of which the first is not negative. */
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

/** What becomes of what a path leads to; nothing where there is no value. */
interface Changed {
  path: readonly string[];
  value: AttributeValue | undefined;
}

/** What native assignments make of an item: all of them read it as it was. */
export function applied(assigned: readonly Assigned[], old: Item): Item {
  const changes = assigned.map((a): Changed => ({ path: a.path, value: computed(a, old) }));
  return changes.length === 0 ? old : inMap(old, changes, 0);
}

/** The value that an assignment gives, of what there was. */
function computed(a: Assigned, old: Item): AttributeValue | undefined {
  const was = stored(old, a.path);
  switch (a.how) {
    case "initialising":
      return was ?? a.value;
    case "adding":
      return numberOf(operandOf(was ?? { N: "0" }).plus(operandOf(a.value)));
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

/** A set that is made of the members of two of one type; one without members is none. */
function ofMembers(
  was: AttributeValue, given: AttributeValue | undefined, make: (before: AttributeValue[], given: AttributeValue[]) => AttributeValue[],
): AttributeValue | undefined {
  const [before, members] = [membersOf(was), membersOf(given)];
  if (!before || !members || storedAs(was) !== storedAs(given)) {
    throw wrongType();
  }
  return setOf(make(before, members));
}

/** The members of the second list that the first does not have. */
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

/** Changes that begin alike, by the step that follows. */
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

/** What changes make of a value, undefined for one that is not there. */
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

/** Elements change where they were; what is set behind the end is appended; what goes leaves no gap. */
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
