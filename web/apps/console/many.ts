// Many requests, a few at a time. A throttled request is retried with backoff; any other failure is reported with its item.
import { Problem } from "#ui";
import { call } from "./api.ts";

const atOnce = 5; // browsers open six connections to an HTTP/1.1 server
const tries = 8;
const firstPause = 100; // milliseconds; doubled with each attempt

const throttles = ["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded", "Throttling", "TransactionInProgressException"];

export interface Failure<T> {
  of: T;
  problem: Problem;
}

function pause(ms: number, abort: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    abort.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

export function backoff(attempt: number, abort: AbortSignal): Promise<void> {
  return pause(firstPause * 2 ** attempt * (0.5 + Math.random()), abort);
}

/** Calls an operation, retrying while it is throttled. */
export async function callAgain<T>(operation: string, input: object, abort: AbortSignal): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call<T>(operation, input, abort);
    } catch (thrown) {
      const problem = Problem.of(thrown);
      if (attempt + 1 >= tries || !(throttles.includes(problem.code) || problem.status === 500 || problem.status === 503)) throw problem;
      await backoff(attempt, abort);
    }
  }
}

/** Runs a task for each element of the list, until all are done or the signal aborts. A failure does not stop the others. */
export async function forEach<T>(list: Iterable<T> | AsyncIterable<T>, abort: AbortSignal, task: (of: T) => Promise<void>): Promise<Failure<T>[]> {
  const failures: Failure<T>[] = [];
  const running = new Set<Promise<void>>();
  for await (const of of list) {
    if (abort.aborted) break;
    const one = task(of).catch((thrown: unknown) => { if (!abort.aborted) failures.push({ of, problem: Problem.of(thrown) }); }).finally(() => running.delete(one));
    running.add(one);
    if (running.size >= atOnce) await Promise.race(running);
  }
  await Promise.all(running);
  return failures;
}
