// The server's reported state: slow requests, storage, the servers that share the store.
import { useEffect, useState } from "preact/hooks";
import { type Problem, useLoaded } from "#ui";
import { call } from "./api.ts";

/** A slow request. Durations are milliseconds, times seconds since the epoch. */
export interface SlowRequest {
  ID: string;
  Operation: string;
  Tables: string[];
  Time: number;
  Took: number;
  LatchWait: number;
  SyncWait: number;
  ReadTime: number;
  Error?: string;
}

export interface Level { Files: number; Bytes: number; In: number; Out: number; Score: number }

export interface Storage {
  Levels: Level[];
  TablesBytes: number;
  LogBytes: number;
  ObsoleteBytes: number;
  LogFiles: number;
  MemtableBytes: number;
  CacheBytes: number;
  CacheHits: number;
  CacheMisses: number;
  ReadAmplification: number;
  WriteAmplification: number;
  WrittenToLog: number;
  WrittenToTables: number;
  Flushes: number;
  Compactions: number;
  CompactionsRunning: number;
  CompactionsFailed: number;
  CompactionTime: number;
  CompactionDebt: number;
  Stalls: number;
  StallTime: number;
  Stalled: boolean;
  Syncs: number;
  SyncMean: number;
  FileSystemBytes: number;
  FileSystemFree: number;
  FileSystemWritable: number;
  OpenSnapshots: number;
}

/** A server that shares the store, by its lease, of which Left milliseconds remain. */
export interface Sharer { ID: string; Self: boolean; Serves: boolean; Current: boolean; Until: number; Leads: boolean; Term?: number; LeadsUntil?: number; Left: number }

export interface ServerState {
  Now: number;
  Started: number;
  SlowFrom: number;
  SlowTotal: number;
  SlowRequests: SlowRequest[];
  Storage?: Storage;
  Servers: Sharer[];
}

const pause = 2000; // milliseconds between polls
const samplesMax = 300; // ten minutes

export interface Watched {
  state: ServerState | undefined;
  /** The states since the view was opened, oldest first. */
  samples: readonly ServerState[];
  problem: Problem | undefined;
  reload: () => void;
}

/** The server's state, polled while the view is open. */
export function useServer(): Watched {
  const loaded = useLoaded((abort) => call<ServerState>("DescribeServer", {}, abort), []);
  const [samples, add] = useState<readonly ServerState[]>([]);
  const state = loaded.value.value;
  useEffect(() => {
    if (!state) return undefined;
    add((before) => [...before, state].slice(-samplesMax));
    const timer = setTimeout(() => void loaded.reload(), pause);
    return () => clearTimeout(timer);
  }, [state]);
  return { state, samples, problem: loaded.problem.value, reload: () => void loaded.reload() };
}

/** The rate per second between one sample and the next. */
export function perSecond(samples: readonly ServerState[], of: (s: Storage) => number): number[] {
  return samples.slice(1).map((s, n) => {
    const before = samples[n];
    if (!before?.Storage || !s.Storage || s.Now <= before.Now) return 0;
    return Math.max(0, of(s.Storage) - of(before.Storage)) / (s.Now - before.Now);
  });
}
