// Items as rows: resizable columns, rows rendered while visible, and a checkbox for each selectable row.
import { ArrowDownNarrowWide, ArrowUpNarrowWide, KeyRound } from "lucide";
import { useMemo, useRef } from "preact/hooks";
import { Icon, go, here, toast } from "#ui";
import type { Picked } from "./pick.ts";
import type { Question } from "./query.ts";
import { useRows } from "./rows.ts";
import { Cell, KeyText } from "./show.tsx";
import { type Item, attribute, brief, short } from "./value.ts";
import { type Widths, useWidths, widest } from "./widths.ts";
import { t } from "./words.ts";

interface GridProps {
  caption: string;
  items: readonly Item[];
  columns: readonly string[];
  keys: readonly string[];
  /** The keys that it was queried by, and the one that orders the items. */
  indexKeys?: readonly string[];
  sortKey?: string | undefined;
  /** The address of an item; without it, rows are read-only. */
  open?: (item: Item) => string;
  question?: Question;
  picked?: Picked;
  /** The name under which column widths are stored: the table's. */
  name?: string;
}

const pageOf = 10;

export function Grid({ caption, items, columns, keys, indexKeys = keys, sortKey, open, question, picked, name = "" }: GridProps) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useRows(box, items.length);
  const allKeys = [...new Set([...keys, ...indexKeys])];
  const widths = useWidths(name, items, allKeys);
  const sorted = question?.how === "query" ? sortKey : undefined;
  const numbers = useMemo(() => new Set(columns.filter((c) => items.some((i) => attribute(i, c)) && items.every((i) => "N" in (attribute(i, c) ?? { N: "" })))), [items, columns.join("\u0000")]);
  const walk = (event: KeyboardEvent) => {
    const at = Number((event.target as HTMLElement).closest("tr[aria-rowindex]")?.getAttribute("aria-rowindex")) - 2;
    const next: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: Math.min(items.length - 1, at + pageOf), PageUp: Math.max(0, at - pageOf), Home: 0, End: items.length - 1 };
    const item = items[at];
    const to = next[event.key];
    if (at < 0 || !item) return;
    if (to !== undefined) {
      event.preventDefault();
      rows.show(to, (event.target as HTMLElement).matches("input") ? ".pick input" : "a");
    } else if (event.key === " " && picked && (event.target as HTMLElement).matches("a")) {
      event.preventDefault();
      picked.turn(item);
    }
  };
  const width = columns.reduce((n, c) => n + widths.of(c), picked ? 36 : 0);
  return (
    <div ref={box} class={rows.virtual ? "table-box grid-box long" : "table-box grid-box"} role="region" aria-label={caption} tabIndex={0}>
      <table class={picked ? "table data-grid picks" : "table data-grid"} style={{ minWidth: `${width}px` }} aria-rowcount={items.length + 1} onKeyDown={walk}>
        <caption class="hidden-visually">{caption}</caption>
        <colgroup>{picked && <col class="pick-column" />}{columns.map((c) => <col key={c} style={{ width: `${widths.of(c)}px` }} />)}<col /></colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {picked && <th scope="col" class="pick"><Mark label={t("pick.all")} checked={items.length > 0 && items.every(picked.has)} some={picked.items.length > 0} onTurn={() => picked.turnAll(items)} /></th>}
            {columns.map((c, n) => (
              <th key={c} scope="col" class={[n === 0 ? "first" : "", numbers.has(c) ? "numeric" : ""].join(" ")} aria-sort={c === sorted ? (question?.backwards ? "descending" : "ascending") : undefined}>
                {c === sorted
                  ? <button type="button" class="sort" title={t("sort.turn")} onClick={() => turn(question?.backwards === true)}><Head name={c} isKey /><Icon of={question?.backwards ? ArrowUpNarrowWide : ArrowDownNarrowWide} size={14} /></button>
                  : <Unsorted name={c} isKey={allKeys.includes(c)} asks={question !== undefined} />}
                <Grip column={c} widths={widths} />
              </th>
            ))}
            <td class="rest" />
          </tr>
        </thead>
        <tbody>
          {rows.above > 0 && <tr aria-hidden="true"><td class="unseen" style={{ height: `${rows.above}px` }} /></tr>}
          {items.slice(rows.from, rows.to).map((item, at) => {
            const n = rows.from + at;
            const isPicked = picked?.has(item) === true;
            const label = keys.map((k) => (item[k] ? brief(item[k], 80) : "")).join(" ");
            return (
              <tr key={keys.map((k) => (item[k] ? short(item[k]) : "")).join("\u0000") || n} aria-rowindex={n + 2} class={isPicked ? "picked" : undefined} onDblClick={() => { if (open) go(open(item)); }}>
                {picked && <td class="pick"><Mark label={t("pick.one", { key: label })} checked={isPicked} onTurn={() => picked.turn(item)} /></td>}
                {columns.map((c, column) => {
                  const shown = allKeys.includes(c) ? <KeyText value={attribute(item, c)} /> : <Cell value={attribute(item, c)} />;
                  return <td key={c} class={[column === 0 ? "first" : "", numbers.has(c) ? "numeric" : ""].join(" ")}>{column === 0 && open ? <a class="open" href={open(item)}>{shown}</a> : shown}</td>;
                })}
                <td class="rest" />
              </tr>
            );
          })}
          {rows.below > 0 && <tr aria-hidden="true"><td class="unseen" style={{ height: `${rows.below}px` }} /></tr>}
        </tbody>
      </table>
    </div>
  );
}

