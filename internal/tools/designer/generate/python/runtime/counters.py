"""How a change moves counters."""

from __future__ import annotations

from decimal import Decimal
from typing import Callable, Iterable, NamedTuple

from .descriptor import Count
from .entity import Entity, fields_of, identity
from .errors import Fault, InvalidValueError, TableError
from .keytext import ZERO
from .known import Lookup, Known, Unread, collect, truth
from .step import added
from .values import Values, number_in


class Movement(NamedTuple):
    """How a change moves a counter."""

    counter: Count
    key: Values
    by: Decimal


class _Tally(NamedTuple):
    counts: bool
    key: Values
    n: Decimal


def movements(e: Known) -> list[Movement]:
    """How an effect moves counters."""
    action = e.c.action
    if e.doomed or action in ("check", "put") or (action == "delete" and e.exists() == "absent"):
        return []
    return [m for c in e.entity.counts for m in _moves(e, c)]


def _moves(e: Known, c: Count) -> list[Movement]:
    """How it moves one counter: two moves if the item changes from one counter's item to another's."""
    if e.creates():
        after = _tally(e, c, e.after, e.rely_after)
        return _nonzero(c, after.key, after.n)
    if e.exists() == "unknown":
        raise Unread
    if e.c.action == "delete":
        before = _tally(e, c, e.before, e.rely_before)
        return _nonzero(c, before.key, before.n.copy_negate())
    key = _owner_fields(c)
    if not e.changes(key) and not e.changes(e.entity.read_by(c.where)) and (not c.sum or not e.changed(c.sum)):
        return []
    by = _added(e, c.sum)
    if by is not None and c.where is None and not e.changes(key):
        v = e.values_before(key)
        e.rely_before(key)
        owner = _owner_of(c, v)
        return [] if owner is None else _nonzero(c, owner, by)
    before = _tally(e, c, e.before, e.rely_before)
    after = _tally(e, c, e.after, e.rely_after)
    if before.counts and after.counts and _same_counter(c.entity, before.key, after.key):
        return _nonzero(c, after.key, added(after.n, before.n, True, c.field))
    return [*_nonzero(c, before.key, before.n.copy_negate()), *_nonzero(c, after.key, after.n)]


def _added(e: Known, name: str) -> Decimal | None:
    """What an update adds to a field without reading it."""
    total: Decimal | None = None
    for a in e.assigned:
        if a.field.name != name:
            continue
        n = number_in(a.value)
        if total is not None or n is None or a.how != "adding" or not a.whole or a.operands:
            return None
        total = n
    return total


def _tally(e: Known, c: Count, value: Lookup, rely: Callable[[Iterable[str]], None]) -> _Tally:
    """What the item counts in one state; the change then depends on the fields used."""
    t = truth(e.entity, c.where, value)
    if not t.known:
        raise Unread
    rely(t.relies)
    none = _Tally(False, {}, ZERO)
    if not t.holds:
        return none
    names = [*_owner_fields(c), *([c.sum] if c.sum else [])]
    v = collect(names, value)
    rely(names)
    key = _owner_of(c, v)
    if key is None:
        return none
    if not c.sum:
        return _Tally(True, key, Decimal(1))
    n = number_in(v.get(c.sum))
    if n is None and c.sum in v:
        raise InvalidValueError(c.sum, "is not a number and cannot be summed")
    return _Tally(True, key, ZERO if n is None else n)


def _owner_fields(c: Count) -> list[str]:
    """The fields of a counted item that identify the item with the counter."""
    return [c.by.get(name, name) for name in fields_of(c.entity.key)]


def _owner_of(c: Count, v: Values) -> Values | None:
    """The key fields of the item with the counter, from a counted item's values; None if it lacks one, and so is not counted."""
    own = _owner_fields(c)
    return {name: v[field] for name, field in zip(fields_of(c.entity.key), own)} if all(field in v for field in own) else None


def _same_counter(e: Entity, a: Values, b: Values) -> bool:
    """Whether values give one key of the counter's item. Keys are compared, because lower and fold map several values to one."""
    try:
        return identity(e.table, e.key_of(e.key, a)) == identity(e.table, e.key_of(e.key, b))
    except (TableError, Fault):
        return False


def _nonzero(count: Count, key: Values, by: Decimal) -> list[Movement]:
    return [Movement(count, key, by)] if by else []
