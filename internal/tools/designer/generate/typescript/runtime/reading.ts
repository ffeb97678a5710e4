// The merged reading of a source's partitions.

import { QueryCommand, type QueryCommandInput, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { Call } from "./call.js";
import type { Position } from "./cursor.js";
import type { Source, Start } from "./source.js";
import type { Item } from "./values.js";
import type { Walk } from "./walk.js";

/** A partition that is read: the items that were returned and not consumed yet, and the position. */
interface Lane {
  request: QueryCommandInput;
  buffer: Item[];
  next: Item | undefined;
  position: Position;
  /** Its segment of a Scan. */
  number: number;
}

const maxConcurrentQueries = 8;
const maxPageRounds = 10;

/** Reads the partitions of a source, and merges their items. */
export class Reading {
  private readonly call: Call;
  private readonly source: Source;
  private readonly request: QueryCommandInput | undefined;
  private lanes: Lane[] = [];
  /** Creates the lanes of further periods; undefined without periods. */
  private readonly walk: Walk | undefined;
  /** The periods with lanes. */
  private readonly at: string[] = [];
  /** How many periods have been read completely. */
  private passed = 0;
  /** How many groups of lanes are read concurrently: one, and twice as many after each round without items. */
  private ahead = 1;
  private readonly most: number;

  /** Without a request there is nothing to read. most is the maximum number of periods to start. */
  constructor(
    call: Call, source: Source, request: QueryCommandInput | undefined, start: Start, positions?: readonly Position[], most = Number.POSITIVE_INFINITY,
  ) {
    this.call = call;
    this.source = source;
    this.request = request;
    this.walk = start.walk;
    this.most = most;
    if (start.at !== undefined) {
      this.at.push(start.at);
    }
    this.begin(start.partitions, positions);
  }

  /** Adds lanes. */
  private begin(partitions: readonly Item[], positions?: readonly Position[]): void {
    const { request } = this;
    if (!request) {
      return;
    }
    partitions.forEach((partition, i) => {
      const values: Item = { ...request.ExpressionAttributeValues };
      this.source.o.pk.forEach((a, n) => (values[`:p${n}`] = partition[a.name]!));
      const position = positions?.[i] ?? {};
      this.lanes.push({ request: { ...request, ExpressionAttributeValues: values }, buffer: [], next: position.at, position, number: i });
    });
  }

  /** Adds the lanes of a walk's next period. */
  private extend(walk: Walk): void {
    const next = walk.step();
    if (next) {
      this.at.push(next.at);
      this.begin(next.partitions);
    }
  }

  /** Drops the lanes of periods that have been read completely. */
  private leave(walk: Walk): void {
    while (this.lanes.length > 0 && this.lanes.slice(0, walk.shards).every((l) => l.position.done)) {
      this.lanes.splice(0, walk.shards);
      this.at.shift();
      this.passed++;
    }
  }

  /** Whether a page may be read in another round. A walk reads periods, any of which may be empty. */
  another(round: number): boolean {
    return round < maxPageRounds + this.passed && !this.done() && this.passed < this.most;
  }

  /** The lanes that are read together, in groups from the first unfinished one: all, but of a walk those of one period. */
  private groups(n: number): Lane[] {
    const { walk } = this;
    if (!walk) {
      return this.lanes;
    }
    this.leave(walk);
    const most = Math.min(n, this.most - this.passed);
    while (this.at.length < most && !walk.ended) {
      this.extend(walk);
    }
    return this.lanes.slice(0, most * walk.shards);
  }

  /** The number of items, which the requests count. */
  async count(): Promise<number> {
    let total = 0;
    const lanes = this.groups(Number.POSITIVE_INFINITY);
    await this.call.concurrently(lanes.length, maxConcurrentQueries, async (i) => {
      for (let next: Item | undefined; ; ) {
        const response = await this.call.read(new QueryCommand({ ...lanes[i]!.request, Select: "COUNT", ExclusiveStartKey: next }));
        total += response.Count ?? 0;
        next = response.LastEvaluatedKey;
        if (!next || Object.keys(next).length === 0) {
          return;
        }
      }
    });
    return total;
  }

  done(): boolean {
    if (!this.walk) {
      return this.lanes.every((l) => l.position.done);
    }
    this.leave(this.walk);
    return this.lanes.length === 0 && this.walk.ended;
  }

  /** The positions in the partitions: of a walk, those of its current period, which is not finished. */
  progress(): { at: string; positions: Position[] } {
    const { walk } = this;
    if (!walk) {
      return { at: "", positions: this.lanes.map((l) => l.position) };
    }
    this.leave(walk);
    if (this.at.length === 0) {
      this.extend(walk);
    }
    return { at: this.at[0]!, positions: this.lanes.slice(0, walk.shards).map((l) => l.position) };
  }

  /**
   * Consumes up to n items in order. It reads every partition with an empty buffer once, so there may be fewer before the end.
   */
  async next(n: number): Promise<Item[]> {
    const dry = this.groups(this.ahead).filter(isDry);
    await this.call.concurrently(dry.length, maxConcurrentQueries, (i) => this.ask(dry[i]!, n));
    this.ahead = Math.min(2 * this.ahead, maxConcurrentQueries);
    const out: Item[] = [];
    while (out.length < n) {
      const l = this.least();
      if (!l) {
        break;
      }
      this.ahead = 1;
      const item = l.buffer.shift()!;
      out.push(item);
      l.position = { at: this.source.keyOfItem(item) };
      settle(l);
    }
    return out;
  }

  private async ask(l: Lane, limit: number): Promise<void> {
    const response = await this.call.read(this.command(l, { ...l.request, Limit: limit, ExclusiveStartKey: l.next }));
    l.buffer = response.Items ?? [];
    const more = response.LastEvaluatedKey && Object.keys(response.LastEvaluatedKey).length > 0;
    l.next = more && !(l.buffer.length > 0 && this.source.single()) ? response.LastEvaluatedKey : undefined;
    settle(l);
  }

  /** A lane's request: a Query, or a Scan of a segment. */
  private command(l: Lane, q: QueryCommandInput): QueryCommand | ScanCommand {
    if (!this.source.scans) {
      return new QueryCommand(q);
    }
    const { ScanIndexForward: _, ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {}, ...rest } = q;
    return new ScanCommand({
      ...rest,
      ...(Object.keys(names).length > 0 ? { ExpressionAttributeNames: names } : {}),
      ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
      ...(this.lanes.length > 1 ? { Segment: l.number, TotalSegments: this.lanes.length } : {}),
    });
  }

  /** The lane with the next item; undefined if there is none, or if a lane must be read to know. */
  private least(): Lane | undefined {
    let least: Lane | undefined;
    for (const l of this.groups(1)) {
      if (isDry(l) && !this.source.scans) { // the items of a Scan are unordered
        return undefined;
      }
      if (l.buffer.length > 0 && (!least || this.source.compare(l.buffer[0]!, least.buffer[0]!) < 0)) {
        least = l;
      }
    }
    return least;
  }
}

function isDry(l: Lane): boolean {
  return l.buffer.length === 0 && !l.position.done;
}

/** Moves a lane with an empty buffer to the start of its next request, or to its end. */
function settle(l: Lane): void {
  if (l.buffer.length === 0) {
    l.position = l.next ? { at: l.next } : { done: true };
  }
}
