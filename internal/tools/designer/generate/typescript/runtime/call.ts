// A call of a pattern: its requests and their cost.

import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  type ConsumedCapacity,
  type DynamoDBClient,
  GetItemCommand,
  ProvisionedThroughputExceededException,
  type QueryCommand,
  type QueryCommandOutput,
  RequestLimitExceeded,
  type ScanCommand,
  type ScanCommandOutput,
  ThrottlingException,
  type WriteRequest,
} from "@aws-sdk/client-dynamodb";
import type { Table } from "./descriptor.js";
import { identity } from "./entity.js";
import type { Sealer } from "./cursor.js";
import { declared, type Declared } from "./errors.js";
import type { Item } from "./values.js";

/** The methods of a DynamoDBClient that the runtime uses. */
export type Client = Pick<DynamoDBClient, "send">;

/** A finished call: its pattern, duration and cost. */
export interface Observation {
  pattern: string;
  requests: number;
  /** The total, as reported by DynamoDB. */
  readUnits: number;
  writeUnits: number;
  /** 1, or more if a write was retried after a conflict. */
  attempts: number;
  milliseconds: number;
  error: unknown;
}

/** Options of one call. */
export interface CallOptions {
  /** Cancels the call. */
  abortSignal?: AbortSignal;
}

/** The state that all calls of a database share. */
export interface Environment {
  client: Client;
  tableName(t: Table): string;
  clock: () => number;
  sealer: Sealer | undefined;
  caller: (() => string) | undefined;
  observe: ((o: Observation) => void) | undefined;
  newID: ((kind: string) => string) | undefined;
  sequential: boolean;
  errors: { [name: string]: Declared };
}

const maxBatchKeys = 100;
const maxConcurrentBatches = 2;
export const maxIdleBatches = 10;
export const maxBatchItems = 25;

/** The requests of a batch, by table. */
export type BatchItems = { [table: string]: WriteRequest[] };

/** The error of a batch without progress. */
export function throughputExceeded(message: string): Error {
  return new ProvisionedThroughputExceededException({ message, $metadata: {} });
}

export class Call {
  readonly env: Environment;
  /** The time of the call in milliseconds since 1970. */
  readonly now: number;
  readonly seen: Observation;
  private readonly signal: AbortSignal | undefined;
  private readonly start = performance.now();

  constructor(env: Environment, pattern: string, o: CallOptions) {
    this.env = env;
    this.now = Math.floor(env.clock());
    this.signal = o.abortSignal;
    this.seen = { pattern, requests: 0, readUnits: 0, writeUnits: 0, attempts: 1, milliseconds: 0, error: undefined };
  }

  end(error?: unknown): void {
    if (this.env.observe) {
      this.env.observe({ ...this.seen, milliseconds: this.elapsed(), error });
    }
  }

  /** How long the call has run, in milliseconds. */
  elapsed(): number {
    return performance.now() - this.start;
  }

  get capacity(): { ReturnConsumedCapacity?: "TOTAL" } {
    return this.env.observe ? { ReturnConsumedCapacity: "TOTAL" } : {};
  }

  declared(name: string): { codes: string[]; message: string } {
    return declared(this.env.errors, name);
  }

  /** Sends a request and counts the consumed capacity. */
  async send<T>(command: object, writes = false): Promise<T> {
    const send = this.env.client.send.bind(this.env.client) as unknown as (c: object, o: object) => Promise<T>;
    Object.assign((command as { input: object }).input, this.capacity);
    this.seen.requests++;
    const out = await send(command, this.signal ? { abortSignal: this.signal } : {});
    const consumed = (out as { ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[] }).ConsumedCapacity;
    for (const units of consumed === undefined ? [] : Array.isArray(consumed) ? consumed : [consumed]) {
      const own = units.ReadCapacityUnits === undefined && units.WriteCapacityUnits === undefined ? (units.CapacityUnits ?? 0) : 0;
      this.seen.readUnits += (units.ReadCapacityUnits ?? 0) + (writes ? 0 : own);
      this.seen.writeUnits += (units.WriteCapacityUnits ?? 0) + (writes ? own : 0);
    }
    return out;
  }

