// Follows a stream: the records of all its shards, from now on or from the oldest that is kept, as they come.
import { signal } from "@preact/signals";
import { Problem } from "#ui";
import { call } from "./api.ts";
import { type Item, same } from "./value.ts";

export type Kind = "INSERT" | "MODIFY" | "REMOVE";

export interface StreamRecord {
  id: string;
  kind: Kind;
  at: number;
  sequence: string;
  keys: Item;
  before: Item | undefined;
  after: Item | undefined;
  /** A removal because the item's time was over. */
  expired: boolean;
}

export type Start = "now" | "oldest";

interface Shard {
  id: string;
  /** Undefined until it is asked for, and again where it has expired. */
  iterator: string | undefined;
  from: Start;
  /** The last record that was read. */
  last: string | undefined;
  ended: boolean;
}

interface WireRecord {
  eventID: string;
  eventName: Kind;
  dynamodb: { ApproximateCreationDateTime?: number; SequenceNumber: string; Keys?: Item; OldImage?: Item; NewImage?: Item };
  userIdentity?: { principalId?: string };
}

const keptMax = 500; // records in the page; older ones go
const pause = 1000; // milliseconds between polls at a shard: AWS allows five reads a second, by all readers together
const pauseMax = 15_000; // after failures
const shardsInterval = 30_000; // milliseconds between polls for new shards
const atOnce = 4;
const lost = ["ExpiredIteratorException", "TrimmedDataAccessException"];

export class Tail {
  readonly records = signal<readonly StreamRecord[]>([]);
  readonly problem = signal<Problem | undefined>(undefined);
  readonly state = signal<"opening" | "following" | "paused" | "ended">("opening");
  /** How many were read, those that have gone from the page included. */
  readonly count = signal(0);
  readonly shards = signal(0);

  private readonly known = new Map<string, Shard>();
  private readonly arn: string;
  private readonly start: Start;
  private readonly only: Item | undefined;
  private running = new AbortController();
  private looked = 0;

  /** only is the key of the one item whose changes are wanted. */
  constructor(arn: string, start: Start, only?: Item) {
    this.only = only;
    this.arn = arn;
    this.start = start;
    void this.run();
  }

  stop(): void {
    this.running.abort();
  }

  pause(): void {
    this.running.abort();
    this.state.value = "paused";
  }

  resume(): void {
    this.running = new AbortController();
    this.state.value = "opening";
    void this.run();
  }

  private async run(): Promise<void> {
    const abort = this.running.signal;
    let wait = pause;
    while (!abort.aborted) {
      try {
        if (Date.now() - this.looked > shardsInterval) await this.look(abort);
        const more = await this.readAll(abort);
        this.problem.value = undefined;
        const ended = [...this.known.values()].every((s) => s.ended) && this.looked > 0;
        this.state.value = ended ? "ended" : "following";
        if (ended) return;
        wait = more ? pause / 4 : pause;
      } catch (thrown) {
        if (abort.aborted) return;
        this.problem.value = Problem.of(thrown);
        wait = Math.min(pauseMax, wait * 2);
      }
      await sleep(wait, abort);
    }
  }

  /** Finds the shards. What is open at first is read from where the reader wants it; a shard that comes later, from its beginning. */
  private async look(abort: AbortSignal): Promise<void> {
    const first = this.known.size === 0;
    const open = new Set<string>();
    let after: string | undefined;
    do {
      const { StreamDescription: d }: { StreamDescription: { Shards?: { ShardId: string; SequenceNumberRange?: { EndingSequenceNumber?: string } }[]; LastEvaluatedShardId?: string } } =
        await call("DescribeStream", { StreamArn: this.arn, ...(after === undefined ? {} : { ExclusiveStartShardId: after }) }, abort);
      for (const s of d.Shards ?? []) {
        const closed = s.SequenceNumberRange?.EndingSequenceNumber !== undefined;
        open.add(s.ShardId);
        if (this.known.has(s.ShardId) || (first && closed && this.start === "now")) continue;
        this.known.set(s.ShardId, { id: s.ShardId, iterator: undefined, from: first ? this.start : "oldest", last: undefined, ended: false });
      }
      after = d.LastEvaluatedShardId;
    } while (after !== undefined);
    for (const [id, s] of this.known) if (s.ended && !open.has(id)) this.known.delete(id);
    this.looked = Date.now();
    this.shards.value = [...this.known.values()].filter((s) => !s.ended).length;
  }

  /** Reads each shard once, a few at a time; says whether there was anything. */
  private async readAll(abort: AbortSignal): Promise<boolean> {
    const waiting = [...this.known.values()].filter((s) => !s.ended);
    let found = false;
    const worker = async () => {
      for (let s = waiting.shift(); s !== undefined && !abort.aborted; s = waiting.shift()) {
        found = (await this.read(s, abort)) || found;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    return found;
  }

  private async read(s: Shard, abort: AbortSignal): Promise<boolean> {
    try {
      if (s.iterator === undefined) {
        const place = s.last !== undefined ? { ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber: s.last } : { ShardIteratorType: s.from === "now" ? "LATEST" : "TRIM_HORIZON" };
        s.iterator = (await call<{ ShardIterator: string }>("GetShardIterator", { StreamArn: this.arn, ShardId: s.id, ...place }, abort)).ShardIterator;
      }
      const page = await call<{ Records?: WireRecord[]; NextShardIterator?: string }>("GetRecords", { ShardIterator: s.iterator, Limit: 200 }, abort);
      const records = page.Records ?? [];
      s.last = records[records.length - 1]?.dynamodb.SequenceNumber ?? s.last;
      s.iterator = page.NextShardIterator;
      if (s.iterator === undefined) {
        s.ended = true;
        this.looked = 0; // those that follow it
      }
      this.add(records.map((r) => recordOf(r)));
      return records.length > 0;
    } catch (thrown) {
      const problem = Problem.of(thrown);
      if (!lost.includes(problem.code)) throw thrown;
      if (problem.code === "TrimmedDataAccessException") s.last = undefined;
      s.from = "oldest";
      s.iterator = undefined;
      return true;
    }
  }

  private add(all: readonly StreamRecord[]): void {
    const { only } = this;
    const records = only ? all.filter((r) => Object.entries(only).every(([name, value]) => same(r.keys[name], value))) : all;
    if (records.length === 0) return;
    this.count.value += records.length;
    const sorted = [...records, ...this.records.value].sort((a, b) => b.at - a.at || compare(b.sequence, a.sequence));
    this.records.value = sorted.slice(0, keptMax);
  }
}

/** Sequence numbers are texts of digits, too long for numbers. */
function compare(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

function recordOf(r: WireRecord): StreamRecord {
  const d = r.dynamodb;
  return {
    id: r.eventID, kind: r.eventName, at: (d.ApproximateCreationDateTime ?? 0) * 1000, sequence: d.SequenceNumber, keys: d.Keys ?? {}, before: d.OldImage, after: d.NewImage,
    expired: r.userIdentity?.principalId === "dynamodb.amazonaws.com",
  };
}

function sleep(ms: number, abort: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    abort.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
  });
}
