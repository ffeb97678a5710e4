"""The runtime of the code that monotable generate --lang python writes.

It sends the requests of a design's patterns and decodes the responses. It corresponds to the Go package
github.com/monotable/monotable/design/table, which has more comments: equal descriptors give equal items.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import re
import time
from dataclasses import dataclass
from typing import Any, Callable, Generic, Iterable, Iterator, Mapping, Sequence, TypeVar

from .call import MAX_BATCH_ITEMS, BatchItems, Call, Environment, Observation
from .codec import REMOVED, Removed, Secret, decode_all, encode, encode_all, milliseconds
from .cursor import Sealer
from .descriptor import Field, Place, Read, Table, Write
from .entity import Entity, identity
from .errors import (
    ConfigError, ConflictError, CursorError, Declared, DecodeError, ExistsError, Fault, InvalidValueError, LinesError, NotFoundError,
    OverlapError, RefusedError, ReusedError, StillWrittenError, TableError, UnfinishedError, builtin, named,
)
from .link import Program, Types
from .person import Erased, Kept, PersonItem, erase_person, export_person
from .read import batch, collect, count, get, page, walk
from .source import Input
from .values import Item, Values
from .write import Outcome, tx, write

__all__ = [
    "ConfigError", "ConflictError", "CursorError", "Declared", "DecodeError", "Decoded", "Erased", "ExistsError", "Fault", "InvalidValueError", "Item", "Kept", "LinesError",
    "NotFoundError", "Observation", "Op", "OverlapError", "Page", "PersonItem", "Place", "Program", "REMOVED", "RefusedError", "Removed", "ReusedError", "Runtime", "Secret", "StillWrittenError", "TableError",
    "Types", "UnfinishedError", "decoded",
]


T = TypeVar("T")


@dataclass
class Page(Generic[T]):
    """A page of a list. It may have fewer items than requested, or none, without being the last."""

    items: list[T]
    next: str
    """Continues after this page, as the argument after; "" at the end."""


@dataclass
class Decoded:
    """What a stored item represents. A copy or marker may not have all fields; record is the entity's object if it does."""

    entity: str
    place: Place
    fields: dict[str, Any]
    record: Any


class Op(Generic[T]):
    """A write with its input, for a tx, and later its result."""

    def __init__(self, runtime: Runtime, name: str, given: Mapping[str, Any]) -> None:
        self.runtime = runtime
        self.name = name
        self.given = given
        self.replayed = False
        """Set if the tx was a repetition, and nothing was done."""
        self.known = False
        """Set if there is a result: after a tx without an error, unless it was a repetition and no record has this write's
        result.
        """
        self._result: Any = None

    @property
    def result(self) -> T:
        """The result of the write, after a tx without an error. Of a repetition, only results of idempotent writes are known."""
        if not self.known:
            raise Fault(f"there is no result of {self.name}: its tx was not run, or was a retry whose record does not contain it")
        found: T = self._result
        return found

    def resolve(self, result: Any, known: bool, replayed: bool) -> None:
        """Sets the result of the write."""
        self._result, self.known, self.replayed = result, known, replayed


