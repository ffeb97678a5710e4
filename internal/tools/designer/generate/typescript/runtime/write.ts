// Writes: one request if a write changes one item, otherwise one transaction, retried after conflicts.

import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  TransactionCanceledException,
  TransactionConflictException,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { type BatchItems, type Call, maxBatchItems, maxIdleBatches, throughputExceeded } from "./call.js";
import type { Change, Write } from "./change.js";
import { type Movement, movements } from "./counters.js";
import { type Entity, identity } from "./entity.js";
import { Effect } from "./effect.js";
import { Refusal, UnfinishedError, WriteFault, builtin } from "./errors.js";
import { Unread, Unsettled } from "./known.js";
import type { Operation } from "./operation.js";
import type { Input } from "./source.js";
import { Transaction, maxActions, requestField, twice } from "./transaction.js";
import { beyond } from "./update.js";
import { type Item, type Values, bare, equal } from "./values.js";
import { Writing } from "./writing.js";

/** The result of a write. */
export interface Outcome {
  /**
   * The items of the steps, in their order; undefined if the response does not have it. A step that runs per line has one per
   * line.
   */
  items: (Values | undefined)[][];
  /** Set if the request was a repetition: nothing was done. */
  replayed: boolean;
  /** The record of the first request, if known. */
  record?: Values | undefined;
}

const minAttempts = 8;
/**
 * How long a write is retried after conflicts, in milliseconds, with at least minAttempts attempts. Conflicting writes may take
 * long.
 */
const conflictTime = 5000;
const longestPause = 320;
const maxCountDepth = 8;

/** The attempt conflicted with another write. */
class Again extends Error {}

/** The attempt is a repetition: these calls have records of the first one. */
class Repetition extends Error {
  readonly records: ReadonlyMap<Writing, Values>;

  constructor(records: ReadonlyMap<Writing, Values>) {
    super("a repetition");
    this.records = records;
  }
}

/** Runs a write. */
export async function write(call: Call, w: Write, input: Input): Promise<Outcome> {
  return (await attempted(new Transaction([new Writing(call, w, input)])))[0]!;
}

/** A write of a tx, with a function that creates its input. */
export interface TxWrite {
  w: Write;
  input: () => Input;
}

/** Executes several writes as one transaction. */
export function tx(call: Call, writes: readonly TxWrite[]): Promise<Outcome[]> {
  const writings = writes.map(({ w, input }, place) => {
    try {
      return new Writing(call, w, input(), place);
    } catch (err) {
      throw new WriteFault(w.pattern, place, err);
    }
  });
  return attempted(new Transaction(writings));
}

/** Executes a transaction, with retries after conflicts: returns the outcomes of the calls in the given order. */
async function attempted(t: Transaction): Promise<Outcome[]> {
  const { call } = t;
  for (let attempt = 1; ; attempt++) {
    call.seen.attempts = attempt;
    try {
      return await new Attempt(t).run();
    } catch (err) {
      if (err instanceof Repetition) {
        return t.given.map((r) => ({ items: [], replayed: true, record: err.records.get(r) }));
      }
      if (!(err instanceof Again || err instanceof Unsettled)) {
        throw err;
      }
      if (attempt >= minAttempts && err instanceof Unsettled) {
        throw err.cause;
      }
      if (attempt >= minAttempts && (call.env.sequential || call.elapsed() >= conflictTime)) {
        throw builtin("Conflict", `, ${attempt} times in a row`);
      }
    }
    if (!call.env.sequential) {
      await call.pause(Math.min(10 * 2 ** (attempt - 1), longestPause));
    }
  }
}

class Attempt {
  private readonly t: Transaction;
  private readonly call: Call;
  private readonly effects: Effect[];
  private readonly records = new Map<Writing, Values>();
  /** Calls that must be ordered: see merge. */
  private readonly counted = new Set<Writing>();
  private readonly counts = new Set<Writing>();

