"""A call of a write: its input, and the changes that its steps are."""

from __future__ import annotations

import hashlib

from .call import Call
from .change import Change, Learned
from .condition import Inputs
from .descriptor import Field, Write
from .entity import Entity, fields_of, identity
from .errors import Fault, InvalidValueError, LinesError, TableError, builtin, missing
from .ids import Ids
from .source import Input
from .step import Occurrence, line_name
from .types import COLLECTIONS, check_value, now_as
from .values import Value, Values, canonical, sized_text

REQUEST_FIELD = "request"


class Writing:
    """One call of a write. It is the same in all attempts, so that ids that were made stay what they are."""

    def __init__(self, call: Call, w: Write, given: Input) -> None:
        self.call = call
        self.w = w
        self.given = given
        self.lines = given.lines
        self.learned = Learned()
        self.changes: list[Change] = []
        self._ids = Ids(call.now, call.env.new_id)
        self._check_lines()
        self._check_params()
        for i, step in enumerate(w.steps):
            for line in range(len(self.lines)) if step.each else (-1,):
                self.changes.append(Occurrence(self, step, i, line).change())
        if w.idempotent:
            self.changes.insert(0, self._record(w.idempotent.record))
        self._distinct()

    def new_id(self, kind: str) -> Value:
        return {"S": self._ids.make(kind)}

    def _check_lines(self) -> None:
        n = len(self.lines)
        if not self.w.lines and n > 0:
            raise builtin(LinesError, f": the write takes none, and was given {n}")
        if self.w.lines and n == 0:
            raise builtin(LinesError, ": there are none")
        if 0 < self.w.max_lines < n:
            raise builtin(LinesError, f": there are {n}, and the write takes {self.w.max_lines}")

    def _check_params(self) -> None:
        for p in self.w.params:
            _check_param(p, p.name, self.given.values.get(p.name))
        for n, line in enumerate(self.lines):
            for p in self.w.line_params:
                _check_param(p, line_name(n, p.name), line.get(p.name))

    def _distinct(self) -> None:
        """Refuses steps and lines that are about one item."""
        met: dict[bytes, Change] = {}
        for c in self.changes:
            before = met.setdefault(identity(c.entity.table, c.primary), c)
            if before is not c:
                raise self.twice(before, c, before.entity.name, c.entity.name)

    def twice(self, a: Change, b: Change, first: str, second: str) -> TableError:
        """The error of two changes that touch one item, which no transaction may."""
        what = first if second == first else f"{first}, {second}"
        if a.line >= 0 and b.line >= 0 and a.line != b.line:
            return builtin(LinesError, f": lines {a.line + 1} and {b.line + 1} are about one item ({what})")
        if a.line >= 0 or b.line >= 0:
            return builtin(LinesError, f": line {max(a.line, b.line) + 1} is about an item of another step ({what})")

        def step(c: Change) -> str:
            return "0, the idempotency record," if c.number < 0 else self.w.steps[c.number].name or str(c.number + 1)

        name = ", ".join(fields_of(b.entity.key)) or b.entity.name
        return InvalidValueError(name, f"makes steps {step(a)} and {step(b)} touch one item ({what}), which a write does once")

    def _record(self, e: Entity) -> Change:
        """The creation of the idempotency record."""
        try:
            told = self._told()
            v: Values = {}
            for f in e.fields:
                value = self._recorded(e, f, told)
                if value is not None:
                    v[f.name] = value
            e.check(v)
            return Change(-1, -1, "create", "create", e, v, e.key_of(e.key, v), Inputs(self.given.values, self.call.now))
        except (TableError, Fault) as err:
            err.message = f"idempotency record: {err.message}"
            raise

    def _told(self) -> Values:
        """Fields of the items that the write is about once: all of those that are created, else those of their keys."""
        out: Values = {}
        for creates in (True, False):
            for c in self.changes:
                if c.line < 0 and creates == (c.action in ("create", "put")):
                    out = {**c.values, **out}
        return out

    def _recorded(self, e: Entity, f: Field, told: Values) -> Value | None:
        if f.name == REQUEST_FIELD:
            return {"S": self._fingerprint()}
        given = self.given.values.get(f.name) or told.get(f.name)
        if given is not None:
            return given
        if e.ttl == f.name and e.ttl_after:
            return now_as(f.type.kind, f.name, self.call.now + e.ttl_after)
        if f.type.kind in ("time", "date"):
            return now_as(f.type.kind, f.name, self.call.now)
        if f.optional or f.counter or f.type.kind in COLLECTIONS:
            return None
        raise missing(f.name)

    def _fingerprint(self) -> str:
        """The same for requests of one write whose inputs are the same, as far as the design compares them."""
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
