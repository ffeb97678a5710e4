// What becomes of transactions and notifications, as it happens: one connection for all views of the page.
import { follow } from "#ui";
import type { Schemas } from "#clients/appcore";

interface Heard {
  transaction?: (x: Schemas["Transaction"]) => void;
  notification?: (n: Schemas["Notification"]) => void;
  /** What happened before is not told: what is shown has to be read again. */
  ready?: () => unknown;
}

const listeners = new Set<Heard>();

/** Hears of what changes until the function that it returns is called. */
export function hear(heard: Heard): () => void {
  listeners.add(heard);
  return () => { listeners.delete(heard); };
}

/** Follows what is the user's, while he is signed in. */
export function watchOwn(): () => void {
  return follow("/events", {
    ready: () => listeners.forEach((l) => void l.ready?.()),
    transaction: (x: Schemas["Transaction"]) => listeners.forEach((l) => l.transaction?.(x)),
    notification: (n: Schemas["Notification"]) => listeners.forEach((l) => l.notification?.(n)),
  }).stop;
}

const rest = 2000;
const minute = 60_000;

/** Reads something again when transactions of anybody have changed: at once, and not again within two seconds. */
export function watchQueue(read: () => Promise<unknown>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let again = false;
  const now = () => {
    if (timer !== undefined) {
      again = true;
      return;
    }
    timer = setTimeout(() => {
      timer = undefined;
      if (again) now();
      again = false;
    }, rest);
    void read();
  };
  const following = follow("/queue/events", { ready: now, transaction: now });
  const overdue = setInterval(() => { if (!document.hidden) now(); }, minute); // what waits for too long is told by no event
  return () => { following.stop(); clearTimeout(timer); clearInterval(overdue); };
}