  constructor(t: Transaction) {
    this.t = t;
    this.call = t.call;
    this.effects = t.changes().map((c) => new Effect(c, t.learned));
  }

  async run(): Promise<Outcome[]> {
    await this.prepare();
    const ops = this.operations();
    const first = ops[0];
    if (ops.every((o) => o.role === "nothing")) {
      return this.outcomes(); // the item to delete does not exist
    }
    if (this.t.batch) {
      return this.batch(ops);
    }
    return ops.length === 1 && first && first.kind !== "checking" ? this.single(first) : this.transact(ops);
  }

  /** Creates the operations of all effects, and reads the items on which they depend. */
  private async prepare(): Promise<void> {
    const unread = this.effects.filter((e) => isUnread(() => {
      try {
        movements(e);
        e.derive();
      } catch (err) {
        throw e.fault(err);
      }
    }));
    if (unread.length > 0) {
      await this.look(unread);
      const first = this.effects[0]!;
      if (first.doomed) {
        throw this.refusedItself(first, first.old); // no earlier one is rejected
      }
    }
    await this.count();
    for (;;) {
      const left: Effect[] = [];
      for (const e of this.effects.filter((x) => !x.planned)) {
        try {
          e.derive();
        } catch (err) {
          if (!(err instanceof Unread)) {
            throw await this.fault(e, err);
          }
          if (e.read) {
            throw new Error("depends on an item that was not read");
          }
          left.push(e);
        }
      }
      if (left.length === 0) {
        return;
      }
      await this.look(left);
    }
  }

  /**
   * The error of an effect that cannot be written. If that is because of a counter, the cause may be a change that will be rejected and
   * so must not be counted: items that were not read yet are read to find out.
   */
  private async fault(of: Effect, err: unknown): Promise<unknown> {
    if (of.moved) {
      await this.look(this.effects.filter((e) => !e.read && !isRecord(e)));
      for (const e of this.effects.filter((x) => !isRecord(x))) {
        const refusal = this.refusedItself(e, e.old);
        if (!(refusal instanceof Again)) {
          return refusal;
        }
      }
    }
    return of.fault(err);
  }

  /**
   * Reads the current items of effects. Idempotency records are read too: an earlier request with the same key may be why an item
   * is missing.
   */
  private async look(effects: Effect[]): Promise<void> {
    const all = [...this.effects.filter((e) => isRecord(e) && !effects.includes(e)), ...effects];
    const groups = new Map<string, Effect[]>();
    for (const e of all) {
      const name = e.c.entity.table.name;
      groups.set(name, [...(groups.get(name) ?? []), e]);
    }
    const found = new Map<Effect, Item>();
    for (const group of groups.values()) {
      (await this.fetch(group)).forEach((item, i) => item && found.set(group[i]!, item));
    }
    for (const e of all) {
      const item = found.get(e);
      if (isRecord(e) && item && !this.expired(e.c.entity, item)) {
        this.replay(e, item);
      }
    }
    if (this.records.size > 0) {
      throw new Repetition(this.records);
    }
    for (const e of all) {
      if (!isRecord(e)) {
        try {
          e.see(found.get(e));
        } catch (err) {
          throw e.fault(err);
        }
      }
    }
  }

  private async fetch(effects: readonly Effect[]): Promise<(Item | undefined)[]> {
    const t = effects[0]!.c.entity.table;
    if (effects.length > 1) {
      return this.call.fetch(t, effects.map((e) => e.c.primary), true);
    }
    return [await this.call.get(t, effects[0]!.c.primary, true)];
  }

  private expired(e: Entity, item: Item | undefined): boolean {
    return e.expired(item, Math.floor(this.call.now / 1000));
  }

