// The part of the system's OpenAPI document that the page uses.
import { apiURL, Problem } from "#ui";

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  enum?: unknown[];
  examples?: unknown[];
  default?: unknown;
  format?: string;
  pattern?: string;
  patternDescription?: string;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  readOnly?: boolean;
  /** The data of each event of a stream. */
  "x-events"?: Record<string, Schema>;
}

export interface Example {
  summary?: string;
  value: unknown;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header" | "cookie";
  description?: string;
  required?: boolean;
  schema: Schema;
  examples?: Record<string, Example>;
}

interface Content {
  schema?: Schema;
  examples?: Record<string, Example>;
}

export interface Response {
  description?: string;
  /** The codes of its problems. */
  "x-problems"?: string[];
  content?: Record<string, Content>;
  headers?: Record<string, { schema?: Schema }>;
}

export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, Response>;
  security?: Record<string, string[]>[];
}

interface Document {
  info: { title: string; version: string; description?: string };
  paths: Record<string, Partial<Record<Method, Operation>>>;
  components: { schemas: Record<string, Schema> };
  "x-problems"?: { code: string; status: number; detail: string }[];
}

export const methods = ["get", "post", "put", "patch", "delete"] as const;
export type Method = (typeof methods)[number];

/** An operation with its path and method. */
export interface Entry {
  id: string;
  method: Method;
  path: string;
  tag: string;
  operation: Operation;
  /** The text that search covers. */
  said: string;
}

export interface API {
  document: Document;
  entries: readonly Entry[];
  groups: readonly { tag: string; entries: readonly Entry[] }[];
}

/** The group of health checks, which are for machines: it comes last. */
const forMachines = "Process";

export async function load(signal: AbortSignal): Promise<API> {
  const response = await fetch(apiURL("/openapi.json"), { signal });
  if (!response.ok) throw Problem.response(response, undefined);
  return apiOf((await response.json()) as Document);
}

function apiOf(document: Document): API {
  const entries: Entry[] = [];
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of methods) {
      const operation = item[method];
      if (operation) {
        const tag = operation.tags?.[0] ?? "";
        const said = [method, path, operation.operationId, operation.summary, tag, operation.description, ...(operation.parameters ?? []).map((p) => p.name)].join(" ");
        entries.push({ id: operation.operationId, method, path, tag, operation, said: plain(said) });
      }
    }
  }
  const tags = [...new Set(entries.map((e) => e.tag))].sort((a, b) => Number(a === forMachines) - Number(b === forMachines));
  return { document, entries, groups: tags.map((tag) => ({ tag, entries: entries.filter((e) => e.tag === tag) })) };
}

/** Lower case without accents. */
function plain(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** The operations that match all words. */
export function found(api: API, words: string): API["groups"] {
  const wanted = plain(words).split(/\s+/).filter(Boolean);
  return api.groups.map((g) => ({ tag: g.tag, entries: g.entries.filter((e) => wanted.every((w) => e.said.includes(w))) })).filter((g) => g.entries.length > 0);
}

/** The name of a named type. */
export function nameOf(schema: Schema | undefined): string | undefined {
  return schema?.$ref?.split("/").pop();
}

/** Resolves a reference. */
export function resolved(api: API, schema: Schema | undefined): Schema {
  const name = nameOf(schema);
  return name === undefined ? schema ?? {} : api.document.components.schemas[name] ?? {};
}

/** The JSON type of a value; for a nullable one, the other type. */
export function typeOf(schema: Schema): string {
  return [schema.type ?? "any"].flat().find((t) => t !== "null") ?? "any";
}

/** The type in short: string, integer, Order[]. */
export function shortType(api: API, schema: Schema): string {
  const name = nameOf(schema);
  if (name !== undefined) return name;
  const type = typeOf(schema);
  if (type === "array") return `${schema.items ? shortType(api, schema.items) : "any"}[]`;
  if (type === "object" && typeof schema.additionalProperties === "object") return `map<${shortType(api, schema.additionalProperties)}>`;
  return schema.format && schema.format !== "int64" ? `${type} · ${schema.format}` : type;
}

/** Whether an operation requires, accepts or ignores a token. */
export function tokenOf(o: Operation): "needed" | "taken" | "none" {
  if (!o.security || o.security.length === 0) return "none";
  return o.security.some((s) => Object.keys(s).length === 0) ? "taken" : "needed";
}

/** The body of a request or response as JSON. */
export function json(content: Record<string, Content> | undefined): Content | undefined {
  return content?.["application/json"];
}

/** Whether an operation responds with events. */
export function streams(o: Operation): boolean {
  return Object.values(o.responses).some((r) => r.content?.["text/event-stream"] !== undefined);
}

// Responses that follow from the kind of operation, which readers do not look for at each one.
const everywhere = new Set(["400", "401", "408", "413", "415", "429", "500", "503", "504"]);
const usual = new Set(["invalid_parameter", "invalid_value", "invalid_cursor", "invalid_body", "missing_token", "invalid_token"]);

function isCommon([status, r]: [string, Response]): boolean {
  return everywhere.has(status) && (Number(status) > 401 || (r["x-problems"] ?? []).every((code) => usual.has(code)));
}

/** The responses of an operation: successes, its own problems, and the common ones. */
export function responsesOf(o: Operation): { good: [string, Response][]; own: [string, Response][]; common: [string, Response][] } {
  const all = Object.entries(o.responses).sort(([a], [b]) => a.localeCompare(b));
  return {
    good: all.filter(([status]) => status < "400").sort(([a], [b]) => Number(b === "201") - Number(a === "201")), // a new result is the usual case, a repeated first response is not
    own: all.filter((one) => one[0] >= "400" && !isCommon(one)),
    common: all.filter(isCommon),
  };
}
