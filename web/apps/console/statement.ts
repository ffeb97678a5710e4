// A request as an equivalent PartiQL statement.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.html
import { type Item, type Value, short } from "./value.ts";

export interface AnyRequest {
  operation: string;
  input: Readonly<Record<string, unknown>>;
}

const name = (text: string) => `"${text.replaceAll('"', '""')}"`;
const text = (s: string) => `'${s.replaceAll("'", "''")}'`;

/** PartiQL has no literal for binary, so these become parameters. */
class Literals {
  readonly parameters: Value[] = [];

  of(v: Value): string {
    if ("S" in v) return text(v.S);
    if ("N" in v || "BOOL" in v || "NULL" in v) return short(v);
    if ("L" in v) return `[${v.L.map((x) => this.of(x)).join(", ")}]`;
    if ("M" in v) return this.map(v.M);
    if ("SS" in v) return `<<${v.SS.map(text).join(", ")}>>`;
    if ("NS" in v) return `<<${v.NS.join(", ")}>>`;
    this.parameters.push(v);
    return "?";
  }

  map(item: Item): string {
    return `{${Object.entries(item).map(([k, v]) => `${text(k)}: ${this.of(v)}`).join(", ")}}`;
  }
}

/** An expression, or a list of paths, with what its placeholders stand for. */
function expanded(expression: unknown, input: AnyRequest["input"], l: Literals): string {
  const names = (input["ExpressionAttributeNames"] ?? {}) as Record<string, string>;
  const values = (input["ExpressionAttributeValues"] ?? {}) as Item;
  return String(expression)
    .replace(/attribute_not_exists\(([^()]*)\)/g, "$1 IS MISSING").replace(/attribute_exists\(([^()]*)\)/g, "$1 IS NOT MISSING")
    .replace(/ IN \(([^()]*)\)/g, " IN [$1]")
    .replace(/[#:]\w+/g, (p) => (p.startsWith("#") ? name(names[p] ?? p) : values[p] ? l.of(values[p]) : p));
}

function keyOf(key: Item, l: Literals): string {
  return Object.entries(key).map(([k, v]) => `${name(k)} = ${l.of(v)}`).join(" AND ");
}

/** The part of a condition that PartiQL needs: that an item is there is what a statement on its key says. */
function conditionOf(input: AnyRequest["input"], l: Literals): string {
  const rest = String(input["ConditionExpression"] ?? "").split(" AND ").filter((c) => c !== "" && c !== "attribute_exists(#k)");
  return rest.map((c) => ` AND ${expanded(c, input, l)}`).join("");
}

function selection({ operation, input }: AnyRequest, l: Literals): string {
  const from = name(String(input["TableName"])) + (input["IndexName"] === undefined ? "" : `.${name(String(input["IndexName"]))}`);
  const what = input["ProjectionExpression"] === undefined ? "*" : expanded(input["ProjectionExpression"], input, l);
  const where = [input["KeyConditionExpression"], input["FilterExpression"]].filter((x) => x !== undefined).map((x) => expanded(x, input, l));
  const key = operation === "GetItem" ? [keyOf(input["Key"] as Item, l)] : where;
  const sort = input["ScanIndexForward"] === false ? sortKeyOf(input) : undefined;
  return `SELECT ${what}\nFROM ${from}${key.length > 0 ? `\nWHERE ${key.join("\n  AND ")}` : ""}${sort === undefined ? "" : `\nORDER BY ${name(sort)} DESC`}`;
}

/** The sort key that a key condition names; without one the order cannot be said, for the statement does not know the key. */
function sortKeyOf(input: AnyRequest["input"]): string | undefined {
  const names = (input["ExpressionAttributeNames"] ?? {}) as Record<string, string>;
  const used = [...String(input["KeyConditionExpression"] ?? "").matchAll(/#\w+/g)].map((m) => names[m[0]]);
  return used.length > 1 ? used[used.length - 1] : undefined;
}

function update(input: AnyRequest["input"], l: Literals): string {
  const [, set, remove] = /^(?:SET (.*?))?\s*(?:REMOVE (.*))?$/s.exec(String(input["UpdateExpression"] ?? "")) ?? [];
  const parts = [...(set ? set.split(", ").map((s) => `SET ${expanded(s, input, l)}`) : []), ...(remove ? remove.split(", ").map((r) => `REMOVE ${expanded(r, input, l)}`) : [])];
  return `UPDATE ${name(String(input["TableName"]))}\n${parts.join("\n")}\nWHERE ${keyOf(input["Key"] as Item, l)}${conditionOf(input, l)}`;
}

/** Undefined where PartiQL cannot say it. */
export function statementOf(request: AnyRequest): string | undefined {
  const { operation, input } = request;
  const l = new Literals();
  const table = name(String(input["TableName"]));
  const statements: Record<string, () => string> = {
    Query: () => selection(request, l), Scan: () => selection(request, l), GetItem: () => selection(request, l),
    PutItem: () => `INSERT INTO ${table} VALUE ${l.map(input["Item"] as Item)}`,
    UpdateItem: () => update(input, l),
    DeleteItem: () => `DELETE FROM ${table}\nWHERE ${keyOf(input["Key"] as Item, l)}${conditionOf(input, l)}`,
    ExecuteStatement: () => String(input["Statement"]),
  };
  const statement = statements[operation]?.();
  return statement === undefined || l.parameters.length === 0 ? statement : `${statement}\n-- Parameters: ${JSON.stringify(l.parameters)}`;
}
