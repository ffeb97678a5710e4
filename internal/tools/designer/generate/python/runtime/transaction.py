"""Calls of writes in one transaction: one, or several that the caller has composed."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Sequence

from .change import Change, Learned
from .descriptor import Table
from .entity import fields_of, identity
from .errors import Fault, InvalidValueError, LinesError, OverlapError, TableError, builtin
from .operation import Operation
from .values import Item, sized_text

if TYPE_CHECKING:
    from .writing import Writing

MAX_ACTIONS = 100
REQUEST_FIELD = "request"
"""The field of an idempotency record with the fingerprint of the request."""


class Transaction:
    """Several calls are like one write with the steps of all: each condition is evaluated on the state before it."""

    def __init__(self, given: Sequence[Writing]) -> None:
        self.call = given[0].call
        self.given = given
        self.writings = given
        """The given calls, sorted independently of their order, so that the outcome does not depend on it."""
        self.learned = Learned()
        if len(given) > 1:
            self.writings = sorted(given, key=lambda r: (r.w.pattern, r.canonical()))
            self._fingerprint()
            distinct(self.changes())

    @property
    def batch(self) -> bool:
        """Whether each item is written separately, without a transaction."""
        return self.writings[0].w.batch

    def changes(self) -> list[Change]:
        return [c for r in self.writings for c in r.changes]

    def _fingerprint(self) -> None:
        """Makes idempotency records identify the whole transaction, not only one call: a repetition repeats all calls. Of a call
        without a record, all inputs are compared.
        """
        whole = b""
        for r in self.writings:
            if r.w.idempotent is None:
                whole += sized_text(r.w.pattern) + r.canonical()
            elif not r.w.idempotent.request:
                raise r.fault(Fault(
                    "its record does not contain the request, so a transaction cannot recognise a retry: add request to idempotent"))
            else:
                whole += sized_text(r.fingerprint())
        for r in self.writings:
            if r.w.idempotent:
                r.changes[0].values[REQUEST_FIELD] = {"S": hashlib.sha256(whole).hexdigest()}

    def too_many(self, ops: Sequence[Operation]) -> Exception:
        """The error of a transaction with too many operations: it counts them by kind."""
        several = len(self.writings) > 1
        counts: dict[str, int] = {}
        for o in ops:
            noun = f"{o.of.c.of.w.pattern}'s {o.noun}" if several else o.noun
            counts[noun] = counts.get(noun, 0) + 1
        nouns = ", ".join(f"{n} × {noun}" for noun, n in counts.items())
        what = f"{'the writes have' if several else 'the write has'} {len(ops)} actions, but a transaction has at most {MAX_ACTIONS}: {nouns}"
        return builtin(LinesError, f": {what}") if any(r.w.lines for r in self.writings) else Fault(what)


def distinct(changes: Sequence[Change]) -> None:
    """Rejects steps and lines for the same item."""
    met: dict[bytes, Change] = {}
    for c in changes:
        before = met.setdefault(identity(c.entity.table, c.primary), c)
        if before is not c:
            raise twice(before, c, before.entity.name, c.entity.name, c.primary)


def twice(a: Change, b: Change, first: str, second: str, item: Item) -> TableError:
    """The error of two changes of one item, which a transaction does not allow."""
    if a.of is not b.of:
        where = _key_in(b.entity.table, item)
        return builtin(OverlapError, f": {a.of.w.pattern} ({first}) and {b.of.w.pattern} ({second}) touch item {where}")
    what = first if second == first else f"{first}, {second}"
    if a.line >= 0 and b.line >= 0 and a.line != b.line:
        return builtin(LinesError, f": lines {a.line + 1} and {b.line + 1} touch one item ({what})")
    if a.line >= 0 or b.line >= 0:
        return builtin(LinesError, f": line {max(a.line, b.line) + 1} touches the item of another step ({what})")
    name = ", ".join(fields_of(b.entity.key)) or b.entity.name
    return InvalidValueError(name, f"makes steps {a.of.step(a)} and {b.of.step(b)} touch one item ({what}): a write can touch an item only once")


def _key_in(t: Table, item: Item) -> str:
    """The primary key of an item, for messages."""
    parts: list[str] = []
    for name in [t.pk.name, *([t.sk.name] if t.sk else [])]:
        kind, x = next(iter(item[name].items()))
        text = json.dumps(x, ensure_ascii=False) if kind == "S" else x.hex() if kind == "B" else x
        parts.append(f"{name}: {text}")
    return f"{{{', '.join(parts)}}} of {t.name}"
