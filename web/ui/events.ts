import { signal, type ReadonlySignal } from "@preact/signals";
import { createParser } from "eventsource-parser";
import { apiURL } from "./client.ts";
import { Problem } from "./problem.ts";
import { session } from "./session.ts";
import { language } from "./words.ts";

export interface Following {
  /** failed: a retry would not help (no token, no permission, not found). */
  state: ReadonlySignal<"connecting" | "open" | "waiting" | "failed">;
  problem: ReadonlySignal<Problem | undefined>;
  stop: () => void;
}

const restFirst = 500;
const restMost = 15_000;

/**
 * Follows an event stream of the system with the session's token, which EventSource cannot send. It reconnects with
 * growing pauses. At each `ready`, which a service sends whenever events may have been missed, a view loads its list.
 * headers are added to those of the session.
 *
 *   const following = follow("/orders/events", { ready: () => list.reload(), order: (o) => show(o) });
 */
export function follow(path: string, on: Record<string, (data: never) => void>, more: { headers?: Record<string, string> } = {}): Following {
  const state = signal<"connecting" | "open" | "waiting" | "failed">("connecting");
  const problem = signal<Problem | undefined>(undefined);
  const end = new AbortController();
  let last = "";
  const once = async (): Promise<boolean> => {
    const headers: Record<string, string> = { ...more.headers, Accept: "text/event-stream", "Accept-Language": language.value };
    if (session.value) headers["Authorization"] = `Bearer ${session.value.token}`;
    if (last) headers["Last-Event-ID"] = last;
    const response = await fetch(apiURL(path), { headers, signal: end.signal });
    if (!response.ok || !response.body) {
      throw Problem.response(response, await response.json().catch(() => undefined));
    }
    state.value = "open";
    problem.value = undefined;
    const parser = createParser({
      onEvent: (event) => {
        if (event.id !== undefined) last = event.id;
        const handler = on[event.event ?? "message"];
        if (handler) handler((event.data === "" ? undefined : JSON.parse(event.data)) as never);
      },
    });
    const text = new TextDecoder();
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) {
        return true;
      }
      parser.feed(text.decode(value, { stream: true }));
    }
  };
  const run = async () => {
    let rest = restFirst;
    while (!end.signal.aborted) {
      state.value = "connecting";
      try {
        const begun = Date.now();
        if (await once() && Date.now() - begun > restMost) rest = restFirst; // behind a gateway a stream ends immediately
      } catch (thrown) {
        problem.value = Problem.of(thrown);
        if (problem.value.status >= 400 && problem.value.status < 500 && problem.value.status !== 429) {
          state.value = "failed";
          return;
        }
      }
      if (end.signal.aborted) {
        return;
      }
      state.value = "waiting";
      await new Promise((next) => {
        const timer = setTimeout(next, rest * (0.75 + Math.random() / 2));
        end.signal.addEventListener("abort", () => { clearTimeout(timer); next(undefined); }, { once: true });
      });
      rest = Math.min(rest * 2, restMost);
    }
  };
  void run();
  return { state, problem, stop: () => end.abort() };
}
