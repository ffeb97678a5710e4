// The display of values and keys, and of the states of backups and transfers.
import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import { Badge, Button, type Tone, format } from "#ui";
import { type Item, type Value, brief, inner, isSet, short, typeOf } from "./value.ts";
import { t } from "./words.ts";

const cellMax = 160; // characters of a value in a table: no column shows more

/** A value in a cell. */
export function Cell({ value }: { value: Value | undefined }) {
  if (!value) {
    return <span class="absent" aria-label={t("value.absent")}>–</span>;
  }
  const type = typeOf(value);
  const text = brief(value, cellMax);
  return <span class={`value ${type}`} title={text.length > 40 ? text : undefined}>{text === "" ? <i class="muted">{t("value.empty")}</i> : text}</span>;
}

/** The parts of a composite key. */
export function KeyText({ value }: { value: Value | undefined }) {
  if (!value) {
    return <Cell value={value} />;
  }
  if (!("S" in value) || !value.S.includes("#")) {
    return <span class="key">{short(value)}</span>;
  }
  return <span class="key">{value.S.split("#").map((part, n) => <Fragment key={n}>{n > 0 && <span class="key-mark">#</span>}<span class={n % 2 === 0 ? "key-word" : ""}>{part}</span></Fragment>)}</span>;
}

export function TypeName({ type }: { type: string }) {
  return <abbr class="type-name" title={t(`type.${type}` as "type.S")}>{type}</abbr>;
}

/** A complete value, with nested values below it. */
export function Whole({ value }: { value: Value }) {
  const type = typeOf(value);
  if ("M" in value) {
    const entries = Object.entries(value.M);
    return entries.length === 0 ? <span class="muted">{"{ }"}</span> : <Nested lines={entries} />;
  }
  if ("L" in value) {
    return value.L.length === 0 ? <span class="muted">[ ]</span> : <Nested lines={value.L.map((v, n): [string, Value] => [String(n), v])} />;
  }
  if (isSet(type)) {
    return <Most all={inner(value) as string[]}>{(some) => <ul class="set">{some.map((x) => <li key={x} class={`value ${type}`}>{x}</li>)}</ul>}</Most>;
  }
  return <Text text={short(value)} type={type}><Time value={value} /></Text>;
}

const shownAtFirst = 100; // elements of a map, a list or a set
const lettersAtFirst = 4000;

/** The beginning of a long list, and the rest on request. */
function Most<T>({ all, children }: { all: readonly T[]; children: (some: readonly T[]) => ComponentChildren }) {
  const [most, set] = useState(shownAtFirst);
  return <>{children(all.slice(0, most))}{all.length > most && <Button size="small" kind="quiet" onPress={() => set(most * 10)}>{t("value.more", { n: all.length - most })}</Button>}</>;
}

function Nested({ lines }: { lines: readonly [string, Value][] }) {
  return <Most all={lines}>{(some) => <dl class="nested">{some.map(([name, v]) => <Line key={name} name={name} value={v} />)}</dl>}</Most>;
}

function Text({ text, type, children }: { text: string; type: string; children: ComponentChildren }) {
  const [whole, set] = useState(text.length <= lettersAtFirst);
  if (text === "") return <span class={`value whole ${type}`}><i class="muted">{t("value.empty")}</i></span>;
  return <span class={`value whole ${type}`}>{whole ? text : `${text.slice(0, lettersAtFirst)}…`}{children}{!whole && <Button size="small" kind="quiet" onPress={() => set(true)}>{t("value.whole", { size: bytes(text.length) })}</Button>}</span>;
}

function Line({ name, value }: { name: string; value: Value }) {
  return (
    <div class="line">
      <dt><span class="line-name">{name}</span><TypeName type={typeOf(value)} /></dt>
      <dd><Whole value={value} /></dd>
    </div>
  );
}

/** Numbers that could be times between 2001 and 2100 (TTL, time stamps) are also shown as dates. */
function Time({ value }: { value: Value }) {
  if (!("N" in value) || !/^\d{10}(\d{3})?$/.test(value.N)) {
    return null;
  }
  const at = Number(value.N) * (value.N.length === 10 ? 1000 : 1);
  return at < 978_307_200_000 || at > 4_102_444_800_000 ? null : <span class="muted small"> · {format.dateTime(at)}</span>;
}

/** An item: its keys first, then the other attributes. */
export function Attributes({ item, keys }: { item: Item; keys: readonly string[] }) {
  const rest = Object.keys(item).filter((n) => !keys.includes(n)).sort();
  return (
    <dl class="attributes">
      {[...keys.filter((k) => item[k]), ...rest].map((name) => {
        const value = item[name] as Value;
        return (
          <div key={name} class={keys.includes(name) ? "line is-key" : "line"}>
            <dt><span class="line-name">{name}</span><TypeName type={typeOf(value)} /></dt>
            <dd>{keys.includes(name) ? <KeyText value={value} /> : <Whole value={value} />}</dd>
          </div>
        );
      })}
    </dl>
  );
}

const byteUnits = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

export function bytes(n: number): string {
  const power = n < 1000 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log10(n) / 3));
  return format.number(n / 1000 ** power, { style: "unit", unit: byteUnits[power] ?? "byte", unitDisplay: power === 0 ? "long" : "short", maximumFractionDigits: power === 0 ? 0 : 1 });
}

const tones: Record<string, Tone> = { AVAILABLE: "success", COMPLETED: "success", CREATING: "info", IN_PROGRESS: "info", CANCELLING: "warning", CANCELLED: "warning", DELETED: "warning" };

/** The state of a backup or transfer. */
export function State({ status }: { status: string }) {
  return <Badge tone={tones[status] ?? "danger"}>{status}</Badge>;
}
