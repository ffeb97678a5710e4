// Writes the items of files into a table: in batches if they may replace others, otherwise one by one with a condition.
import { signal, type Signal } from "@preact/signals";
import { Problem } from "#ui";
import { backoff, callAgain, forEach } from "./many.ts";
import type { Entry } from "./files.ts";
import { type Item, pick } from "./value.ts";
import { t } from "./words.ts";
import { putOf } from "./write.ts";

const batchItems = 25; // of BatchWriteItem
const batchLetters = 2 << 20; // the console's back end accepts 4 MB, and a character has up to three bytes
const keptFaults = 50;

export interface Loading {
  read: number;
  written: number;
  /** Items whose key already exists, if existing items are kept. */
  there: number;
  faults: number;
  /** The first errors. */
  shown: readonly { at: string; text: string }[];
  units: number;
}

interface Entries extends Array<{ item: Item; at: string }> {}

/** Batches without duplicate keys. A key that is being written waits, so that the last of its items in the file wins. */
async function* batches(entries: AsyncIterable<Entry>, keys: readonly string[], most: number, flying: ReadonlyMap<string, Promise<void>>, onFault: (at: string, text: string) => void, onRead: () => void): AsyncGenerator<Entries> {
  let batch: Entries = [];
  let seen = new Set<string>();
  let letters = 0;
  for await (const { item, fault, at } of entries) {
    onRead();
    if (!item) {
      onFault(at, fault ?? "");
      continue;
    }
    const missing = keys.find((k) => !item[k]);
    if (missing !== undefined) {
      onFault(at, t("import.noKey", { name: missing }));
      continue;
    }
    const key = JSON.stringify(pick(item, keys));
    const size = JSON.stringify(item).length;
    if (batch.length >= most || seen.has(key) || (batch.length > 0 && letters + size > batchLetters)) {
      yield batch;
      batch = [];
      seen = new Set();
      letters = 0;
    }
    await flying.get(key);
    batch.push({ item, at });
    seen.add(key);
    letters += size;
  }
  if (batch.length > 0) yield batch;
}

interface Batched { UnprocessedItems?: Record<string, { PutRequest: { Item: Item } }[]>; ConsumedCapacity?: { CapacityUnits?: number }[] }

export class Load {
  readonly state: Signal<Loading> = signal({ read: 0, written: 0, there: 0, faults: 0, shown: [], units: 0 });
  private readonly abort = new AbortController();
  private now: Loading = this.state.value;
  private drawn = 0;

  constructor(private readonly table: string, private readonly keys: readonly string[], private readonly replace: boolean) {}

  stop(): void {
    this.abort.abort();
  }

  get stopped(): boolean {
    return this.abort.signal.aborted;
  }

  /** Runs to the end of the entries or until it is stopped. Throws the error that ends it early. */
  async run(entries: AsyncIterable<Entry>): Promise<void> {
    const fault = (at: string, text: string) => this.add({ faults: 1 }, { at, text });
    let fatal: Problem | undefined;
    const flying = new Map<string, Promise<void>>();
    const list = batches(entries, this.keys, this.replace ? batchItems : 1, flying, fault, () => this.add({ read: 1 }));
    const write = async (batch: Entries) => {
      try {
        await (this.replace ? this.putBatch(batch) : this.putOne(batch));
      } catch (thrown) {
        const problem = Problem.of(thrown);
        if (problem.code === "ValidationException" && batch.length > 1) { // one of them is invalid, and AWS does not say which
          for (const one of batch) await this.putSingly(one).catch((again: unknown) => fault(one.at, Problem.of(again).detail));
        } else if (problem.code === "ValidationException") {
          fault(batch[0]?.at ?? "", problem.detail);
        } else if (!this.stopped) {
          fatal ??= problem;
          this.stop();
        }
      }
    };
    await forEach(list, this.abort.signal, (batch) => {
      const names = batch.map(({ item }) => JSON.stringify(pick(item, this.keys)));
      const done = write(batch).finally(() => names.forEach((n) => flying.delete(n)));
      names.forEach((n) => flying.set(n, done));
      return done;
    });
    this.draw();
    if (fatal) throw fatal;
  }

  private async putBatch(batch: Entries): Promise<void> {
    let requests = batch.map(({ item }) => ({ PutRequest: { Item: item } }));
    for (let attempt = 0; requests.length > 0; attempt++) {
      const done: Batched = await callAgain<Batched>("BatchWriteItem", { RequestItems: { [this.table]: requests }, ReturnConsumedCapacity: "TOTAL" }, this.abort.signal);
      const left = done.UnprocessedItems?.[this.table] ?? [];
      this.add({ written: requests.length - left.length, units: (done.ConsumedCapacity ?? []).reduce((n, c) => n + (c.CapacityUnits ?? 0), 0) });
      requests = left;
      if (left.length > 0) await backoff(Math.min(attempt, 6), this.abort.signal);
      if (this.stopped) return;
    }
  }

  private async putSingly({ item }: Entries[number]): Promise<void> {
    const done = await callAgain<{ ConsumedCapacity?: { CapacityUnits?: number } }>("PutItem", { TableName: this.table, Item: item, ReturnConsumedCapacity: "TOTAL" }, this.abort.signal);
    this.add({ written: 1, units: done.ConsumedCapacity?.CapacityUnits ?? 0 });
  }

  private async putOne([one]: Entries): Promise<void> {
    if (!one) return;
    try {
      const done = await callAgain<{ ConsumedCapacity?: { CapacityUnits?: number } }>("PutItem", { ...putOf(this.table, this.keys, one.item), ReturnConsumedCapacity: "TOTAL" }, this.abort.signal);
      this.add({ written: 1, units: done.ConsumedCapacity?.CapacityUnits ?? 0 });
    } catch (thrown) {
      if (Problem.of(thrown).code !== "ConditionalCheckFailedException") throw thrown;
      this.add({ there: 1 });
    }
  }

  private add(by: Partial<Record<"read" | "written" | "there" | "faults" | "units", number>>, fault?: { at: string; text: string }): void {
    const now = { ...this.now };
    for (const [name, n] of Object.entries(by)) now[name as "read"] += n;
    if (fault && now.shown.length < keptFaults) now.shown = [...now.shown, fault];
    this.now = now;
    const at = performance.now();
    if (at - this.drawn > 100) this.draw();
  }

  private draw(): void {
    this.drawn = performance.now();
    this.state.value = this.now;
  }
}
