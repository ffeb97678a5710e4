"""Reads and collections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, NamedTuple, Sequence

from .call import Call
from .condition import Inputs, alias_in
from .cursor import Position, decode_period, decode_positions, encode_period, encode_positions
from .descriptor import Collection, Func, KeyAttribute, Part, Place, Read
from .entity import Entity
from .errors import CursorError, Fault, LinesError, NotFoundError, TableError, builtin, missing
from .reading import Reading
from .source import Input, Source, SourceOptions, Start, normal
from .types import check_value
from .values import Item, Value, Values, compare_keys, equal, sized_text
from .walk import Over, since

_MAX_PAGE = 1000


class Found(NamedTuple):
    member: int
    values: Values


def _page_size(limit: int | None, fallback: int) -> int:
    return min(limit if limit and limit > 0 else fallback if fallback > 0 else _MAX_PAGE, _MAX_PAGE)


class _Span:
    """The caller's condition on one field: a prefix, or bounds."""

    def __init__(self, r: Read, given: Input) -> None:
        self._entity = r.entity
        self._part = Part()
        self._prefix = b""
        self._lower: Value | None = None
        self._upper: Value | None = None
        c = next((x for x in r.sk if x.next and x.next.field), None)
        if c is None or c.next is None:
            return
        part = normal(c.next)
        if c.comparison == "beginsWith":
            v = given.values.get(part.field)
            if v is not None:
                self._part = part
                self._prefix = self._entity.text_of(part, v)
            return
        if given.low is None and given.high is None:
            return
        self._part = part
        self._lower, self._upper = self._bound(given.low), self._bound(given.high)

    def _bound(self, v: Value | None) -> Value | None:
        f = self._entity.field(self._part.field)
        if v is not None and f:
            check_value(f.type, f.name, v)
        return None if v is None else self._value(v)

    def _value(self, v: Value) -> Value:
        return {"B": self._entity.text_of(self._part, v)} if self._part.funcs else v

    def empty(self) -> bool:
        return self._lower is not None and self._upper is not None and compare_keys(self._lower, self._upper) > 0

    def holds(self, values: Values, whole: bool) -> bool:
        """Whether an item's value is in the span. A field that the place does not have is not checked, unless the item is whole.
        """
        if not self._part.field:
            return True
        v = values.get(self._part.field)
        if v is None:
            return not whole
        if self._lower is None and self._upper is None:
            text = self._entity.try_text(self._part, v)
            return text is not None and text.startswith(self._prefix)
        try:
            made = self._value(v)
        except (TableError, Fault):
            return False
        above = self._lower is None or compare_keys(self._lower, made) <= 0
        return above and (self._upper is None or compare_keys(made, self._upper) <= 0)


class _Filled(NamedTuple):
    part: Part
    text: bytes


def _fill(e: Entity, templates: Sequence[Sequence[Part]], by: Sequence[str], bucket: str, v: Values) -> list[_Filled]:
    """The parts of templates that inputs determine, with their texts. Some keys only contain a shard, a band, a prefix, a hash or the
    second of a time, which other values have too: these are compared without that function and those after it. Of the bucket, the
    band is compared.
    """
    out: list[_Filled] = []
    for p in (p for t in templates for p in t):
        if p.field in by and p.field in v:
            lossy = next((i for i, f in enumerate(p.funcs) if _lossy(f)), len(p.funcs))
            part = p if p.field == bucket else Part(p.literal, p.field, p.funcs[:lossy])
            out.append(_Filled(part, e.text_of(part, v[p.field])))
    return out


def _lossy(f: Func) -> bool:
    return f.name in ("band", "mod", "shard", "first", "hash") or (f.name == "ts" and f.arg == "s")


def _fills(filled: Sequence[_Filled], e: Entity, v: Values, whole: bool) -> bool:
    """Whether an item's values give the parts the same texts."""
    return all(e.try_text(part, v[part.field]) == text if part.field in v else not whole for part, text in filled)


