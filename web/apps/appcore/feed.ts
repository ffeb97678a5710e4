// Live changes of transactions and notifications: one connection for all views of the page.
import { follow } from "#ui";
import type { Schemas } from "#clients/appcore";

interface Listener {
  transaction?: (x: Schemas["Transaction"]) => void;
  notification?: (n: Schemas["Notification"]) => void;
  /** Earlier events are not replayed: reload what is shown. */
  ready?: () => unknown;
}

const listeners = new Set<Listener>();

/** Subscribes to changes; returns a function that unsubscribes. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => { listeners.delete(listener); };
}

/** Follows the user's own changes while they are signed in. */
export function watchOwn(): () => void {
  return follow("/events", {
    ready: () => listeners.forEach((l) => void l.ready?.()),
    transaction: (x: Schemas["Transaction"]) => listeners.forEach((l) => l.transaction?.(x)),
    notification: (n: Schemas["Notification"]) => listeners.forEach((l) => l.notification?.(n)),
  }).stop;
}

const rest = 2000;
const minute = 60_000;

/** Reloads when any user's transactions change: immediately, then at most every two seconds. */
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
  const overdue = setInterval(() => { if (!document.hidden) now(); }, minute); // no event reports what has waited for too long
  return () => { following.stop(); clearTimeout(timer); clearInterval(overdue); };
}
