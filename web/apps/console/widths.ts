// Column widths of a grid: derived from the first values until the user drags an edge. The browser stores dragged widths.
import { useState } from "preact/hooks";
import { keep, kept } from "#ui";
import { type Item, brief } from "./value.ts";

const letter = 7.4; // pixels, about
const around = 28;
const least = 64;
const most = 380;
const looked = 60; // items that are measured

export const widest = 1600;

function needed(column: string, items: readonly Item[], isKey: boolean): number {
  const texts = items.slice(0, looked).map((i) => (i[column] ? brief(i[column], most / letter).length : 1));
  const longest = Math.max(column.length + (isKey ? 5 : 1), ...texts);
  return Math.round(Math.min(most, Math.max(least, longest * letter + around)));
}

export interface Widths {
  of: (column: string) => number;
  /** Sets a column's width; undefined resets it to that of its values. */
  set: (column: string, width: number | undefined) => void;
}

export function useWidths(name: string, items: readonly Item[], keys: readonly string[]): Widths {
  const of = `console-widths ${name}`;
  const [chosen, choose] = useState<Readonly<Record<string, number>>>(() => JSON.parse(kept(of) ?? "{}") as Record<string, number>);
  return {
    of: (column) => chosen[column] ?? needed(column, items, keys.includes(column)),
    set: (column, width) => {
      const { [column]: _, ...rest } = chosen;
      const next = width === undefined ? rest : { ...rest, [column]: Math.min(widest, Math.max(least, Math.round(width))) };
      choose(next);
      keep(of, Object.keys(next).length > 0 ? JSON.stringify(next) : undefined);
    },
  };
}
