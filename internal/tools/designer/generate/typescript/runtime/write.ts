// Writes: one request where a write touches one item, else one transaction, tried again where it meets others.

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
import { type Entity, fieldsOf, identity } from "./entity.js";
import { Effect } from "./effect.js";
import { Refusal, TableError, UnfinishedError, builtin } from "./errors.js";
import { Unread, Unsettled } from "./known.js";
import type { Operation } from "./operation.js";
import type { Input } from "./source.js";
import { type Item, type Values, bare, equal } from "./values.js";
import { Writing, requestField } from "./writing.js";

/** What a write did. */
export interface Outcome {
  /** The items of the steps, in their order; undefined where the answer does not tell. A step for each line has one for each. */
  items: (Values | undefined)[][];
  /** The record of the first request, of a repetition for which nothing was done. */
  replayed?: Values | undefined;
}

const maxAttempts = 8;
const maxActions = 100;
const maxCountDepth = 8;

/** The attempt met another write. */
class Again extends Error {}

/** The attempt is a repetition. */
class Replayed extends Error {
  readonly record: Values;

  constructor(record: Values) {
    super("replayed");
    this.record = record;
  }
}

/** Runs a write. */
export async function write(call: Call, w: Write, input: Input): Promise<Outcome> {
  const r = new Writing(call, w, input);
  for (let attempt = 1; ; attempt++) {
    call.seen.attempts = attempt;
    try {
      return await new Attempt(r).run();
    } catch (err) {
      if (err instanceof Replayed) {
        return { items: [], replayed: err.record };
      }
      if (!(err instanceof Again || err instanceof Unsettled)) {
        throw err;
      }
      if (attempt === maxAttempts) {
        throw err instanceof Unsettled ? err.cause : builtin("Conflict", `, ${attempt} times in a row`);
      }
    }
    if (!call.env.sequential) {
      await call.pause(10 * 2 ** (attempt - 1));
    }
  }
}

class Attempt {
  private readonly r: Writing;
  private readonly call: Call;
  private readonly effects: Effect[];

  constructor(r: Writing) {
    this.r = r;
    this.call = r.call;
    this.effects = r.changes.map((c) => new Effect(c, r.learned));
  }

  async run(): Promise<Outcome> {
    await this.prepare();
    const ops = this.operations();
    const first = ops[0];
    if (ops.every((o) => o.role === "nothing")) {
      return this.outcome(); // what was to be deleted is not there
    }
    if (this.r.w.batch) {
      return this.batch(ops);
    }
    return ops.length === 1 && first && first.kind !== "checking" ? this.single(first) : this.transact(ops);
  }

  /** Makes the operations of all effects, and reads the items that they depend on. */
  private async prepare(): Promise<void> {
    const unread = this.effects.filter((e) => isUnread(() => {
      movements(e);
      e.derive();
    }));
    if (unread.length > 0) {
      await this.look(unread);
      const first = this.effects[0]!;
      if (first.doomed) {
        throw this.refusedItself(first, first.old); // nothing is refused before it
      }
    }
    await this.count();
    for (;;) {
      const left = this.effects.filter((e) => !e.planned && isUnread(() => {
        try {
          e.derive();
        } catch (err) {
          if (!(err instanceof Unread)) {
            throw e.fault(err);
          }
          throw e.read ? new Error("depends on an item that was not read") : err;
        }
      }));
      if (left.length === 0) {
        return;
      }
      await this.look(left);
    }
  }

