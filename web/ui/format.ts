import { locale } from "./words.ts";

const made = new Map<string, unknown>();

/** Formatters are expensive to create, so they are cached by locale and options. */
function once<T>(key: string, options: object, make: (locale: string) => T): T {
  const name = `${key} ${locale.value} ${JSON.stringify(options)}`;
  let found = made.get(name) as T | undefined;
  if (found === undefined) {
    found = make(locale.value);
    made.set(name, found);
  }
  return found;
}

export function number(value: number, options: Intl.NumberFormatOptions = {}): string {
  return once("number", options, (l) => new Intl.NumberFormat(l, options)).format(value);
}

export function percent(share: number): string {
  return number(share, { style: "percent", maximumFractionDigits: 0 });
}

/** Formats money given as decimal text, as in the APIs, without rounding. */
export function money(amount: string | number, currency: string): string {
  const options: Intl.NumberFormatOptions = { style: "currency", currency };
  return once("number", options, (l) => new Intl.NumberFormat(l, options)).format(amount as Intl.StringNumericLiteral);
}

type When = string | number | Date;

export function dateTime(at: When, options: Intl.DateTimeFormatOptions = { dateStyle: "medium", timeStyle: "short" }): string {
  return once("date", options, (l) => new Intl.DateTimeFormat(l, options)).format(new Date(at));
}

/** Formats a day. A text with a day only, 2026-11-23, is that day in any time zone. */
export function day(at: When, options: Intl.DateTimeFormatOptions = { dateStyle: "medium" }): string {
  const alone = typeof at === "string" && /^\d{4}-\d\d-\d\d$/.test(at);
  return dateTime(at, alone ? { ...options, timeZone: "UTC" } : options);
}

export function time(at: When): string {
  return dateTime(at, { timeStyle: "short" });
}

const units: [Intl.RelativeTimeFormatUnit, number][] = [["year", 31_536_000], ["month", 2_592_000], ["day", 86_400], ["hour", 3600], ["minute", 60]];

/** "3 hours ago", "in 2 days". */
export function relative(at: When, now: When = Date.now()): string {
  const seconds = (new Date(at).getTime() - new Date(now).getTime()) / 1000;
  const options: Intl.RelativeTimeFormatOptions = { numeric: "auto" };
  const format = once("relative", options, (l) => new Intl.RelativeTimeFormat(l, options));
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) {
      return format.format(Math.round(seconds / length), unit);
    }
  }
  return format.format(0, "second");
}

/** "Ana, Luis and Eva". */
export function list(items: readonly string[], type: "conjunction" | "disjunction" = "conjunction"): string {
  return once("list", { type }, (l) => new Intl.ListFormat(l, { type })).format(items);
}

/** Compares texts by the language's collation. */
export function compare(a: string, b: string): number {
  return once("collator", {}, (l) => new Intl.Collator(l, { sensitivity: "base", numeric: true })).compare(a, b);
}