  /** Adds the moves of counters to the effects. Effects on counted items are before the effects on their counters. */
  private async count(): Promise<void> {
    for (;;) {
      let e: Effect | undefined;
      let deepest = 0;
      for (const x of this.effects) {
        const depth = countDepth(x.c.entity, 0);
        if (!x.counted && (!e || depth > deepest)) {
          [e, deepest] = [x, depth];
        }
      }
      if (!e) {
        return;
      }
      let moved: Movement[];
      try {
        moved = movements(e);
      } catch (err) {
        if (!(err instanceof Unread) || e.read) {
          throw e.fault(err);
        }
        await this.look([e]);
        continue;
      }
      e.counted = true;
      for (const m of moved) {
        this.move(e, m);
      }
    }
  }

  /** Moves a counter. */
  private move(by: Effect, m: Movement): void {
    const { entity, field } = m.count;
    const f = entity.field(field);
    const primary = entity.keyOf(entity.key, m.key);
    if (!f) {
      throw new Error(`entity ${entity.name} has no field ${field}, which counts ${by.c.entity.name}`);
    }
    const id = identity(entity.table, primary);
    let e = this.effects.find((x) => x.c.entity === entity && identity(entity.table, x.c.primary) === id);
    if (!e) {
      e = new Effect({
        of: by.c.of, number: by.c.number, line: by.c.line, action: "update", refusedAs: "update", entity, values: m.key, primary, assigned: [],
        when: undefined, refusals: [], inputs: by.c.inputs, pinned: bare(),
      }, this.t.learned);
      e.counters = e.moved = true;
      this.effects.push(e);
      e.add(f, m.by);
      return;
    }
    this.merge(by, e);
    if (e.counted && e.c.entity.counts.length > 0) {
      throw new Error(`counter ${entity.name}.${field} is counted by the entity that it counts`);
    }
    e.planned = false;
    e.moved = true;
    if (e.counters && e.c.line !== by.c.line) {
      e.c = { ...e.c, line: -1 }; // of several lines
    }
    if (e.doomed || e.c.action === "delete") {
      return; // it is rejected, or the counter is deleted with its item
    }
    try {
      if (e.creates()) {
        e.begin(f, m.by);
        return;
      }
      if (e.c.action === "check") {
        e.c = { ...e.c, action: "update" }; // it remains as a check, so that it can be rejected
      }
      e.add(f, m.by);
      if (e.read) {
        e.compute();
      }
    } catch (err) {
      throw e.fault(err);
    }
  }

  /**
   * Decides whether a counter that one call moves may be moved in a step of another, which is then as if it were first: its
   * condition and values refer to the old counter. If no order of the calls satisfies that for all, they are rejected.
   */
  private merge(by: Effect, e: Effect): void {
    const [a, b] = [by.c.of, e.c.of];
    if (e.counters || e.doomed || a === b) {
      return;
    }
    if (this.counted.has(a) || this.counts.has(b) || e.c.action === "delete") {
      throw twice(by.c, e.c, `count of ${e.c.entity.name}`, e.c.entity.name, e.c.primary);
    }
    this.counts.add(a);
    this.counted.add(b);
  }

  /** All operations in the order of their effects. Two on one item, or more than a transaction may have, are rejected. */
  private operations(): Operation[] {
    const met = new Map<string, Operation>();
    for (const o of this.effects.flatMap((e) => e.ops)) {
      const before = met.get(o.identity);
      if (before) {
        throw twice(before.of.c, o.of.c, before.noun, o.noun, o.item);
      }
      met.set(o.identity, o);
    }
    const ops = [...met.values()];
    if (ops.length > maxActions && !this.t.batch) {
      throw this.t.tooMany(ops);
    }
    return ops;
  }

  /** The result of the attempt. updated are the attributes of the item of a single update. */
  private outcomes(updated?: Item): Outcome[] {
    const out = this.t.given.map((r): Outcome => ({ items: r.w.steps.map(() => []), replayed: false }));
    for (const e of this.effects) {
      if (e.c.number < 0 || e.counters) {
        continue;
      }
      let v: Values | undefined;
      if (e.creates()) {
        v = e.c.entity.valuesOf(e.ops[0]!.item);
      } else if ((e.c.action === "update" || e.c.action === "upsert") && e.c.refusedAs !== "check") {
        v = updated ? e.c.entity.valuesOf(updated) : e.read ? e.will : undefined;
      }
      out[this.t.given.indexOf(e.c.of)]!.items[e.c.number]!.push(v);
    }
    return out;
  }

