// Undo of this page's last write: each item is restored on the condition that it is still as the write left it.
import { signal } from "@preact/signals";
import { toast } from "#ui";
import { toastFault } from "./fault.tsx";
import { type Failure, callAgain, forEach } from "./many.ts";
import { type Item, pick } from "./value.ts";
import { t } from "./words.ts";
import { deleteOf, over, putOf, updateOf } from "./write.ts";

/** An item before and after a write; undefined if there was none. */
export interface Written {
  before: Item | undefined;
  after: Item | undefined;
}

export interface Write {
  table: string;
  keys: readonly string[];
  items: readonly Written[];
}

const itemsMax = 10_000; // remembered

/** The write that undo() undoes. */
export const lastWrite = signal<Write | undefined>(undefined);

/** Counts writes made outside the form, so that views reload their items. */
export const undone = signal(0);

/** Remembers a write, and shows a message. */
export function wrote(write: Write, said: string): void {
  lastWrite.value = write.items.length > 0 && write.items.length <= itemsMax ? write : undefined;
  toast("success", said, lastWrite.value ? { action: { label: t("undo"), onPress: () => void undo() } } : {});
}

/** The item before an update: the new item with the changed attributes as they were read. Others may have added attributes. */
export function beforeUpdate(after: Item, read: Item, wanted: Item): Item {
  return over(after, wanted, read);
}

async function undoOne(w: Write, { before, after }: Written, abort: AbortSignal): Promise<Written> {
  const key = pick((before ?? after) as Item, w.keys);
  if (!before && after) {
    await callAgain("DeleteItem", deleteOf(w.table, key, w.keys, after), abort);
  } else if (before && !after) {
    await callAgain("PutItem", putOf(w.table, w.keys, before), abort);
  } else if (before && after) {
    await callAgain("UpdateItem", updateOf(w.table, key, w.keys, after, before), abort);
  }
  return { before: after, after: before };
}

/** Restores an item to before, on the condition that it still equals after. */
export async function putBack(table: string, keys: readonly string[], item: Written): Promise<void> {
  const write = { table, keys, items: [item] };
  const done = await undoOne(write, item, new AbortController().signal);
  wrote({ ...write, items: [done] }, t("undo.done", { n: 1 }));
}

/** Undoes the last write. The undo becomes the last write, so a second call redoes it. */
export async function undo(): Promise<void> {
  const write = lastWrite.value;
  if (!write) {
    return;
  }
  lastWrite.value = undefined;
  const abort = new AbortController().signal;
  const done: Written[] = [];
  const failures: Failure<Written>[] = await forEach(write.items, abort, async (w) => { done.push(await undoOne(write, w, abort)); });
  const changed = failures.filter((f) => f.problem.code === "ConditionalCheckFailedException");
  const other = failures.find((f) => !changed.includes(f));
  if (done.length > 0) wrote({ ...write, items: done }, t("undo.done", { n: done.length }));
  if (changed.length > 0) toast("warning", t("undo.changed", { n: changed.length }));
  if (other) toastFault(other.problem);
  undone.value++;
}