def _templates(keys: Sequence[KeyAttribute] | None) -> list[Sequence[Part]]:
    return [a.template for a in keys or ()]


class _Question:
    """A read with its validated input."""

    def __init__(self, r: Read, given: Input, now: int) -> None:
        given = since(r, given, now)
        self.read = r
        self.given = given
        self.here = False
        """Set if the filter is evaluated here and not by the request."""
        self._at = Inputs(given.values, now)
        for name in self._inputs():
            v = given.values.get(name)
            if v is None:
                raise missing(name)
            f = r.entity.field(name)
            if f:
                check_value(f.type, name, v, f.min_bytes, f.max_bytes)
        known = [*_templates(r.key), *_templates(r.pk), *(c.known for c in r.sk)]
        self._filled = _fill(r.entity, known, r.by, r.bucket, given.values)
        self.span = _Span(r, given)

    def _inputs(self) -> list[str]:
        return [*self.read.by, *self.read.filter_by, *([self.read.owner] if self.read.owner else [])]

    def names(self) -> list[str]:
        """The inputs that determine the result."""
        params = [p.input for p in self.read.filter.params] if self.read.filter else []
        return [*self._inputs(), *([self.read.prefix] if self.read.prefix else []), *params]

    def matches(self, v: Values, whole: bool) -> bool:
        return _fills(self._filled, self.read.entity, v, whole) and self.span.holds(v, whole)

    def admits(self, item: Item | None, v: Values) -> bool:
        """Whether an item passes the filter and belongs to the owner."""
        owner = self.read.owner
        if owner and not equal(v.get(owner), self.given.values.get(owner)):
            return False
        if not self.here:
            return True
        if any(not equal(v.get(name), self.given.values.get(name)) for name in self.read.filter_by):
            return False
        return self.read.filter is None or self.read.filter.holds(item, self._at)

    def filter(self, s: Source, request: dict[str, Any]) -> None:
        """Adds the filter to the request, unless it must be evaluated here."""
        self.here = self.here or self._filters_keys(s)
        if self.here:
            return
        names, values = request["ExpressionAttributeNames"], request["ExpressionAttributeValues"]
        terms: list[str] = []
        for i, name in enumerate(self.read.filter_by):
            f = self.read.entity.field(name)
            if f:
                values[f":f{i}"] = self.given.values[name]
                terms.append(f"{'.'.join(alias_in(names, step) for step in f.path)} = :f{i}")
        if self.read.filter:
            terms.append(f"({self.read.filter.bind(self._at, names, values)})")
        if terms:
            request["FilterExpression"] = " AND ".join(terms)

    def _filters_keys(self, s: Source) -> bool:
        """Whether the filter uses key attributes of the queried table or index."""
        fields = [self.read.entity.field(name) for name in self.read.filter_by]
        attributes = [f.path[0] for f in fields if f]
        return any(s.keys(a) for a in [*attributes, *(self.read.filter.names.values() if self.read.filter else ())])


@dataclass
class _Candidate:
    """An item that may be a result."""

    question: _Question
    item: Item | None
    values: Values | None = None
    strayed: bool = False
    """Set if the item that was read for it no longer exists, or no longer matches."""


def _source_of(r: Read) -> Source:
    return Source(
        SourceOptions(r.pattern, r.entity, r.entity.table, r.place.index, r.by, r.pk, r.sk, r.sort, r.reverse, r.consistent,
                      r.segments, Over(r.over, r.range, r.max_buckets, r.open) if r.over else None), r.place)


def get(call: Call, r: Read, given: Input) -> Values:
    """One item; a missing item, or another owner's, is NotFound."""
    q = _Question(r, given, call.now)
    v = _get_by_key(call, q) if r.key is not None else _get_by_query(call, q)
    if v is None:
        raise builtin(NotFoundError)
    return v


