// The items selected in a grid, across its pages.
import { useState } from "preact/hooks";
import { type Item, pick } from "./value.ts";

export interface Picked {
  items: readonly Item[];
  has: (item: Item) => boolean;
  turn: (item: Item) => void;
  /** Selects all of these, or none if all are selected. */
  turnAll: (items: readonly Item[]) => void;
  clear: () => void;
}

/** The selection lasts as long as the query, which asked identifies. */
export function usePicked(keys: readonly string[], asked: string): Picked {
  const [state, set] = useState<{ asked: string; items: ReadonlyMap<string, Item> }>({ asked, items: new Map() });
  const of = (s: typeof state) => (s.asked === asked ? s.items : new Map<string, Item>());
  const items = of(state);
  const name = (item: Item) => JSON.stringify(pick(item, keys));
  const change = (by: (next: Map<string, Item>) => void) => {
    set((s) => {
      const next = new Map(of(s));
      by(next);
      return { asked, items: next };
    });
  };
  return {
    items: [...items.values()],
    has: (item) => items.has(name(item)),
    turn: (item) => change((next) => { if (!next.delete(name(item))) next.set(name(item), item); }),
    turnAll: (all) => change((next) => {
      const whole = all.every((item) => next.has(name(item)));
      for (const item of all) {
        if (whole) next.delete(name(item));
        else next.set(name(item), item);
      }
    }),
    clear: () => set({ asked, items: new Map() }),
  };
}
