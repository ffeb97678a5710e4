"""DynamoDB's condition expressions: parsed, printed and evaluated on items like in the database."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Sequence

from .errors import Fault
from .values import Item, Value, canonical, compare_keys, equal, get, members_of, stored_as


@dataclass(frozen=True)
class Node:
    """An operator, function or operand: and, or, not, between, in, call, path, value, or a comparison by its sign."""

    op: str
    args: tuple[Node, ...] = ()
    name: str = ""
    """Of a call or value."""
    steps: tuple[str | int, ...] = ()
    """Of a path."""


_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_tokens = re.compile(r"[#:]?[A-Za-z0-9_]+|<=|>=|<>|[=<>(),.[\]]|\S")


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = _tokens.findall(text)
        self.i = 0

    def fault(self, what: str) -> Fault:
        return Fault(f"condition {json.dumps(self.text)}: {what}")

    def peek(self) -> str:
        return self.tokens[self.i] if self.i < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.i += 1
        return token

    def keyword(self, word: str) -> bool:
        found = self.peek().upper() == word
        self.i += found
        return found

    def expect(self, token: str) -> None:
        if self.take() != token:
            raise self.fault(f"want {token} at word {self.i}")

    def joined(self, word: str, term: Callable[[], Node]) -> Node:
        terms = [term()]
        while self.keyword(word):
            terms.append(term())
        return terms[0] if len(terms) == 1 else Node(word.lower(), tuple(terms))

    def condition(self) -> Node:
        return self.joined("OR", lambda: self.joined("AND", self.negation))

    def negation(self) -> Node:
        return Node("not", (self.negation(),)) if self.keyword("NOT") else self.predicate()

    def list(self) -> tuple[Node, ...]:
        self.expect("(")
        out = [self.operand()]
        while self.peek() == ",":
            self.i += 1
            out.append(self.operand())
        self.expect(")")
        return tuple(out)

    def operand(self) -> Node:
        token = self.take()
        if token == "(":
            inner = self.operand()
            self.expect(")")
            return inner
        if token.startswith(":"):
            return Node("value", name=token)
        if not re.fullmatch("#?[A-Za-z0-9_]+", token):
            raise self.fault(f"{json.dumps(token)} is not an operand")
        if self.peek() == "(":
            return Node("call", self.list(), token)
        steps: list[str | int] = [token]
        while True:
            if self.peek() == ".":
                self.i += 1
                steps.append(self.take())
            elif self.peek() == "[":
                self.i += 1
                steps.append(int(self.take()))
                self.expect("]")
            else:
                return Node("path", steps=tuple(steps))

    def predicate(self) -> Node:
        if self.peek() == "(":
            begin = self.i
            self.i += 1
            inner = self.condition()
            if self.peek() == ")" and inner.op not in ("path", "value") and not (inner.op == "call" and inner.name == "size"):
                self.i += 1
                return inner
            self.i = begin  # an operand in parentheses
        left = self.operand()
        if self.keyword("BETWEEN"):
            low = self.operand()
            if not self.keyword("AND"):
                raise self.fault("BETWEEN without AND")
            return Node("between", (left, low, self.operand()))
        if self.keyword("IN"):
            return Node("in", (left, *self.list()))
        if self.peek() in _COMPARISONS:
            op = self.take()
            return Node(op, (left, self.operand()))
        return left


def parse(text: str) -> Node:
    """Parses a condition."""
    p = _Parser(text)
    root = p.condition()
    if p.i != len(p.tokens):
        raise p.fault(f"{json.dumps(p.peek())} is unexpected")
    return root


def show(n: Node) -> str:
    """Prints a condition, without outer parentheses."""

    def within(inner: Node, *loose: str) -> str:
        return f"({show(inner)})" if inner.op in loose else show(inner)

    if n.op == "and":
        return " AND ".join(within(t, "or", "and") for t in n.args)
    if n.op == "or":
        return " OR ".join(within(t, "or") for t in n.args)
    if n.op == "not":
        return f"NOT {within(n.args[0], 'and', 'or')}"
    if n.op == "between":
        return f"{show(n.args[0])} BETWEEN {show(n.args[1])} AND {show(n.args[2])}"
    if n.op == "in":
        return f"{show(n.args[0])} IN ({', '.join(map(show, n.args[1:]))})"
    if n.op == "call":
        return f"{n.name}({', '.join(map(show, n.args))})"
    if n.op == "path":
        return "".join(f"[{s}]" if isinstance(s, int) else s if i == 0 else f".{s}" for i, s in enumerate(n.steps))
    if n.op == "value":
        return n.name
    return f"{show(n.args[0])} {n.op} {show(n.args[1])}"


def paths(n: Node) -> Iterator[tuple[str | int, ...]]:
    """A condition's paths."""
    if n.op == "path":
        yield n.steps
    for inner in n.args:
        yield from paths(inner)


