"""How an entity is stored: keys from templates, index entries, copies, markers, and decoding of items to values."""

from __future__ import annotations

import json
import re
from itertools import takewhile
from typing import Any, Callable, Iterable, Sequence

from .condition import Condition, Inputs
from .descriptor import Attribute, Copy, Count, Entry, Field, Func, KeyAttribute, Marker, Part, Place, Table
from .errors import Fault, InvalidValueError, TableError, missing
from .keytext import apply, bytes_of, decimal_text, int64, text_of
from .types import check_value, fits, has_text, text_of_value, to_store, try_store
from .values import Item, Value, Values, at, canonical, get, key_text, number_in, put, stored_as

_MAX_PARTITION_KEY_BYTES = 2048
MAX_SORT_KEY_BYTES = 1024


def identity(t: Table, item: Item) -> bytes:
    """A text that is equal for keys of the same item, and different for others."""
    return bytes_of(t.name) + b"\0" + canonical(item.get(t.pk.name)) + (canonical(item.get(t.sk.name)) if t.sk else b"")


def fields_of(*keys: Iterable[KeyAttribute]) -> list[str]:
    """The distinct names of the fields in templates."""
    return list(dict.fromkeys(p.field for key in keys for a in key for p in a.template if p.field))


def _foldings(key: Iterable[KeyAttribute], field: str) -> list[tuple[Func, ...]]:
    """How each part of a key makes several values of a field equal."""
    parts = [p for a in key for p in a.template if p.field == field]
    return [tuple(takewhile(lambda f: f.name in ("lower", "fold", "slug", "date"), p.funcs)) for p in parts]


def within(names: Sequence[str], others: Sequence[str]) -> bool:
    """Whether all names are in another list."""
    return all(n in others for n in names)


def in_key(key: Iterable[KeyAttribute], path: Sequence[str]) -> bool:
    return len(path) == 1 and any(a.name == path[0] for a in key)


def key_value(a: Attribute, text: bytes) -> Value:
    """A rendered text as the value of a key attribute."""
    s = text_of(text)
    if a.type == "N":
        number = decimal_text(s)
        if number is None:
            raise InvalidValueError(a.name, f"cannot be computed: {json.dumps(s, ensure_ascii=False)} is not a number that DynamoDB can store")
        return {"N": number}
    if a.type == "B":
        return {"B": text}
    if bytes_of(s) != text:
        raise InvalidValueError(a.name, "cannot contain bytes that are not valid UTF-8")
    return {"S": s}


def _subject(a: KeyAttribute) -> str:
    return next(iter(fields_of([a])), a.name)


def empty_key(a: KeyAttribute) -> InvalidValueError:
    """The error for an empty key."""
    return InvalidValueError(_subject(a), f"makes the key {a.name} empty")


