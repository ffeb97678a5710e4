// The errors of patterns. Every error of this directory is a TableError and has a code; all others come from the SDK.

import type { Item } from "./values.js";

/** The codes of every design. A design may declare more. */
export type BuiltinCode = "NotFound" | "Exists" | "Conflict" | "Cursor" | "Reused" | "Refused" | "Overlap" | "Lines" | "Unfinished" | "StillWritten" | "Value" | "Decode" | "Config";

const sentences: { [code in BuiltinCode]: string } = {
  NotFound: "not found",
  Exists: "already exists",
  Conflict: "conflicts with other writes",
  Cursor: "invalid cursor",
  Reused: "request key was used with another request",
  Refused: "condition does not hold",
  Overlap: "writes touch the same item",
  Lines: "invalid lines",
  Unfinished: "lines may not be done",
  StillWritten: "items of the person are still being written",
  Value: "invalid value",
  Decode: "invalid stored value",
  Config: "invalid configuration",
};

/** An error of a pattern. `codes` has its code, and the more general one that it specializes: OrderNotFound, NotFound. */
export class TableError extends Error {
  readonly code: string;
  readonly codes: readonly string[];
  /** The index of the write in a tx, from 0. */
  txWrite: number | undefined = undefined;

  constructor(codes: readonly string[], message: string) {
    super(message);
    this.name = new.target.name;
    this.code = codes[0] ?? "";
    this.codes = codes;
  }

  /** Whether the error has a code, or specializes it. */
  is(code: string): boolean {
    return this.codes.includes(code);
  }
}

/** Whether an error is a TableError with a code: isError(err, "NotFound"). */
export function isError<C extends string = BuiltinCode>(err: unknown, code: C): err is TableError {
  return err instanceof TableError && err.is(code);
}

/** An error with a builtin code and a detailed message. */
export function builtin(code: BuiltinCode, more = ""): TableError {
  return new TableError([code], sentences[code] + more);
}

/** An error that a design declares: its code, its message and the builtin code that it specializes. */
export interface Declared {
  message: string;
  wraps?: string;
}

/** The codes and the message of a declared error, or of a builtin one. */
export function declared(errors: { [name: string]: Declared }, name: string): { codes: string[]; message: string } {
  const found = Object.hasOwn(errors, name) ? errors[name] : undefined;
  const code = name.replace(/^Err/, "");
  if (found === undefined) {
    return { codes: [code], message: sentences[code as BuiltinCode] ?? code };
  }
  if (!found.wraps) {
    return { codes: [code], message: found.message };
  }
  const of = found.wraps.replace(/^Err/, "");
  return { codes: [code, of], message: `${found.message}: ${sentences[of as BuiltinCode] ?? of}` };
}

/** An input value of the wrong type. */
export class ValueError extends TableError {
  /** With a path into it: address.city, lines[2].price. */
  readonly field: string;
  readonly reason: string;

  constructor(field: string, reason: string) {
    super(["Value"], `${field} ${reason}`);
    this.field = field;
    this.reason = reason;
  }
}

/** A missing required value. */
export function missing(field: string): ValueError {
  return new ValueError(field, "is missing");
}

/** A stored value of the wrong type, or a missing one: another program wrote it, or the design has changed. */
export class DecodeError extends TableError {
  readonly field: string;
  readonly reason: string;

  constructor(field: string, reason: string) {
    super(["Decode"], `stored ${field} ${reason}`);
    this.field = field;
    this.reason = reason;
  }
}

/** A rejected step of a write. Its code is the one that the design declares, or the entity's NotFound or Exists. */
export class Refusal extends TableError {
  readonly pattern: string;
  /** The number of the step, from 0; -1 for the idempotency record. */
  readonly step: number;
  /** The step's name in the design; "" if it has none. */
  readonly stepName: string;
  /** The line of a step that runs per line, from 0; -1 otherwise. */
  readonly line: number;
  /** The item as it was, in DynamoDB's format; undefined if there was none. */
  readonly old: Item | undefined;

  constructor(pattern: string, step: number, stepName: string, line: number, codes: readonly string[], message: string, old: Item | undefined) {
    super(codes, `${pattern}${stepName && `, ${stepName}`}${line >= 0 ? `, line ${line + 1}` : ""}: ${message}`);
    this.pattern = pattern;
    this.step = step;
    this.stepName = stepName;
    this.line = line;
    this.old = old;
  }
}

/** Reports the lines of a batch that may not be done. All others are done, and a line may be repeated. */
export class UnfinishedError extends TableError {
  /** Starting from 0, in ascending order. */
  readonly lines: readonly number[];
  /** Why they are not done. */
  override readonly cause: unknown;

  constructor(lines: readonly number[], cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(["Unfinished"], `${lines.length} lines may not be done, starting with line ${lines[0]! + 1}: ${why}`);
    this.lines = lines;
    this.cause = cause;
  }
}

/** The error of one of several writes in a transaction. place is the index of the write in a tx. */
export class WriteFault extends Error {
  readonly pattern: string;
  readonly place: number | undefined;
  override readonly cause: unknown;

  constructor(pattern: string, place: number | undefined, cause: unknown) {
    super("a fault of a write");
    this.pattern = pattern;
    this.place = place;
    this.cause = cause;
  }
}

/** Adds the pattern's name to the message of an error. Errors of the SDK are not changed. */
export function named(pattern: string, err: unknown): unknown {
  if (err instanceof WriteFault) {
    const cause = named(err.pattern, err.cause);
    if (cause instanceof TableError) {
      cause.txWrite = err.place;
    }
    return cause;
  }
  if (err instanceof Refusal) {
    return err;
  }
  if (err instanceof TableError || (err instanceof Error && err.constructor === Error)) {
    err.message = `${pattern}: ${err.message}`;
  }
  return err;
}
