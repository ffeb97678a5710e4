"""A step of a write, for one line if it runs per line: the item that it creates, or its changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Mapping, Sequence

from .change import Assigned, Change, Operand
from .condition import Condition, Inputs
from .descriptor import Assignment, Field, Step, Term
from .entity import Entity, fields_of, within
from .errors import Fault, InvalidValueError, TableError, missing
from .keytext import ZERO, int64, minus, plus
from .types import COLLECTIONS, check_value, inner_field, now_as, to_store
from .values import Item, Value, Values, at, empty_set, get, index_of, number_in, number_value, put

if TYPE_CHECKING:
    from .writing import Writing


def line_name(line: int, name: str) -> str:
    return f"lines[{line}].{name}"


@dataclass
class _Target:
    """The target of an assignment's path: a field, or something inside its structure."""

    field: Field
    path: Sequence[str]
    member: Field
    whole: bool


def _target_of(e: Entity, steps: Sequence[str]) -> _Target:
    """Resolves a path."""
    name = ".".join(steps)
    found = e.field(steps[0]) if steps else None
    member = found
    path = list(found.path) if found else []
    for step in steps[1:]:
        member = inner_field(member.type, step) if member else None
        path += member.path if member else []
    if found is None or member is None:
        raise Fault(f"entity {e.name} has no field {name}")
    return _Target(found, path, replace(member, name=name), len(steps) == 1)


