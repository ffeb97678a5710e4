"""The range of a Query: its partitions, and the bounds of its sort key."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Sequence

from .cursor import CURSOR_VERSION
from .descriptor import Attribute, KeyAttribute, Part, Place, SortCondition, Table
from .entity import MAX_SORT_KEY_BYTES, Entity, empty_key, key_value, makes
from .errors import Fault
from .keytext import apply, bytes_of, natural
from .values import Item, Value, Values, canonical, compare_keys, key_text, sized_text, uvarint
from .walk import Over, Walk


@dataclass
class Input:
    """The input of a pattern: the bounds of a range are inclusive, and lines are the input of steps that run per line."""

    values: Values
    low: Value | None = None
    high: Value | None = None
    lines: list[Values] = field(default_factory=list)


@dataclass
class _Bound:
    equal: Value | None = None
    prefix: Value | None = None
    lower: Value | None = None
    upper: Value | None = None


_Bounded = _Bound | None  # None excludes everything


@dataclass
class SourceOptions:
    """What reads and collections share."""

    pattern: str
    entity: Entity
    table: Table
    index: str
    by: Sequence[str]
    pk: Sequence[KeyAttribute]
    sk: Sequence[SortCondition]
    sort: Sequence[Attribute]
    reverse: bool
    consistent: bool
    segments: int = 0
    """The number of segments of a Scan of the place; 0 if it is not a Scan."""
    over: Over | None = None
    """Walks the partitions of periods."""


@dataclass
class Start:
    """The start of a reading."""

    partitions: Sequence[Item]
    walk: Walk | None = None
    """Creates the partitions of further periods, from the one of a time."""
    at: str = ""


class Source:
    def __init__(self, o: SourceOptions, place: Place) -> None:
        self.o = o
        attributes: list[Attribute] = [*o.sort]
        self._made = [*(o.entity.primary_key(place) or [])]
        """The attributes of all keys of the items, with their templates."""
        entry = o.entity.entry_at(place) if o.index else None
        if entry:
            self._made = [*entry.pk, *entry.sk, *self._made]
            attributes.extend((*entry.sk, *entry.pk))  # only a Scan does not know the partition key
        attributes.append(o.table.pk)
        if o.table.sk:
            attributes.append(o.table.sk)
        self.positioned: list[Attribute] = []
        """The attributes that determine an item's position in a partition."""
        for a in attributes:
            if all(b.name != a.name for b in self.positioned) and not self._in_partition_key(a.name):
                self.positioned.append(Attribute(a.name, a.type))

    def _in_partition_key(self, attribute: str) -> bool:
        return any(a.name == attribute for a in self.o.pk)

    def keys(self, attribute: str) -> bool:
        """Whether the attribute is a key of the queried table or index, which a Query's filter must not use."""
        return self._in_partition_key(attribute) or (self.o.segments == 0 and any(a.name == attribute for a in self.positioned))

    def single(self) -> bool:
        """Whether at most one item is requested."""
        return self.o.segments == 0 and not self.o.index and (not self.o.table.sk or (len(self.o.sk) == 1 and self.o.sk[0].comparison == "equal"))

    def begin(self, given: Input, at: str = "") -> Start:
        """The first partitions to read, and the walk with further ones, from the position of another walk; "" is its start."""
        if self.o.segments:
            return Start([{} for _ in range(self.o.segments)])  # in which a Scan has no key
        keys = self._spread(list(self.o.pk))
        if self.o.over is None:
            return Start([self.o.entity.key_of(key, given.values) for key in keys])
        walk = Walk(self, self.o.over, keys, given, at)
        first = walk.step()
        return Start(first[1], walk, first[0]) if first else Start([], walk)

    def _spread(self, key: list[KeyAttribute]) -> list[list[KeyAttribute]]:
        for i, a in enumerate(key):
            for j, p in enumerate(a.template):
                texts = self._shards(p)
                if texts is None:
                    continue
                out: list[list[KeyAttribute]] = []
                for text in texts:
                    template = (*a.template[:j], Part(text), *a.template[j + 1 :])
                    out.extend(self._spread([*key[:i], replace(a, template=template), *key[i + 1 :]]))
                return out
        return [key]

    def _shards(self, p: Part) -> list[str] | None:
        """The texts of a part that shards a key by a field that is not an input."""
        at = next((i for i, f in enumerate(p.funcs) if f.name in ("shard", "mod")), -1)
        if not p.field or p.field in self.o.by or (self.o.over and p.field == self.o.over.field) or at < 0:
            return None
        out: dict[str, None] = {}
        for i in range(max(natural(p.funcs[at].arg), 1)):  # |shard(auto) is one partition
            text = str(i).encode()
            try:
                for f in p.funcs[at + 1 :]:
                    text = apply(f.name, f.arg, text)
            except Fault:
                continue  # no item can be there
            out[text.decode()] = None
        return list(out)

    def request(self, table: str, given: Input) -> dict[str, Any] | None:
        """The Query of all partitions, without the values of the partition key; None if bounds exclude everything."""
        names: dict[str, str] = {}
        values: Item = {}
        terms: list[str] = []
        for i, a in enumerate(self.o.pk):
            names[f"#p{i}"] = a.name
            terms.append(f"#p{i} = :p{i}")
        room = MAX_SORT_KEY_BYTES
        for i, c in enumerate(self.o.sk):
            b = self._bound(c, given, room)
            if b is None:
                return None
            text = key_text(b.equal)
            if text is not None:
                room = max(room - len(text), 1)
            term = _term(b, i, values)
            if term:
                names[f"#s{i}"] = c.name
                terms.append(term)
        out: dict[str, Any] = {
            "TableName": table, "ScanIndexForward": not self.o.reverse, "ConsistentRead": self.o.consistent,
            "ExpressionAttributeNames": names, "ExpressionAttributeValues": values,
        }
        if not self.o.segments:
            out["KeyConditionExpression"] = " AND ".join(terms)
        if self.o.index:
            out["IndexName"] = self.o.index
        return out

    def _bound(self, c: SortCondition, given: Input, room: int) -> _Bounded:
        known = self.o.entity.render(c.known, given.values)
        if c.comparison == "equal":
            if len(known) > room and c.type != "N":
                return None  # no key is that long
            if known == b"":
                raise empty_key(KeyAttribute(c.name, c.type, c.known))
            return _Bound(equal=key_value(c, known))
        if c.comparison == "within":
            return self._within(c, given, known, room)
        if c.comparison == "between" and (given.low is not None or given.high is not None):
            return self._between(c, given, known, room)
        if c.comparison == "beginsWith" and c.next and c.next.field:
            known += self._beginning(c.next, given.values.get(c.next.field))
        if known == b"" or c.type == "N":
            return _Bound()
        return None if len(known) > room else _Bound(prefix=key_value(c, known))

    def _beginning(self, p: Part, v: Value | None) -> bytes:
        """The text in the key for the caller's prefix of a field."""
        if v is None:
            return b""
        text = self.o.entity.text_of(normal(p), v)
        for f in p.funcs:
            if f.name == "first":
                text = apply(f.name, f.arg, text)
            elif f.name == "date":
                text = text[: len(f.arg)]  # a prefix of a time's text
        return text

    def _between(self, c: SortCondition, given: Input, known: bytes, room: int) -> _Bounded:
        """Bounds an attribute by the key texts of the caller's bounds."""
        part = c.next or Part()
        falling = any(f.name == "desc" for f in part.funcs)
        lower, upper = (given.high, given.low) if falling else (given.low, given.high)

        def text(v: Value | None) -> bytes:
            return known if v is None else known + self.o.entity.text_of(part, v)

        low, high = text(lower), text(upper)
        if c.type == "N":
            return _Bound(lower=key_value(c, low) if lower else None, upper=key_value(c, high) if upper else None)
        greatest = _greatest_bytes if c.type == "B" else _greatest_text
        if upper is None:
            high = b"" if known == b"" else greatest(high, room)
        elif c.open:
            high = greatest(self._highest(c, known, high[len(known) :]), room)
        elif high == b"":
            return None  # nothing is smaller
        elif len(high) > room:
            high = greatest(high, room)
        if c.type != "B":
            low = _whole_characters(low, room)
        low = low[:room]
        return None if high != b"" and low > high else _between_texts(c, low, high)

    def _within(self, c: SortCondition, given: Input, low: bytes, room: int) -> _Bounded:
        """Bounds an attribute by two texts."""
        high = self.o.entity.render(c.to, given.values)
        if len(low) > room:
            return None  # no key is that long
        if (c.open and high != b"") or len(high) > room:
            high = _greatest_text(high, room)
        return None if high != b"" and low > high else _between_texts(c, low, high)

    def _highest(self, c: SortCondition, known: bytes, bound: bytes) -> bytes:
        """The prefix of the greatest keys whose field is not greater than a bound. Usually it is the bound; but with the field
        "ann" and the bound "ann b", the key "ann#1" is greater than all that start with "ann b".
        """
        high = known + bound
        part = c.next or Part()
        follows = self._follows(c)
        f = self.o.entity.field(part.field)
        if f is None or follows == b"":
            return high
        for i in range(len(bound)):
            if not _rune_start(bound, i):
                continue
            shorter = known + bound[:i] + follows
            if shorter > high and makes(f, part, c.type, bound[:i]):
                high = shorter
        return high

    def _follows(self, c: SortCondition) -> bytes:
        """The literal after the field that a condition bounds."""
        a = next((x for x in self._made if x.name == c.name), None)
        at = len(c.known) + 1
        return bytes_of(a.template[at].literal) if a and at < len(a.template) else b""

    def scope(self, table: str, given: Input, names: Sequence[str]) -> bytes:
        """What a cursor is bound to: different for any two questions."""
        b = CURSOR_VERSION + b"".join(map(sized_text, (self.o.pattern, table, self.o.index))) + (b"t" if self.o.reverse else b"f")
        for attributes in (self.positioned, self.o.sort):
            b += uvarint(len(attributes)) + b"".join(sized_text(a.name) + sized_text(a.type) for a in attributes)
        b += canonical(given.low) + canonical(given.high)
        asked = sorted(set(names))
        b += uvarint(len(asked)) + b"".join(sized_text(name) + canonical(given.values.get(name)) for name in asked)
        return b + sized_text(self.o.over.layout) if self.o.over else b  # cursors of a walk have a different format

    def compare(self, a: Item, b: Item) -> int:
        """Compares two items in the source's order; equal ones keep their partitions' order."""
        for key in self.o.sort:
            c = compare_keys(a.get(key.name), b.get(key.name))
            if c != 0:
                return -c if self.o.reverse else c
        return 0

    def key_of_item(self, item: Item) -> Item:
        """An item's position, as a start key."""
        return {a.name: item[a.name] for a in (*self.o.pk, *self.positioned) if a.name in item}