class Runtime:
    """Runs the patterns of a program. Generated code adds names and types. Safe for use by several threads."""

    def __init__(
        self, program: Program, declared: Declared, client: Any, *, tables: Mapping[str, str], cursor_key: bytes | None,
        old_cursor_keys: Sequence[bytes], caller: Callable[[], str] | None, clock: Callable[[], datetime.datetime] | None,
        observe: Callable[[Observation], None] | None, new_id: Callable[[str], str] | None, sequential: bool,
    ) -> None:
        self.program = program
        self._names = _physical_names(program.tables, tables)
        sealer = Sealer(cursor_key or b"", old_cursor_keys) if cursor_key is not None or old_cursor_keys else None
        now = (lambda: milliseconds(clock())) if clock else (lambda: time.time_ns() // 1_000_000)
        self._env = Environment(client, self._table_name, now, sealer, caller, observe, new_id, sequential, declared)

    def _table_name(self, t: Table) -> str:
        return self._names[t.name]

    @contextlib.contextmanager
    def _call(self, pattern: str) -> Iterator[Call]:
        """Runs a call and reports it to the observer."""
        call = Call(self._env, pattern)
        try:
            yield call
        except GeneratorExit:
            call.end()
            raise
        except Exception as err:
            named(pattern, err)
            call.end(err)
            raise
        call.end()

    def one(self, name: str, given: Mapping[str, Any]) -> Any:
        """One item."""
        r = self.program.reads[name]
        with self._call(name) as call:
            return _found(r, get(call, r, _read_input(r, given)))

    def batch(self, name: str, inputs: Sequence[Any]) -> list[Any]:
        """One item for each of several inputs."""
        r = self.program.reads[name]
        with self._call(name) as call:
            given = [Input(encode_all(r.params, _attribute_of(one))) for one in inputs]
            return [None if v is None else _found(r, v) for v in batch(call, r, given)]

    def count(self, name: str, given: Mapping[str, Any]) -> int:
        """The number of the items of a list."""
        r = self.program.reads[name]
        with self._call(name) as call:
            return count(call, r, _read_input(r, given))

    def page(self, name: str, given: Mapping[str, Any], limit: int | None, after: str) -> Page[Any]:
        """A page of a list."""
        r = self.program.reads[name]
        with self._call(name) as call:
            items, cursor = page(call, r, _read_input(r, given), limit, after)
            return Page([_found(r, v) for v in items], cursor)

    def list(self, name: str, given: Mapping[str, Any]) -> list[Any]:
        """A list up to the read's limit."""
        return [*self.each(name, given)]

    def each(self, name: str, given: Mapping[str, Any]) -> Iterator[Any]:
        """Walks all pages, and requests each when it is needed."""
        r = self.program.reads[name]
        with self._call(name) as call:
            for v in walk(call, r, _read_input(r, given)):
                yield _found(r, v)

    def export_person(self, person: str, after: str) -> Iterator[PersonItem[Any]]:
        """Walks the items of a person."""
        return export_person(self._call, self._env.sealer is not None, self.program.person, person, after)

    def erase_person(self, person: str) -> Erased:
        """Erases the items of a person."""
        pause = (lambda seconds: None) if self._env.sequential else Call(self._env, "erase").pause
        return erase_person(self._call, self.program.person, person, pause)

    def collect(self, name: str, given: Mapping[str, Any], limit: int | None = None, after: str = "") -> Any:
        """A collection: a list for each member, and the root."""
        c = self.program.collections[name]
        with self._call(name) as call:
            items, cursor = collect(call, c, Input(encode_all(c.params, lambda f: given.get(f.name))), limit, after)
            out: dict[str, Any] = {m.attr: [] for i, m in enumerate(c.members) if i != c.root}
            for f in items:
                m = c.members[f.member]
                x = _made(m.entity, m.make, m.fields, f.values)
                if f.member == c.root:
                    out[m.attr] = x
                else:
                    out[m.attr].append(x)
            if c.page:
                out["next"] = cursor
            return c.make(**out)

    def write(self, name: str, given: Mapping[str, Any]) -> Any:
        """A write with its result."""
        w = self.program.writes[name]
        with self._call(name) as call:
            question = _write_input(w, given)
            return self._outcome(call, w, question, write(call, w, question))

    def _outcome(self, call: Call, w: Write, question: Input, outcome: Outcome) -> Any:
        """Converts an outcome to a write's result."""
        if outcome.record is not None and w.idempotent:
            record = _made(w.idempotent.record, w.idempotent.record.make, None, outcome.record)
            return w.replayed(record=record, **self._replayed(call, w, question, outcome.record))
        out: dict[str, Any] = {}
        for returned in w.returned:
            e = w.steps[returned.step].entity
            items = [None if v is None else _made(e, e.make, None, v) for v in outcome.items[returned.step]]
            out[returned.attr] = items if returned.each else items[0]
        return w.done(**out) if w.done else None

    def op(self, name: str, given: Mapping[str, Any]) -> Op[Any]:
        """A write for tx."""
        return Op(self, name, given)

    def tx(self, ops: Sequence[Op[Any]]) -> None:
        """Executes several writes as one transaction."""
        if not ops:
            raise Fault("a tx has no writes")
        for i, op in enumerate(ops):
            if op.runtime is not self or op in ops[:i]:
                raise Fault(f"write {i} of a tx belongs to another DB, or is passed twice")
        with self._call(f"Tx of {', '.join(sorted(op.name for op in ops))}") as call:
            writes = [self.program.writes[op.name] for op in ops]
            questions: list[Input] = []

            def asking(w: Write, op: Op[Any]) -> Callable[[], Input]:
                def ask() -> Input:
                    questions.append(_write_input(w, op.given))
                    return questions[-1]

                return ask

            outcomes = tx(call, [(w, asking(w, op)) for w, op in zip(writes, ops)])
            for op, w, question, outcome in zip(ops, writes, questions, outcomes):
                known = not outcome.replayed or outcome.record is not None
                op.resolve(self._outcome(call, w, question, outcome) if known else None, known, outcome.replayed)

    def _replayed(self, call: Call, w: Write, question: Input, record: Values) -> dict[str, Any]:
        """What the design's replay returns for a repetition."""
        v = {**question.values, **record}
        owner = w.replay.get("owner", "")
        if owner in question.values:
            v[owner] = question.values[owner]  # the caller decides whose data it may be
        found: list[tuple[Entity, Any]] = []
        if "read" in w.replay:
            r = self.program.reads[w.replay["read"]]
            items = walk(call, r, Input(v)) if r.many else [get(call, r, Input(v))]
            found = [(r.entity, _found(r, item)) for item in items]
        elif "collection" in w.replay:
            c = self.program.collections[w.replay["collection"]]
            members = [(c.members[f.member], f.values) for f in collect(call, c, Input(v), whole=True)[0]]
            found = [(m.entity, _made(m.entity, m.make, m.fields, item)) for m, item in members]
        out: dict[str, Any] = {}
        for e, x in found:
            returned = next((t for t in w.returned if w.steps[t.step].entity is e), None)
            if returned:
                out[returned.attr] = [*out.get(returned.attr, ()), x] if returned.each else x
        return out

    def load(self, records: Iterable[Any], progress: Callable[[int], None] | None = None) -> None:
        """Puts records with their copies, index entries and markers unconditionally: for imports and samples. Of records with
        equal keys, any one may remain.
        """
        by_class = {e.make: e for e in self.program.entities.values()}
        with self._call("load") as call:
            waiting: dict[bytes, tuple[str, Item]] = {}
            met = stored = 0
            for record in records:
                e = by_class.get(type(record))
                if e is None:
                    raise InvalidValueError("load", f"has a {type(record).__name__}, which is not an entity of the design")
                items = e.items(encode_all(e.fields, _attribute_of(record)))
                if len(waiting) + len(items) > MAX_BATCH_ITEMS and waiting:
                    _put_all(call, [*waiting.values()])
                    waiting, stored = {}, met
                    if progress:
                        progress(stored)
                waiting.update({identity(e.table, item): (self._table_name(e.table), item) for item in items})
                met += 1
            _put_all(call, [*waiting.values()])
            if progress and met > stored:
                progress(met)

    def create_tables(self, requests: Iterable[Mapping[str, Any]]) -> None:
        """Creates tables and waits until they are active."""
        for of in requests:
            name = self._names[of["table"]]
            self._env.client.create_table(**{**of["create"], "TableName": name})
            self._env.client.get_waiter("table_exists").wait(TableName=name)
            if "ttl" in of:
                self._env.client.update_time_to_live(**{**of["ttl"], "TableName": name})


def _physical_names(tables: Mapping[str, Table], configured: Mapping[str, str]) -> dict[str, str]:
    """The names of the tables in DynamoDB, by their names in the design."""
    for name in configured:
        if name not in tables:
            raise builtin(ConfigError, f": tables names {json.dumps(name)}, which is not in the design: {', '.join(tables)}")
    out: dict[str, str] = {}
    for t in tables.values():
        name = configured.get(t.name, t.physical)
        if name == "":
            raise builtin(ConfigError, f": the name of table {t.name} is empty: tables[{json.dumps(t.name)}] must be its name on DynamoDB")
        if t.name not in configured and re.search("[{}]", name):
            raise builtin(ConfigError, (
                f": the name of table {t.name} is {name}, which depends on the deployment: set tables[{json.dumps(t.name)}] to the name "
                "that it has there"))
        out[t.name] = name
    return out


def _attribute_of(x: Any) -> Callable[[Field], Any]:
    """Reads fields of an object of generated code. An object without one of the names has the wrong class."""

    def of(f: Field) -> Any:
        try:
            return getattr(x, f.attr)
        except AttributeError:
            raise InvalidValueError(f.name, f"is missing in a {type(x).__name__}, which is not the argument type of the method") from None

    return of


def _read_input(r: Read, given: Mapping[str, Any]) -> Input:
    """The input of a read, encoded."""
    out = Input({})
    for p in r.params:
        x = given.get(f"{p.name}Prefix" if p.name == r.prefix else p.name)
        if x is None or (p.name == r.prefix and x == ""):
            continue
        v = encode(p.type, p.name, x)
        if v is not None:
            out.values[p.name] = v
    f = r.entity.field(r.range) if r.range else None
    if f:
        low, high = given.get(f"{f.name}From"), given.get(f"{f.name}To")
        out.low = None if low is None else encode(f.type, f.name, low)
        out.high = None if high is None else encode(f.type, f.name, high)
    return out


def _write_input(w: Write, given: Mapping[str, Any]) -> Input:
    """The input of a write, encoded."""
    lines = [encode_all(w.line_params, _attribute_of(line)) for line in given.get("lines", ())] if w.lines else []
    return Input(encode_all(w.params, lambda f: given.get(f.name)), lines=lines)


def _made(e: Entity, make: Any, fields: Sequence[str] | None, v: Values) -> Any:
    return make(**decode_all(e.name, _shown(e, fields), v))


def _found(r: Read, v: Values) -> Any:
    return _made(r.entity, r.make, r.fields, v)


def _shown(e: Entity, fields: Sequence[str] | None) -> Sequence[Field]:
    return e.fields if fields is None else [f for f in e.fields if f.name in fields]


def decoded(program: Program, item: Item) -> Decoded | None:
    """Finds the entity of a stored item, and its place: the item itself, a copy or a marker. For code that reads items without a
    pattern: streams, exports, scans.
    """
    for e in program.entities.values():
        places: list[tuple[Place, Sequence[str] | None]] = [(Place("key"), None)]
        places += [(Place("copy", copy=c.name), e.held_by(c)) for c in e.copies]
        places += [(Place("marker", marker=m.name), e.held_by_marker(m)) for m in e.markers]
        for place, held in places:
            v = e.recognise(place, item)
            if v is not None:
                fields = decode_all(e.name, _shown(e, held), v)
                return Decoded(e.name, place, fields, e.make(**fields) if held is None else None)
    return None


def _put_all(call: Call, items: Sequence[tuple[str, Item]]) -> None:
    """Puts items in batches, and retries the unprocessed ones."""
    for i in range(0, len(items), MAX_BATCH_ITEMS):
        rest: BatchItems = {}
        for table, item in items[i : i + MAX_BATCH_ITEMS]:
            rest.setdefault(table, []).append({"PutRequest": {"Item": item}})
        pause = 0.05
        while True:
            rest = call.write_batch(rest)
            if not rest:
                break
            call.pause(pause)
            pause = min(2 * pause, 5)