class Occurrence:
    """A step of a write, for one line if it runs per line."""

    def __init__(self, r: Writing, step: Step, number: int, line: int) -> None:
        self._r = r
        self._step = step
        self._number = number
        self._line = line
        self._entity = step.entity

    def change(self) -> Change:
        try:
            return self._resolved()
        except InvalidValueError:
            raise
        except (TableError, Fault) as err:
            err.message = f"step {self._number + 1}: {err.message}"
            raise

    def _resolved(self) -> Change:
        s = self._step
        assigned: list[Assigned] = []
        if s.action in ("create", "put"):
            self._can_put()
            v = self._whole()
        else:
            v = self._key_values()
            if s.action in ("update", "upsert"):
                assigned = self._assignments()
        inputs = Inputs(self._r.given.values, self._r.call.now, self._r.lines[self._line] if self._line >= 0 else None)
        primary = self._entity.key_of(self._entity.key, v)
        c = Change(self._r, self._number, self._line, s.action, s.action, self._entity, v, primary, inputs, assigned, s.when, s.otherwise)
        for condition in (c.when, *(x.when for x in c.refusals)):
            self._check_condition(c, condition)
        c.pinned = _pins(c)
        return c

    def _check_condition(self, c: Change, condition: Condition | None) -> None:
        try:
            if condition:
                condition.check(c.inputs)
        except InvalidValueError as err:
            if c.line >= 0 and err.field.startswith("line."):
                raise InvalidValueError(line_name(c.line, err.field[len("line."):]), err.reason) from None
            raise

    def _can_put(self) -> None:
        """Rejects a put without a read that would leave dependents of the overwritten item."""
        e = self._entity
        if self._step.action != "put":
            return
        stays = ""
        if e.markers:
            stays = f"marker {e.markers[0].name}"
        elif e.counts:
            stays = f"counter {e.counts[0].entity.name}.{e.counts[0].field}"
        elif any(f.counter for f in e.fields):
            stays = "its own counters"
        for c in e.copies:
            if not within(fields_of(c.key), fields_of(e.key)):
                stays = f"copy {c.name}"
        if stays:
            raise Fault(f"put of {e.name} cannot maintain {stays}, because it does not know the item that it overwrites: use create, upsert or update")

    def _whole(self) -> Values:
        """The values of an item that is created or put."""
        v: Values = {}
        for f in self._entity.fields:
            value = self._field(f)
            if value is not None:
                v[f.name] = value
        out = self._entity.counted(v)
        self._entity.check(out)
        return out

    def _field(self, f: Field) -> Value | None:
        """The value of a field of a created item: from the step, otherwise the line, otherwise the caller."""
        s = self._step
        inside: list[Assignment] = []
        for a in (*s.by, *s.set, *s.init, *s.add):
            if a.path[0] != f.name:
                continue
            if len(a.path) == 1:
                return self._constant(a)
            inside.append(a)
        if f.counter:
            return None  # it starts at 0, which is set by the item
        v = self._given(f)
        for a in inside:
            v = self._put_inside(v, a)
        if v is not None:
            return v
        if self._entity.ttl == f.name and self._entity.ttl_after:
            return now_as(f.type.kind, f.name, self._r.call.now + self._entity.ttl_after)
        if f.optional or f.type.kind in COLLECTIONS:
            return None
        raise missing(self._label(f.name))

    def _constant(self, a: Assignment) -> Value | None:
        """The value of an assignment that must not depend on an item."""
        t = self._target(a.path)
        value, operands = self._resolve(t, a.value)
        if operands:
            raise Fault(f"{t.member.name} is computed from a field of {self._entity.name}, but there is no item yet")
        if value is None:
            if not t.member.optional and t.member.type.kind not in COLLECTIONS:
                raise missing(t.member.name)
            return None
        check_value(t.member.type, t.member.name, value, t.member.min_bytes, t.member.max_bytes)
        return value

    def _put_inside(self, outer: Value | None, a: Assignment) -> Value | None:
        """Stores a value inside a structure, without changing the structure."""
        v = self._constant(a)
        if v is None:
            return outer
        t = self._target(a.path)
        whole: Item = {}
        if outer is not None:
            put(whole, t.field.path, outer)
        put(whole, t.path, v)
        return at(whole, t.field.path)

    def _given(self, f: Field) -> Value | None:
        """The input with a field's name, from the line if it has one."""
        v = self._input(f.name)
        if v is not None:
            check_value(f.type, self._label(f.name), v, f.min_bytes, f.max_bytes)
        return v

    def _input(self, name: str) -> Value | None:
        """The input with a name, from the line if it has one."""
        return self._line_value(name) or self._r.given.values.get(name)

    def _line_value(self, name: str) -> Value | None:
        return self._r.lines[self._line].get(name) if self._line >= 0 else None

    def _label(self, name: str) -> str:
        """The name of an input in errors."""
        of_line = self._line >= 0 and (self._line_value(name) is not None or name not in self._r.given.values)
        return line_name(self._line, name) if of_line else name

    def _key_values(self) -> Values:
        """The fields of the primary key of an item that exists or may exist."""
        v: Values = {}
        for name in fields_of(self._entity.key):
            f = self._entity.field(name)
            if f is None:
                raise Fault(f"entity {self._entity.name} has no field {name}, which its key needs")
            a = next((x for x in (*self._step.by, *self._step.set) if x.path == [name]), None)
            value = self._constant(a) if a else self._given(f)
            if value is None:
                raise missing(self._label(name))
            v[name] = value
        return v

    def _assignments(self) -> list[Assigned]:
        """The changes of an update or upsert. An upsert sets all required fields, because it may create an item."""
        s = self._step
        key = fields_of(self._entity.key)
        out: list[Assigned] = []
        for how, assignments in (
            ("setting", s.set), ("adding", s.add), ("initialising", s.init), ("dropping", s.drop), ("appending", s.append), ("prepending", s.prepend),
        ):
            for a in assignments:
                if len(a.path) == 1 and a.path[0] in key:
                    continue  # it identifies the item
                x = self._assignment(how, a)
                if x:
                    out.append(x)
        for path in s.remove:
            t = self._target(path)
            out.append(Assigned(t.field, t.path, t.member, t.whole, "setting", to_store(t.member, None)))
        _apart(out)
        out.extend(x for x in map(self._patch, s.patch) if x)
        if s.action != "upsert":
            return out
        for f in self._entity.fields:
            if f.name not in key and all(a.field.name != f.name for a in out):
                x = self._beginning(f)
                if x:
                    out.append(x)
        return out

    def _target(self, path: Sequence[str]) -> _Target:
        """Resolves the path of an assignment, with inputs as keys of maps."""
        return _target_of(self._entity, [self._map_key(step[1:]) if step.startswith(":") else step for step in path])

    def _map_key(self, name: str) -> str:
        """An input as the key of a map."""
        bare = name.removeprefix("line.")
        of_line = bare != name and self._line >= 0
        label = line_name(self._line, bare) if of_line else name
        v = self._line_value(bare) if of_line else self._r.given.values.get(bare)
        if v is None:
            raise missing(label)
        key: str | None = get(v, "S")
        if not key:
            raise InvalidValueError(label, "is a map key and must be a non-empty text")
        if index_of(key) is not None:
            raise InvalidValueError(label, f"is {key}, which is not a map key but a list index")
        return key

    def _patch(self, name: str) -> Assigned | None:
        """The assignment of an optional input's field; None if it does not change."""
        t = _target_of(self._entity, [name])
        v = self._input(name)
        if v is None:
            return None
        x = Assigned(t.field, t.path, t.member, t.whole, "setting", None)
        if (t.member.optional or t.member.type.kind == "set") and "NULL" in v:
            return x
        check_value(t.member.type, self._label(name), v, t.member.min_bytes, t.member.max_bytes)
        return replace(x, value=to_store(t.member, v))

    def _assignment(self, how: str, a: Assignment) -> Assigned | None:
        t = self._target(a.path)
        value, operands = self._resolve(t, a.value)
        if how == "adding" and t.member.type.kind == "set":
            how = "uniting"
        x = Assigned(t.field, t.path, t.member, t.whole, how, value, operands)
        if how in ("uniting", "dropping", "appending", "prepending"):
            return _gathering(x)
        if not operands and value is None and how != "setting":
            return None  # a missing optional input adds and initializes nothing
        if how == "adding":
            _addable(x)
            return x
        if not operands:
            if value is not None:
                check_value(t.member.type, t.member.name, value, t.member.min_bytes, t.member.max_bytes)
            x.value = to_store(t.member, value)
            if x.value is None and how == "initialising":
                return None  # an empty set, which is not stored
        return x

    def _beginning(self, f: Field) -> Assigned | None:
        """The value that an upsert gives to a field without an assignment."""

        def x(how: str, value: Value | None) -> Assigned:
            return Assigned(f, f.path, f, True, how, value)

        if f.counter:
            return x("initialising", {"N": "0"})
        v = self._given(f)
        if v is not None and not self._gathers(f):  # members to which nothing was added
            return x("setting", to_store(f, v))
        if self._entity.ttl == f.name and self._entity.ttl_after:
            return x("initialising", now_as(f.type.kind, f.name, self._r.call.now + self._entity.ttl_after))
        if f.optional:
            return None  # it does not change
        if f.type.kind not in COLLECTIONS:
            raise missing(self._label(f.name))
        empty = to_store(f, None)
        return None if empty is None else x("initialising", empty)

    def _gathers(self, f: Field) -> bool:
        """Whether the step adds to a set or a list, or removes from a set."""
        s = self._step
        return any(a.path[0] == f.name for a in (*s.drop, *s.append, *s.prepend, *(s.add if f.type.kind == "set" else ())))

    def _resolve(self, t: _Target, terms: Sequence[Term]) -> tuple[Value | None, list[Operand]]:
        """The value of terms as far as it is known without an item, and the item's fields to which it is added."""
        if len(terms) == 1 and terms[0].kind != "field":
            value = self._term(t, terms[0])
            if value is None or not terms[0].negative:
                return value, []
        operands: list[Operand] = []
        total: Decimal | None = None
        for term in terms:
            if term.kind == "field":
                source = _target_of(self._entity, term.path)
                operands.append(Operand(term.negative, source.field, source.path))
                continue
            n = self._numeric(t, term, self._term(t, term))
            total = added(ZERO if total is None else total, n, term.negative, t.member.name)
        return None if total is None else number_value(total), operands

    def _numeric(self, t: _Target, term: Term, v: Value | None) -> Decimal:
        """A term's value as an operand of a sum."""
        name = line_name(self._line, term.name) if term.kind == "line" else term.name if term.kind == "input" else t.member.name
        if v is None:
            raise missing(name)
        n = number_in(v)
        if n is None:
            raise InvalidValueError(name, "is not a number and cannot be added to a sum")
        return n

    def _term(self, t: _Target, term: Term) -> Value | None:
        """The value of a term that is known without an item; None for a missing optional input."""
        if term.kind == "constant":
            return term.constant
        if term.kind == "input":
            return _input_of(self._r.w.params, self._r.given.values, term.name, term.name, t.member)
        if term.kind == "line":
            if self._line < 0:
                raise Fault(f"{term.name} belongs to a line, but the step is not repeated for lines")
            return _input_of(self._r.w.line_params, self._r.lines[self._line], term.name, line_name(self._line, term.name), t.member)
        if term.kind == "now":
            return now_as(t.member.type.kind, t.member.name, self._r.call.now)
        if term.kind == "newID":
            return self._r.new_id(t.member.type.kind)
        if term.kind == "sum":
            return self._sum(term.name)
        if term.kind == "count":
            return {"N": str(len(self._r.lines))}
        raise Fault(f"unknown term kind {term.kind}")

    def _sum(self, name: str) -> Value:
        """Adds up an input of the lines. A missing optional one adds nothing."""
        total = ZERO
        p = next((x for x in self._r.w.line_params if x.name == name), None)
        for i, line in enumerate(self._r.lines):
            v = line.get(name)
            if v is None:
                if p and p.optional:
                    continue
                raise missing(line_name(i, name))
            n = number_in(v)
            if n is None:
                raise InvalidValueError(line_name(i, name), "is not a number and cannot be added to a sum")
            try:
                total = plus(total, n)
            except Fault as err:
                raise InvalidValueError(line_name(i, name), f"makes a sum that DynamoDB cannot store: {err}") from None
        return number_value(total)


