// A call of a write: its input, and the changes of its steps.

import { createHash } from "node:crypto";
import type { Call } from "./call.js";
import type { Change, LinkedParam, Write } from "./change.js";
import type { Kind } from "./descriptor.js";
import type { Entity } from "./entity.js";
import { WriteFault, builtin, missing } from "./errors.js";
import { Ids } from "./ids.js";
import type { Bytes } from "./keytext.js";
import type { Input } from "./source.js";
import { Occurrence, lineName } from "./step.js";
import { distinct, requestField } from "./transaction.js";
import { type LinkedField, checkValue, collection, nowAs } from "./types.js";
import { type AttributeValue, type Values, bare, canonical, sizedText } from "./values.js";

/** One call of a write. It is the same in all attempts, so that generated IDs do not change. */
export class Writing {
  readonly call: Call;
  readonly w: Write;
  readonly input: Input;
  readonly lines: Values[];
  /** Its index among the writes of a tx. */
  readonly place: number | undefined;
  readonly changes: Change[] = [];
  private readonly ids: Ids;

  constructor(call: Call, w: Write, input: Input, place?: number) {
    this.call = call;
    this.w = w;
    this.input = input;
    this.place = place;
    this.lines = input.lines ?? [];
    this.ids = new Ids(call.now, call.env.newID);
    this.checkLines();
    this.checkParams();
    for (const [i, step] of w.steps.entries()) {
      if (!step.each) {
        this.changes.push(new Occurrence(this, step, i, -1).change());
        continue;
      }
      this.lines.forEach((_, line) => this.changes.push(new Occurrence(this, step, i, line).change()));
    }
    if (w.idempotent) {
      this.changes.unshift(this.record());
    }
    distinct(this.changes);
  }

  newID(kind: Kind): AttributeValue {
    return { S: this.ids.make(kind) };
  }

  private checkLines(): void {
    const n = this.lines.length;
    if (!this.w.lines && n > 0) {
      throw builtin("Lines", `: the write takes none, but got ${n}`);
    }
    if (this.w.lines && n === 0) {
      throw builtin("Lines", ": there are none");
    }
    if (this.w.maxLines && n > this.w.maxLines) {
      throw builtin("Lines", `: there are ${n}, but the write takes at most ${this.w.maxLines}`);
    }
  }

  private checkParams(): void {
    for (const p of this.w.params) {
      checkParam(p, p.name, this.input.values[p.name]);
    }
    this.lines.forEach((line, n) => {
      for (const p of this.w.lineParams) {
        checkParam(p, lineName(n, p.name), line[p.name]);
      }
    });
  }

  /** An error of this write, one of several in a transaction. */
  fault(err: unknown): WriteFault {
    return err instanceof WriteFault ? err : new WriteFault(this.w.pattern, this.place, err);
  }

  /** The step's name in the design, otherwise its number. */
  step(c: Change): string {
    return c.number < 0 ? "0, the idempotency record," : this.w.steps[c.number]!.name || String(c.number + 1);
  }

  /** Equal for calls of one write with the same input. */
  canonical(): Bytes {
    return canonical({ M: this.input.values }) + canonical({ L: this.lines.map((line) => ({ M: line })) });
  }

  /** The creation of the idempotency record. */
  private record(): Change {
    const e = this.w.idempotent!.record;
    try {
      const unique = this.uniqueFields();
      const values: Values = bare();
      for (const f of e.fields) {
        const v = this.recorded(e, f, unique);
        if (v !== undefined) {
          values[f.name] = v;
        }
      }
      e.check(values);
      return {
        of: this, number: -1, line: -1, action: "create", refusedAs: "create", entity: e, values, primary: e.keyOf(e.key, values), assigned: [],
        when: undefined, refusals: [], inputs: { values: this.input.values, now: this.call.now }, pinned: bare(),
      };
    } catch (err) {
      if (err instanceof Error) {
        err.message = `idempotency record: ${err.message}`;
      }
      throw err;
    }
  }

  /** Fields of the write's unique items: all fields of created ones, otherwise those of their keys. */
  private uniqueFields(): Values {
    let out: Values = bare();
    for (const creates of [true, false]) {
      for (const c of this.changes) {
        if (c.line < 0 && creates === (c.action === "create" || c.action === "put")) {
          out = bare(c.values, out);
        }
      }
    }
    return out;
  }

  private recorded(e: Entity, f: LinkedField, unique: Values): AttributeValue | undefined {
    if (f.name === requestField) {
      return { S: this.fingerprint() };
    }
    const given = this.input.values[f.name] ?? unique[f.name];
    if (given !== undefined) {
      return given;
    }
    if (e.ttl?.field === f.name && e.ttl.after) {
      return nowAs(f.type.kind, f.name, this.call.now + e.ttl.after);
    }
    if (f.type.kind === "time" || f.type.kind === "date") {
      return nowAs(f.type.kind, f.name, this.call.now);
    }
    if (f.optional || f.counter || collection(f.type.kind)) {
      return undefined;
    }
    throw missing(f.name);
  }

  /** Equal for requests of one write with the same inputs, as far as the design compares them. */
  fingerprint(): string {
    let b = sizedText(this.w.pattern);
    for (const name of this.w.idempotent!.request) {
      const v = name === "lines" ? { L: this.lines.map((line) => ({ M: line })) } : this.input.values[name];
      b += sizedText(name) + canonical(v);
    }
    return createHash("sha256").update(Buffer.from(b, "latin1")).digest("hex");
  }
}

function checkParam(p: LinkedParam, name: string, v: AttributeValue | undefined): void {
  if (p.removable && v?.NULL !== undefined) {
    return;
  }
  if (v !== undefined) {
    checkValue(p.type, name, v, p.minBytes, p.maxBytes);
  } else if (!p.optional && !collection(p.type.kind)) {
    throw missing(name);
  }
}