  /** Writes the single item of a write. */
  private async single(o: Operation): Promise<Outcome[]> {
    const common = { TableName: this.call.env.tableName(o.table), ...o.common(), ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const };
    try {
      if (o.kind === "putting") {
        await this.call.send(new PutItemCommand({ ...common, Item: o.item }), true);
      } else if (o.kind === "deleting") {
        await this.call.send(new DeleteItemCommand({ ...common, Key: o.item }), true);
      } else {
        const update = o.update ? { UpdateExpression: o.update } : {};
        const response = await this.call.send<{ Attributes?: Item }>(
          new UpdateItemCommand({ ...common, Key: o.item, ...update, ReturnValues: "ALL_NEW" }), true);
        return this.outcomes(response.Attributes ?? {});
      }
    } catch (err) {
      if (err instanceof ConditionalCheckFailedException) {
        throw await this.refused(o, err.Item);
      }
      throw err instanceof TransactionConflictException ? new Again() : err;
    }
    return this.outcomes();
  }

  /** Writes several items as a transaction. */
  private async transact(ops: readonly Operation[]): Promise<Outcome[]> {
    const TransactItems = ops.map((o) => o.transactItem(this.call.env.tableName(o.table)));
    try {
      await this.call.send(new TransactWriteItemsCommand({ TransactItems }), true);
    } catch (err) {
      if (err instanceof TransactionCanceledException) {
        throw await this.canceled(ops, err);
      }
      throw err; // one that is still in progress too: another attempt might repeat what this one does later
    }
    return this.outcomes();
  }

  /** Writes the items of a batch separately, in as few requests as possible. */
  private async batch(ops: readonly Operation[]): Promise<Outcome[]> {
    for (let from = 0; from < ops.length; from += maxBatchItems) {
      let left = ops.slice(from, from + maxBatchItems);
      try {
        for (let idle = 0; left.length > 0; ) {
          if (idle === maxIdleBatches) {
            throw throughputExceeded("BatchWriteItem processed none of its items in repeated attempts");
          }
          if (idle > 0) {
            await this.call.pauseAfter(idle);
          }
          const remain = await this.batchOnce(left);
          idle = remain.length === left.length ? idle + 1 : 1;
          left = remain;
        }
      } catch (err) {
        const lines = [...left, ...ops.slice(from + maxBatchItems)].map((o) => o.of.c.line);
        throw new UnfinishedError([...new Set(lines)].sort((a, b) => a - b), err);
      }
    }
    return this.outcomes();
  }

  /** Sends one request, and returns the unprocessed items: all of them if DynamoDB throttles it. */
  private async batchOnce(ops: readonly Operation[]): Promise<Operation[]> {
    const requests: BatchItems = {};
    for (const o of ops) {
      (requests[this.call.env.tableName(o.table)] ??= []).push(o.batchItem());
    }
    const unprocessed = await this.call.writeBatch(requests);
    return ops.filter((o) => (unprocessed[this.call.env.tableName(o.table)] ?? []).some((r) =>
      identity(o.table, r.DeleteRequest?.Key ?? r.PutRequest?.Item ?? bare()) === o.identity));
  }

  /** Why a transaction was cancelled: the first operation with a reason decides. */
  private async canceled(ops: readonly Operation[], err: TransactionCanceledException): Promise<unknown> {
    for (const [i, reason] of (err.CancellationReasons ?? []).entries()) {
      const o = ops[i];
      if (!o || !reason.Code || reason.Code === "None") {
        continue;
      }
      if (reason.Code === "TransactionConflict") {
        return new Again();
      }
      return reason.Code === "ConditionalCheckFailed" ? this.refused(o, reason.Item) : err;
    }
    return err;
  }

