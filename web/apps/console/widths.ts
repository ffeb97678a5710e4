// Column widths of a grid: derived from the first values until the user drags an edge. The browser stores dragged widths.
import { useState } from "preact/hooks";
import { keep, kept } from "#ui";
import { type Item, type Value, attribute, brief } from "./value.ts";

const letter = 7.4; // pixels, about
const around = 28;
const least = 64;
const most = 380;
const looked = 60; // items that are measured

export const widest = 1600;

/** The width that a column needs for its title, of so many letters, and its first values. */
export function widthOf(title: number, values: readonly (Value | undefined)[]): number {
  const longest = Math.max(title, ...values.slice(0, looked).map((v) => (v ? brief(v, most / letter).length : 1)));
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
    of: (column) => (Object.hasOwn(chosen, column) ? chosen[column] : undefined) ?? widthOf(column.length + (keys.includes(column) ? 5 : 1), items.map((i) => attribute(i, column))),
    set: (column, width) => {
      const { [column]: _, ...rest } = chosen;
      const next = width === undefined ? rest : { ...rest, [column]: Math.min(widest, Math.max(least, Math.round(width))) };
      choose(next);
      keep(of, Object.keys(next).length > 0 ? JSON.stringify(next) : undefined);
    },
  };
}
