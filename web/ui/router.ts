import { computed, signal } from "@preact/signals";

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
window.addEventListener("hashchange", () => { place.value = parse(); });

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

/** Navigates to a view; replace adds no history entry. */
export function go(to: string, how: "push" | "replace" = "push"): void {
  if (how === "push") {
    location.hash = to.replace(/^#/, "");
  } else {
    history.replaceState(null, "", to.startsWith("#") ? to : `#${to}`);
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
