"""The languages of types: the values that a field takes, and the text of each in keys."""

from __future__ import annotations

import re

from .descriptor import Field, Type
from .errors import InvalidValueError, missing
from .keytext import bytes_of, decimal_text, is_date, is_time, of_time, text_of, well_formed, whole
from .values import Value, at, empty_set, get, index_of, members_of, stored_as

NUMERIC = frozenset(("int", "decimal", "money", "ttl"))
TEXTUAL = frozenset(("id", "uuid", "ulid", "ksuid", "slug", "email", "text", "secret", "time", "date", "enum"))
COLLECTIONS = frozenset(("list", "set", "map"))
"""Kinds for which a missing value is equivalent to an empty one."""

_GREATEST_KSUID = "aWgEPTl1tmebfsQzFP4bxwgy80V"

_languages = {
    "id": re.compile(r"[0-9A-Za-z._:@-]+"),
    "uuid": re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    "ulid": re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}"),
    "ksuid": re.compile(r"[0-9A-Za-z]{27}"),
    "slug": re.compile(r"[a-z0-9-]+"),
    "email": re.compile(r"[0-9A-Za-z!#$%&'*+/=?^_`{|}~.-]+@[0-9A-Za-z.-]+"),
}


def contains(t: Type, s: str) -> bool:
    """Whether a text is valid for a textual type."""
    if t.kind in _languages:
        if not _languages[t.kind].fullmatch(s):
            return False
        return s <= _GREATEST_KSUID if t.kind == "ksuid" else t.kind != "email" or len(s) <= 254
    if t.kind in ("text", "secret"):
        return well_formed(s)
    if t.kind == "time":
        return is_time(s)
    if t.kind == "date":
        return is_date(s)
    return t.kind == "enum" and s in t.enum


_descriptions = {
    "id": "an id: one or more of A-Z a-z 0-9 . _ : @ -",
    "uuid": "a uuid: 36 characters in lower case",
    "ulid": "a ulid: 26 characters of Crockford's base 32",
    "ksuid": "a ksuid: 27 characters of base 62",
    "slug": "a slug: one or more of a-z 0-9 -",
    "email": "an email address",
    "text": "a UTF-8 text",
    "secret": "a UTF-8 text",
    "int": "a whole number of 64 bits",
    "money": "a whole number of 64 bits",
    "decimal": "a number that DynamoDB can store",
    "bool": "true or false",
    "time": "a time: 2006-01-02T15:04:05.000Z",
    "date": "a date: 2006-01-02",
    "ttl": "a number of seconds since 1970",
    "bytes": "bytes",
    "struct": "a structure",
}


def described(t: Type) -> str:
    """A description of a type's values, after "is"."""
    return f"one of {', '.join(t.enum)}" if t.kind == "enum" else _descriptions.get(t.kind, f"a {t.kind}")


def _stored_type(t: Type) -> str:
    if t.kind in TEXTUAL:
        return "S"
    if t.kind in NUMERIC:
        return "N"
    if t.kind == "set":
        return _stored_type(t.elem) + "S" if t.elem else ""
    return {"bool": "BOOL", "bytes": "B", "struct": "M", "map": "M", "list": "L"}.get(t.kind, "")


def _refuse(t: Type, name: str, v: Value) -> InvalidValueError:
    """The error of a value of the wrong type. It does not contain the value, which may be a secret."""
    stored = stored_as(v)
    return InvalidValueError(name, ("is not " if stored == _stored_type(t) else f"is a value of type {stored}, not ") + described(t))


def text_of_value(t: Type, name: str, v: Value) -> bytes:
    """The text of a scalar value, as in keys before functions."""
    stored = stored_as(v)
    if stored == "S" and t.kind in TEXTUAL and well_formed(v["S"]):
        return bytes_of(v["S"])
    if stored == "N" and t.kind in NUMERIC:
        text = decimal_text(v["N"]) if t.kind == "decimal" else whole(v["N"])
        if text is not None:
            return text.encode()
    if stored == "BOOL" and t.kind == "bool":
        return b"true" if v["BOOL"] else b"false"
    if stored == "B" and t.kind == "bytes":
        return bytes(v["B"])
    raise _refuse(t, name, v)


