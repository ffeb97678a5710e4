// DynamoDB's condition expressions: parsed, printed and evaluated on items like in the database.

import { bytesOf } from "./keytext.js";
import { type AttributeValue, type Item, canonical, compareKeys, equal, latin1, membersOf, own, storedAs } from "./values.js";

export type Node =
  | { is: "and" | "or"; terms: Node[] }
  | { is: "not"; term: Node }
  | { is: "compare"; op: string; left: Node; right: Node }
  | { is: "between"; operand: Node; low: Node; high: Node }
  | { is: "in"; operand: Node; list: Node[] }
  | { is: "call"; name: string; args: Node[] }
  | { is: "path"; steps: (string | number)[] }
  | { is: "value"; placeholder: string };

/** Parses a condition. */
export function parse(text: string): Node {
  const tokens = text.match(/[#:]?[A-Za-z0-9_]+|<=|>=|<>|[=<>(),.[\]]|\S/g) ?? [];
  let i = 0;
  const peek = (): string => tokens[i] ?? "";
  const keyword = (word: string): boolean => {
    const is = peek().toUpperCase() === word;
    if (is) {
      i++;
    }
    return is;
  };
  const expect = (token: string): void => {
    if (tokens[i++] !== token) {
      throw new Error(`condition ${JSON.stringify(text)}: want ${token} at word ${i}`);
    }
  };
  const joined = (word: "AND" | "OR", next: () => Node): Node => {
    const terms = [next()];
    while (keyword(word)) {
      terms.push(next());
    }
    return terms.length === 1 ? terms[0]! : { is: word === "AND" ? "and" : "or", terms };
  };
  const or = (): Node => joined("OR", () => joined("AND", not));
  const not = (): Node => (keyword("NOT") ? { is: "not", term: not() } : predicate());
  const list = (): Node[] => {
    const out: Node[] = [];
    expect("(");
    do {
      out.push(operand());
    } while (peek() === "," && ++i);
    expect(")");
    return out;
  };
  const operand = (): Node => {
    const token = tokens[i++] ?? "";
    if (token === "(") {
      const inner = operand();
      expect(")");
      return inner;
    }
    if (token.startsWith(":")) {
      return { is: "value", placeholder: token };
    }
    if (!/^#?[A-Za-z0-9_]+$/.test(token)) {
      throw new Error(`condition ${JSON.stringify(text)}: ${JSON.stringify(token)} is not an operand`);
    }
    if (peek() === "(") {
      return { is: "call", name: token, args: list() };
    }
    const steps: (string | number)[] = [token];
    for (;;) {
      if (peek() === ".") {
        i++;
        steps.push(tokens[i++] ?? "");
      } else if (peek() === "[") {
        i++;
        steps.push(Number(tokens[i++]));
        expect("]");
      } else {
        return { is: "path", steps };
      }
    }
  };
  const predicate = (): Node => {
    if (peek() === "(") {
      const begin = i;
      i++;
      const inner = or();
      if (peek() === ")" && !["path", "value"].includes(inner.is) && !(inner.is === "call" && inner.name === "size")) {
        i++;
        return inner;
      }
      i = begin; // an operand in parentheses
    }
    const left = operand();
    if (keyword("BETWEEN")) {
      const low = operand();
      if (!keyword("AND")) {
        throw new Error(`condition ${JSON.stringify(text)}: BETWEEN without AND`);
      }
      return { is: "between", operand: left, low, high: operand() };
    }
    if (keyword("IN")) {
      return { is: "in", operand: left, list: list() };
    }
    if (["=", "<>", "<", "<=", ">", ">="].includes(peek())) {
      const op = tokens[i++]!;
      return { is: "compare", op, left, right: operand() };
    }
    return left;
  };
  const root = or();
  if (i !== tokens.length) {
    throw new Error(`condition ${JSON.stringify(text)}: ${JSON.stringify(peek())} is unexpected`);
  }
  return root;
}

/** Prints a condition, without outer parentheses. */
export function print(n: Node): string {
  const within = (inner: Node, ...loose: string[]): string => (loose.includes(inner.is) ? `(${print(inner)})` : print(inner));
  switch (n.is) {
    case "and":
      return n.terms.map((t) => within(t, "or", "and")).join(" AND ");
    case "or":
      return n.terms.map((t) => within(t, "or")).join(" OR ");
    case "not":
      return `NOT ${within(n.term, "and", "or")}`;
    case "compare":
      return `${print(n.left)} ${n.op} ${print(n.right)}`;
    case "between":
      return `${print(n.operand)} BETWEEN ${print(n.low)} AND ${print(n.high)}`;
    case "in":
      return `${print(n.operand)} IN (${n.list.map(print).join(", ")})`;
    case "call":
      return `${n.name}(${n.args.map(print).join(", ")})`;
    case "path":
      return n.steps.map((s, i) => (typeof s === "number" ? `[${s}]` : i === 0 ? s : `.${s}`)).join("");
    case "value":
      return n.placeholder;
  }
}

/** Visits a condition's paths. */
export function paths(n: Node, visit: (steps: (string | number)[]) => void): void {
  switch (n.is) {
    case "and":
    case "or":
      n.terms.forEach((t) => paths(t, visit));
      break;
    case "not":
      paths(n.term, visit);
      break;
    case "compare":
      paths(n.left, visit);
      paths(n.right, visit);
      break;
    case "between":
      [n.operand, n.low, n.high].forEach((t) => paths(t, visit));
      break;
    case "in":
      [n.operand, ...n.list].forEach((t) => paths(t, visit));
      break;
    case "call":
      n.args.forEach((t) => paths(t, visit));
      break;
    case "path":
      visit(n.steps);
      break;
    case "value":
      break;
  }
}

/** The values with which a condition is evaluated. */
export interface Scope {
  names: { [alias: string]: string };
  value: (placeholder: string) => AttributeValue | undefined;
}

/** Whether a condition holds for an item; undefined means no item. */
export function evaluate(n: Node, item: Item | undefined, scope: Scope): boolean {
  const operand = (x: Node): AttributeValue | undefined => valueOf(x, item, scope);
  switch (n.is) {
    case "and":
      return n.terms.every((t) => evaluate(t, item, scope));
    case "or":
      return n.terms.some((t) => evaluate(t, item, scope));
    case "not":
      return !evaluate(n.term, item, scope);
    case "compare":
      return compare(n.op, operand(n.left), operand(n.right));
    case "between": {
      const v = operand(n.operand);
      return compare("<=", operand(n.low), v) && compare("<=", v, operand(n.high));
    }
    case "in": {
      const v = operand(n.operand);
      return v !== undefined && n.list.some((e) => equal(operand(e), v));
    }
    case "call":
      return predicate(n.name, n.args.map(operand));
    default:
      return false;
  }
}

function valueOf(n: Node, item: Item | undefined, scope: Scope): AttributeValue | undefined {
  switch (n.is) {
    case "value":
      return scope.value(n.placeholder);
    case "call":
      return n.name === "size" ? sizeOf(valueOf(n.args[0]!, item, scope)) : undefined;
    case "path": {
      let v: AttributeValue | undefined = { M: item ?? {} };
      for (const step of n.steps) {
        v = typeof step === "number" ? v?.L?.[step] : own(v?.M, own(scope.names, step) ?? step);
      }
      return v;
    }
    default:
      return undefined;
  }
}

function compare(op: string, a: AttributeValue | undefined, b: AttributeValue | undefined): boolean {
  if (op === "=" || op === "<>") {
    return (a !== undefined && b !== undefined && equal(a, b)) === (op === "=");
  }
  const type = storedAs(a);
  if (type !== storedAs(b) || !["S", "N", "B"].includes(type)) {
    return false;
  }
  const order = compareKeys(a, b);
  switch (op) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    default:
      return order >= 0;
  }
}

function sizeOf(v: AttributeValue | undefined): AttributeValue | undefined {
  const n = v?.S?.length ?? v?.B?.length ?? (v?.L ?? membersOf(v))?.length ?? (v?.M && Object.keys(v.M).length);
  return n === undefined ? undefined : { N: String(n) };
}

function predicate(name: string, [v, arg]: (AttributeValue | undefined)[]): boolean {
  switch (name) {
    case "attribute_exists":
      return v !== undefined;
    case "attribute_not_exists":
      return v === undefined;
    case "attribute_type":
      return v !== undefined && storedAs(v) === arg?.S;
    case "begins_with":
      return textual(v, arg, (text, part) => text.startsWith(part));
    case "contains":
      if (arg === undefined || v === undefined) {
        return false;
      }
      if (v.S !== undefined || v.B !== undefined) {
        return textual(v, arg, (text, part) => text.includes(part));
      }
      return (v.L ?? membersOf(v) ?? []).some((e) => canonical(e) === canonical(arg));
    default:
      throw new Error(`a condition calls ${name}, which this runtime does not support`);
  }
}

function textual(v: AttributeValue | undefined, arg: AttributeValue | undefined, test: (text: string, part: string) => boolean): boolean {
  if (v?.S !== undefined && arg?.S !== undefined) {
    return test(bytesOf(v.S), bytesOf(arg.S));
  }
  return v?.B !== undefined && arg?.B !== undefined && test(latin1(v.B), latin1(arg.B));
}