class Entity:
    def __init__(
        self, name: str, table: Table, type_value: str, fields: Sequence[Field], key: list[KeyAttribute], markers: Sequence[Marker],
        ttl: str, ttl_after: int, not_found: str, exists: str, make: Any,
    ) -> None:
        self.name = name
        self.table = table
        self.type_value = type_value
        self.fields = fields
        self.key = key
        self.markers = markers
        self.ttl = ttl
        self.ttl_after = ttl_after
        self.not_found = not_found
        self.exists = exists
        self.make = make
        # Set by link, because conditions and counters need entities.
        self.entries: list[Entry] = []
        self.copies: list[Copy] = []
        self.counts: list[Count] = []
        self._by_name = {f.name: f for f in fields}

    def field(self, name: str) -> Field | None:
        return self._by_name.get(name)

    def its(self, name: str) -> Field:
        """A field whose existence the design guarantees."""
        return self._by_name[name]

    def folds(self, name: str) -> bool:
        """Whether several values of a field identify the same item."""
        own = _foldings(self.key, name)
        return bool(own) and all(own)

    def respells(self, name: str) -> bool:
        """Whether these values differ elsewhere: in the key of a copy, marker, index entry or counter's item."""
        if not self.folds(name):
            return False
        own = _foldings(self.key, name)
        entries = [k for e in [*self.entries, *(e for c in self.copies for e in c.entries)] for k in (e.pk, e.sk)]
        keys = [(k, name) for k in [*entries, *(c.key for c in self.copies), *(m.key for m in self.markers)]]
        for c in self.counts:
            keys.extend((c.entity.key, holder) for holder in fields_of(c.entity.key) if c.by.get(holder, holder) == name)
        return any(f not in own for key, field in keys for f in _foldings(key, field))

    def check(self, v: Values) -> None:
        """Rejects values of the wrong type. Missing fields are not checked."""
        for f in self.fields:
            if f.name in v:
                check_value(f.type, f.name, v[f.name], f.min_bytes, f.max_bytes)

    def key_of(self, attributes: Iterable[KeyAttribute], v: Values) -> Item:
        """The attributes of a key, rendered from values."""
        out: Item = {}
        for a in attributes:
            text = self.render(a.template, v)
            if text == b"":
                raise empty_key(a)
            self._has_room(a, text, v)
            out[a.name] = key_value(a, text)
        return out

    def _has_room(self, a: KeyAttribute, text: bytes, v: Values) -> None:
        """Rejects a text that is too long for its attribute, and names the field with the longest part."""
        if len(text) <= MAX_SORT_KEY_BYTES or a.type == "N":
            return
        room = self._room(a.name)
        if len(text) <= room:
            return
        field, longest = _subject(a), 0
        for p in a.template:
            part = self.try_text(p, v.get(p.field)) if p.field else None
            if part is not None and len(part) > longest:
                field, longest = p.field, len(part)
        raise InvalidValueError(field, f"makes the key {a.name} {len(text)} bytes long: DynamoDB's maximum is {room}")

    def _room(self, attribute: str) -> int:
        sorts = [self.key[1:], *(e.sk for e in self.entries), *(e.sk for c in self.copies for e in c.entries)]
        return MAX_SORT_KEY_BYTES if any(a.name == attribute for keys in sorts for a in keys) else _MAX_PARTITION_KEY_BYTES

    def render(self, template: Iterable[Part], v: Values) -> bytes:
        """A template's text for some values."""
        out = b""
        for p in template:
            if not p.field:
                out += bytes_of(p.literal)
                continue
            value = v.get(p.field)
            if value is None:
                raise missing(p.field)
            f = self.field(p.field)
            if f:
                check_value(f.type, f.name, value, f.min_bytes, f.max_bytes)
            out += self.text_of(p, value, f.min_bytes if f else 0)
        return out

    def text_of(self, p: Part, v: Value, min_bytes: int = 0) -> bytes:
        """The text of a part's value after its functions. The value may be a prefix of one: min_bytes applies to whole values."""
        f = self.field(p.field)
        if f is None:
            raise InvalidValueError(p.field, f"is not a field of {self.name}")
        text = text_of_value(f.type, f.name, v)
        fits(f.name, text, min_bytes, f.max_bytes)
        for fn in p.funcs:
            try:
                text = apply(fn.name, fn.arg, text)
            except Fault as err:
                raise InvalidValueError(f.name, f"cannot be used in a key: {err}") from None
            if fn.name in ("lower", "fold", "slug"):
                fits(f.name, text, min_bytes, f.max_bytes, " in a key")  # these can make a text longer, or empty
        return text

    def try_text(self, p: Part, v: Value | None) -> bytes | None:
        try:
            return None if v is None else self.text_of(p, v)
        except InvalidValueError:
            return None

    def counted(self, v: Values) -> Values:
        """Values with all counters, which start at 0."""
        out = dict(v)
        for f in self.fields:
            if f.counter:
                out.setdefault(f.name, {"N": "0"})
        return out

    def item(self, copy: Copy | None, given: Values) -> Item:
        """The entity's own item, or a copy of it, with keys, type attribute and index entries."""
        v = self.counted(given)
        out = self._fields_and_key(self.held_by(copy) if copy else None, copy.key if copy else self.key, v)
        if self.table.type_attr:
            out[self.table.type_attr] = {"S": self.type_value}
        out.update(self._entry_keys(copy.entries if copy else self.entries, v, out))
        return out

    def marker(self, m: Marker, v: Values) -> Item:
        """A marker's item: the fields that locate the entity's item, the unique ones, and their common expiry."""
        return self._fields_and_key(self.held_by_marker(m), m.key, self.counted(v))

    def items(self, v: Values) -> list[Item]:
        """All items for some values: the item itself, its copies and its markers."""
        return [self.item(None, v), *(self.item(c, v) for c in self.copies), *(self.marker(m, v) for m in self.markers)]

    def _fields_and_key(self, held: Sequence[str] | None, key: Iterable[KeyAttribute], v: Values) -> Item:
        self.check(v)
        out: Item = {}
        for f in self.fields:
            if held is not None and f.name not in held:
                continue
            value = to_store(f, v.get(f.name))
            if value is not None:
                put(out, f.path, value)
        out.update(self.key_of(key, v))
        return out

    def _entry_keys(self, entries: Iterable[Entry], v: Values, item: Item) -> Item:
        """The index attributes of a whole item that do not store a field directly."""
        out: Item = {}
        for entry in entries:
            self.plain_keys([*entry.pk, *entry.sk], v)
            if self._enters(entry, v, item):
                out.update(self.key_of(self.synthetic(entry), v))
        return out

    def _enters(self, entry: Entry, v: Values, item: Item) -> bool:
        """Whether an item has an entry: its condition holds, and the fields of its keys are present."""
        if any(name not in v for name in fields_of(entry.pk, entry.sk)):
            return False
        return entry.where is None or entry.where.holds(self._wholly(item, v), Inputs(v, 0))

    def _wholly(self, item: Item, v: Values) -> Item:
        """An item with all of the values: a copy may not have those on which its entries depend."""
        out = dict(item)
        for f in self.fields:
            if at(out, f.path) is None:
                value = try_store(f, v.get(f.name))
                if value is not None:
                    put(out, f.path, value)
        return out

    def plain_keys(self, attributes: Iterable[KeyAttribute], v: Values) -> None:
        """Rejects fields that are invalid as the index attribute in which they are stored."""
        for a in attributes:
            if a.field and a.field in v:
                self.key_of([a], v)

    def synthetic(self, x: Entry) -> list[KeyAttribute]:
        """The attributes that exist only for an entry, in addition to those of the fields."""
        primary = (self.table.pk.name, self.table.sk.name if self.table.sk else "")
        return [a for a in [*x.pk, *x.sk] if not a.field and a.name not in primary]

    def copy_of(self, name: str) -> Copy | None:
        return next((c for c in self.copies if c.name == name), None) if name else None

    def held_by(self, c: Copy) -> list[str] | None:
        """The fields of a copy, None for all: including those of its keys, and its expiry."""
        if c.fields is None:
            return None
        return self._with_ttl([*fields_of(c.key, *(keys for x in c.entries for keys in (x.pk, x.sk))), *c.fields])

    def _with_ttl(self, fields: list[str]) -> list[str]:
        return [*fields, self.ttl] if self.ttl else fields

    def held_by_marker(self, m: Marker) -> list[str]:
        """The fields of a marker."""
        return self._with_ttl(fields_of(self.key, m.key))

    def values_of(self, item: Item | None) -> Values:
        """The fields of a stored item."""
        v: Values = {}
        for f in self.fields:
            value = at(item, f.path)
            if value is not None:
                v[f.name] = value
        return v

    def ttl_field(self) -> Field | None:
        return self.field(self.ttl) if self.ttl else None

    def expired(self, item: Item | None, now: int) -> bool:
        """Whether an item has expired, at a time in seconds."""
        f = self.ttl_field()
        seconds = int64(number_in(at(item, f.path))) if f else None
        return seconds is not None and seconds < now

    def read_by(self, c: Condition | None) -> list[str]:
        """The fields that a condition reads."""
        attributes = c.attributes() if c else []
        return [f.name for f in self.fields if f.path[0] in attributes]

    def entry_fields(self, x: Entry) -> list[str]:
        """The fields that an entry depends on: those of its keys and of its condition."""
        return [*fields_of(x.pk, x.sk), *self.read_by(x.where)]

    def entry_at(self, p: Place) -> Entry | None:
        """The entry of a place in an index."""
        copy = self.copy_of(p.copy)
        entries = (copy.entries if copy else []) if p.copy else self.entries
        return next((x for x in entries if x.index == p.index and x.name == p.entry), None)

    def primary_key(self, p: Place) -> list[KeyAttribute] | None:
        """The primary key of the items at a place."""
        if p.kind == "marker":
            return next((m.key for m in self.markers if m.name == p.marker), None)
        if not p.copy:
            return self.key
        copy = self.copy_of(p.copy)
        return copy.key if copy else None

    def recognise(self, p: Place, item: Item | None) -> Values | None:
        """The values of a stored item if it belongs to the entity at a place: by the type attribute if there is one, and by its
        keys, which must match its values. An entry in an index may not have all values; then the keys must be possible with the
        present ones.
        """
        if not item or (p.kind != "marker" and not self._typed(item)):
            return None
        primary = self.primary_key(p)
        if primary is None:
            return None
        v = self.values_of(item)
        if p.kind != "entry":
            return v if self._made_of(primary, v, item) else None
        entry = self.entry_at(p)
        if entry is None:
            return None
        met = 0
        for a in [*primary, *entry.pk, *entry.sk]:
            text = key_text(item.get(a.name))
            if text is None:
                continue
            met += 1
            if not self._fits_key(a, v, text):
                return None
        return v if met > 0 else None

    def _typed(self, item: Item) -> bool:
        v = item.get(self.table.type_attr) if self.table.type_attr else None
        return v is None or get(v, "S") == self.type_value

    def _made_of(self, key: Iterable[KeyAttribute], v: Values, item: Item) -> bool:
        try:
            made = self.key_of(key, v)
        except (TableError, Fault):
            return False
        return all(
            stored_as(a) == stored_as(item.get(name)) and key_text(a) is not None and key_text(a) == key_text(item.get(name))
            for name, a in made.items()
        )

    def _fits_key(self, a: KeyAttribute, v: Values, text: bytes) -> bool:
        """Whether a stored key text matches a template with some values, for any values of the missing ones."""
        segments: list[bytes | Callable[[bytes], bool]] = []
        for p in a.template:
            if not p.field:
                segments.append(bytes_of(p.literal))
            elif p.field not in v:
                f = self.field(p.field)
                if f is None:
                    return False
                segments.append(_maker(f, p, a.type))
            else:
                try:
                    segments.append(self.render([p], v))
                except (TableError, Fault):
                    return False
        if a.type == "N" and len(segments) == 1:
            only = segments[0]
            if isinstance(only, bytes):
                number = decimal_text(text_of(only))
                return number is not None and number.encode() == text  # without the zeros added by |pad
        return _matches(segments, text)


