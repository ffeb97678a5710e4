// A request as sent, and as text for a shell and a program.
import { apiURL } from "#ui";
import { type Entry, type Parameter } from "./document.ts";

/** The form's values: parameters by place and name, and the text of the body. */
export interface Filled {
  values: Record<string, string>;
  body: string;
}

export interface Request {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
}

export function keyOf(p: Parameter): string {
  return `${p.in}.${p.name}`;
}

/** The request; token is the caller's token or a placeholder. */
export function requestOf(e: Entry, filled: Filled, token: string | undefined): Request {
  let path = e.path;
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const p of e.operation.parameters ?? []) {
    const value = filled.values[keyOf(p)] ?? "";
    if (p.in === "path") path = path.replace(`{${p.name}}`, value === "" ? `{${p.name}}` : encodeURIComponent(value));
    else if (value === "") continue;
    else if (p.in === "query") query.append(p.name, value);
    else headers[p.name] = value;
  }
  if (token !== undefined) headers["Authorization"] = `Bearer ${token}`;
  const body = e.operation.requestBody ? filled.body : undefined;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const asked = query.toString();
  return { url: apiURL(path) + (asked ? `?${asked}` : ""), method: e.method.toUpperCase(), headers, body };
}

/** A word of a shell; $TOKEN stays a variable. */
function word(text: string): string {
  return text.includes("$TOKEN") ? `"${text}"` : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function curl(r: Request): string {
  const lines = [`curl -sS ${r.method === "GET" ? "" : `-X ${r.method} `}${word(r.url)}`];
  for (const [name, value] of Object.entries(r.headers)) lines.push(`  -H ${word(`${name}: ${value}`)}`);
  if (r.body !== undefined) lines.push(`  -d ${word(compact(r.body))}`);
  return lines.join(" \\\n");
}

export function script(r: Request): string {
  const headers = Object.entries(r.headers).map(([name, value]) => `    ${JSON.stringify(name)}: ${value.includes("$TOKEN") ? "`Bearer ${token}`" : JSON.stringify(value)},\n`).join("");
  const body = r.body === undefined ? "" : `  body: JSON.stringify(${r.body.trim().replaceAll("\n", "\n  ")}),\n`;
  return `const response = await fetch(${JSON.stringify(r.url)}, {\n  method: "${r.method}",\n${headers && `  headers: {\n${headers}  },\n`}${body}});\nconsole.log(response.status, await response.json());`;
}

/** JSON on one line; other text is unchanged. */
function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