def _get_by_key(call: Call, q: _Question) -> Values | None:
    """From a marker, the second attempt reads consistently: the first may have seen the marker or the item before both changed.
    """
    r = q.read
    key = r.entity.key_of(r.key or (), q.given.values)
    q.here = True  # GetItem has no filter
    for consistent in (r.consistent, True):
        item = call.get(r.entity.table, key, consistent)
        candidate = _Candidate(q, item)
        _judge(call, r, consistent, [candidate])
        if candidate.values is not None or not item or r.place.kind != "marker" or not candidate.strayed:
            return candidate.values
    return None


def _get_by_query(call: Call, q: _Question) -> Values | None:
    """Requests one item, and twice as many each time that all are dropped."""
    reading = _query(call, q, _source_of(q.read))
    n = 1
    while reading and not reading.done():
        found = _results(call, q, reading, n)
        if found:
            return found[0]
        n = min(2 * n, _MAX_PAGE)
    return None


def _query(
    call: Call, q: _Question, s: Source, start: Start | None = None, positions: Sequence[Position] | None = None, most: int | None = None,
) -> Reading | None:
    """Starts the reading of a question; None if its bounds exclude everything."""
    start = start or s.begin(q.given)
    request = s.request(call.env.table_name(s.o.table), q.given)
    if request is None or q.span.empty():
        return None
    q.here = q.read.hydrate
    q.filter(s, request)
    return Reading(call, s, request, start, positions, most)


def _results(call: Call, q: _Question, reading: Reading, n: int) -> list[Values]:
    """The results among the next n items of a reading."""
    candidates = [_Candidate(q, item) for item in reading.next(n)]
    _judge(call, q.read, q.read.consistent, candidates)
    return [c.values for c in candidates if c.values is not None]


def _judge(call: Call, r: Read, consistent: bool, candidates: Sequence[_Candidate]) -> None:
    """Determines which candidates are results, and reads the whole items if the place does not have the requested fields."""
    for c in candidates:
        v = r.entity.recognise(r.place, c.item)
        c.values = v if v is not None and c.question.matches(v, r.place.kind == "key") else None
    if r.hydrate or r.place.kind == "marker":
        _hydrate(call, r, consistent, candidates)
    for c in candidates:
        admitted = c.values is not None and c.question.admits(c.item, c.values)
        c.values = _restricted(c.values, r.fields) if admitted and c.values is not None else None


def _hydrate(call: Call, r: Read, consistent: bool, candidates: Sequence[_Candidate]) -> None:
    """Reads the items of candidates. Items that no longer exist or match are no results."""
    found = [c for c in candidates if c.values is not None]
    items = call.fetch(r.entity.table, [_primary_key(r, c.item or {}, c.values or {}) for c in found], consistent)
    for c, item in zip(found, items):
        v = r.entity.recognise(Place("key"), item)
        c.strayed = v is None or not c.question.matches(v, True)
        c.item = item
        c.values = None if c.strayed else v


def _primary_key(r: Read, item: Item, v: Values) -> Item:
    """The key of the item after another one at the read's place. An entry of the item itself has it."""
    e = r.entity
    if r.place.kind != "entry" or r.place.copy:
        return e.key_of(e.key, v)
    for a in e.key:
        if a.name not in item:
            raise Fault(f"index {r.place.index} returned an item without {a.name}")
    return {a.name: item[a.name] for a in e.key}


def _restricted(v: Values, fields: Sequence[str] | None) -> Values:
    return v if fields is None else {name: x for name, x in v.items() if name in fields}


