"""What is known about a change's item in one attempt.

Fields are known from the input, from the condition, or because the item was read. A result that uses a field that was read makes
the transaction conditional on its value (relied). A result that depends on unknown fields raises Unread; the attempt then reads
the item and repeats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Callable, Iterable, NamedTuple, Sequence

from .change import Assigned, Change, Operand
from .condition import Condition, Inputs
from .descriptor import Field, KeyAttribute
from .entity import Entity, fields_of
from .errors import Fault, InvalidValueError
from .keytext import ZERO, plus
from .step import added
from .types import NUMERIC, check_value, try_store
from .update import applied, native
from .values import Item, Value, Values, at, number_in, number_value, put


class Unread(Exception):
    """The result depends on an item that has not been read."""


class Unsettled(Exception):
    """An error that may be due to items that were read at different times. It counts as a conflict; the last attempt fails with
    it.
    """

    def __init__(self, cause: Exception) -> None:
        super().__init__("unsettled")
        self.cause = cause


@dataclass
class FieldValue:
    """A field's value, if it is known whether it exists."""

    v: Value | None


Lookup = Callable[[str], "FieldValue | None"]
"""What is known about a field; None if nothing is."""


class Known:
    def __init__(self, c: Change) -> None:
        self.c = c
        self.assigned = c.assigned
        """The fields of the change and of its counters."""
        self.read = False
        self.old: Item | None = None
        self.will: Values = {}
        self.doomed = False
        """Set if the item that was read shows that the change will be rejected."""
        self.moved = False
        """Set if a counter of the item moves."""
        self.planned = False
        """The consequences of what is known have been determined."""
        self.entity = c.entity
        self._was: Values = {}
        self.relied: set[str] = set()
        self.made = False  # an upsert creates the item, because there was none when it was read

    def fault(self, err: Exception) -> Exception:
        """An error of this effect."""
        if isinstance(err, (Unread, Unsettled)):
            return err
        self.c.of.fault(err)
        return Unsettled(err) if self.moved else err

    def creates(self) -> bool:
        """Whether the whole item is put."""
        return self.c.action in ("create", "put") or self.made

    def exists(self) -> str:
        """What is known about the item before the change: unknown, present or absent."""
        if self.creates() or (self.read and self.old is None):
            return "absent"
        return "present" if self.read or self.c.action == "update" or (self.c.action == "delete" and self.c.when) else "unknown"

    def changed(self, name: str) -> bool:
        """An upsert also assigns the fields of its key, which matters where another spelling of one makes another key."""
        return self.c.action == "upsert" and self.entity.respells(name) or any(a.field.name == name for a in self.assigned)

    def changes(self, names: Iterable[str]) -> bool:
        return any(self.changed(name) for name in names)

    def before(self, name: str) -> FieldValue | None:
        of_key = self.c.values.get(name)
        if of_key is not None and not self.creates():
            if not self.read and self.entity.respells(name):
                return None
            return FieldValue(self._was.get(name) or of_key)  # the item may have another spelling of it
        if self.exists() == "absent":
            return FieldValue(None)
        if self.read:
            return FieldValue(self._was.get(name))
        return FieldValue(self.c.pinned[name]) if name in self.c.pinned else None

    def after(self, name: str) -> FieldValue | None:
        if self.creates():
            return FieldValue(self.c.values.get(name))
        respelled = self.c.action == "upsert" and name in self.c.values
        if not self.changed(name) and self.exists() == "present" and not respelled:
            return self.before(name)
        if self.read:
            return FieldValue(self.will.get(name))
        if name in self.c.values:
            return FieldValue(self.c.values[name])
        a = next((x for x in self.assigned if x.field.name == name and x.whole and x.how == "setting" and not x.operands), None)
        return FieldValue(a.value) if a else None

    def rely_before(self, names: Iterable[str]) -> None:
        """Makes the change conditional on the values of fields that were read."""
        if self.read and self.old is not None:
            self.relied.update(
                name for name in names if (name not in self.c.values or self.entity.folds(name)) and name not in self.c.pinned
            )

    def rely_after(self, names: Iterable[str]) -> None:
        """Makes the change conditional on everything from which fields were computed."""
        for name in names:
            if not self.changed(name):
                self.rely_before([name])
            for a in self.assigned:
                if a.field.name != name:
                    continue
                if not a.whole or a.how != "setting":
                    self.rely_before([name])
                self.rely_before(o.field.name for o in a.operands)

    def values_before(self, names: Iterable[str]) -> Values:
        return collect(names, self.before)

    def values_after(self, names: Iterable[str]) -> Values:
        return collect(names, self.after)

    def key_before(self, key: Sequence[KeyAttribute]) -> Item | None:
        """The key of a copy or marker; None if the item does not have the fields, and so has none."""
        names = fields_of(key)
        v = self.values_before(names)
        self.rely_before(names)
        return None if len(v) < len(names) else self.entity.key_of(key, v)

    def add(self, f: Field, by: Decimal) -> None:
        """Moves a counter of the item. The initial value is 0."""
        for i, a in enumerate(self.assigned):
            n = number_in(a.value)
            begins = a.how == "initialising" and not n
            if a.field is f and (a.how == "adding" or begins) and not a.operands:
                moved = replace(a, how="adding", value=number_value(_moved_by(f, n, by)))
                self.assigned = [*self.assigned[:i], moved, *self.assigned[i + 1 :]]
                return
        self.assigned = [*self.assigned, Assigned(f, f.path, f, True, "adding", number_value(by))]

    def begin(self, f: Field, by: Decimal) -> None:
        """Adds a counter's move to the values of an item that the same write creates."""
        total = _moved_by(f, number_in(self.c.values.get(f.name)), by)
        self.c = replace(self.c, values={**self.c.values, f.name: number_value(total)})

    def see(self, old: Item | None) -> None:
        """Sets the item that was read, None for none, and computes the new one."""
        self.read = True
        self.old = old
        self.planned = False
        self._was = self.entity.counted(self.entity.values_of(old))
        action, when = self.c.action, self.c.when
        if old is None and (action in ("update", "check") or (action == "delete" and when)):
            self.doomed = True
            return
        self.doomed = when is not None and not when.holds(old, self.c.inputs)
        if not self.doomed and action in ("update", "upsert"):
            self.compute()

    def compute(self) -> None:
        """Computes the new item as DynamoDB will."""
        self._settle()
        try:
            item = applied(self.assigned, _empty_maps(self.entity) if self.old is None else self.old)
        except Fault as err:
            raise Fault(f"compute the new item of {self.entity.name}: {err}") from None
        for a in self.assigned:
            v = at(item, a.path)
            if v is not None and a.member.type.kind in NUMERIC:
                check_value(a.member.type, a.member.name, v)
        stored = self.entity.counted(self.entity.values_of(item))
        # An update leaves the spelling of the key.
        self.will = {**stored, **self.c.values} if self.c.action == "upsert" else {**self.c.values, **stored}
        if self.old is None:
            self.c = replace(self.c, values=self.will)
            self.made = True

    def _settle(self) -> None:
        """Computes the sums that DynamoDB cannot express. The item was read."""
        self.assigned = [a if native(a) else self._settled(a) for a in self.assigned]

    def _settled(self, a: Assigned) -> Assigned:
        total = number_in(a.value) or ZERO
        operands = [*a.operands, Operand(False, a.field, a.path, zero=True)] if a.how == "adding" else a.operands
        for o in operands:
            self.rely_before([o.field.name])
            v = at(self.old, o.path)
            if v is None and o.zero:
                continue
            n = number_in(v)
            if n is None:
                raise InvalidValueError(a.member.name, f"is computed from {o.field.name}, which is not a number in the item")
            total = added(total, n, o.negative, a.member.name)
        return replace(a, how="setting" if a.how == "adding" else a.how, value=number_value(total), operands=[])


