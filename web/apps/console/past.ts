// Past states of tables and items, from the server's change log.
import { type Item } from "./value.ts";
import { call, served } from "./api.ts";

/** One commit's change of an item. An image is absent if the log does not keep it. */
export interface PastChange {
  sequence: string;
  /** Milliseconds since the epoch. */
  at: number;
  kind: "INSERT" | "MODIFY" | "REMOVE";
  expired: boolean;
  before: Item | undefined;
  after: Item | undefined;
}

export interface PastChanges {
  changes: PastChange[];
  /** The start of the kept changes, in seconds since the epoch; undefined if none are kept. */
  since: number | undefined;
  /** Where to continue, and the time down to which changes have been searched. */
  next: string | undefined;
  searched: number | undefined;
}

interface ChangeOf { SequenceNumber: string; Time: number; Existed: boolean; Exists: boolean; By: string; Old?: Item; New?: Item }

/** The changes of an item, newest first. newer is the image before the next newer change, or the current item: if only old images are kept, it is the new image. */
export async function itemChanges(table: string, key: Item, before: string | undefined, newer: Item | undefined, abort: AbortSignal): Promise<PastChanges> {
  const page = await call<{ Changes: ChangeOf[]; Since?: number; Before?: string; Searched?: number }>("ListItemChanges", { TableName: table, Key: key, ...(before === undefined ? {} : { Before: before }) }, abort);
  let following = newer;
  const changes = page.Changes.map((c): PastChange => {
    const after = c.Exists ? c.New ?? following : undefined;
    following = c.Existed ? c.Old : undefined;
    return { sequence: c.SequenceNumber, at: c.Time * 1000, kind: !c.Existed ? "INSERT" : c.Exists ? "MODIFY" : "REMOVE", expired: c.By === "ttl", before: following, after };
  });
  return { changes, since: page.Since, next: page.Before, searched: page.Searched };
}

/** An item then and now; undefined if it did not exist. */
export interface Compared { then: Item | undefined; now: Item | undefined }

/** A part of a table at a second, and now. */
export async function compareTable(table: string, at: number, all: boolean, after: string | undefined, abort: AbortSignal): Promise<{ items: Compared[]; next: string | undefined }> {
  const page = await call<{ Items: { Then?: Item; Now?: Item; Same?: Item }[]; After?: string }>("CompareTable", { TableName: table, At: at, All: all, Limit: 50, ...(after === undefined ? {} : { After: after }) }, abort);
  return { items: page.Items.map((x) => ({ then: x.Same ?? x.Then, now: x.Same ?? x.Now })), next: page.After };
}

/** Whether the endpoint supports this. */
export const hasPast = () => served.value.server;
