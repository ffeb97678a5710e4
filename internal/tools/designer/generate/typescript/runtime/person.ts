// The export and the erasure of the items of a person.

import type { Call, CallOptions } from "./call.js";
import type { Write } from "./change.js";
import { decodeAll } from "./codec.js";
import type { Entity } from "./entity.js";
import { TableError, builtin, named } from "./errors.js";
import { compareTexts } from "./keytext.js";
import { type Read, page, pages } from "./read.js";
import type { Input } from "./source.js";
import type { LinkedField, LinkedType } from "./types.js";
import { type AttributeValue, type Values, at, bare } from "./values.js";
import { write } from "./write.js";

/** A way to items of a person, whose descriptor is linked. */
export interface Part {
  entity: Entity;
  field: string | undefined;
  read: Read | undefined;
  erase: Write | undefined;
  others: boolean;
  parts: Part[];
}

/** Makes the calls of patterns, and tells the observer of each. */
export interface Runner {
  /** Whether there are cursors. */
  readonly paged: boolean;
  call<T>(pattern: string, o: CallOptions, run: (call: Call) => Promise<T>): Promise<T>;
  walk<T>(pattern: string, o: CallOptions, run: (call: Call) => AsyncIterable<T>): AsyncGenerator<T, void, undefined>;
}

/** What erasePerson did, by the names of entities. */
export interface Erased {
  deleted: { [entity: string]: number };
  changed: { [entity: string]: number };
  /** The items that stay as they are, by the design. */
  kept: { [entity: string]: number };
}

/** Which items of a person are not deleted. */
export interface Kept {
  entity: string;
  /** Why they are kept; "" where they expire. */
  reason: string;
  /** Whether they are kept without some of their fields. */
  changed: boolean;
  /** Whether they stay until their time is over. */
  expires: boolean;
}

/** An item of a person. */
export class PersonItem {
  readonly entity: string;
  /** Continues an export with the page that the item is on, so that some items come again; "" where there is no cursorKey. */
  readonly resume: string;
  readonly #of: Entity;
  readonly #values: Values;

  constructor(of: Entity, values: Values, resume: string) {
    this.entity = of.name;
    this.resume = resume;
    this.#of = of;
    this.#values = values;
  }

  /** The item itself. One that is not as the design has it is a DecodeError; json writes it as it is stored. */
  get value(): object {
    return decodeAll(this.#of.name, this.#of.fields, this.#values);
  }

  /** The item as JSON: {"entity": …, "item": {…}}, with the fields by their names in the design, times as RFC 3339, and without secrets. */
  json(): string {
    return `{"entity":${JSON.stringify(this.entity)},"item":${jsonOfFields(this.#of.fields, (f) => this.#values[f.name])}}`;
  }
}

const maxErasePasses = 8;
const firstErasePause = 20;

function only(p: Part, id: string): Input {
  return { values: bare(p.field ? { [p.field]: { S: id } } : {}) };
}

/** Walks all items that are a person's own, and what belongs to them. Nothing is asked before it is needed. */
export async function* exportPerson(runner: Runner, parts: readonly Part[], id: string, after: string, o: CallOptions): AsyncGenerator<PersonItem, void, undefined> {
  const found = /^([0-9]+)\.(.*)$/s.exec(after || "0.");
  const first = Number(found?.[1]);
  let cursor = found?.[2] ?? "";
  if (!found || (after !== "" && first >= parts.length)) {
    throw named("export", builtin("Cursor"));
  }
  for (const [n, part] of parts.entries()) {
    const r = part.read;
    if (n < first || !r || part.others) {
      continue;
    }
    if (!runner.paged) {
      yield* walked(runner, part, only(part, id), o);
      continue;
    }
    do {
      const { items, next } = await runner.call(r.pattern, o, (call) => page(call, r, only(part, id), { after: cursor }));
      yield* exported(runner, part, items, `${n}.${cursor}`, o);
      cursor = next;
    } while (cursor !== "");
  }
}

/** Exports what a part finds. */
async function* walked(runner: Runner, part: Part, input: Input, o: CallOptions, resume = ""): AsyncGenerator<PersonItem, void, undefined> {
  const r = part.read!;
  for await (const items of runner.walk(r.pattern, o, (call) => pages(call, r, input))) {
    yield* exported(runner, part, items, resume, o);
  }
}

/** Exports items with what belongs to them. */
async function* exported(runner: Runner, part: Part, items: readonly Values[], resume: string, o: CallOptions): AsyncGenerator<PersonItem, void, undefined> {
  for (const v of items) {
    yield new PersonItem(part.entity, v, resume);
    for (const below of part.parts) {
      if (below.read && !below.others) {
        yield* walked(runner, below, { values: v }, o, resume);
      }
    }
  }
}

/**
 * Deletes the items of a person, or changes those that are kept: what belongs to an item before the item, the person's own item last.
 * It looks again until it finds nothing, and may be repeated, for it continues by finding what is left.
 */
export async function erasePerson(runner: Runner, parts: readonly Part[], id: string, pause: (ms: number) => Promise<void>, o: CallOptions): Promise<Erased> {
  const eraser = new Eraser(runner, o);
  for (let pass = 0; pass < maxErasePasses; pass++) {
    [eraser.first, eraser.found] = [pass === 0, 0];
    for (const part of parts) {
      await eraser.part(part, only(part, id));
    }
    if (eraser.found === 0) {
      return eraser.done;
    }
    await pause(firstErasePause * 2 ** pass);
  }
  throw named("erase", builtin("StillWritten", `, in each of ${maxErasePasses} passes`));
}

class Eraser {
  readonly done: Erased = { deleted: {}, changed: {}, kept: {} };
  first = true; // in the first pass
  found = 0; // in this pass, of what is to go
  private readonly runner: Runner;
  private readonly o: CallOptions;