function Mark({ label, checked, some = false, onTurn }: { label: string; checked: boolean; some?: boolean; onTurn: () => void }) {
  return <input type="checkbox" aria-label={label} checked={checked} ref={(e) => { if (e) e.indeterminate = some && !checked; }} onClick={(e) => e.stopPropagation()} onInput={onTurn} />;
}

const step = 16; // pixels per arrow key press

/** The edge of a column: drag it, move it with arrow keys, reset it with a double click. */
function Grip({ column, widths }: { column: string; widths: Widths }) {
  const drag = (event: PointerEvent) => {
    const grip = event.currentTarget as HTMLElement;
    const from = event.clientX - widths.of(column);
    event.preventDefault();
    grip.setPointerCapture(event.pointerId);
    const move = (e: PointerEvent) => widths.set(column, e.clientX - from);
    grip.addEventListener("pointermove", move);
    grip.addEventListener("lostpointercapture", () => grip.removeEventListener("pointermove", move), { once: true });
  };
  const key = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -step, ArrowRight: step }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      widths.set(column, widths.of(column) + by);
    } else if (event.key === "Home") {
      widths.set(column, undefined);
    }
  };
  return <span class="grip" role="separator" aria-orientation="vertical" aria-label={t("columns.width", { column })} title={t("columns.widthHint")} aria-valuenow={widths.of(column)} aria-valuemin={0} aria-valuemax={widest} tabIndex={0} onPointerDown={drag} onKeyDown={key} onDblClick={() => widths.set(column, undefined)} />;
}

function Head({ name, isKey }: { name: string; isKey: boolean }) {
  return <>{isKey && <Icon of={KeyRound} size={12} />}{name}</>;
}

/** A column that cannot be sorted: a press says why. */
function Unsorted({ name, isKey, asks }: { name: string; isKey: boolean; asks: boolean }) {
  const why = t(isKey ? "sort.key" : "sort.none");
  return asks ? <button type="button" class="sort no-order" title={why} onClick={() => toast("info", why)}><Head name={name} isKey={isKey} /></button> : <Head name={name} isKey={isKey} />;
}

/** Only the sort key has an order, which can be reversed. */
function turn(backwards: boolean): void {
  const query = new URLSearchParams(here.value.query);
  if (backwards) query.delete("order");
  else query.set("order", "desc");
  go(`#${here.value.path}?${query.toString()}`);
}
