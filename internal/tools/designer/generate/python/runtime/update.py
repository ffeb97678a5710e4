"""Update expressions: as a request has them, and what they make of an item that was read."""

from __future__ import annotations

from decimal import Decimal
from typing import Sequence

from .change import Assigned
from .condition import alias_in, free
from .errors import Fault
from .expression import parse, show
from .keytext import ZERO, minus, plus
from .values import Item, Value, get, number_in, number_value, put, stored


class Expression:
    """Makes the update expression of a request, and shares its names and values with the request's condition."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: Item = {}
        self._sets: list[str] = []
        self._adds: list[str] = []
        self._gone: list[str] = []

    def path(self, steps: Sequence[str]) -> str:
        """A document path by aliases, which need no care for reserved words."""
        return ".".join(alias_in(self.names, step) for step in steps)

    def value(self, v: Value) -> str:
        placeholder = free(self.values, ":v")
        self.values[placeholder] = v
        return placeholder

    def set(self, path: Sequence[str], v: Value | None) -> None:
        """Gives a path a value, or removes it where there is none."""
        if v is None:
            self.remove(path)
        else:
            self._sets.append(f"{self.path(path)} = {self.value(v)}")

    def begin(self, path: Sequence[str], v: Value) -> None:
        """Gives a path a value where there is nothing."""
        p = self.path(path)
        self._sets.append(f"{p} = if_not_exists({p}, {self.value(v)})")

    def remove(self, path: Sequence[str]) -> None:
        self._gone.append(self.path(path))

    def assign(self, a: Assigned) -> None:
        """Adds a native assignment."""
        if a.how == "initialising" and a.value is not None:
            self.begin(a.path, a.value)
        elif a.how == "adding" and a.value is not None and len(a.path) == 1:
            self._adds.append(f"{self.path(a.path)} {self.value(a.value)}")
        elif a.how == "adding" and a.value is not None:  # ADD is for attributes at the top
            p = self.path(a.path)
            begin = self.value({"N": "0"})
            self._sets.append(f"{p} = if_not_exists({p}, {begin}) + {self.value(a.value)}")
        elif not a.operands:
            self.set(a.path, a.value)
        else:
            p = self.path(a.path)
            self._sets.append(f"{p} = {self._sum(a)}")

    def _sum(self, a: Assigned) -> str:
        operands = sorted(a.operands, key=lambda o: o.negative)  # what is subtracted stands behind
        terms = [self.path(o.path) for o in operands]
        last = operands[-1].negative
        if a.value is not None:
            terms.append(self.value(a.value))
            if last:
                terms.reverse()  # :v - field
        return (" - " if last else " + ").join(terms)

    def text(self) -> str:
        """The expression; "" for one that changes nothing."""
        sections = (("SET", self._sets), ("ADD", self._adds), ("REMOVE", self._gone))
        return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in sections if parts)

    def guard(self, path: Sequence[str], v: Value | None) -> str:
        """Holds a path to the value that was read."""
        return f"attribute_not_exists({self.path(path)})" if v is None else f"{self.path(path)} = {self.value(v)}"


def conjunction(*conditions: str) -> str:
    """Joins conditions that must all hold; "" is none."""
    out = [c for c in conditions if c]
    if len(out) == 1:
        return out[0]

    def joined(c: str) -> str:
        tree = parse(c)
        return f"({show(tree)})" if tree.op == "or" else c  # without parentheses of its own, of which DynamoDB refuses two pairs

    return " AND ".join(map(joined, out))


def native(a: Assigned) -> bool:
    """Whether DynamoDB has an expression for an assignment: a sum has two operands at most, of which the first is not negative."""
    n = len(a.operands)
    if n == 0:
        return True
    if a.how != "setting":
        return False
    if n == 1:
        return not a.operands[0].negative or a.value is not None
    return n == 2 and a.value is None and not (a.operands[0].negative and a.operands[1].negative)


def applied(assigned: Sequence[Assigned], old: Item) -> Item:
    """What native assignments make of an item: all of them read it as it was."""
    out = dict(old)
    for a in assigned:
        was = stored(old, a.path)
        v = a.value
        if a.how == "initialising":
            v = a.value if was is None else was
        elif a.how == "adding":
            v = number_value(plus(_operand({"N": "0"} if was is None else was), _operand(a.value)))
        elif a.operands:
            total = ZERO if a.value is None else _operand(a.value)
            for o in a.operands:
                source = stored(old, o.path)
                if source is None:
                    raise Fault("The provided expression refers to an attribute that does not exist in the item")
                total = minus(total, _operand(source)) if o.negative else plus(total, _operand(source))
            v = number_value(total)
        if len(a.path) > 1 and get(stored(old, a.path[:-1]), "M") is None:
            raise Fault("The document path provided in the update expression is invalid for update")
        if v is not None:
            put(out, a.path, v)
        else:
            _drop(out, a.path)
    return out


def _operand(v: Value | None) -> Decimal:
    n = number_in(v)
    if n is None:
        raise Fault("An operand in the update expression has an incorrect data type")
    return n


def _drop(m: Item, path: Sequence[str]) -> None:
    """Removes what is at the end of a path, from copies of the maps on the way."""
    for step in path[:-1]:
        inner = get(m.get(step), "M")
        if inner is None:
            return
        copy: Item = dict(inner)
        m[step] = {"M": copy}
        m = copy
    m.pop(path[-1], None)