  /** The error for the rejection of an operation, by the item that caused it. */
  private async refused(o: Operation, item: Item | undefined): Promise<unknown> {
    const old = item && Object.keys(item).length > 0 ? item : undefined;
    const e = o.of;
    switch (o.role) {
      case "nothing":
        return new Again();
      case "releasing":
        this.t.learned.foreign.add(o.identity);
        return new Again();
      case "elsewhere":
        if (o.kind === "updating" && !old) {
          this.t.learned.lost.add(o.identity);
        }
        return new Again();
      case "taking":
        return this.refusal(e.c, o.marker?.taken ?? "Exists", old);
      case "occupying":
        return this.refusal(e.c, e.c.entity.exists, old);
      default:
    }
    if (isRecord(e)) {
      return !old || this.expired(e.c.entity, old) ? new Again() : await this.repeats(e, old);
    }
    return this.refusedItself(e, old);
  }

  /** The end of a repetition, whose record already exists. Records of other calls were created with it, and are read. */
  private async repeats(e: Effect, old: Item): Promise<Repetition> {
    this.replay(e, old);
    if (this.effects.some((o) => o !== e && isRecord(o))) {
      await this.look([]);
    }
    return new Repetition(this.records);
  }

  /** The error of a change that its own item rejected. It is Again if the item satisfies the whole condition. */
  private refusedItself(e: Effect, old: Item | undefined): unknown {
    const { c } = e;
    if (c.refusedAs === "create" && old && !this.expired(c.entity, old)) {
      return this.declared(c, old, c.entity.exists);
    }
    const holds = !c.when || c.when.holds(old, c.inputs);
    if (!old && c.refusedAs === "update" && c.when) {
      return this.refusal(c, c.entity.notFound, undefined);
    }
    if (!old && (c.refusedAs === "update" || c.refusedAs === "check" || (c.refusedAs === "delete" && c.when))) {
      return this.declared(c, undefined, c.entity.notFound);
    }
    if (!holds) {
      return this.declared(c, old, "Refused");
    }
    const fault = beyond(e.assigned, old);
    return fault === undefined ? new Again() : c.of.fault(fault);
  }

  /** The first declared error whose condition holds for the item that caused the rejection. */
  private declared(c: Change, old: Item | undefined, otherwise: string): WriteFault {
    const found = c.refusals.find((x) => !x.when || x.when.holds(old, c.inputs));
    return this.refusal(c, found?.err ?? otherwise, old);
  }

  private refusal(c: Change, name: string, old: Item | undefined): WriteFault {
    const { codes, message } = this.call.declared(name);
    const { w } = c.of;
    return c.of.fault(new Refusal(w.pattern, c.number, w.steps[c.number]?.name ?? "", c.line, codes, message, old));
  }

  /** Sets the record of the first request, which this one repeats. It is rejected if that was a different request. */
  private replay(e: Effect, old: Item): void {
    const v = e.c.entity.valuesOf(old);
    const idempotent = e.c.of.w.idempotent!;
    if (idempotent.request.length > 0 && !equal(v[requestField], e.c.values[requestField])) {
      throw this.refusal(e.c, idempotent.reused, old);
    }
    this.records.set(e.c.of, v);
  }
}

/** Whether an effect creates an idempotency record. */
function isRecord(e: Effect): boolean {
  return e.c.number < 0 && e.c.action === "create";
}

function isUnread(task: () => void): boolean {
  try {
    task();
    return false;
  } catch (err) {
    if (err instanceof Unread) {
      return true;
    }
    throw err;
  }
}

/** The length of the longest chain of counters of an entity's items. */
function countDepth(e: Entity, above: number): number {
  return above >= maxCountDepth ? above : Math.max(above, ...e.counts.map((c) => countDepth(c.entity, above + 1)));
}
