// The back end forwards DynamoDB's JSON unchanged. Numbers in items are strings there, so JSON.parse loses no digits.
import { signal } from "@preact/signals";
import { Problem, apiURL, language, pageData } from "#ui";
import type { Item, Value } from "./value.ts";
import { t } from "./words.ts";

/** The endpoint's features beyond DynamoDB's API. */
export interface Served {
  /** It is a monotable server, which reports its state. */
  server: boolean;
  /** It has CloudWatch's metrics. */
  metrics: boolean;
}

interface About {
  /** The endpoint's address; absent if it is this page's own server. */
  endpoint?: string;
  region: string;
  readOnly: boolean;
  /** Whether users sign in with an access key; "insecure" if none may be sent. */
  signIn?: "key" | "insecure";
  user?: string;
  /** If there are several. */
  served?: Served;
  endpoints?: { name: string; path: string; current?: boolean }[];
}

export const about: About = { region: "us-east-1", readOnly: false, ...pageData<About>() };

/** The access key ID of the signed-in user. */
export const user = signal<string | undefined>(about.user);

/** Whether the user's session has ended under a view. The view stays until they have signed in again. */
export const sessionEnded = signal(false);

/** The endpoint as programs use it. */
export const endpoint = about.endpoint ?? location.origin;
export const onAWS = /\.amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname);

const endings = ["SignedOut", "ExpiredTokenException", "UnrecognizedClientException"];

async function send(method: string, path: string, body: unknown, abort?: AbortSignal): Promise<Response> {
  const response = await fetch(apiURL("").replace(/\/api$/, "") + path, {
    method, headers: { "X-Monotable-Console": "1", "Content-Type": "application/json", "Accept-Language": language.value }, ...(method === "GET" ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }), signal: abort ?? null,
  }).catch((thrown: unknown) => { throw Problem.of(thrown); });
  if (response.ok) {
    return response;
  }
  const said = (await response.json().catch(() => ({}))) as { __type?: string; message?: string; Message?: string };
  const code = said.__type?.split("#").pop() ?? "error";
  if (about.signIn && user.value !== undefined && endings.includes(code)) sessionEnded.value = true;
  throw new Problem({ status: response.status, code, detail: said.message ?? said.Message ?? code, requestId: response.headers.get("X-Request-Id") ?? undefined });
}

/** Calls a DynamoDB operation. Some, such as TagResource, respond with nothing. */
export async function call<T = object>(operation: string, input: object, abort?: AbortSignal): Promise<T> {
  const text = await (await send("POST", `/api/${operation}`, input, abort)).text();
  return (text === "" ? {} : JSON.parse(text)) as T;
}

/** The endpoint's features; none until known. */
export const served = signal<Served>(about.served ?? { server: false, metrics: false });

/** Queries the endpoint's features, if the page does not contain them. */
export async function askServed(): Promise<void> {
  if (!about.served) served.value = (await (await send("GET", "/served", undefined)).json()) as Served;
}

/** The saved queries of the current identity, and where they are stored. */
export interface KeptQueries {
  in: "table" | "file" | "browser";
  /** Why they are stored in the browser. */
  why?: "readOnly" | "noTable" | "denied";
  bookmarks: { title: string; address: string }[];
  history: { title: string; address: string }[];
}

export async function fetchQueries(): Promise<KeptQueries> {
  return (await (await send("GET", "/queries", undefined)).json()) as KeptQueries;
}

export async function changeQueries(list: "bookmarks" | "history", add: readonly { title: string; address: string }[], remove: readonly string[]): Promise<void> {
  await send("POST", `/queries/${list}`, { add, remove });
}

export async function createQueriesTable(): Promise<KeptQueries> {
  return (await (await send("POST", "/queries/table", {})).json()) as KeptQueries;
}

/** Loads the design of a table from the back end. */
export async function askDesign<T>(what: "model" | "items" | "chart" | "run" | "observe", input: object, abort?: AbortSignal): Promise<T> {
  return (await (await send("POST", `/design/${what}`, input, abort)).json()) as T;
}

/** Runs long work in the back end; onProgress is called with each line of progress. */
export async function askWork<T, P>(what: "conform" | "races", input: object, onProgress: (progress: P) => void, abort: AbortSignal): Promise<T> {
  const response = await send("POST", `/design/${what}`, input, abort);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      const lines = (text + part.value).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) {
        const said = JSON.parse(line) as { progress?: P; done?: T; error?: { code: string; message: string } };
        if (said.error) throw new Problem({ status: response.status, code: said.error.code, detail: said.error.message });
        if (said.done !== undefined) return said.done;
        if (said.progress !== undefined) onProgress(said.progress);
      }
    }
  } catch (thrown) {
    throw Problem.of(thrown);
  }
  throw new Problem({ status: 0, code: "interrupted", detail: t("work.interrupted") });
}

export async function signIn(key: { accessKeyId: string; secretAccessKey: string; sessionToken: string }): Promise<void> {
  await send("POST", "/session", key);
  const another = user.value !== undefined && user.value !== key.accessKeyId;
  user.value = key.accessKeyId;
  sessionEnded.value = false;
  if (another) location.reload(); // views show what the former key may read
}

export async function signOut(): Promise<void> {
  await send("DELETE", "/session", {});
  sessionEnded.value = false;
  user.value = undefined;
}

export interface KeyElement { AttributeName: string; KeyType: "HASH" | "RANGE" }
export interface Throughput { ReadCapacityUnits: number; WriteCapacityUnits: number }
export interface Projection { ProjectionType?: "ALL" | "KEYS_ONLY" | "INCLUDE"; NonKeyAttributes?: string[] }
export interface IndexDescription {
  IndexName: string;
  KeySchema: KeyElement[];
  Projection?: Projection;
  IndexStatus?: string;
  ItemCount?: number;
  IndexSizeBytes?: number;
  ProvisionedThroughput?: Throughput;
}

export interface TableDescription {
  TableName: string;
  TableArn?: string;
  TableStatus: string;
  KeySchema: KeyElement[];
  AttributeDefinitions: { AttributeName: string; AttributeType: "S" | "N" | "B" }[];
  CreationDateTime?: number;
  ItemCount?: number;
  TableSizeBytes?: number;
  BillingModeSummary?: { BillingMode?: string };
  ProvisionedThroughput?: Throughput;
  GlobalSecondaryIndexes?: IndexDescription[];
  LocalSecondaryIndexes?: IndexDescription[];
  StreamSpecification?: { StreamEnabled?: boolean; StreamViewType?: string };
  LatestStreamArn?: string;
  DeletionProtectionEnabled?: boolean;
}

export interface Consumed { CapacityUnits?: number }
export interface PageOfItems {
  Items: Item[];
  Count: number;
  ScannedCount: number;
  LastEvaluatedKey?: Record<string, Value>;
  ConsumedCapacity?: Consumed;
}
