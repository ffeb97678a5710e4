// The requests that write one item, with their conditions.
import { type Item, type Value, attribute, same } from "./value.ts";

/** An expression has 300 operators at most, so the condition of a larger item covers the changed attributes, or its first ones. */
const comparedMax = 100;

interface Expression {
  ConditionExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  ExpressionAttributeValues?: Record<string, Value>;
}

/** The condition that an item is as it was read. Attributes added by others since then are kept, because they are not written. */
export function asRead(read: Item, keys: readonly string[], changed: readonly string[] = []): Expression {
  const names: Record<string, string> = { "#k": keys[0] ?? "" };
  const values: Record<string, Value> = {};
  const parts = ["attribute_exists(#k)"];
  const own = Object.keys(read).filter((n) => !keys.includes(n));
  const compared = own.length <= comparedMax ? own : changed.length > 0 ? own.filter((n) => changed.includes(n)) : own.slice(0, comparedMax);
  for (const [n, name] of [...new Set([...compared, ...changed])].entries()) {
    const value = attribute(read, name);
    names[`#r${n}`] = name;
    if (value) {
      values[`:r${n}`] = value;
      parts.push(`#r${n} = :r${n}`);
    } else {
      parts.push(`attribute_not_exists(#r${n})`);
    }
  }
  return { ConditionExpression: parts.join(" AND "), ExpressionAttributeNames: names, ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}) };
}

/** The update that turns one item into another: writes only attributes that differ. */
export function updateOf(table: string, key: Item, keys: readonly string[], read: Item, wanted: Item): Record<string, unknown> {
  const changed = [...new Set([...Object.keys(read), ...Object.keys(wanted)])].filter((n) => !keys.includes(n) && !same(attribute(read, n), attribute(wanted, n)));
  const condition = asRead(read, keys, changed);
  const names = condition.ExpressionAttributeNames;
  const values: Record<string, Value> = { ...condition.ExpressionAttributeValues };
  const nameOf = (of: string) => Object.keys(names).find((n) => names[n] === of) ?? "";
  const set: string[] = [];
  const remove: string[] = [];
  for (const [n, name] of changed.entries()) {
    const value = attribute(wanted, name);
    if (value) {
      values[`:w${n}`] = value;
      set.push(`${nameOf(name)} = :w${n}`);
    } else {
      remove.push(nameOf(name));
    }
  }
  const update = [set.length > 0 ? `SET ${set.join(", ")}` : "", remove.length > 0 ? `REMOVE ${remove.join(", ")}` : ""].filter(Boolean).join(" ");
  return {
    TableName: table, Key: key, UpdateExpression: update, ...condition, ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}), ReturnValues: "ALL_NEW",
  };
}

/** The deletion of an item on the condition that it is as it was read. The response has the whole item. */
export function deleteOf(table: string, key: Item, keys: readonly string[], read: Item): Record<string, unknown> {
  return { TableName: table, Key: key, ...asRead(read, keys), ReturnValues: "ALL_OLD" };
}

/** Applies the changes from read to draft to another item. */
export function over(base: Item, read: Item, draft: Item): Item {
  const touched = [...new Set([...Object.keys(read), ...Object.keys(draft)])].filter((n) => !same(attribute(read, n), attribute(draft, n)));
  const kept = Object.entries(base).filter(([n]) => !touched.includes(n));
  return Object.fromEntries([...kept, ...Object.entries(draft).filter(([n]) => touched.includes(n))]);
}

/** The write of a new item. */
export function putOf(table: string, keys: readonly string[], item: Item): Record<string, unknown> {
  return { TableName: table, Item: item, ConditionExpression: "attribute_not_exists(#k)", ExpressionAttributeNames: { "#k": keys[0] ?? "" } };
}
