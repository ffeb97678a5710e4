// The cost of a write in advance: write units, as AWS counts them, of the table and of the indexes that contain the item.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
import type { TableDescription } from "./api.ts";
import { type Index, indexesOf, keyNames, keysOf } from "./schema.ts";
import { type Item, itemSize, pick, same } from "./value.ts";

const unitBytes = 1024;
const units = (item: Item) => Math.max(1, Math.ceil(itemSize(item) / unitBytes));

/** An item's projection in an index; undefined if the item lacks a key attribute of the index. */
function entryOf(table: TableDescription, index: Index, item: Item | undefined): Item | undefined {
  const own = keyNames(keysOf(index.KeySchema));
  if (!item || own.some((name) => !item[name])) {
    return undefined;
  }
  const kept = [...keyNames(keysOf(table.KeySchema)), ...own, ...(index.Projection?.NonKeyAttributes ?? [])];
  return index.Projection?.ProjectionType === "ALL" ? item : pick(item, kept);
}

function indexUnits(table: TableDescription, index: Index, before: Item | undefined, after: Item | undefined): number {
  const was = entryOf(table, index, before);
  const is = entryOf(table, index, after);
  if (was && is) {
    if (keyNames(keysOf(index.KeySchema)).some((name) => !same(was[name], is[name]))) return units(was) + units(is);
    const names = new Set([...Object.keys(was), ...Object.keys(is)]);
    return [...names].every((name) => same(was[name], is[name])) ? 0 : Math.max(units(was), units(is));
  }
  return was ? units(was) : is ? units(is) : 0;
}

export interface WriteCost {
  table: number;
  indexes: number;
}

/** The units of a write that turns before into after; undefined is no item. */
export function writeCost(table: TableDescription, writes: Iterable<{ before: Item | undefined; after: Item | undefined }>): WriteCost {
  const cost = { table: 0, indexes: 0 };
  const indexes = indexesOf(table);
  for (const { before, after } of writes) {
    cost.table += Math.max(before ? units(before) : 1, after ? units(after) : 1);
    for (const index of indexes) cost.indexes += indexUnits(table, index, before, after);
  }
  return cost;
}