@dataclass
class Scope:
    """The values with which a condition is evaluated."""

    names: Mapping[str, str]
    value: Callable[[str], Value]


def evaluate(n: Node, item: Item | None, scope: Scope) -> bool:
    """Whether a condition holds for an item; None means no item."""
    if n.op == "and":
        return all(evaluate(t, item, scope) for t in n.args)
    if n.op == "or":
        return any(evaluate(t, item, scope) for t in n.args)
    if n.op == "not":
        return not evaluate(n.args[0], item, scope)
    if n.op in ("path", "value"):
        return False
    args = [_value_of(x, item, scope) for x in n.args]
    if n.op == "between":
        return _compare("<=", args[1], args[0]) and _compare("<=", args[0], args[2])
    if n.op == "in":
        return args[0] is not None and any(e is not None and equal(e, args[0]) for e in args[1:])
    if n.op == "call":
        return _predicate(n.name, args[0], args[1] if len(args) > 1 else None)
    return _compare(n.op, args[0], args[1])


def _value_of(n: Node, item: Item | None, scope: Scope) -> Value | None:
    if n.op == "value":
        return scope.value(n.name)
    if n.op == "call":
        return _size_of(_value_of(n.args[0], item, scope)) if n.name == "size" else None
    if n.op != "path":
        return None
    v: Value | None = {"M": item or {}}
    for step in n.steps:
        inner: Any = get(v, "L" if isinstance(step, int) else "M")
        if isinstance(step, int):
            v = inner[step] if inner is not None and step < len(inner) else None
        else:
            v = inner.get(scope.names.get(step, step)) if inner is not None else None
    return v


def _compare(op: str, a: Value | None, b: Value | None) -> bool:
    if op in ("=", "<>"):
        return (a is not None and b is not None and equal(a, b)) == (op == "=")
    kind = stored_as(a)
    if kind != stored_as(b) or kind not in ("S", "N", "B"):
        return False
    order = compare_keys(a, b)
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[op]


def _size_of(v: Value | None) -> Value | None:
    kind = stored_as(v)
    if v is None or kind in ("N", "BOOL", "NULL"):
        return None
    # A text's length is that of its UTF-16.
    n = len(v["S"].encode("utf-16-le", "surrogatepass")) // 2 if kind == "S" else len(v[kind])
    return {"N": str(n)}


def _predicate(name: str, v: Value | None, arg: Value | None) -> bool:
    if name == "attribute_exists":
        return v is not None
    if name == "attribute_not_exists":
        return v is None
    if name == "attribute_type":
        return v is not None and stored_as(v) == get(arg, "S")
    if name not in ("begins_with", "contains"):
        raise Fault(f"a condition calls {name}, which this runtime does not support")
    kind = stored_as(v)
    if v is None or arg is None:
        return False
    if kind in ("S", "B"):
        if stored_as(arg) != kind:
            return False
        text: Sequence[Any] = v[kind]
        return bool(text.startswith(arg[kind])) if name == "begins_with" else arg[kind] in text  # type: ignore[attr-defined]
    if name == "begins_with":
        return False
    elements: Sequence[Value] = v["L"] if kind == "L" else members_of(v) or ()
    return any(canonical(e) == canonical(arg) for e in elements)
