"""Python's values as stored values, and the other way round:

    id, uuid, ulid, ksuid, slug, email, text, enum, date  str
    secret      Secret
    int, money  int
    decimal     decimal.Decimal, or an int
    bool        bool
    time, ttl   datetime.datetime with a time zone; that of a stored one is UTC
    bytes       bytes
    list        list
    set         set
    map         dict
    struct      the structure's class
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any, Callable, Iterable, Mapping, NoReturn, Sequence

from .descriptor import Field, Type
from .errors import DecodeError, InvalidValueError, missing
from .keytext import decimal_text, is_date, of_time, parse_time, whole
from .types import COLLECTIONS, described, empty_inside
from .values import Item, Value, Values, at, get, members_of, put, set_of, sorted_keys, stored_as


class Secret:
    """A text that must not appear in logs or messages: all of these show [secret]. reveal returns it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "[secret]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


class Removed:
    """The type of REMOVED, which removes a patched field."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "REMOVED"


REMOVED = Removed()


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MILLISECOND = datetime.timedelta(milliseconds=1)


def milliseconds(x: datetime.datetime) -> int:
    return (x - _EPOCH) // _MILLISECOND


def encode(t: Type, name: str, x: Any) -> Value | None:
    """A value as stored; None for an empty set, which is not stored."""

    def refuse(why: str = "") -> NoReturn:
        raise InvalidValueError(name, why or f"is not {described(t)}")

    kind = t.kind
    if kind == "secret":
        return {"S": x.reveal()} if isinstance(x, Secret) else refuse("is not a Secret: give Secret(text)")
    if kind in ("int", "money"):
        return {"N": str(x)} if isinstance(x, int) and not isinstance(x, bool) and abs(x) < 10**40 else refuse()
    if kind == "decimal":
        fits = isinstance(x, Decimal) or (isinstance(x, int) and not isinstance(x, bool) and abs(x) < 10**200)
        text = decimal_text(str(x)) if fits else None
        return {"N": text} if text is not None else refuse('is not a Decimal of at most 38 digits: write Decimal("12.50")')
    if kind == "bool":
        return {"BOOL": x} if isinstance(x, bool) else refuse()
    if kind in ("time", "ttl"):
        if not isinstance(x, datetime.datetime) or x.utcoffset() is None:
            refuse("is not a datetime with a time zone: give it tzinfo=datetime.timezone.utc")
        ms = milliseconds(x)
        return {"N": str(ms // 1000)} if kind == "ttl" else {"S": of_time(ms) or refuse()}
    if kind == "bytes":
        return {"B": bytes(x)} if isinstance(x, (bytes, bytearray, memoryview)) else refuse()
    if kind == "list" and t.elem:
        return {"L": _elements(t.elem, name, x) if isinstance(x, (list, tuple)) else refuse("is not a list")}
    if kind == "set" and t.elem:
        members = sorted_keys(_elements(t.elem, name, x) if isinstance(x, (set, frozenset)) else refuse("is not a set"))
        return set_of([v for i, v in enumerate(members) if i == 0 or members[i - 1] != v])
    if kind == "map" and t.elem:
        if not isinstance(x, Mapping):
            refuse("is not a dict")
        m: Item = {}
        for key, e in x.items():
            v = encode(t.elem, f"{name}.{key}", e)
            if v is not None:
                m[key if isinstance(key, str) else refuse("has a key that is not a str")] = v
        return {"M": m}
    if kind == "struct":
        if not isinstance(x, t.make):
            refuse(f"is not a {t.make.__name__}")
        m = {}
        for f in t.fields or ():
            v = _encode_field(f, f"{name}.{f.name}", getattr(x, f.attr))
            if v is not None:
                put(m, f.path, v)
        return {"M": m}
    return {"S": x} if isinstance(x, str) else refuse()


def _encode_field(f: Field, name: str, x: Any) -> Value | None:
    if x is not None:
        return encode(f.type, name, x)
    if f.optional or f.type.kind in COLLECTIONS:
        return None
    raise missing(name)


def _elements(t: Type, name: str, x: Iterable[Any]) -> list[Value]:
    found: list[Value] = []
    for i, e in enumerate(x):
        v = encode(t, f"{name}[{i}]", e)
        if v is None:
            raise empty_inside(f"{name}[{i}]")  # left out, it would move the elements after it
        found.append(v)
    return found


def encode_all(fields: Iterable[Field], of: Callable[[Field], Any]) -> Values:
    """The input of a pattern, as values by their names. Missing inputs are omitted."""
    out: Values = {}
    for f in fields:
        x = of(f)
        removed = f.removable and isinstance(x, Removed)
        v = None if x is None or removed else encode(f.type, f.name, x)
        if v is None and x is not None and f.removable:
            v = {"NULL": True}  # removed, or an empty set, which is not stored
        if v is not None:
            out[f.name] = v
    return out


def decode_all(entity: str, fields: Sequence[Field], v: Values) -> dict[str, Any]:
    """Stored values as Python values of fields: of all fields, or of some."""
    out: dict[str, Any] = {}
    for f in fields:
        x = _decode_field(f, f"{entity}.{f.name}", v.get(f.name))
        if x is not None:
            out[f.attr] = x
    return out


def _decode_field(f: Field, name: str, v: Value | None) -> Any:
    if v is not None and "NULL" in v:
        v = None
    return None if v is None and f.optional else decode(f.type, name, v)


def decode(t: Type, name: str, v: Value | None) -> Any:
    """Decodes a stored value; throws a DecodeError if it is not of the type."""

    def typed(of: str) -> Any:
        x = get(v, of)
        if x is None:
            raise DecodeError(name, "is missing" if v is None else f"is stored as {stored_as(v)}, not as {of}")
        return x

    kind = t.kind
    if kind == "secret":
        return Secret(typed("S"))
    if kind in ("int", "money", "ttl"):
        n = whole(typed("N"))
        if n is None:
            raise DecodeError(name, f"is not a whole number of 64 bits: {typed('N')}")
        return _datetime(name, int(n) * 1000) if kind == "ttl" else int(n)
    if kind == "decimal":
        text = decimal_text(typed("N"))
        if text is None:
            raise DecodeError(name, f"is not a number: {typed('N')}")
        return Decimal(text)
    if kind == "bool":
        return typed("BOOL")
    if kind == "time":
        ms = parse_time(typed("S"))
        if ms is None:
            raise DecodeError(name, f"is not a time: {typed('S')}")
        return _datetime(name, ms)
    if kind == "date":
        if not is_date(typed("S")):
            raise DecodeError(name, f"is not a date: {typed('S')}")
        return typed("S")
    if kind == "bytes":
        return bytes(typed("B"))
    if kind == "list" and t.elem:
        return [decode(t.elem, f"{name}[{i}]", e) for i, e in enumerate(typed("L") if v is not None else ())]
    if kind == "set" and t.elem:
        members = members_of(v) if v is not None else []
        if members is None:
            raise DecodeError(name, f"is stored as {stored_as(v)}, not as a set")
        return {decode(t.elem, f"{name}[{i}]", e) for i, e in enumerate(sorted_keys(members))}
    if kind == "map" and t.elem:
        m: Item = typed("M") if v is not None else {}
        return {key: decode(t.elem, f"{name}.{key}", m[key]) for key in sorted(m)}
    if kind == "struct":
        m = typed("M")
        found = {f.attr: _decode_field(f, f"{name}.{f.name}", at(m, f.path)) for f in t.fields or ()}
        return t.make(**{attr: x for attr, x in found.items() if x is not None})
    return typed("S")


def _datetime(name: str, ms: int) -> datetime.datetime:
    try:
        return _EPOCH + datetime.timedelta(milliseconds=ms)
    except OverflowError:
        raise DecodeError(name, "is a time that datetime cannot represent") from None
