// Update expressions: as a request has them, and what they make of an item that was read.

import { aliasIn, free } from "./condition.js";
import type { Assigned } from "./change.js";
import { Decimal } from "./decimal.js";
import { parse, print } from "./expression.js";
import { type AttributeValue, type Item, bare, decimalOf, numberOf, own, put, stored } from "./values.js";

/** Makes the update expression of a request, and shares its names and values with the request's condition. */
export class Expression {
  readonly names: { [alias: string]: string } = {};
  readonly values: Item = {};
  private readonly sets: string[] = [];
  private readonly adds: string[] = [];
  private readonly gone: string[] = [];

  /** A document path by aliases, which need no care for reserved words. */
  path(steps: readonly string[]): string {
    return steps.map((step) => aliasIn(this.names, step)).join(".");
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
    const sections = [["SET", this.sets], ["ADD", this.adds], ["REMOVE", this.gone]] as const;
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

/** What native assignments make of an item: all of them read it as it was. */
export function applied(assigned: readonly Assigned[], old: Item): Item {
  const out: Item = bare(old);
  for (const a of assigned) {
    const was = stored(old, a.path);
    let v = a.value;
    if (a.how === "initialising") {
      v = was ?? a.value;
    } else if (a.how === "adding") {
      v = numberOf(operandOf(was ?? { N: "0" }).plus(operandOf(a.value)));
    } else if (a.operands.length > 0) {
      let sum = a.value === undefined ? Decimal.zero : operandOf(a.value);
      for (const o of a.operands) {
        const from = stored(old, o.path);
        if (from === undefined) {
          throw new Error("The provided expression refers to an attribute that does not exist in the item");
        }
        sum = o.negative ? sum.minus(operandOf(from)) : sum.plus(operandOf(from));
      }
      v = numberOf(sum);
    }
    if (a.path.length > 1 && stored(old, a.path.slice(0, -1))?.M === undefined) {
      throw new Error("The document path provided in the update expression is invalid for update");
    }
    if (v !== undefined) {
      put(out, a.path, v);
    } else {
      drop(out, a.path);
    }
  }
  return out;
}

function operandOf(v: AttributeValue | undefined): Decimal {
  const d = decimalOf(v);
  if (!d) {
    throw new Error("An operand in the update expression has an incorrect data type");
  }
  return d;
}

/** Removes what is at the end of a path, from copies of the maps on the way. */
function drop(m: Item, path: readonly string[]): void {
  const [step, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) {
    delete m[step];
    return;
  }
  const inner = own(m, step)?.M;
  if (inner) {
    const copy: Item = bare(inner);
    m[step] = { M: copy };
    drop(copy, rest);
  }
}
