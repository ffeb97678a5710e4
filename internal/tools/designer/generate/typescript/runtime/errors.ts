// What patterns fail with. Every error of this folder is a TableError and has a code; all others are the SDK's own.

/** The codes that every design has. A design's own errors are further ones. */
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

/** An error of a pattern. `codes` has its code, and the one that it is a case of: OrderNotFound, NotFound. */
export class TableError extends Error {
  readonly code: string;
  readonly codes: readonly string[];
  /** Of a write of a tx, its place among the writes, from 0. */
  txWrite: number | undefined = undefined;

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
  /** What the design calls the step; "" where it has no name. */
  readonly stepName: string;
  /** The line, from 0, of a step for each line; -1 otherwise. */
  readonly line: number;
  /** The item as it was, in DynamoDB's own form; undefined where there was none. */
  readonly old: object | undefined;

  constructor(pattern: string, step: number, stepName: string, line: number, codes: readonly string[], message: string, old: object | undefined) {
    super(codes, `${pattern}${stepName && `, ${stepName}`}${line >= 0 ? `, line ${line + 1}` : ""}: ${message}`);
    this.pattern = pattern;
    this.step = step;
    this.stepName = stepName;
    this.line = line;
    this.old = old;
  }
}

/** Says which lines of a batch are not known to be done. All others are, and a line may be given again. */
export class UnfinishedError extends TableError {
  /** From 0, in their order. */
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

/** An error of one of the writes that are made as a whole: named makes it the error itself. place is for the write of a tx. */
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

/** An error with the name of the pattern before its message. Those of the SDK stay as they are. */
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
