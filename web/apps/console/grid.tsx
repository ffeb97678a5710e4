// Items as rows.
import { ArrowDownNarrowWide, ArrowUpNarrowWide, KeyRound } from "lucide";
import { Icon, go, here } from "#ui";
import type { Question } from "./query.ts";
import { Cell, KeyText } from "./show.tsx";
import { type Item, short } from "./value.ts";
import { t } from "./words.ts";

interface GridProps {
  caption: string;
  items: readonly Item[];
  columns: readonly string[];
  keys: readonly string[];
  /** The keys by which it was asked. */
  indexKeys?: readonly string[];
  /** The address of an item; without it, rows are only read. */
  open?: (item: Item) => string;
  question?: Question;
}

export function Grid({ caption, items, columns, keys, indexKeys = keys, open, question }: GridProps) {
  const sorted = question?.how === "query" ? indexKeys[1] : undefined;
  const numeric = (c: string) => items.every((i) => i[c] === undefined || "N" in i[c]) && items.some((i) => i[c]);
  const walk = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    const links = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("tbody a")];
    const next = links[links.indexOf(document.activeElement as HTMLElement) + by];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  };
  return (
    <div class="table-box grid-box" role="region" aria-label={caption} tabIndex={0}>
      <table class="table data-grid" onKeyDown={walk}>
        <caption class="hidden-visually">{caption}</caption>
        <thead>
          <tr>
            {columns.map((c) => (
              <th key={c} scope="col" class={numeric(c) ? "numeric" : undefined} aria-sort={c === sorted ? (question?.backwards ? "descending" : "ascending") : undefined}>
                {c === sorted
                  ? <button type="button" class="sort" title={t("sort.turn")} onClick={() => turn(question?.backwards === true)}><Head name={c} isKey /><Icon of={question?.backwards ? ArrowUpNarrowWide : ArrowDownNarrowWide} size={14} /></button>
                  : <span title={keys.includes(c) || indexKeys.includes(c) ? t("sort.key") : t("sort.none")}><Head name={c} isKey={keys.includes(c) || indexKeys.includes(c)} /></span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item, n) => (
            <tr key={keys.map((k) => (item[k] ? short(item[k]) : "")).join("\u0000") || n} onDblClick={() => { if (open) go(open(item)); }}>
              {columns.map((c, at) => {
                const shown = keys.includes(c) || indexKeys.includes(c) ? <KeyText value={item[c]} /> : <Cell value={item[c]} />;
                return <td key={c} class={numeric(c) ? "numeric" : undefined}>{at === 0 && open ? <a class="open" href={open(item)}>{shown}</a> : shown}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Head({ name, isKey }: { name: string; isKey: boolean }) {
  return <>{isKey && <Icon of={KeyRound} size={12} />}{name}</>;
}

/** Only the sort key has an order, and it can be read both ways. */
function turn(backwards: boolean): void {
  const query = new URLSearchParams(here.value.query);
  if (backwards) query.delete("order");
  else query.set("order", "desc");
  go(`#${here.value.path}?${query.toString()}`);
}
