// An item being edited: a tree of nodes, each with the typed text, valid or not.
import { type Item, type Type, type Value, inner, isBase64, isNumber, isSet, typeOf, types } from "./value.ts";

export interface Node {
  id: number;
  /** The name of an attribute; elements of lists and sets have none. */
  name: string;
  type: Type;
  /** The text of a string, a number or binary; "true" or "false" for a boolean. */
  text: string;
  /** Of maps, lists and sets. */
  children: readonly Node[];
}

let last = 0;

export function node(name: string, type: Type, text = ""): Node {
  return { id: ++last, name, type, text: type === "BOOL" && text === "" ? "true" : text, children: [] };
}

export const holds = (type: Type) => type === "M" || type === "L" || isSet(type);

/** The type of a set's elements. */
export const memberOf = (type: Type) => type.slice(0, 1) as Type;

function treeOf(name: string, v: Value): Node {
  const type = typeOf(v);
  if ("M" in v) return { ...node(name, type), children: Object.entries(v.M).map(([k, x]) => treeOf(k, x)) };
  if ("L" in v) return { ...node(name, type), children: v.L.map((x) => treeOf("", x)) };
  if (isSet(type)) return { ...node(name, type), children: (inner(v) as string[]).map((x) => node("", memberOf(type), x)) };
  return node(name, type, type === "NULL" ? "" : String(inner(v)));
}

/** The tree of an item, its keys first. */
export function rootOf(item: Item, keys: readonly string[]): Node {
  const names = [...keys.filter((k) => item[k]), ...Object.keys(item).filter((n) => !keys.includes(n)).sort()];
  return { ...node("", "M"), children: names.map((n) => treeOf(n, item[n] as Value)) };
}

export function itemOf(root: Node): Item {
  return Object.fromEntries(root.children.map((c) => [c.name, valueOf(c)]));
}

function valueOf(n: Node): Value {
  switch (n.type) {
    case "M": return { M: itemOf(n) };
    case "L": return { L: n.children.map(valueOf) };
    case "SS": case "NS": case "BS": return { [n.type]: n.children.map((c) => c.text.trim() === c.text || n.type === "SS" ? c.text : c.text.trim()) } as Value;
    case "BOOL": return { BOOL: n.text === "true" };
    case "NULL": return { NULL: true };
    case "N": return { N: n.text.trim() };
    case "B": return { B: n.text.trim() };
    default: return { S: n.text };
  }
}

/** Changes one node of a tree; undefined removes it. */
export function changed(root: Node, id: number, f: (n: Node) => Node | undefined): Node {
  return { ...root, children: root.children.flatMap((c) => (c.id === id ? f(c) ?? [] : c.children.length > 0 ? changed(c, id, f) : c)) };
}

/** Converts a node to another type, keeping the typed text if possible. */
export function retyped(n: Node, type: Type): Node {
  const children = type === "L" && n.type !== "M" ? n.children : isSet(type) && isSet(n.type) ? n.children.map((c) => ({ ...c, type: memberOf(type) })) : [];
  return { ...n, type, text: type === "BOOL" ? (n.text === "false" ? "false" : "true") : n.text, children: isSet(type) && children.length === 0 ? [node("", memberOf(type), holds(n.type) ? "" : n.text)] : children };
}

export type Fault = "N" | "B" | "name" | "required" | "twice" | "none";

/** Errors by node. Keys need a value. */
export function faultsOf(root: Node, keys: readonly string[] = []): Map<number, Fault> {
  const found = new Map<number, Fault>();
  for (const c of root.children) {
    if (keys.includes(c.name) && c.text === "") found.set(c.id, "required");
  }
  const visit = (n: Node) => {
    const seen = new Set<string>();
    for (const c of n.children) {
      const at = n.type === "M" ? c.name : c.text;
      if (n.type === "M" && c.name === "") found.set(c.id, "name");
      else if (n.type !== "L" && seen.has(at)) found.set(c.id, "twice");
      else if (c.type === "N" && !isNumber(c.text.trim())) found.set(c.id, "N");
      else if (c.type === "B" && !isBase64(c.text.trim())) found.set(c.id, "B");
      else if (isSet(c.type) && c.children.length === 0) found.set(c.id, "none");
      seen.add(at);
      visit(c);
    }
  };
  visit(root);
  return found;
}

/** Whether typed JSON is an item. */
export function isItem(v: unknown): v is Item {
  return typeof v === "object" && v !== null && !Array.isArray(v) && Object.values(v).every(isValue);
}

export function isValue(v: unknown): v is Value {
  if (typeof v !== "object" || v === null) return false;
  const [entry, ...more] = Object.entries(v);
  if (!entry || more.length > 0 || !(types as readonly string[]).includes(entry[0])) return false;
  const [type, x] = entry as [Type, unknown];
  if (type === "BOOL" || type === "NULL") return typeof x === "boolean";
  if (type === "M") return isItem(x);
  if (type === "L") return Array.isArray(x) && x.every(isValue);
  return isSet(type) ? Array.isArray(x) && x.every((y) => typeof y === "string") : typeof x === "string";
}
