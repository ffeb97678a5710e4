// Walks over the partitions of periods, from bound to bound.

import type { KeyAttribute } from "./descriptor.js";
import { ValueError, builtin } from "./errors.js";
import { ofTime, parseTime } from "./keytext.js";
import type { Read } from "./read.js";
import type { Input, Source } from "./source.js";
import { type AttributeValue, type Item, type Values, bare } from "./values.js";

/** The range of a walk: the periods of a |date layout between bounds of a field. */
export interface Over {
  layout: string;
  field: string;
  /** The maximum number of periods between the bounds; of an open walk, whose bounds are optional, the maximum per page. */
  maxBuckets: number;
  open: boolean;
}

/** The partitions of a period, with its start. */
export interface Period {
  at: string;
  partitions: Item[];
}

/**
 * The partitions of the periods from bound to bound, period by period in reading order. They are created when they are needed: an
 * open walk may have very many.
 */
export class Walk {
  ended: boolean;
  /** How many partitions each period has. */
  readonly shards: number;
  private next: number; // the start of the next period
  private readonly last: number;
  private readonly source: Source;
  private readonly over: Over;
  private readonly values: Values;
  private readonly keys: readonly (readonly KeyAttribute[])[];

  /** Starts at the period of another walk's position; "" is the first one. */
  constructor(source: Source, over: Over, keys: readonly (readonly KeyAttribute[])[], input: Input, at: string) {
    this.source = source;
    this.over = over;
    this.values = input.values;
    this.keys = keys;
    this.shards = keys.length;
    const [from, to] = [bound(input.from, over.field), bound(input.to, over.field)];
    this.ended = from > to;
    [this.next, this.last] = [period(from, over.layout, 0), period(to, over.layout, 0)];
    if (!over.open && !this.ended) {
      let n = 0;
      for (let next = this.next; next <= this.last; next = period(next, over.layout, 1)) {
        if (++n > over.maxBuckets) {
          throw new ValueError(over.field, `has bounds that are more than ${over.maxBuckets} partitions apart`);
        }
      }
    }
    if (source.o.reverse) {
      [this.next, this.last] = [this.last, this.next];
    }
    if (at !== "") {
      const start = parseTime(at);
      if (start === undefined) {
        throw builtin("Cursor");
      }
      this.next = start;
    }
  }

  /** The next period; undefined at the end. */
  step(): Period | undefined {
    if (this.ended) {
      return undefined;
    }
    const { field, layout } = this.over;
    const at = timeText(this.next, field);
    const v = bare(this.values, { [field]: { S: at } });
    const partitions = this.keys.map((key) => this.source.o.entity.keyOf(key, v));
    this.ended = this.next === this.last;
    if (!this.ended) {
      this.next = period(this.next, layout, this.source.o.reverse ? -1 : 1);
    }
    return { at, partitions };
  }
}

function bound(v: AttributeValue | undefined, field: string): number {
  if (v?.S === undefined) {
    throw new ValueError(field, "needs both bounds");
  }
  const at = parseTime(v.S);
  if (at === undefined) {
    throw new ValueError(field, `${JSON.stringify(v.S)} is not a time: write 2024-01-15T10:00:00.000Z`);
  }
  return at;
}

function timeText(at: number, field: string): string {
  const text = ofTime(at);
  if (text === undefined) {
    throw new ValueError(field, "is outside the years 0000 to 9999");
  }
  return text;
}

/** The start of a time's period, or of an earlier one, in milliseconds; NaN outside the years of four digits. */
function period(at: number, layout: string, following: number): number {
  const monthly = layout === "yyyy-MM";
  if (!monthly && layout !== "yyyy") {
    const unit = layout === "yyyy-MM-dd" ? 86_400_000 : 3_600_000;
    return (Math.floor(at / unit) + following) * unit;
  }
  const text = ofTime(at) ?? "";
  const months = 12 * Number(text.slice(0, 4)) + (monthly ? Number(text.slice(5, 7)) - 1 + following : 12 * following);
  const [year, month] = [Math.floor(months / 12), (months % 12) + 1].map((n) => String(n).padStart(2, "0")) as [string, string];
  return parseTime(`${year.padStart(4, "0")}-${month}-01T00:00:00.000Z`) ?? Number.NaN;
}

/** Sets the default bounds of a read with optional bounds: from its floor to now. Nothing before the floor is ever found. */
export function since(r: Read, input: Input, now: number): Input {
  if (!isOpen(r)) {
    return input;
  }
  const floor = r.back ? timeText(now - r.back, r.range ?? "") : r.since!;
  const { from, to } = input;
  return {
    ...input,
    from: from === undefined || (from.S !== undefined && from.S < floor) ? { S: floor } : from,
    to: to ?? { S: timeText(now, r.range ?? "") },
  };
}

/** Whether a walk's bounds are optional. */
export function isOpen(r: Read): boolean {
  return Boolean(r.since ?? r.back);
}
