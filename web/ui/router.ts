import { computed, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * Views are behind the # of the address, because paths belong to the API and a page must work below any prefix.
 */
export interface Place {
  path: string;
  query: URLSearchParams;
}

function parse(): Place {
  const [path = "", query = ""] = location.hash.replace(/^#/, "").split("?", 2);
  return { path: path.startsWith("/") ? path : `/${path}`, query: new URLSearchParams(query) };
}

const place = signal<Place>(parse());
let shown = location.hash;

// The entries of the history are numbered, so that leaving a guarded view can be undone in the direction it went.
let at = entry() ?? 0;
history.replaceState(at, "");

function entry(): number | undefined {
  const state: unknown = history.state;
  return typeof state === "number" ? state : undefined;
}

const guards = new Set<() => boolean>();
let allowed = false;

/** How far in the history the user is about to go, while they are asked whether to discard unsaved input. */
export const leaving = signal<number | undefined>(undefined);

window.addEventListener("hashchange", () => {
  if (location.hash === shown) {
    return; // leaving has been undone
  }
  const to = entry() ?? at + 1;
  history.replaceState(to, "");
  if (!allowed && [...guards].some((unsaved) => unsaved())) {
    leaving.value = to - at;
    history.go(at - to);
    return;
  }
  allowed = false;
  at = to;
  shown = location.hash;
  place.value = parse();
});

/** Discards unsaved input and goes where the user wanted to. */
export function leave(): void {
  allowed = true;
  history.go(leaving.value);
  leaving.value = undefined;
}

/** Stays in the view. */
export function stay(): void {
  leaving.value = undefined;
}

/** Asks before the user leaves the view or closes the page while it has unsaved input. */
export function useLeaveGuard(unsaved: () => boolean): void {
  const latest = useRef(unsaved);
  latest.current = unsaved;
  useLayoutEffect(() => { // an effect would guard for a moment after the view is gone
    const guard = () => latest.current();
    const ask = (e: BeforeUnloadEvent) => { if (guard()) e.preventDefault(); };
    guards.add(guard);
    window.addEventListener("beforeunload", ask);
    return () => {
      guards.delete(guard);
      window.removeEventListener("beforeunload", ask);
    };
  }, []);
}

/** The current address. */
export const here = computed(() => place.value);

/** The address of a view: link("/orders/:id", {id}) is "#/orders/42"; other values become the query. */
export function link(pattern: string, values: Record<string, string | number | undefined> = {}): string {
  const rest = new URLSearchParams();
  const used = new Set<string>();
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => {
    used.add(name);
    return encodeURIComponent(String(values[name] ?? ""));
  });
  for (const [name, value] of Object.entries(values)) {
    if (!used.has(name) && value !== undefined && value !== "") rest.set(name, String(value));
  }
  const query = rest.toString();
  return `#${path}${query ? `?${query}` : ""}`;
}

/** Navigates to a view; replace adds no history entry, and asks nothing. */
export function go(to: string, how: "push" | "replace" = "push"): void {
  if (how === "push") {
    location.hash = to.replace(/^#/, "");
  } else {
    history.replaceState(at, "", to.startsWith("#") ? to : `#${to}`);
    shown = location.hash;
    place.value = parse();
  }
}

/** The values of a pattern's parts, or undefined if the path does not match: match("/orders/:id", path)?.id. */
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const want = pattern.split("/");
  const have = path.replace(/\/+$/, "").split("/");
  if (want.length !== Math.max(have.length, 2)) {
    return path === pattern ? {} : undefined;
  }
  const values: Record<string, string> = {};
  for (const [n, part] of want.entries()) {
    const given = have[n] ?? "";
    if (part.startsWith(":") && given !== "") {
      try {
        values[part.slice(1)] = decodeURIComponent(given);
      } catch {
        return undefined;
      }
    } else if (part !== given) {
      return undefined;
    }
  }
  return values;
}

/** The view of the first matching pattern: view({"/": () => <Home/>, "/orders/:id": (v) => <Order id={v.id}/>}, …). */
export function view<T>(views: Record<string, (values: Record<string, string>) => T>, otherwise: () => T): T {
  for (const [pattern, show] of Object.entries(views)) {
    const values = match(pattern, here.value.path);
    if (values) {
      return show(values);
    }
  }
  return otherwise();
}