def check_value(t: Type, name: str, v: Value, min_bytes: int = 0, max_bytes: int = 0) -> None:
    """Rejects a value of the wrong type."""
    if t.kind == "struct":
        _check_struct(t, name, v)
    elif t.kind == "list":
        if get(v, "L") is None or not t.elem:
            raise _refuse(t, name, v)
        for i, e in enumerate(v["L"]):
            _check_inner(t.elem, f"{name}[{i}]", e)
    elif t.kind == "map":
        if get(v, "M") is None or not t.elem:
            raise _refuse(t, name, v)
        for key in sorted(v["M"]):
            if key == "":
                raise InvalidValueError(name, "has an empty key, which DynamoDB cannot store")
            _check_inner(t.elem, f"{name}.{key}", v["M"][key])
    elif t.kind == "set":
        _check_set(t, name, v)
    else:
        text = text_of_value(t, name, v)
        if (t.kind in TEXTUAL and not contains(t, v["S"])) or (t.kind == "ttl" and text.startswith(b"-")):
            raise _refuse(t, name, v)
        fits(name, text, min_bytes, max_bytes)


def empty_inside(name: str) -> InvalidValueError:
    """The error for an empty set inside a value."""
    return InvalidValueError(name, "is an empty set, which DynamoDB cannot store: leave it out")


def _check_inner(t: Type, name: str, v: Value, min_bytes: int = 0, max_bytes: int = 0) -> None:
    """Rejects invalid values inside a value."""
    if empty_set(v):
        raise empty_inside(name)
    check_value(t, name, v, min_bytes, max_bytes)


def _check_struct(t: Type, name: str, v: Value) -> None:
    m = get(v, "M")
    if m is None or t.fields is None:
        raise _refuse(t, name, v)
    for f in t.fields:
        step = f"{name}.{f.name}"
        value = at(m, f.path)
        if value is not None:
            _check_inner(f.type, step, value, f.min_bytes, f.max_bytes)
        elif not f.optional and f.type.kind not in COLLECTIONS:
            raise missing(step)


def _check_set(t: Type, name: str, v: Value) -> None:
    members = members_of(v)
    if members is None or not t.elem:
        raise _refuse(t, name, v)
    met: set[bytes] = set()
    for i, member in enumerate(members):
        step = f"{name}[{i}]"
        check_value(t.elem, step, member)
        text = text_of_value(t.elem, step, member)
        if text in met:
            raise InvalidValueError(step, "is already in the set")
        met.add(text)


def fits(name: str, text: bytes, min_bytes: int, max_bytes: int, where: str = "") -> None:
    """Checks a text against the field's limits. where is " in a key" if the text is not the value itself."""
    if len(text) < min_bytes:
        raise InvalidValueError(name, f"has {len(text)} {'byte' if len(text) == 1 else 'bytes'}{where}: the minimum is {min_bytes}")
    if 0 < max_bytes < len(text):
        raise InvalidValueError(name, f"has {len(text)} bytes{where}: the maximum is {max_bytes}")


def to_store(f: Field, v: Value | None) -> Value | None:
    """The stored form of a field's value; None for none."""
    if empty_set(v):
        return None  # DynamoDB has no empty sets: a missing one is empty
    if v is not None:
        return v
    if f.optional or f.type.kind == "set":
        return None
    if f.type.kind == "list":
        return {"L": []}
    if f.type.kind == "map":
        return {"M": {}}
    raise missing(f.name)


def try_store(f: Field, v: Value | None) -> Value | None:
    return None if v is None and not f.optional and f.type.kind not in COLLECTIONS else to_store(f, v)


def time_as(kind: str, name: str, now: int | None) -> Value:
    """A time as a value of a type: a time, a date or a number of seconds."""
    if now is None:
        raise missing(name)
    if kind in NUMERIC:
        return {"N": str(now // 1000)}
    if kind not in TEXTUAL:
        raise missing(name)
    text = of_time(now)
    if text is None:
        raise InvalidValueError(name, "is not a time: its year does not have four digits")
    return {"S": text[:10] if kind == "date" else text}


def now_as(kind: str, name: str, now: int) -> Value:
    """The time of a call in the stored form of a field: seconds for a ttl, milliseconds for another number, otherwise a text."""
    return {"N": str(now)} if kind in NUMERIC and kind != "ttl" else time_as(kind, name, now)


def has_text(f: Field, s: bytes) -> bool:
    """Whether a text may be a value of the field."""
    if len(s) < f.min_bytes or 0 < f.max_bytes < len(s):
        return False
    kind = f.type.kind
    text = text_of(s)
    if kind in TEXTUAL:
        return bytes_of(text) == s and contains(f.type, text)
    if kind == "bool":
        return s in (b"true", b"false")
    if kind in NUMERIC:
        return (decimal_text(text) if kind == "decimal" else whole(text)) == text
    return True


def inner_field(t: Type, name: str) -> Field | None:
    """A structure's field, a map's element or a list's; None if the type has none."""
    if t.elem and (t.kind == "map" or (t.kind == "list" and index_of(name) is not None)):
        return Field(name, [name], t.elem, optional=True)
    return next((f for f in t.fields or () if f.name == name), None) if t.kind == "struct" else None
