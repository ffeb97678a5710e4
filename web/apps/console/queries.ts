// The history of queries and bookmarks. They are stored at the endpoint: one item each, in a table of their own. If
// that is not possible, the browser stores them. A change names the queries that it adds or removes, so tabs do not overwrite each other.
import { signal } from "@preact/signals";
import { Problem, keep, kept } from "#ui";
import { type KeptQueries, about, changeQueries, createQueriesTable, fetchQueries } from "./api.ts";
import { toastFault } from "./fault.tsx";

export interface Query {
  title: string;
  /** The view's address: "#/tables/shop?pk=USER%231". */
  address: string;
}

const most = 100;
const historyAt = `console-history ${location.pathname}`;
const bookmarksAt = `console-bookmarks ${location.pathname}`;

function isQuery(v: unknown): v is Query {
  const q = v as Partial<Query> | null;
  return typeof q === "object" && q !== null && typeof q.title === "string" && typeof q.address === "string" && q.address.startsWith("#/");
}

/** Parses the queries of a text; undefined if it is not one of ours. */
export function read(text: string): Query[] | undefined {
  try {
    const { queries } = JSON.parse(text) as { queries?: unknown[] };
    return Array.isArray(queries) && queries.every(isQuery) ? queries.map(({ title, address }) => ({ title, address })) : undefined;
  } catch {
    return undefined;
  }
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const byTitle = (queries: readonly Query[]) => [...queries].sort((a, b) => order(a.title, b.title) || order(a.address, b.address));

/** A file of queries, sorted, one attribute per line, so that git shows what has changed. */
export function written(queries: readonly Query[]): string {
  return `${JSON.stringify({ queries: byTitle(queries.map(({ title, address }) => ({ title, address }))) }, null, 2)}\n`;
}

export const past = signal<readonly Query[]>([]);
export const bookmarks = signal<readonly Query[]>([]);
/** Where they are stored, and the reason if it is the browser. */
export const place = signal<Pick<KeptQueries, "in" | "why">>({ in: "browser" });

const without = (list: readonly Query[], addresses: readonly string[]) => list.filter((q) => !addresses.includes(q.address));
const keepInBrowser = (at: string, queries: readonly Query[]) => keep(at, queries.length > 0 ? JSON.stringify({ queries }) : undefined);
const ofBrowser = (at: string) => read(kept(at) ?? "") ?? [];

let loading: Promise<void> | undefined;
let saving: Promise<unknown> = Promise.resolve(); // the last change

/** Loads the queries, once the user is known and again to see changes of other tabs. */
export function loadQueries(): Promise<void> {
  loading = saving.catch(() => undefined).then(fetchQueries).then(take, (thrown: unknown) => {
    take({ in: "browser", bookmarks: [], history: [] });
    toastFault(thrown);
  });
  return loading;
}

function take(found: KeptQueries): void {
  place.value = found.why === undefined ? { in: found.in } : { in: found.in, why: found.why };
  bookmarks.value = found.in === "browser" ? byTitle(ofBrowser(bookmarksAt)) : found.bookmarks;
  past.value = found.in === "table" ? found.history : ofBrowser(historyAt);
  if (found.in === "table") void moveIn();
}

/** Adds the browser's queries to the table. */
async function moveIn(): Promise<void> {
  const [marked, been] = [ofBrowser(bookmarksAt), ofBrowser(historyAt)];
  if (marked.length > 0) await change("bookmarks", without(marked, bookmarks.value.map((q) => q.address)), []);
  if (been.length > 0) await change("history", without(been, past.value.map((q) => q.address)).reverse(), []);
  if (place.value.in !== "table") return;
  keep(bookmarksAt, undefined);
  keep(historyAt, undefined);
}

/** Changes a list here and where it is stored. */
async function change(list: "bookmarks" | "history", add: readonly Query[], remove: readonly string[]): Promise<void> {
  if (add.length + remove.length === 0) return;
  await loading;
  const [shown, at] = list === "bookmarks" ? [bookmarks, bookmarksAt] as const : [past, historyAt] as const;
  const before = shown.value;
  const rest = without(before, [...remove, ...add.map((q) => q.address)]);
  shown.value = list === "bookmarks" ? byTitle([...rest, ...add]) : [...[...add].reverse(), ...rest];
  try {
    if (place.value.in === "table" || (place.value.in === "file" && list === "bookmarks")) await (saving = saving.catch(() => undefined).then(() => changeQueries(list, add, remove)));
    else keepInBrowser(at, shown.value);
  } catch (thrown) {
    const problem = Problem.of(thrown);
    if (problem.code === "AccessDeniedException") { // may read the table, but not write to it
      place.value = { in: "browser", why: "denied" };
      keepInBrowser(at, shown.value);
      return;
    }
    shown.value = before;
    toastFault(problem);
  }
}

/** Adds a query to the history. */
export async function ran(query: Query): Promise<void> {
  await loading;
  if (past.value[0]?.address === query.address) return;
  const { title, address } = query;
  const old = without(past.value, [address]).slice(most - 1).map((q) => q.address);
  await change("history", [{ title, address }], old);
}

export function forgetPast(): Promise<void> {
  return change("history", [], past.value.map((q) => q.address));
}

export function isBookmarked(address: string): boolean {
  return bookmarks.value.some((q) => q.address === address);
}

/** Bookmarks a query, or removes its bookmark. */
export async function bookmark({ title, address }: Query): Promise<void> {
  await loading;
  return isBookmarked(address) ? change("bookmarks", [], [address]) : change("bookmarks", [{ title, address }], []);
}

/** Adds the bookmarks of a file; returns false if it has none. */
export async function addBookmarks(text: string): Promise<boolean> {
  const more = read(text);
  if (!more) return false;
  await change("bookmarks", more, []);
  return true;
}

/** Stores the queries at the endpoint from now on. */
export async function keepInTable(): Promise<void> {
  await loading; // or its answer, from before the table, would come last
  take(await createQueriesTable());
}

/** Whether queries can be bookmarked. */
export function canBookmark(): boolean {
  return !(place.value.in === "file" && about.readOnly);
}