def _maker(f: Field, p: Part, of: str) -> Callable[[bytes], bool]:
    return lambda s: makes(f, p, of, s)


def _matches(segments: Iterable[bytes | Callable[[bytes], bool]], text: bytes) -> bool:
    """Whether a text consists of segments: it tracks the positions at which the segments so far can end."""
    ends = {0}
    for s in segments:
        after: set[int] = set()
        for begin in ends:
            if isinstance(s, bytes):
                if text.startswith(s, begin):
                    after.add(begin + len(s))
                continue
            for to in range(begin, len(text) + 1):
                if to not in after and s(text[begin:to]):
                    after.add(to)
        ends = after
    return len(text) in ends


def makes(f: Field, p: Part, of: str, s: bytes) -> bool:
    """Whether a text may be the result of a part's functions for some value of the field. It may accept other texts too."""
    if of != "S":
        return True  # the whole attribute is this field
    if not p.funcs:
        return has_text(f, s)
    name, arg = p.funcs[-1].name, p.funcs[-1].arg
    digits = re.fullmatch(b"[0-9]*", s) is not None
    if name in ("pad", "desc"):
        return len(s) == int(arg) and digits
    if name == "ts":
        return len(s) == (10 if arg == "s" else 13) and digits
    if name == "date":
        return len(s) == len(arg) and re.fullmatch(b"[0-9T-]*", s) is not None
    if name in ("shard", "mod"):
        return s != b"" and digits
    if name == "band":
        return re.fullmatch(b"-?[0-9]+", s) is not None
    if name == "hash":
        return len(s) == int(arg) and re.fullmatch(b"[0-9a-f]*", s) is not None
    if name == "slug":
        return re.fullmatch(b"[a-z0-9-]*", s) is not None
    return True  # lower, fold and first of any text