  constructor(runner: Runner, o: CallOptions) {
    this.runner = runner;
    this.o = o;
  }

  async part(part: Part, input: Input): Promise<void> {
    const r = part.read;
    if (!r) {
      return;
    }
    for await (const items of this.runner.walk(r.pattern, this.o, (call) => pages(call, r, input))) {
      await this.page(part, items, input);
    }
  }

  private async page(part: Part, items: Values[], input: Input): Promise<void> {
    await this.below(part, items);
    const w = part.erase;
    if (!w) {
      this.count("kept", part, this.first ? items.length : 0);
      return;
    }
    if (w.batch && items.length > 0) {
      await this.write(w, { values: bare(), lines: items });
      this.found += items.length;
      this.count("deleted", part, items.length);
    } else {
      for (const v of items) {
        await this.one(part, w, v, input);
      }
    }
    if (w.steps[0]!.action === "delete") {
      await this.below(part, items); // it may have been written just before they went
    }
  }

  private async below(part: Part, items: readonly Values[]): Promise<void> {
    for (const v of items) {
      for (const below of part.parts) {
        await this.part(below, { values: v });
      }
    }
  }

  /** Erases one item. One that is gone, or is no longer the person's, is nothing to do. */
  private async one(part: Part, w: Write, v: Values, input: Input): Promise<void> {
    const step = w.steps[0]!;
    const deletes = step.action === "delete";
    const names = [...(step.set ?? []).map((a) => a.path[0]), ...(step.remove ?? []).map((path) => path[0])];
    const released = deletes || names.includes(part.field ?? "");
    if (!released && !this.first) {
      return;
    }
    try {
      await this.write(w, { values: bare(v, part.field ? { [part.field]: input.values[part.field]! } : {}) });
    } catch (err) {
      if (err instanceof TableError && (err.is("NotFound") || err.is("Refused"))) {
        return;
      }
      throw err;
    }
    this.found += released ? 1 : 0;
    this.count(deletes ? "deleted" : "changed", part, 1);
  }

  private async write(w: Write, input: Input): Promise<void> {
    await this.runner.call(w.pattern, this.o, (call) => write(call, w, input));
  }

  private count(what: keyof Erased, part: Part, n: number): void {
    if (n > 0) {
      this.done[what][part.entity.name] = (this.done[what][part.entity.name] ?? 0) + n;
    }
  }
}

/** Fields as an object of JSON, in their order. Secrets and absent fields are left out. */
function jsonOfFields(fields: readonly LinkedField[], value: (f: LinkedField) => AttributeValue | undefined): string {
  return `{${fields.flatMap((f) => {
    const v = f.type.kind === "secret" ? undefined : value(f);
    return v === undefined ? [] : [`${JSON.stringify(f.name)}:${jsonOf(f.type, v)}`];
  }).join(",")}}`;
}

/** A value of a type as JSON; of what the type does not know, as it is stored. */
function jsonOf(t: LinkedType | undefined, v: AttributeValue): string {
  const base64 = (b: Uint8Array): string => JSON.stringify(Buffer.from(b).toString("base64"));
  if (v.S !== undefined) return JSON.stringify(v.S);
  if (v.N !== undefined) {
    const at = new Date(Number(v.N) * 1000);
    return t?.kind === "ttl" && !Number.isNaN(at.getTime()) ? JSON.stringify(at.toISOString()) : v.N;
  }
  if (v.BOOL !== undefined) return String(v.BOOL);
  if (v.B !== undefined) return base64(v.B);
  if (v.SS !== undefined) return JSON.stringify(v.SS);
  if (v.NS !== undefined) return `[${v.NS.join(",")}]`;
  if (v.BS !== undefined) return `[${v.BS.map(base64).join(",")}]`;
  if (v.L !== undefined) return `[${v.L.map((e) => jsonOf(t?.elem, e)).join(",")}]`;
  if (v.M !== undefined) {
    const m = v.M;
    if (t?.fields) {
      return jsonOfFields(t.fields, (f) => at(m, f.path));
    }
    return `{${Object.keys(m).sort(compareTexts).map((name) => `${JSON.stringify(name)}:${jsonOf(t?.elem, m[name]!)}`).join(",")}}`;
  }
  return "null";
}
