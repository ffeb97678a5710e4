// Queries that have been run, and those that are kept. The browser keeps both, for each console; a file takes bookmarks to others, or into
// git. Where the console was started with --bookmarks, that file has them instead, for everybody.
import { signal } from "@preact/signals";
import { Problem, keep, kept, toastProblem } from "#ui";
import { about, fetchBookmarks, putBookmarks } from "./api.ts";

export interface Query {
  title: string;
  /** The view's: "#/tables/shop?pk=USER%231". */
  address: string;
}

const most = 100;
const historyAt = `console-history ${location.pathname}`;
const bookmarksAt = `console-bookmarks ${location.pathname}`;

function isQuery(v: unknown): v is Query {
  const q = v as Partial<Query> | null;
  return typeof q === "object" && q !== null && typeof q.title === "string" && typeof q.address === "string" && q.address.startsWith("#/");
}

/** The queries of a text; undefined where it has none of ours. */
export function read(text: string): Query[] | undefined {
  try {
    const { queries } = JSON.parse(text) as { queries?: unknown[] };
    return Array.isArray(queries) && queries.every(isQuery) ? queries.map(({ title, address }) => ({ title, address })) : undefined;
  } catch {
    return undefined;
  }
}

/** One query per line of JSON's own, in the order of titles, so that git shows what has changed. */
export function written(queries: readonly Query[]): string {
  const sorted = [...queries].sort((a, b) => (a.title < b.title ? -1 : a.title > b.title ? 1 : 0));
  return `${JSON.stringify({ queries: sorted }, null, 2)}\n`;
}

export const past = signal<readonly Query[]>(read(kept(historyAt) ?? "") ?? []);
export const bookmarks = signal<readonly Query[]>(about.bookmarks ? [] : read(kept(bookmarksAt) ?? "") ?? []);

const loaded = !about.bookmarks ? Promise.resolve() : fetchBookmarks().then((text) => { bookmarks.value = read(text) ?? []; }, toastProblem);

const named = (list: readonly Query[], address: string) => list.find((q) => q.address === address);

/** Notes that a query was run. */
export function ran(query: Query): void {
  if (past.value[0]?.address === query.address) return;
  past.value = [query, ...past.value.filter((q) => q.address !== query.address)].slice(0, most);
  keep(historyAt, JSON.stringify({ queries: past.value }));
}

export function forgetPast(): void {
  past.value = [];
  keep(historyAt, undefined);
}

export function isBookmarked(address: string): boolean {
  return named(bookmarks.value, address) !== undefined;
}

export async function setBookmarks(next: readonly Query[]): Promise<void> {
  const before = bookmarks.value;
  bookmarks.value = next;
  try {
    if (about.bookmarks) await putBookmarks(written(next));
    else keep(bookmarksAt, written(next));
  } catch (thrown) {
    bookmarks.value = before;
    toastProblem(Problem.of(thrown));
  }
}

export async function bookmark(query: Query): Promise<void> {
  await loaded; // what is there is kept
  return setBookmarks(isBookmarked(query.address) ? bookmarks.value.filter((q) => q.address !== query.address) : [...bookmarks.value, query]);
}

/** Adds the bookmarks of a file; false where it has none. */
export async function addBookmarks(text: string): Promise<boolean> {
  const more = read(text);
  if (!more) return false;
  await loaded;
  await setBookmarks([...bookmarks.value.filter((q) => !named(more, q.address)), ...more]);
  return true;
}