def normal(p: Part) -> Part:
    """A part with those of its functions that make values equal that must be equal."""
    return replace(p, funcs=tuple(f for f in p.funcs if f.name in ("lower", "fold", "slug")))


def _term(b: _Bound, i: int, values: Item) -> str:
    name, first, second = f"#s{i}", f":s{i}", f":t{i}"
    if b.equal:
        values[first] = b.equal
        return f"{name} = {first}"
    if b.prefix:
        values[first] = b.prefix
        return f"begins_with({name}, {first})"
    if b.lower and b.upper:
        values[first], values[second] = b.lower, b.upper
        return f"{name} BETWEEN {first} AND {second}"
    if b.lower:
        values[first] = b.lower
        return f"{name} >= {first}"
    if b.upper:
        values[first] = b.upper
        return f"{name} <= {first}"
    return ""


def _between_texts(a: Attribute, low: bytes, high: bytes) -> _Bound:
    return _Bound(lower=key_value(a, low) if low else None, upper=key_value(a, high) if high else None)


def _rune_start(s: bytes, i: int) -> bool:
    return s[i] & 0xC0 != 0x80


def _whole_characters(s: bytes, n: int) -> bytes:
    """Cuts a text to at most n bytes, between characters."""
    if len(s) <= n:
        return s
    while n > 0 and not _rune_start(s, n):
        n -= 1
    return s[:n]


def _greatest_text(s: bytes, n: int) -> bytes:
    """The greatest text of at most n bytes that starts with s, as far as one more character determines it."""
    cut = _whole_characters(s, n)
    return cut + bytes_of(("", "\x7f", "\u07ff", "\uffff", "\U0010ffff")[min(n - len(cut), 4)])


def _greatest_bytes(s: bytes, n: int) -> bytes:
    return s[:n].ljust(n, b"\xff")
