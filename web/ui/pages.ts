import { signal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Problem } from "./problem.ts";

/** A list that the server returns in pages. */
export interface Pages<T> {
  items: ReadonlySignal<readonly T[]>;
  state: ReadonlySignal<"idle" | "loading" | "ready" | "failed">;
  /** The cursor of the next page; undefined on the last. */
  next: ReadonlySignal<string | undefined>;
  problem: ReadonlySignal<Problem | undefined>;
  more: () => Promise<void>;
  reload: () => Promise<void>;
  /** Changes the displayed items after a user's action: replaces, removes or adds one without a request. */
  change: (edit: (items: readonly T[]) => readonly T[]) => void;
}

type Fetch<T> = (cursor: string | undefined, signal: AbortSignal) => Promise<{ items: readonly T[]; next?: string | undefined }>;

export function pages<T>(fetchPage: Fetch<T>): Pages<T> & { stop: () => void } {
  const items = signal<readonly T[]>([]);
  const state = signal<"idle" | "loading" | "ready" | "failed">("idle");
  const next = signal<string | undefined>(undefined);
  const problem = signal<Problem | undefined>(undefined);
  let running = new AbortController();
  const load = async (cursor: string | undefined) => {
    running.abort();
    const mine = new AbortController();
    running = mine;
    state.value = "loading";
    problem.value = undefined;
    try {
      const page = await fetchPage(cursor, mine.signal);
      if (mine.signal.aborted) {
        return;
      }
      items.value = cursor === undefined ? page.items : [...items.value, ...page.items];
      next.value = page.next;
      state.value = "ready";
    } catch (thrown) {
      if (!mine.signal.aborted) {
        problem.value = Problem.of(thrown);
        state.value = "failed";
      }
    }
  };
  return {
    items, state, next, problem,
    more: () => load(items.value.length > 0 ? next.value : undefined),
    reload: () => load(undefined),
    change: (edit) => { items.value = edit(items.value); },
    stop: () => running.abort(),
  };
}

/** The pages of a view; reloaded when one of needs changes. */
export function usePages<T>(fetchPage: Fetch<T>, needs: readonly unknown[]): Pages<T> {
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the caller provides needs
  const made = useMemo(() => pages(fetchPage), needs);
  useEffect(() => {
    void made.reload();
    return made.stop;
  }, [made]);
  return made;
}

/** One value from the server. */
export interface Loaded<T> {
  value: ReadonlySignal<T | undefined>;
  loading: ReadonlySignal<boolean>;
  problem: ReadonlySignal<Problem | undefined>;
  reload: () => Promise<void>;
  set: (value: T) => void;
}

/** A value that a view loads: `const order = useLoaded((signal) => ask(api.GET(…, {signal})), [id])`. */
export function useLoaded<T>(fetchOne: (signal: AbortSignal) => Promise<T>, needs: readonly unknown[]): Loaded<T> {
  const made = useMemo(() => loaded(fetchOne), needs);
  useEffect(() => {
    void made.reload();
    return made.stop;
  }, [made]);
  return made;
}

function loaded<T>(fetchOne: (signal: AbortSignal) => Promise<T>): Loaded<T> & { stop: () => void } {
  const value = signal<T | undefined>(undefined);
  const loading = signal(true);
  const problem = signal<Problem | undefined>(undefined);
  let running = new AbortController();
  let latest: Promise<void> = Promise.resolve();
  const load = async (): Promise<void> => {
    running.abort();
    const mine = new AbortController();
    running = mine;
    loading.value = true;
    problem.value = undefined;
    try {
      const got = await fetchOne(mine.signal);
      if (!mine.signal.aborted) value.value = got;
    } catch (thrown) {
      if (!mine.signal.aborted) problem.value = Problem.of(thrown);
    }
    if (running !== mine) await latest; // a later load has replaced this one: wait for that one
    else if (!mine.signal.aborted) loading.value = false;
  };
  return {
    value, loading, problem,
    set: (v) => { value.value = v; },
    stop: () => running.abort(),
    reload: () => (latest = load()),
  };
}