def added(a: Decimal, b: Decimal, negative: bool, name: str) -> Decimal:
    """Adds or subtracts; name is for the error of a sum out of DynamoDB's range."""
    try:
        return minus(a, b) if negative else plus(a, b)
    except Fault as err:
        raise InvalidValueError(name, f"is a sum that DynamoDB cannot store: {err}") from None


def _input_of(params: Sequence[Field], given: Mapping[str, Value], name: str, label: str, f: Field) -> Value | None:
    """An input by its name: a param, otherwise a value for the field that it is assigned to."""
    v = given.get(name)
    declared = any(x.name == name for x in params)
    if v is None:
        if declared or f.optional or f.type.kind in COLLECTIONS:
            return None
        raise missing(label)
    if not declared:
        check_value(f.type, label, v, f.min_bytes, f.max_bytes)
    return v


def _gathering(a: Assigned) -> Assigned | None:
    """An assignment of members or elements from the caller; None if there are none."""
    if a.operands:
        raise Fault(f"{a.member.name} gets members of another field, which a request cannot express")
    if a.value is None:
        return None  # a missing optional input
    check_value(a.member.type, a.member.name, a.value, a.member.min_bytes, a.member.max_bytes)
    return None if empty_set(a.value) or get(a.value, "L") == [] else a


