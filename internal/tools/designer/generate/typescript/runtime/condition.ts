// Conditions of a design: added to a request, or evaluated here on an item that was read.

import type { ConditionDescriptor } from "./descriptor.js";
import { missing } from "./errors.js";
import { type Node, evaluate, parse, paths } from "./expression.js";
import { type LinkedType, checkValue, timeAs } from "./types.js";
import { type AttributeValue, type Item, type Values, own } from "./values.js";

/** The values of a condition's parameters. now is in milliseconds. */
export interface Inputs {
  values: Values;
  line?: Values | undefined;
  now: number;
}

export interface ConditionParam {
  placeholder: string;
  input: string;
  type: LinkedType | undefined;
}

export class Condition {
  readonly expression: string;
  readonly names: { [alias: string]: string };
  readonly params: readonly ConditionParam[];
  readonly constants: { [placeholder: string]: AttributeValue };
  readonly root: Node;

  constructor(d: Omit<ConditionDescriptor, "params">, params: readonly ConditionParam[], root = parse(d.expression)) {
    this.expression = d.expression;
    this.names = d.names ?? {};
    this.params = params;
    this.constants = d.constants ?? {};
    this.root = root;
  }

  /** The conditions that must all hold: the operands of AND. */
  conjuncts(): Condition[] {
    if (this.root.is !== "and") {
      return [this];
    }
    return this.root.terms.map((t) => new Condition(this, this.params, t));
  }

  /** The top-level attributes in the condition. */
  attributes(): string[] {
    const out = new Set<string>();
    paths(this.root, (steps) => out.add(this.attribute(steps)));
    return [...out];
  }

  attribute(steps: (string | number)[]): string {
    const first = String(steps[0]);
    return own(this.names, first) ?? first;
  }

  /** Adds the condition to a request's names and values, and returns its expression. Inputs are checked. */
  bind(inputs: Inputs, names: { [alias: string]: string }, values: Item): string {
    const fresh = new Map<string, string>();
    return this.expression.replace(/[#:][A-Za-z0-9_]+/g, (reference) => {
      let to = fresh.get(reference);
      if (to === undefined) {
        if (reference.startsWith("#")) {
          const name = own(this.names, reference);
          if (name === undefined) {
            throw undefinedReference(reference);
          }
          to = aliasIn(names, name);
        } else {
          const v = this.value(reference, inputs);
          to = free(values, ":c");
          values[to] = v;
        }
        fresh.set(reference, to);
      }
      return to;
    });
  }

  /** Rejects invalid inputs of the condition before a request is sent. */
  check(inputs: Inputs): void {
    this.bind(inputs, {}, {});
  }

  /** Whether the condition holds for an item; undefined means no item. */
  holds(item: Item | undefined, inputs: Inputs): boolean {
    return evaluate(this.root, item, { names: this.names, value: (p) => this.value(p, inputs) });
  }

  /** The value of a placeholder. */
  value(placeholder: string, inputs: Inputs): AttributeValue {
    const constant = own(this.constants, placeholder);
    if (constant !== undefined) {
      return constant;
    }
    const p = this.params.find((x) => x.placeholder === placeholder);
    if (!p) {
      throw undefinedReference(placeholder);
    }
    const v = p.input.startsWith("line.") ? inputs.line?.[p.input.slice("line.".length)] : inputs.values[p.input];
    if (v === undefined) {
      if (p.input === "now") {
        return timeAs(p.type?.kind, p.input, inputs.now);
      }
      throw missing(p.input);
    }
    if (p.type) {
      checkValue(p.type, p.input, v);
    }
    return v;
  }
}

/** The alias of an attribute in a request; added if there is none. */
export function aliasIn(names: { [alias: string]: string }, attribute: string): string {
  let found = "";
  for (const alias of Object.keys(names)) {
    if (names[alias] === attribute && (found === "" || alias < found)) {
      found = alias;
    }
  }
  if (found === "") {
    found = free(names, "#c");
    names[found] = attribute;
  }
  return found;
}

/** A reference to a prefix that a map does not have. */
export function free(m: { [reference: string]: unknown }, prefix: string): string {
  let n = Object.keys(m).length;
  while (Object.hasOwn(m, prefix + n)) {
    n++;
  }
  return prefix + n;
}

function undefinedReference(reference: string): Error {
  return new Error(`the condition has no value for ${reference}`);
}