  read(command: QueryCommand | ScanCommand): Promise<QueryCommandOutput | ScanCommandOutput> {
    return this.send(command);
  }

  /** Reads an item by its primary key. */
  async get(t: Table, key: Item, consistent: boolean): Promise<Item | undefined> {
    const response = await this.send<{ Item?: Item }>(new GetItemCommand({ TableName: this.env.tableName(t), Key: key, ConsistentRead: consistent }));
    return response.Item && Object.keys(response.Item).length > 0 ? response.Item : undefined;
  }

  /** Reads items by their primary keys; undefined for a missing one. Equal keys are requested once. */
  async fetch(t: Table, keys: readonly Item[], consistent: boolean): Promise<(Item | undefined)[]> {
    const distinct = new Map(keys.map((key) => [identity(t, key), key]));
    const all = [...distinct.values()];
    const chunks: Item[][] = [];
    for (let i = 0; i < all.length; i += maxBatchKeys) {
      chunks.push(all.slice(i, i + maxBatchKeys));
    }
    const found = new Map<string, Item>();
    await this.concurrently(chunks.length, maxConcurrentBatches, async (i) => {
      for (const item of await this.fetchChunk(t, chunks[i]!, consistent)) {
        found.set(identity(t, item), item);
      }
    });
    return keys.map((key) => found.get(identity(t, key)));
  }

  private async fetchChunk(t: Table, keys: Item[], consistent: boolean): Promise<Item[]> {
    const out: Item[] = [];
    let rest: object | undefined = { [this.env.tableName(t)]: { Keys: keys, ConsistentRead: consistent } };
    for (let idle = 0; ; ) {
      const response: { Responses?: { [table: string]: Item[] }; UnprocessedKeys?: object } = await this.send(
        new BatchGetItemCommand({ RequestItems: rest as never }),
      );
      idle++;
      for (const items of Object.values(response.Responses ?? {})) {
        out.push(...items);
        if (items.length > 0) {
          idle = 1;
        }
      }
      rest = response.UnprocessedKeys;
      if (!rest || Object.keys(rest).length === 0) {
        return out;
      }
      if (idle === maxIdleBatches) {
        throw throughputExceeded(`BatchGetItem processed none of its keys, ${idle} times in a row`);
      }
      await this.pauseAfter(idle);
    }
  }

  /** Sends one BatchWriteItem and returns the unprocessed items: all of them if DynamoDB throttles it. */
  async writeBatch(requests: BatchItems): Promise<BatchItems> {
    try {
      const response = await this.send<{ UnprocessedItems?: BatchItems }>(new BatchWriteItemCommand({ RequestItems: requests }), true);
      return response.UnprocessedItems ?? {};
    } catch (err) {
      if ([ProvisionedThroughputExceededException, ThrottlingException, RequestLimitExceeded].some((of) => err instanceof of)) {
        return requests;
      }
      throw err;
    }
  }

  /** Waits before the next attempt, longer after each failed one. */
  pauseAfter(attempts: number): Promise<void> {
    return this.pause(Math.min(25 * 2 ** (attempts - 1), 3000));
  }

  /** Runs n tasks with bounded concurrency. It throws the first error, after which no task is started. */
  async concurrently(n: number, atOnce: number, task: (i: number) => Promise<void>): Promise<void> {
    let next = 0;
    let failed = false;
    const lane = async (): Promise<void> => {
      while (next < n && !failed) {
        try {
          await task(next++);
        } catch (err) {
          failed = true;
          throw err;
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(n, this.env.sequential ? 1 : atOnce) }, lane));
  }

  /** Waits for a random time up to a maximum. */
  async pause(longest: number): Promise<void> {
    this.signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const signal = this.signal;
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, Math.random() * longest);
      signal?.addEventListener("abort", stop, { once: true });
    });
  }
}
