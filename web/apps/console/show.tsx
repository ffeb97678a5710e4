// How values and keys look, wherever they are shown.
import { Fragment } from "preact";
import { format } from "#ui";
import { type Item, type Value, brief, inner, isSet, short, typeOf } from "./value.ts";
import { t } from "./words.ts";

const cellMax = 160; // letters of a value in a table: no column shows more

/** A value in a cell. */
export function Cell({ value }: { value: Value | undefined }) {
  if (!value) {
    return <span class="absent" aria-label={t("value.absent")}>–</span>;
  }
  const type = typeOf(value);
  const text = brief(value, cellMax);
  return <span class={`value ${type}`} title={text.length > 40 ? text : undefined}>{text === "" ? <i class="muted">{t("value.empty")}</i> : text}</span>;
}

/** A key's parts, as single-table designs put them together. */
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

/** A value as a whole, what is in it below it. */
export function Whole({ value }: { value: Value }) {
  const type = typeOf(value);
  if ("M" in value) {
    const entries = Object.entries(value.M);
    return entries.length === 0 ? <span class="muted">{"{ }"}</span> : <dl class="nested">{entries.map(([name, v]) => <Line key={name} name={name} value={v} />)}</dl>;
  }
  if ("L" in value) {
    return value.L.length === 0 ? <span class="muted">[ ]</span> : <dl class="nested">{value.L.map((v, n) => <Line key={n} name={String(n)} value={v} />)}</dl>;
  }
  if (isSet(type)) {
    return <ul class="set">{(inner(value) as string[]).map((x) => <li key={x} class={`value ${type}`}>{x}</li>)}</ul>;
  }
  const text = short(value);
  return <span class={`value whole ${type}`}>{text === "" ? <i class="muted">{t("value.empty")}</i> : text}<Time value={value} /></span>;
}

function Line({ name, value }: { name: string; value: Value }) {
  return (
    <div class="line">
      <dt><span class="line-name">{name}</span><TypeName type={typeOf(value)} /></dt>
      <dd><Whole value={value} /></dd>
    </div>
  );
}

/** Numbers that are moments between 2001 and 2100, which TTL and time stamps are, are said in words, too. */
function Time({ value }: { value: Value }) {
  if (!("N" in value) || !/^\d{10}(\d{3})?$/.test(value.N)) {
    return null;
  }
  const at = Number(value.N) * (value.N.length === 10 ? 1000 : 1);
  return at < 978_307_200_000 || at > 4_102_444_800_000 ? null : <span class="muted small"> · {format.dateTime(at)}</span>;
}

/** An item: its keys first, then what else it has. */
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
