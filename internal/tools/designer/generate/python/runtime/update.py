"""Update expressions: as sent in a request, and evaluated on an item that was read."""

from __future__ import annotations

from decimal import Decimal
from typing import Callable, NamedTuple, Sequence

from .change import Assigned
from .condition import alias_in, free
from .errors import Fault
from .expression import parse, show
from .keytext import ZERO, int64, minus, plus
from .step import added
from .types import check_value
from .values import Item, Value, at, canonical, get, index_of, members_of, number_in, number_value, set_of, stored, stored_as


class Expression:
    """Builds the update expression of a request, and shares its names and values with the request's condition."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: Item = {}
        self._sets: list[str] = []
        self._adds: list[str] = []
        self._drops: list[str] = []
        self._gone: list[str] = []

    def path(self, steps: Sequence[str]) -> str:
        """A document path of aliases, which avoid reserved words."""
        out = ""
        for i, step in enumerate(steps):
            if i > 0 and index_of(step) is not None:
                out += step
            else:
                out += ("." if i > 0 else "") + alias_in(self.names, step)
        return out

    def value(self, v: Value) -> str:
        placeholder = free(self.values, ":v")
        self.values[placeholder] = v
        return placeholder

    def set(self, path: Sequence[str], v: Value | None) -> None:
        """Sets a path to a value, or removes it if there is none."""
        if v is None:
            self.remove(path)
        else:
            self._sets.append(f"{self.path(path)} = {self.value(v)}")

    def begin(self, path: Sequence[str], v: Value) -> None:
        """Sets a missing path to a value."""
        p = self.path(path)
        self._sets.append(f"{p} = if_not_exists({p}, {self.value(v)})")

    def remove(self, path: Sequence[str]) -> None:
        self._gone.append(self.path(path))

    def assign(self, a: Assigned) -> None:
        """Adds a native assignment."""
        if a.how == "initialising" and a.value is not None:
            self.begin(a.path, a.value)
        elif a.how == "uniting" and a.value is not None:
            self._adds.append(f"{self.path(a.path)} {self.value(a.value)}")
        elif a.how == "dropping" and a.value is not None:
            self._drops.append(f"{self.path(a.path)} {self.value(a.value)}")
        elif a.how in ("appending", "prepending") and a.value is not None:
            p = self.path(a.path)
            lists = [f"if_not_exists({p}, {self.value({'L': []})})", self.value(a.value)]
            self._sets.append(f"{p} = list_append({', '.join(lists if a.how == 'appending' else lists[::-1])})")
        elif a.how == "adding" and a.value is not None and len(a.path) == 1:
            self._adds.append(f"{self.path(a.path)} {self.value(a.value)}")
        elif a.how == "adding" and a.value is not None:  # ADD is for top-level attributes
            p = self.path(a.path)
            begin = self.value({"N": "0"})
            self._sets.append(f"{p} = if_not_exists({p}, {begin}) + {self.value(a.value)}")
        elif not a.operands:
            self.set(a.path, a.value)
        else:
            p = self.path(a.path)
            self._sets.append(f"{p} = {self._sum(a)}")

    def _sum(self, a: Assigned) -> str:
        operands = sorted(a.operands, key=lambda o: o.negative)  # the subtrahend is second
        terms = [self.path(o.path) for o in operands]
        last = operands[-1].negative
        if a.value is not None:
            terms.append(self.value(a.value))
            if last:
                terms.reverse()  # :v - field
        return (" - " if last else " + ").join(terms)

    def text(self) -> str:
        """The expression; "" without changes."""
        sections = (("SET", self._sets), ("ADD", self._adds), ("DELETE", self._drops), ("REMOVE", self._gone))
        return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in sections if parts)

    def guard(self, path: Sequence[str], v: Value | None) -> str:
        """Requires a path to have the value that was read."""
        return f"attribute_not_exists({self.path(path)})" if v is None else f"{self.path(path)} = {self.value(v)}"


def conjunction(*conditions: str) -> str:
    """Joins conditions that must all hold; "" for none."""
    out = [c for c in conditions if c]
    if len(out) == 1:
        return out[0]

    def joined(c: str) -> str:
        tree = parse(c)
        return f"({show(tree)})" if tree.op == "or" else c  # without its own parentheses, because DynamoDB rejects double ones

    return " AND ".join(map(joined, out))


_LARGE_AMOUNT = 1 << 53
"""An amount of which a thousand do not fit into 64 bits."""


def _adds_large(a: Assigned) -> Decimal | None:
    """The amount that an assignment adds to a number of 64 bits, if it is large."""
    n = number_in(a.value) if a.how == "adding" and a.member.type.kind != "decimal" else None
    return n if n is not None and abs(n) >= _LARGE_AMOUNT else None


def bounds(assigned: Sequence[Assigned], x: Expression) -> str:
    """Requires that sums with large amounts fit into 64 bits: DynamoDB's numbers are larger, and such a sum could not be decoded."""
    out: list[str] = []
    for a in assigned:
        by = _adds_large(a)
        if by is None:
            continue
        most = added(Decimal(-(2**63) if by < 0 else 2**63 - 1), by, True, a.member.name)
        within = f"{x.path(a.path)} {'>=' if by < 0 else '<='} {x.value(number_value(most))}"
        out.append(within if int64(by) is None else f"attribute_not_exists({x.path(a.path)}) OR {within}")
    return conjunction(*out)