def _apart(assigned: Sequence[Assigned]) -> None:
    """Rejects equal keys of a map: a request may change each path once."""
    met: set[tuple[str, ...]] = set()
    for a in assigned:
        if tuple(a.path) in met:
            raise InvalidValueError(a.member.name, "is changed twice")
        met.add(tuple(a.path))


def _addable(a: Assigned) -> None:
    """Rejects operands that cannot be added to a number."""
    if a.value is None:
        return
    n = number_in(a.value)
    if n is None:
        raise InvalidValueError(a.member.name, "is not a number, so nothing can be added to it")
    if a.member.type.kind != "decimal" and int64(n) is None:
        raise InvalidValueError(a.member.name, "is a whole number of 64 bits: only whole numbers of 64 bits can be added to it")


def _pins(c: Change) -> Values:
    """The fields whose values the condition of a change determines: with "status = :from", the item has that status."""
    out: Values = {}
    if c.when is None or c.action in ("create", "put"):
        return out
    for part in c.when.conjuncts():
        n = part.root
        if n.op != "=":
            continue
        for path, value in (n.args, n.args[::-1]):
            if path.op != "path" or len(path.steps) != 1 or value.op != "value":
                continue
            attribute = part.attribute(path.steps)
            for f in c.entity.fields:
                if list(f.path) == [attribute]:
                    try:
                        v = part.value(value.name, c.inputs)
                        check_value(f.type, f.name, v, f.min_bytes, f.max_bytes)
                        out[f.name] = v
                    except (TableError, Fault):
                        pass  # the condition does not give the field a value of its type
    return out