  /**
   * Reads the items of effects as they are now. The idempotency record is read along: what another request with its key has done
   * since may be why an item is gone.
   */
  private async look(effects: Effect[]): Promise<void> {
    const record = this.effects[0]!;
    const all = record.c.number < 0 && !effects.includes(record) ? [record, ...effects] : effects;
    const groups = new Map<string, Effect[]>();
    for (const e of all) {
      const name = e.c.entity.table.name;
      groups.set(name, [...(groups.get(name) ?? []), e]);
    }
    for (const group of groups.values()) {
      const found = await this.fetch(group);
      for (const [i, e] of group.entries()) {
        const item = found[i];
        if (e.c.number < 0 && e.c.action === "create") {
          if (item && !this.expired(e.c.entity, item)) {
            throw this.replay(e, item);
          }
          continue;
        }
        try {
          e.see(item);
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

  /** Adds what counters are moved by to the effects. Effects whose own items are counted come before those that they move. */
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
    const key: Values = bare();
    for (const name of fieldsOf(entity.key)) {
      if (m.key[name] !== undefined) {
        key[name] = m.key[name]!;
      }
    }
    const primary = entity.keyOf(entity.key, key);
    if (!f) {
      throw new Error(`entity ${entity.name} has no field ${field}, which counts ${by.c.entity.name}`);
    }
    const id = identity(entity.table, primary);
    let e = this.effects.find((x) => x.c.entity === entity && identity(entity.table, x.c.primary) === id);
    if (!e) {
      e = new Effect({
        number: by.c.number, line: by.c.line, action: "update", refusedAs: "update", entity, values: key, primary, assigned: [],
        when: undefined, refusals: [], inputs: by.c.inputs, pinned: bare(),
      }, this.r.learned);
      e.counters = e.moved = true;
      this.effects.push(e);
      e.add(f, m.by);
      return;
    }
    if (e.counted && e.c.entity.counts.length > 0) {
      throw new Error(`counter ${entity.name}.${field} is counted by what it counts`);
    }
    e.planned = false;
    e.moved = true;
    if (e.counters && e.c.line !== by.c.line) {
      e.c = { ...e.c, line: -1 }; // of several lines
    }
    if (e.doomed || e.c.action === "delete") {
      return; // it is refused, or the counter goes with its item
    }
    try {
      if (e.creates()) {
        e.begin(f, m.by);
        return;
      }
      if (e.c.action === "check") {
        e.c = { ...e.c, action: "update" }; // and it stays a check for its refusals
      }
      e.add(f, m.by);
      if (e.read) {
        e.compute();
      }
    } catch (err) {
      throw e.fault(err);
    }
  }

  /** All operations in the order of their effects. Two on one item, and more than a transaction holds, are refused. */
  private operations(): Operation[] {
    const met = new Map<string, Operation>();
    for (const o of this.effects.flatMap((e) => e.ops)) {
      const before = met.get(o.identity);
      if (before) {
        throw this.r.twice(before.of.c, o.of.c, before.noun, o.noun);
      }
      met.set(o.identity, o);
    }
    const ops = [...met.values()];
    if (ops.length > maxActions && !this.r.w.batch) {
      throw this.tooMany(ops);
    }
    return ops;
  }

  /** The error of a transaction with too many operations: it says how many of what there are. */
  private tooMany(ops: readonly Operation[]): Error {
    const counts = new Map<string, number>();
    for (const o of ops) {
      counts.set(o.noun, (counts.get(o.noun) ?? 0) + 1);
    }
    const nouns = [...counts].map(([noun, n]) => `${n} × ${noun}`).join(", ");
    const what = `the write has ${ops.length} actions, and a transaction holds ${maxActions}: ${nouns}`;
    return this.r.w.lines ? builtin("Lines", `: ${what}`) : new Error(what);
  }

  /** What the attempt did. updated are the attributes of the item of a single update. */
  private outcome(updated?: Item): Outcome {
    const items: (Values | undefined)[][] = this.r.w.steps.map(() => []);
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
      items[e.c.number]!.push(v);
    }
    return { items };
  }

  /** Writes the one item that a write touches. */
  private async single(o: Operation): Promise<Outcome> {
    const common = { TableName: this.call.env.tableName(o.table), ...o.common(), ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const };
    try {
      if (o.kind === "putting") {
        await this.call.send(new PutItemCommand({ ...common, Item: o.item }), true);
      } else if (o.kind === "deleting") {
        await this.call.send(new DeleteItemCommand({ ...common, Key: o.item }), true);
      } else {
        const update = o.update ? { UpdateExpression: o.update } : {};
        const answer = await this.call.send<{ Attributes?: Item }>(
          new UpdateItemCommand({ ...common, Key: o.item, ...update, ReturnValues: "ALL_NEW" }), true);
        return this.outcome(answer.Attributes ?? {});
      }
    } catch (err) {
      if (err instanceof ConditionalCheckFailedException) {
        throw this.refused(o, err.Item);
      }
      throw err instanceof TransactionConflictException ? new Again() : err;
    }
    return this.outcome();
  }

  /** Writes several items as a whole. */
  private async transact(ops: readonly Operation[]): Promise<Outcome> {
    const TransactItems = ops.map((o) => o.transactItem(this.call.env.tableName(o.table)));
    try {
      await this.call.send(new TransactWriteItemsCommand({ TransactItems }), true);
    } catch (err) {
      if (err instanceof TransactionCanceledException) {
        throw this.canceled(ops, err);
      }
      throw err; // one still in progress too: another attempt might do twice what this one does yet
    }
    return this.outcome();
  }

  /** Writes the items of a batch, each for itself, as many in a request as it takes. */
  private async batch(ops: readonly Operation[]): Promise<Outcome> {
    for (let from = 0; from < ops.length; from += maxBatchItems) {
      let left = ops.slice(from, from + maxBatchItems);
      try {
        for (let idle = 0; left.length > 0; ) {
          if (idle === maxIdleBatches) {
            throw throughputExceeded("BatchWriteItem processed none of its items, again and again");
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
    return this.outcome();
  }

  /** Makes one request, and returns what it leaves: all, where DynamoDB has refused it for now. */
  private async batchOnce(ops: readonly Operation[]): Promise<Operation[]> {
    const requests: BatchItems = {};
    for (const o of ops) {
      (requests[this.call.env.tableName(o.table)] ??= []).push(o.batchItem());
    }
    const unprocessed = await this.call.writeBatch(requests);
    return ops.filter((o) => (unprocessed[this.call.env.tableName(o.table)] ?? []).some((r) =>
      identity(o.table, r.DeleteRequest?.Key ?? r.PutRequest?.Item ?? bare()) === o.identity));
  }

  /** Why a transaction was cancelled: the first of its operations that has a reason decides. */
  private canceled(ops: readonly Operation[], err: TransactionCanceledException): unknown {
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

  /** What the refusal of an operation means, by the item that refused. */
  private refused(o: Operation, item: Item | undefined): unknown {
    const old = item && Object.keys(item).length > 0 ? item : undefined;
    const e = o.of;
    switch (o.role) {
      case "nothing":
        return new Again();
      case "releasing":
        this.r.learned.foreign.add(o.identity);
        return new Again();
      case "elsewhere":
        if (o.kind === "updating" && !old) {
          this.r.learned.lost.add(o.identity);
        }
        return new Again();
      case "taking":
        return this.refusal(e.c, o.marker?.taken ?? "Exists", old);
      case "occupying":
        return this.refusal(e.c, e.c.entity.exists, old);
      default:
    }
    if (e.c.number < 0 && e.c.action === "create") {
      return !old || this.expired(e.c.entity, old) ? new Again() : this.replay(e, old);
    }
    return this.refusedItself(e, old);
  }

  /** The error of a change that its own item refused. It is Again where the item fulfils all that the change asks. */
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
    return holds ? new Again() : this.declared(c, old, "Refused");
  }

  /** The first declared error whose condition holds for the item that refused. */
  private declared(c: Change, old: Item | undefined, otherwise: string): TableError {
    const found = c.refusals.find((x) => !x.when || x.when.holds(old, c.inputs));
    return this.refusal(c, found?.err ?? otherwise, old);
  }

  private refusal(c: Change, name: string, old: Item | undefined): Refusal {
    const { codes, message } = this.call.declared(name);
    const stepName = this.r.w.steps[c.number]?.name ?? "";
    return new Refusal(this.r.w.pattern, c.number, stepName, c.line, codes, message, old);
  }

  /** Answers a repetition by the record of the first request. */
  private replay(e: Effect, old: Item): unknown {
    const v = e.c.entity.valuesOf(old);
    const idempotent = this.r.w.idempotent!;
    if (idempotent.request.length > 0 && !equal(v[requestField], e.c.values[requestField])) {
      return this.refusal(e.c, idempotent.reused, old);
    }
    return new Replayed(v);
  }
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

/** How many counters stand behind each other for an entity's items. */
function countDepth(e: Entity, above: number): number {
  return above >= maxCountDepth ? above : Math.max(above, ...e.counts.map((c) => countDepth(c.entity, above + 1)));
}