def check_sums(assigned: Sequence[Assigned], old: Item | None) -> None:
    """Rejects sums with large amounts that do not fit into 64 bits."""
    for a in assigned:
        by = _adds_large(a)
        if by is not None:
            total = added(number_in(at(old, a.path)) or ZERO, by, False, a.member.name)
            check_value(a.member.type, a.member.name, number_value(total))


def native(a: Assigned) -> bool:
    """Whether DynamoDB can express an assignment: a sum has at most two operands, the first of which is not negative."""
    n = len(a.operands)
    if n == 0:
        return True
    if a.how != "setting":
        return False
    if n == 1:
        return not a.operands[0].negative or a.value is not None
    return n == 2 and a.value is None and not (a.operands[0].negative and a.operands[1].negative)


class _Changed(NamedTuple):
    """The new value at a path; nothing if there is no value."""

    path: Sequence[str]
    value: Value | None


def applied(assigned: Sequence[Assigned], old: Item) -> Item:
    """The item after native assignments: all of them read the old item. Like DynamoDB, it looks at paths before operands."""
    for a in assigned:
        parent = "M" if index_of(a.path[-1]) is None else "L"
        if len(a.path) > 1 and get(stored(old, a.path[:-1]), parent) is None:
            raise _wrong_path()
    return _in_map(old, [_Changed(a.path, _computed(a, old)) for a in assigned], 0)


def _computed(a: Assigned, old: Item) -> Value | None:
    """The value of an assignment, computed from the old item."""
    was = stored(old, a.path)
    if a.how == "initialising":
        return a.value if was is None else was
    if a.how == "adding":
        return number_value(added(_operand({"N": "0"} if was is None else was), _operand(a.value), False, a.member.name))
    if a.how == "uniting":
        return a.value if was is None else _of_members(was, a.value, lambda before, given: [*before, *_missing_in(before, given)])
    if a.how == "dropping":
        return None if was is None else _of_members(was, a.value, lambda before, given: _missing_in(given, before))
    if a.how in ("appending", "prepending"):
        before, given = [] if was is None else get(was, "L"), get(a.value, "L")
        if before is None:
            raise _wrong_type()
        return {"L": [*before, *given] if a.how == "appending" else [*given, *before]}
    if not a.operands:
        return a.value
    total = ZERO if a.value is None else _operand(a.value)
    for o in a.operands:
        source = stored(old, o.path)
        if source is None:
            raise Fault("The provided expression refers to an attribute that does not exist in the item")
        total = minus(total, _operand(source)) if o.negative else plus(total, _operand(source))
    return number_value(total)


def _of_members(was: Value, given: Value | None, make: Callable[[list[Value], list[Value]], list[Value]]) -> Value | None:
    """The union of two sets of one type; empty sets are not stored."""
    before, members = members_of(was), members_of(given)
    if before is None or members is None or stored_as(was) != stored_as(given):
        raise _wrong_type()
    return set_of(make(before, members))


def _missing_in(members: Sequence[Value], among: Sequence[Value]) -> list[Value]:
    """The members of the second list that are not in the first."""
    met = set(map(canonical, members))
    return [v for v in among if canonical(v) not in met]


def _wrong_type() -> Fault:
    return Fault("An operand in the update expression has an incorrect data type")


def _wrong_path() -> Fault:
    return Fault("The document path provided in the update expression is invalid for update")


def _operand(v: Value | None) -> Decimal:
    n = number_in(v)
    if n is None:
        raise _wrong_type()
    return n


def _grouped(changes: Sequence[_Changed], depth: int) -> dict[str, list[_Changed]]:
    """Changes with a common prefix, by the next step."""
    out: dict[str, list[_Changed]] = {}
    for c in changes:
        if len(c.path) == depth:
            raise Fault("Two document paths overlap with each other")
        out.setdefault(c.path[depth], []).append(c)
    return out


def _changed(old: Value | None, changes: Sequence[_Changed], depth: int) -> Value | None:
    """The value after changes; None for a missing one."""
    if len(changes) == 1 and len(changes[0].path) == depth:
        return changes[0].value
    m, elements = get(old, "M"), get(old, "L")
    if m is not None:
        return {"M": _in_map(m, changes, depth)}
    if elements is not None:
        return {"L": _in_list(elements, changes, depth)}
    raise _wrong_path()


def _in_map(old: Item, changes: Sequence[_Changed], depth: int) -> Item:
    out = dict(old)
    for step, group in _grouped(changes, depth).items():
        if depth > 0 and index_of(step) is not None:
            raise _wrong_path()
        v = _changed(old.get(step), group, depth + 1)
        if v is None:
            out.pop(step, None)
        else:
            out[step] = v
    return out


def _in_list(old: Sequence[Value], changes: Sequence[_Changed], depth: int) -> list[Value]:
    """Elements keep their positions during the changes; elements set after the end are appended; removed ones leave no gap."""
    out: list[Value | None] = [*old]
    groups: list[tuple[int, list[_Changed]]] = []
    for step, group in _grouped(changes, depth).items():
        n = index_of(step)
        if n is None:
            raise _wrong_path()
        groups.append((n, group))
    for n, group in sorted(groups, key=lambda x: x[0]):
        if n < len(old):
            out[n] = _changed(old[n], group, depth + 1)
        else:
            out.append(_changed(None, group, depth + 1))
    return [v for v in out if v is not None]
