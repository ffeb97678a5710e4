// How a change moves counters.

import { Decimal } from "./decimal.js";
import { type Entity, type LinkedCount, identity, ownerFields, ownerOf } from "./entity.js";
import { ValueError } from "./errors.js";
import { type Known, type FieldValue, Unread, collect, truth } from "./known.js";
import { plus } from "./step.js";
import { type AttributeValue, type Values, bare, decimalOf } from "./values.js";

/** How a change moves a counter. */
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

/** How an effect moves counters. */
export function movements(e: Known): Movement[] {
  const { action } = e.c;
  if (e.doomed || action === "check" || action === "put" || (action === "delete" && e.exists() === "absent")) {
    return [];
  }
  return e.entity.counts.flatMap((c) => moves(e, c));
}

/** How it moves one counter: two moves if the item changes from one counter's item to another's. */
function moves(e: Known, c: LinkedCount): Movement[] {
  if (e.creates()) {
    const after = tally(e, c, e.after, e.relyAfter);
    return nonzero(c, after.key, after.n);
  }
  if (e.exists() === "unknown") {
    throw new Unread();
  }
  if (e.c.action === "delete") {
    const before = tally(e, c, e.before, e.relyBefore);
    return nonzero(c, before.key, before.n.negated());
  }
  const key = ownerFields(c);
  if (!e.changes(key) && !e.changes(e.entity.readBy(c.where)) && (c.sum === "" || !e.changed(c.sum))) {
    return [];
  }
  const sum = added(e, c.sum);
  if (sum && !c.where && !e.changes(key)) {
    const v = e.valuesBefore(key);
    e.relyBefore(key);
    const owner = ownerOf(c, v);
    return owner ? nonzero(c, owner, sum) : [];
  }
  const before = tally(e, c, e.before, e.relyBefore);
  const after = tally(e, c, e.after, e.relyAfter);
  if (before.counts && after.counts && sameCounter(c.entity, before.key, after.key)) {
    return nonzero(c, after.key, plus(after.n, before.n, true, c.field));
  }
  return [...nonzero(c, before.key, before.n.negated()), ...nonzero(c, after.key, after.n)];
}

/** What an update adds to a field without reading it. */
function added(e: Known, field: string): Decimal | undefined {
  let sum: Decimal | undefined;
  for (const a of e.assigned) {
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

/** What the item counts in one state; the change then depends on the fields used. */
function tally(e: Known, c: LinkedCount, value: (field: string) => FieldValue, rely: (fields: readonly string[]) => void): Tally {
  const { holds, known, relies } = truth(e.entity, c.where, value);
  if (!known) {
    throw new Unread();
  }
  rely(relies);
  const none = { counts: false, key: bare<AttributeValue>(), n: Decimal.zero };
  if (!holds) {
    return none;
  }
  const fields = [...ownerFields(c), ...(c.sum === "" ? [] : [c.sum])];
  const v = collect(fields, value);
  rely(fields);
  const key = ownerOf(c, v);
  if (!key) {
    return none;
  }
  if (c.sum === "") {
    return { counts: true, key, n: Decimal.ofInteger(1n) };
  }
  const n = decimalOf(v[c.sum]);
  if (!n && v[c.sum] !== undefined) {
    throw new ValueError(c.sum, "is not a number and cannot be summed");
  }
  return { counts: true, key, n: n ?? Decimal.zero };
}

/** Whether values give one key of the counter's item. Keys are compared, because lower and fold map several values to one. */
function sameCounter(e: Entity, a: Values, b: Values): boolean {
  try {
    return identity(e.table, e.keyOf(e.key, a)) === identity(e.table, e.keyOf(e.key, b));
  } catch {
    return false;
  }
}

function nonzero(count: LinkedCount, key: Values, by: Decimal): Movement[] {
  return by.isZero ? [] : [{ count, key, by }];
}
