// Calls of writes in one transaction: one, or several that the caller has composed.

import { createHash } from "node:crypto";
import type { Call } from "./call.js";
import type { Change, Learned } from "./change.js";
import type { Table } from "./descriptor.js";
import { type Entity, fieldsOf, identity } from "./entity.js";
import { type TableError, ValueError, builtin } from "./errors.js";
import { compareBytes, compareTexts } from "./keytext.js";
import type { Operation } from "./operation.js";
import { type Item, own, sizedText } from "./values.js";
import type { Writing } from "./writing.js";

export const maxActions = 100;
/** The field of an idempotency record with the fingerprint of the request. */
export const requestField = "request";

/** Several calls are like one write with the steps of all: each condition is evaluated on the state before it. */
export class Transaction {
  readonly call: Call;
  readonly given: readonly Writing[];
  /** The given calls, sorted independently of their order, so that the outcome does not depend on it. */
  readonly writings: readonly Writing[];
  readonly learned: Learned = { foreign: new Set(), lost: new Set() };

  constructor(given: readonly Writing[]) {
    this.call = given[0]!.call;
    this.given = given;
    this.writings = given;
    if (given.length > 1) {
      const keyed = given.map((r) => ({ r, canonical: r.canonical() }));
      keyed.sort((a, b) => compareTexts(a.r.w.pattern, b.r.w.pattern) || compareBytes(a.canonical, b.canonical));
      this.writings = keyed.map((x) => x.r);
      this.fingerprint();
      distinct(this.changes());
    }
  }

  /** Whether each item is written separately, without a transaction. */
  get batch(): boolean {
    return this.writings[0]!.w.batch ?? false;
  }

  changes(): Change[] {
    return this.writings.flatMap((r) => r.changes);
  }

  /**
   * Makes idempotency records identify the whole transaction, not only one call: a repetition repeats all calls. Of a call
   * without a record, all inputs are compared.
   */
  private fingerprint(): void {
    let all = "";
    for (const r of this.writings) {
      const { idempotent, pattern } = r.w;
      if (idempotent && idempotent.request.length === 0) {
        throw r.fault(new Error("its record does not contain the request, so a transaction cannot recognise a retry: add request to idempotent"));
      }
      all += idempotent ? sizedText(r.fingerprint()) : sizedText(pattern) + r.canonical();
    }
    const sum = createHash("sha256").update(Buffer.from(all, "latin1")).digest("hex");
    for (const r of this.writings) {
      if (r.w.idempotent) {
        r.changes[0]!.values[requestField] = { S: sum };
      }
    }
  }

  /** The error of a transaction with too many operations: it counts them by kind. */
  tooMany(ops: readonly Operation[]): Error {
    const several = this.writings.length > 1;
    const counts = new Map<string, number>();
    for (const o of ops) {
      const noun = several ? `${o.of.c.of.w.pattern}'s ${o.noun}` : o.noun;
      counts.set(noun, (counts.get(noun) ?? 0) + 1);
    }
    const nouns = [...counts].map(([noun, n]) => `${n} × ${noun}`).join(", ");
    const what = `${several ? "the writes have" : "the write has"} ${ops.length} actions, but a transaction has at most ${maxActions}: ${nouns}`;
    return this.writings.some((r) => r.w.lines) ? builtin("Lines", `: ${what}`) : new Error(what);
  }
}

/** Rejects steps and lines for the same item. */
export function distinct(changes: readonly Change[]): void {
  const met = new Map<string, Change>();
  for (const c of changes) {
    const id = identity(c.entity.table, c.primary);
    const before = met.get(id);
    if (before) {
      throw twice(before, c, before.entity.name, c.entity.name, c.primary);
    }
    met.set(id, c);
  }
}

/** The error of two changes of one item, which a transaction does not allow. */
export function twice(a: Change, b: Change, first: string, second: string, item: Item): TableError {
  if (a.of !== b.of) {
    const [one, other] = [`${a.of.w.pattern} (${first})`, `${b.of.w.pattern} (${second})`];
    return builtin("Overlap", `: ${one} and ${other} touch item ${keyIn(b.entity.table, item)}`);
  }
  const what = second === first ? first : `${first}, ${second}`;
  if (a.line >= 0 && b.line >= 0 && a.line !== b.line) {
    return builtin("Lines", `: lines ${a.line + 1} and ${b.line + 1} touch one item (${what})`);
  }
  if (a.line >= 0 || b.line >= 0) {
    return builtin("Lines", `: line ${Math.max(a.line, b.line) + 1} touches the item of another step (${what})`);
  }
  return new ValueError(subject(b.entity), `makes steps ${a.of.step(a)} and ${b.of.step(b)} touch one item (${what}): a write can touch an item only once`);
}

function subject(e: Entity): string {
  return fieldsOf(e.key).join(", ") || e.name;
}

/** The primary key of an item, for messages. */
function keyIn(t: Table, item: Item): string {
  const parts: string[] = [];
  for (const name of [t.pk.name, ...(t.sk ? [t.sk.name] : [])]) {
    const v = own(item, name);
    if (v?.S !== undefined) {
      parts.push(`${name}: ${JSON.stringify(v.S)}`);
    } else if (v?.N !== undefined) {
      parts.push(`${name}: ${v.N}`);
    } else if (v?.B !== undefined) {
      parts.push(`${name}: ${Buffer.from(v.B).toString("hex")}`);
    }
  }
  return `{${parts.join(", ")}} of ${t.name}`;
}
