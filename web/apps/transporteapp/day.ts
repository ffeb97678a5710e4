/** Days, periods and lanes for the board; independent of the API and the page. */

export interface Span {
  from: number;
  to: number;
}

export const hour = 3_600_000;

/** The start of the reader's day, a number of days away. */
export function startOfDay(at: number | Date, days = 0): Date {
  const d = new Date(at);
  return new Date(d.getFullYear(), d.getMonth(), d.getDate() + days);
}

/** A day as used in addresses: 2026-11-23. */
export function dayKey(d: Date): string {
  return `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, "0")}-${String(d.getDate()).padStart(2, "0")}`;
}

/** The day of an address, or today. */
export function dayOf(key: string | null): Date {
  const [, y, m, d] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(key ?? "") ?? [];
  const found = y ? new Date(Number(y), Number(m) - 1, Number(d)) : new Date(NaN);
  return startOfDay(Number.isNaN(found.getTime()) ? Date.now() : found);
}

/** The value of a datetime-local field. */
export function localInput(at: Date): string {
  return `${dayKey(at)}T${String(at.getHours()).padStart(2, "0")}:${String(at.getMinutes()).padStart(2, "0")}`;
}

/** Whether two periods overlap; one may begin when another ends, as in the service. */
export function overlaps(a: Span, b: Span): boolean {
  return a.from === b.from || (a.from < b.to && b.from < a.to);
}

/** The position of a span in a window, in percent; undefined if outside. */
export function place(span: Span, window: Span): { left: number; width: number; before: boolean; after: boolean } | undefined {
  const from = Math.max(span.from, window.from);
  const to = Math.min(Math.max(span.to, span.from + hour / 4), window.to);
  if (to <= from) {
    return undefined;
  }
  const whole = window.to - window.from;
  return { left: ((from - window.from) / whole) * 100, width: ((to - from) / whole) * 100, before: span.from < window.from, after: span.to > window.to };
}

/** Assigns overlapping spans to separate lanes. */
export function lanes<T extends Span>(spans: readonly T[]): T[][] {
  const made: T[][] = [];
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const free = made.find((lane) => !lane.some((other) => overlaps(other, span)));
    if (free) free.push(span);
    else made.push([span]);
  }
  return made;
}
