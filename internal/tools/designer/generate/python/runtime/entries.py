"""The changes of the index attributes of a changed item, or of its copy, and of their fields."""

from __future__ import annotations

from typing import Sequence

from .descriptor import Entry, KeyAttribute
from .entity import fields_of, within
from .known import Known, Unread, truth
from .update import Expression
from .values import Item, Value, Values


def change_entries(e: Known, entries: Sequence[Entry], x: Expression) -> None:
    """Changes the index attributes of some entries."""
    for entry in entries:
        _check_plain(e, [*entry.pk, *entry.sk])
    keys = _IndexKeys(e, entries)
    keys.decide()
    keys.write(x)


def _check_plain(e: Known, attributes: Sequence[KeyAttribute]) -> None:
    """Rejects values that are invalid as the index attribute in which their field is stored."""
    known: Values = {}
    for a in attributes:
        after = e.after(a.field) if a.field and e.changed(a.field) else None
        if after and after.v is not None:
            known[a.field] = after.v
    e.entity.plain_keys(attributes, known)


class _IndexKeys:
    """Collects the changes of index attributes."""

    def __init__(self, e: Known, entries: Sequence[Entry]) -> None:
        self._e = e
        self._entries = entries
        names = [a.name for entry in entries for a in e.entity.synthetic(entry)]
        self._shared = {name for name in names if names.count(name) > 1}
        """The attributes that several entries share: one entry may remove what another one needs."""
        self._set: Item = {}
        self._begin: Item = {}
        """The values that attributes get if they are missing."""
        self._gone: set[str] = set()

    def decide(self) -> None:
        for entry in self._touched():
            self._enter(entry)

    def write(self, x: Expression) -> None:
        for name in sorted(self._set):
            x.set([name], self._set[name])
        for name in sorted(self._begin):
            x.begin([name], self._begin[name])
        for name in sorted(self._gone):
            if name not in self._set and name not in self._begin:  # an attribute may belong to several indexes
                x.remove([name])

    def _touched(self) -> list[Entry]:
        """The entries that may change: all if the item may be created, otherwise those that depend on the change, with the
        entries that share attributes.
        """
        out: list[Entry] = []
        attributes: set[str] = set()
        before = -1
        while before != len(out):
            before = len(out)
            for entry in self._entries:
                own = [a.name for a in self._e.entity.synthetic(entry)]
                if any(entry is x for x in out):
                    continue
                if self._e.exists() != "present" or not attributes.isdisjoint(own) or self._e.changes(self._e.entity.entry_fields(entry)):
                    out.append(entry)
                    attributes.update(own)
        return out

    def _enter(self, entry: Entry) -> None:
        """Handles one entry."""
        own = self._e.entity.synthetic(entry)
        if not own:
            return
        if self._leaves(entry):
            self._gone.update(a.name for a in own)
            return
        if self._e.exists() == "unknown":
            self._enter_perhaps(entry, own)
            return
        steady = self._steady(entry)
        for a in own:
            names = fields_of([a])
            if steady and a.name not in self._shared and not self._e.changes(names):
                continue
            v = self._e.values_after(names)
            self._e.rely_after(names)
            self._set.update(self._e.entity.key_of([a], v))

    def _leaves(self, entry: Entry) -> bool:
        """Whether the item certainly has no entry: the condition does not hold, or a field of the key is missing."""
        for name in fields_of(entry.pk, entry.sk):
            known = self._e.after(name)
            if known and known.v is None:
                self._e.rely_after([name])
                return True
        t = truth(self._e.entity, entry.where, self._e.after)
        if not t.known or t.holds:
            return False
        self._e.rely_after(t.relies)
        return True

    def _steady(self, entry: Entry) -> bool:
        """Whether an item that has the entry now also had it before. It must be known to have the entry now."""
        t = truth(self._e.entity, entry.where, self._e.after)
        if not t.known or not t.holds:
            raise Unread
        self._e.rely_after(t.relies)
        steady = not self._e.changes(self._e.entity.read_by(entry.where))
        for name in fields_of(entry.pk, entry.sk):
            f = self._e.entity.field(name)
            if f is None or not f.optional:
                continue
            if self._e.after(name) is None:
                raise Unread
            self._e.rely_after([name])
            steady = steady and not self._e.changed(name)
        return steady

    def _enter_perhaps(self, entry: Entry, own: Sequence[KeyAttribute]) -> None:
        """Handles an entry of an item that an upsert may create or find."""
        t = truth(self._e.entity, entry.where, self._e.after)
        if not t.known or not t.holds:
            raise Unread
        fields = [self._e.entity.field(name) for name in fields_of(entry.pk, entry.sk)]
        always = within(t.relies, fields_of(self._e.entity.key)) and not any(f is None or f.optional for f in fields)
        for a in own:
            v, begins = self._values_perhaps(fields_of([a]))
            if begins and not always:
                raise Unread
            (self._begin if begins else self._set).update(self._e.entity.key_of([a], v))

    def _values_perhaps(self, names: Sequence[str]) -> tuple[Values, bool]:
        """Fields after an upsert, and whether they are those of a new item."""
        v: Values = {}
        begins = changes = False
        for name in names:
            known = self._e.after(name)
            value = known.v if known else self._initial(name)
            if value is None:
                raise Unread
            begins = begins or known is None
            changes = changes or (known is not None and name not in self._e.c.values)
            v[name] = value
        if begins and changes:
            raise Unread  # the key combines a new value and an old one
        return v, begins

    def _initial(self, name: str) -> Value | None:
        """The value that an upsert gives to a missing field; None if it does not, or if the field is optional."""
        a = next((x for x in self._e.assigned if x.field.name == name), None)
        return a.value if a and a.how == "initialising" and a.whole and not a.operands and not a.field.optional else None
