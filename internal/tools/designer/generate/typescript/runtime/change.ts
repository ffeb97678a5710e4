// The changes of a write's steps, as far as they are known without reading items.

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

/** The target of an assignment's path: a field, or something inside its structure. */
export interface Target {
  field: LinkedField;
  path: readonly string[];
  /** The field at the end of the path, by its name in errors. */
  member: LinkedField;
  whole: boolean;
}

/** A field's current value, as an operand of a sum. */
export interface Operand {
  negative: boolean;
  field: LinkedField;
  path: readonly string[];
  /** Whether a missing one counts as 0. */
  zero?: boolean;
}

/**
 * A change of a field. The value is the new value, or the known part of a sum; without a value and operands, the field is
 * removed.
 */
export interface Assigned extends Target {
  how: "setting" | "adding" | "initialising" | "uniting" | "dropping" | "appending" | "prepending";
  value: AttributeValue | undefined;
  operands: Operand[];
}

/** What a step does to one item. Immutable. */
export interface Change {
  /** The entity of the step. */
  of: Writing;
  number: number;
  line: number;
  action: Action;
  /** The action of the step, which determines what its rejection means. */
  refusedAs: Action;
  entity: Entity;
  /** All values of an item that is created or put, otherwise the fields of its primary key. */
  values: Values;
  primary: Item;
  assigned: Assigned[];
  when: Condition | undefined;
  refusals: LinkedElse[];
  inputs: Inputs;
  /** Fields whose values the condition determines. */
  pinned: Values;
}

/** What earlier attempts have learned about items that cannot be known beforehand, by their identity. */
export interface Learned {
  foreign: Set<string>; // markers that now belong to other items: they are not deleted
  lost: Set<string>; // missing copies: they are put
}