def batch(call: Call, r: Read, inputs: Sequence[Input]) -> list[Values | None]:
    """One item for each of several inputs; None for a missing one, or another owner's."""
    if r.key is None:
        raise Fault("it is served by a Query, which cannot be batched: read one item at a time")
    if 0 < r.max_keys < len(inputs):
        raise builtin(LinesError, f": there are {len(inputs)}, but the maximum is {r.max_keys}")
    keys: list[Item] = []
    candidates: list[_Candidate] = []
    for given in inputs:
        question = _Question(r, given, call.now)
        question.here = True  # BatchGetItem has no filter
        keys.append(r.entity.key_of(r.key, given.values))
        candidates.append(_Candidate(question, None))
    for c, item in zip(candidates, call.fetch(r.entity.table, keys, r.consistent)):
        c.item = item
    _judge(call, r, r.consistent, candidates)
    return [c.values for c in candidates]


def count(call: Call, r: Read, given: Input) -> int:
    """The number of items of a read of many. If the request may select other items too, they are read and checked."""
    q = _Question(r, given, call.now)
    reading = _query(call, q, _source_of(r))
    if reading and r.select and not q.here:
        return reading.count()
    n = 0
    while reading and not reading.done():
        n += len(_results(call, q, reading, _MAX_PAGE))
    return n


def page(call: Call, r: Read, given: Input, limit: int | None, after: str) -> tuple[list[Values], str]:
    """A page of a read of many, and the cursor after it."""
    q = _Question(r, given, call.now)
    s = _source_of(r)
    scope = _scope(call, s, given, q.names())
    began, left = call.now, r.limit
    start: Start | None = None
    positions: list[Position] | None = None
    if after:
        at, text = "", _opened(call, scope, after)
        if s.o.over:
            began, at, text = decode_period(text)
            q = _Question(r, given, began)  # as when the list began
        start = s.begin(q.given, at)
        left, positions = decode_positions(text, start.partitions, s.positioned)
    reading = _query(call, q, s, start, positions, r.max_buckets if r.open else None)
    items: list[Values] = []
    if reading is None:
        return items, ""
    size = _page_size(limit, r.page)
    if r.limit:
        left = min(left, r.limit)
        size = min(size, left)
    turn = 0
    while len(items) < size and reading.another(turn):
        items.extend(_results(call, q, reading, size - len(items)))
        turn += 1
    left -= len(items)
    if reading.done() or (r.limit and left == 0):
        return items, ""
    return items, _cursor(call, scope, s, left, reading, began)


def walk(call: Call, r: Read, given: Input) -> Iterator[Values]:
    """Walks all pages, up to the read's limit if it has one. Requests are sent when they are needed."""
    for found in pages(call, r, given):
        yield from found


def pages(call: Call, r: Read, given: Input) -> Iterator[list[Values]]:
    """The items of a walk, as they arrive."""
    q = _Question(r, given, call.now)
    reading = _query(call, q, _source_of(r))
    size = _page_size(r.page, r.limit)
    yielded = 0
    while reading and not reading.done() and (r.limit == 0 or yielded < r.limit):
        found = _results(call, q, reading, min(size, r.limit - yielded) if r.limit else size)
        yielded += len(found)
        yield found


def _scope(call: Call, s: Source, given: Input, names: Sequence[str]) -> bytes:
    scope = s.scope(call.env.table_name(s.o.table), given, names)
    return scope + sized_text(call.env.caller()) if call.env.caller else scope


def _opened(call: Call, scope: bytes, after: str) -> bytes:
    """The text of a cursor."""
    if call.env.sealer is None:
        raise builtin(CursorError, ": cursor_key is not set, so there are no cursors")
    return call.env.sealer.open(scope, after)


def _cursor(call: Call, scope: bytes, s: Source, left: int, reading: Reading, began: int) -> str:
    """The position of a reading that started at a time; "" without a key."""
    at, positions = reading.progress()
    text = encode_positions(left, positions, s.positioned)
    return call.env.sealer.seal(scope, encode_period(began, at) + text if s.o.over else text) if call.env.sealer else ""


