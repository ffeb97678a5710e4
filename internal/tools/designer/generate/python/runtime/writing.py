"""A call of a write: its input, and the changes of its steps."""

from __future__ import annotations

import hashlib

from .call import Call
from .change import Change
from .condition import Inputs
from .descriptor import Field, Write
from .entity import Entity
from .errors import Fault, LinesError, TableError, WriteOf, builtin, missing
from .ids import Ids
from .source import Input
from .step import Occurrence, line_name
from .transaction import REQUEST_FIELD, distinct
from .types import COLLECTIONS, check_value, now_as
from .values import Value, Values, canonical, sized_text


class Writing:
    """One call of a write. It is the same in all attempts, so that generated IDs do not change."""

    def __init__(self, call: Call, w: Write, given: Input, place: int | None = None) -> None:
        self.call = call
        self.w = w
        self.given = given
        self.lines = given.lines
        self.place = place
        """Its index among the writes of a tx."""
        self.changes: list[Change] = []
        self._ids = Ids(call.now, call.env.new_id)
        self._check_lines()
        self._check_params()
        for i, step in enumerate(w.steps):
            for line in range(len(self.lines)) if step.each else (-1,):
                self.changes.append(Occurrence(self, step, i, line).change())
        if w.idempotent:
            self.changes.insert(0, self._record(w.idempotent.record))
        distinct(self.changes)

    def new_id(self, kind: str) -> Value:
        return {"S": self._ids.make(kind)}

    def _check_lines(self) -> None:
        n = len(self.lines)
        if not self.w.lines and n > 0:
            raise builtin(LinesError, f": the write takes none, but got {n}")
        if self.w.lines and n == 0:
            raise builtin(LinesError, ": there are none")
        if 0 < self.w.max_lines < n:
            raise builtin(LinesError, f": there are {n}, but the write takes at most {self.w.max_lines}")

    def _check_params(self) -> None:
        for p in self.w.params:
            _check_param(p, p.name, self.given.values.get(p.name))
        for n, line in enumerate(self.lines):
            for p in self.w.line_params:
                _check_param(p, line_name(n, p.name), line.get(p.name))

    def fault(self, err: Exception) -> Exception:
        """An error of this write, one of several in a transaction."""
        if isinstance(err, (TableError, Fault)) and err.of is None:
            err.of = WriteOf(self.w.pattern, self.place)
        return err

    def step(self, c: Change) -> str:
        """The step's name in the design, otherwise its number."""
        return "0, the idempotency record," if c.number < 0 else self.w.steps[c.number].name or str(c.number + 1)

    def canonical(self) -> bytes:
        """Equal for calls of one write with the same input."""
        return canonical({"M": self.given.values}) + canonical({"L": [{"M": line} for line in self.lines]})

    def _record(self, e: Entity) -> Change:
        """The creation of the idempotency record."""
        try:
            unique = self._unique_fields()
            v: Values = {}
            for f in e.fields:
                value = self._recorded(e, f, unique)
                if value is not None:
                    v[f.name] = value
            e.check(v)
            return Change(self, -1, -1, "create", "create", e, v, e.key_of(e.key, v), Inputs(self.given.values, self.call.now))
        except (TableError, Fault) as err:
            err.message = f"idempotency record: {err.message}"
            raise

    def _unique_fields(self) -> Values:
        """Fields of the write's unique items: all fields of created ones, otherwise those of their keys."""
        out: Values = {}
        for creates in (True, False):
            for c in self.changes:
                if c.line < 0 and creates == (c.action in ("create", "put")):
                    out = {**c.values, **out}
        return out

    def _recorded(self, e: Entity, f: Field, unique: Values) -> Value | None:
        if f.name == REQUEST_FIELD:
            return {"S": self.fingerprint()}
        given = self.given.values.get(f.name) or unique.get(f.name)
        if given is not None:
            return given
        if e.ttl == f.name and e.ttl_after:
            return now_as(f.type.kind, f.name, self.call.now + e.ttl_after)
        if f.type.kind in ("time", "date"):
            return now_as(f.type.kind, f.name, self.call.now)
        if f.optional or f.counter or f.type.kind in COLLECTIONS:
            return None
        raise missing(f.name)

    def fingerprint(self) -> str:
        """Equal for requests of one write with the same inputs, as far as the design compares them."""
        b = sized_text(self.w.pattern)
        for name in self.w.idempotent.request if self.w.idempotent else ():
            v = {"L": [{"M": line} for line in self.lines]} if name == "lines" else self.given.values.get(name)
            b += sized_text(name) + canonical(v)
        return hashlib.sha256(b).hexdigest()


def _check_param(p: Field, name: str, v: Value | None) -> None:
    if p.removable and v is not None and "NULL" in v:
        return
    if v is not None:
        check_value(p.type, name, v, p.min_bytes, p.max_bytes)
    elif not p.optional and p.type.kind not in COLLECTIONS:
        raise missing(name)
