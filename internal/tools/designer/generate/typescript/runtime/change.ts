// What the steps of a write come to as far as no item must be known for it.

import type { Condition, Inputs } from "./condition.js";
import type { Action, Param, Step, WriteDescriptor } from "./descriptor.js";
import type { Entity } from "./entity.js";
import type { LinkedField, LinkedType } from "./types.js";
import type { AttributeValue, Item, Values } from "./values.js";
import type { Writing } from "./writing.js";

export interface LinkedElse {
  err: string;
  when: Condition | undefined;
}

export interface LinkedStep extends Omit<Step, "entity" | "when" | "else"> {
  entity: Entity;
  when: Condition | undefined;
  else: LinkedElse[];
}

export interface LinkedParam extends Omit<Param, "type"> {
  type: LinkedType;
}

/** A write whose descriptor is linked. */
export interface Write extends Omit<WriteDescriptor, "steps" | "params" | "lineParams" | "idempotent"> {
  steps: LinkedStep[];
  params: LinkedParam[];
  lineParams: LinkedParam[];
  idempotent?: { record: Entity; request: string[]; reused: string } | undefined;
}

/** What the path of an assignment leads to: a field, or something inside its structure. */
export interface Target {
  field: LinkedField;
  path: readonly string[];
  /** The field at the end of the path, by the name that errors have. */
  member: LinkedField;
  whole: boolean;
}

/** A field of the item as it is, in a sum. */
export interface Operand {
  negative: boolean;
  field: LinkedField;
  path: readonly string[];
  /** Whether an absent one is 0. */
  zero?: boolean;
}

/** A change of a field. A value is what is set, or the known part of a sum; none with no operands removes. */
export interface Assigned extends Target {
  how: "setting" | "adding" | "initialising" | "uniting" | "dropping" | "appending" | "prepending";
  value: AttributeValue | undefined;
  operands: Operand[];
}

/** What a step does with one item. It is not changed once made. */
export interface Change {
  /** Whose step it is. */
  of: Writing;
  number: number;
  line: number;
  action: Action;
  /** The action of the step, which says what its refusal means. */
  refusedAs: Action;
  entity: Entity;
  /** All values of an item that is created or put, and else the fields of its primary key. */
  values: Values;
  primary: Item;
  assigned: Assigned[];
  when: Condition | undefined;
  refusals: LinkedElse[];
  inputs: Inputs;
  /** Fields that the condition says to have a value. */
  pinned: Values;
}

/** What attempts have found of items that cannot be known before, by their identity. */
export interface Learned {
  foreign: Set<string>; // markers that are other items' by now: they are not deleted
  lost: Set<string>; // copies that are not there: they are put
}