def collect(call: Call, c: Collection, given: Input, limit: int | None = None, after: str = "", whole: bool = False) -> tuple[list[Found], str]:
    """A page of a collection, or all of it if it has no pages or all is requested. A root is on the first page, and NotFound if
    it is missing; later pages rely on that.
    """
    names = [*c.by, *([c.owner] if c.owner else [])]
    for name in names:
        v = given.values.get(name)
        if v is None:
            raise missing(name)
        for m in c.members:
            f = m.entity.field(name)
            if f:
                check_value(f.type, name, v, f.min_bytes, f.max_bytes)
    first = c.members[0]
    options = SourceOptions(c.pattern, first.entity, c.table, c.index, c.by, c.pk, c.sk, c.sort, c.reverse, c.consistent)
    s = Source(options, first.place)
    start = s.begin(given)
    scope = _scope(call, s, Input(given.values), names)
    positions: list[Position] | None = None
    if after:
        _, positions = decode_positions(_opened(call, scope, after), start.partitions, s.positioned)
    request = s.request(call.env.table_name(c.table), given)
    g = _Gathering(c, given, not after, _fill(first.entity, _templates(c.pk), c.by, "", given.values))
    if g.first and c.root_apart:
        root = SourceOptions(c.pattern, first.entity, c.table, c.index, c.by, c.pk, c.root_sk, c.sort, False, c.consistent)
        g.seek_root(call, Source(root, first.place), start)
    reading = Reading(call, s, request, start, positions)
    items = g.page(reading, whole or not c.page, _page_size(limit, c.page))
    if g.first and c.root >= 0 and (g.root is None or not g.owned(g.root)):
        raise builtin(NotFoundError)
    return items, "" if reading.done() else _cursor(call, scope, s, 0, reading, call.now)


class _Gathering:
    """Reads a collection."""

    def __init__(self, c: Collection, given: Input, first: bool, filled: list[_Filled]) -> None:
        self.first = first
        self.root: Values | None = None  # until it is found
        self._apart = False  # the root was read separately, and is part of the first page
        self._c = c
        self._given = given
        self._owner = given.values.get(c.owner) if c.owner else None
        self._filled = filled

    def owned(self, v: Values) -> bool:
        return self._owner is None or equal(v.get(self._c.owner), self._owner)

    def page(self, reading: Reading, everything: bool, size: int) -> list[Found]:
        items = [self._shown(Found(self._c.root, self.root))] if self._apart and self.root is not None else []
        turn = 0
        while not reading.done() if everything else len(items) < size and reading.another(turn):
            items.extend(self._next(reading, _MAX_PAGE if everything else size - len(items)))
            turn += 1
        return items

    def _next(self, reading: Reading, n: int) -> list[Found]:
        """The members' items among the next n."""
        out: list[Found] = []
        for item in reading.next(n):
            f = self._member(item)
            if f is None or (self._c.root < 0 and not self.owned(f.values)):
                continue
            if f.member == self._c.root:
                if (not self.first and self._c.root_apart) or self._apart:
                    continue  # the first page has it
                self.root = f.values
            out.append(self._shown(f))
        return out

    def _shown(self, f: Found) -> Found:
        return Found(f.member, _restricted(f.values, self._c.members[f.member].fields))

    def _member(self, item: Item) -> Found | None:
        for i, m in enumerate(self._c.members):
            values = m.entity.recognise(m.place, item)
            if values is not None and _fills(self._filled, m.entity, values, m.place.kind == "key"):
                return Found(i, values)
        return None

    def seek_root(self, call: Call, s: Source, start: Start) -> None:
        """Reads the root first."""
        request = s.request(call.env.table_name(s.o.table), self._given)
        if request is None:
            raise builtin(NotFoundError)
        reading = Reading(call, s, request, start)
        while self.root is None and not reading.done():
            self._next(reading, _MAX_PAGE)
        if self.root is None or not self.owned(self.root):
            raise builtin(NotFoundError)
        self._apart = True
