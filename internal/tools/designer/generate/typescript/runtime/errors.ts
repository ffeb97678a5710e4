// What patterns fail with. Every error of this folder is a TableError and has a code; all others are the SDK's own.

/** The codes that every design has. A design's own errors are further ones. */
export type BuiltinCode = "NotFound" | "Exists" | "Conflict" | "Cursor" | "Reused" | "Refused" | "Lines" | "Value" | "Decode" | "Config";

const sentences: { [code in BuiltinCode]: string } = {
  NotFound: "not found",
  Exists: "already exists",
  Conflict: "conflicts with other writes",
  Cursor: "invalid cursor",
  Reused: "request key was used with another request",
  Refused: "condition does not hold",
  Lines: "invalid lines",
  Value: "invalid value",
  Decode: "invalid stored value",
  Config: "invalid configuration",
};

/** An error of a pattern. `codes` has its code, and the one that it is a case of: OrderNotFound, NotFound. */
export class TableError extends Error {
  readonly code: string;
  readonly codes: readonly string[];

  constructor(codes: readonly string[], message: string) {
    super(message);
    this.name = new.target.name;
    this.code = codes[0] ?? "";
    this.codes = codes;
  }

  /** Whether the error has a code, or is a case of it. */
  is(code: string): boolean {
    return this.codes.includes(code);
  }
}

/** Whether an error is a TableError with a code: isError(err, "NotFound"). */
export function isError<C extends string = BuiltinCode>(err: unknown, code: C): err is TableError {
  return err instanceof TableError && err.is(code);
}

/** An error of a builtin code, with more to say. */
export function builtin(code: BuiltinCode, more = ""): TableError {
  return new TableError([code], sentences[code] + more);
}

/** An error that a design declares: its code, its own sentence and the builtin code of which it is a case. */
export interface Declared {
  message: string;
  wraps?: string;
}

/** The codes and the sentence of a declared error, or of a builtin one. */
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

/** A value of an input that is not of its field's type. */
export class ValueError extends TableError {
  /** With steps into it: address.city, lines[2].price. */
  readonly field: string;
  readonly reason: string;

  constructor(field: string, reason: string) {
    super(["Value"], `${field} ${reason}`);
    this.field = field;
    this.reason = reason;
  }
}

/** A required value that is not there. */
export function missing(field: string): ValueError {
  return new ValueError(field, "is missing");
}

/** A stored value that is not of its field's type, or is missing: another program wrote it, or the design has changed. */
export class DecodeError extends TableError {
  readonly field: string;
  readonly reason: string;

  constructor(field: string, reason: string) {
    super(["Decode"], `stored ${field} ${reason}`);
    this.field = field;
    this.reason = reason;
  }
}

/** The refusal of a step of a write. Its code is what the design declares, or the entity's NotFound or Exists. */
export class Refusal extends TableError {
  readonly pattern: string;
  /** The number of the step, from 0; -1 for the idempotency record. */
  readonly step: number;
  /** The line, from 0, of a step for each line; -1 otherwise. */
  readonly line: number;
  /** The item as it was, in DynamoDB's own form; undefined where there was none. */
  readonly old: object | undefined;

  constructor(pattern: string, step: number, line: number, codes: readonly string[], message: string, old: object | undefined) {
    super(codes, line >= 0 ? `${pattern}, line ${line + 1}: ${message}` : `${pattern}: ${message}`);
    this.pattern = pattern;
    this.step = step;
    this.line = line;
    this.old = old;
  }
}

/** An error with the name of the pattern before its message. Those of the SDK stay as they are. */
export function named(pattern: string, err: unknown): unknown {
  if (err instanceof Refusal) {
    return err;
  }
  if (err instanceof TableError || (err instanceof Error && err.constructor === Error)) {
    err.message = `${pattern}: ${err.message}`;
  }
  return err;
}
