import { useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "#ui";

/** Work that is started by a button and can be stopped. */
export function useWork<T, P>(work: (onProgress: (progress: P) => void, abort: AbortSignal) => Promise<T>) {
  const [state, set] = useState<{ running: boolean; progress?: P; done?: T; problem?: Problem }>({ running: false });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const run = async () => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    set({ running: true });
    try {
      const done = await work((progress) => { if (!mine.signal.aborted) set({ running: true, progress }); }, mine.signal);
      if (!mine.signal.aborted) set({ running: false, done });
    } catch (thrown) {
      if (!mine.signal.aborted) set({ running: false, problem: Problem.of(thrown) });
    }
  };
  const stop = () => { running.current?.abort(); set({ running: false }); };
  return { ...state, run: () => void run(), stop };
}