def _moved_by(f: Field, n: Decimal | None, by: Decimal) -> Decimal:
    try:
        return plus(ZERO if n is None else n, by)
    except Fault as err:
        raise InvalidValueError(f.name, f"changes by more than DynamoDB can store: {err}") from None


def collect(names: Iterable[str], of: Lookup) -> Values:
    out: Values = {}
    for name in names:
        known = of(name)
        if known is None:
            raise Unread
        if known.v is not None:
            out[name] = known.v
    return out


class Truth(NamedTuple):
    holds: bool
    known: bool
    relies: list[str]


def truth(e: Entity, c: Condition | None, value: Lookup) -> Truth:
    """Whether a condition holds, if some fields determine that; relies are the fields used."""
    relies: list[str] = []
    known = True
    for part in c.conjuncts() if c else ():
        names = e.read_by(part)
        item = _partial(e, names, value)
        if item is None:
            known = False
            continue
        if not part.holds(item, Inputs({}, None)):
            return Truth(False, True, names)
        relies.extend(names)
    return Truth(True, known, relies)


def _partial(e: Entity, names: Iterable[str], value: Lookup) -> Item | None:
    """An item with some fields only; None if one of them is unknown."""
    item: Item = {}
    for name in names:
        f = e.its(name)
        known = value(name)
        if known is None:
            return None
        v = try_store(f, known.v)
        if v is not None:
            put(item, f.path, v)
    return item


def _empty_maps(e: Entity) -> Item:
    """An item with only the maps that contain fields."""
    item: Item = {}
    for f in e.fields:
        inside = f.path[:-1]
        if inside and at(item, inside) is None:
            put(item, inside, {"M": {}})
    return item
