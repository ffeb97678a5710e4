"""Attribute values, items, and the canonical form for comparisons."""

from __future__ import annotations

import functools
import re
from decimal import Decimal
from typing import Any, Iterable, Mapping, Sequence, TypeAlias

from .keytext import ZERO, bytes_of, number, number_text

Value: TypeAlias = "dict[str, Any]"
"""A value in the SDK's format: {"S": "ann"}."""
Item: TypeAlias = "dict[str, Value]"
"""A stored item: values by attribute."""
Values: TypeAlias = "dict[str, Value]"
"""An entity's values by field, each as stored; or a pattern's inputs."""


def stored_as(v: Value | None) -> str:
    """The attribute type of a value."""
    return next(iter(v)) if v else "none"


def get(v: Value | None, of: str) -> Any:
    """A value's content of a type; None if it has another type."""
    return None if v is None else v.get(of)


def at(m: Mapping[str, Value] | None, path: Sequence[str]) -> Value | None:
    """The value at the end of a path; NULL counts as missing, because no type is stored as NULL."""
    v = stored(m, path)
    return None if v is not None and "NULL" in v else v


def stored(m: Mapping[str, Value] | None, path: Sequence[str]) -> Value | None:
    """The value at the end of a path, unchanged."""
    v: Value | None = {"M": m or {}}
    for step in path:
        m, elements = get(v, "M"), get(v, "L")
        n = index_of(step) if elements is not None else None
        v = m.get(step) if m is not None else elements[n] if n is not None and n < len(elements) else None
    return v if path else None


def index_of(step: str) -> int | None:
    """The position of a step into a list: [0]."""
    n = int(step[1:-1]) if re.fullmatch(r"\[(?:\+?[0-9]{1,40}|-0{1,40})\]", step) else -1
    return n if 0 <= n < 2**63 else None


def put(m: Item, path: Sequence[str], v: Value) -> None:
    """Stores a value at the end of a path, and creates the maps on the path, as copies."""
    for step in path[:-1]:
        copy: Item = dict(get(m.get(step), "M") or {})
        m[step] = {"M": copy}
        m = copy
    m[path[-1]] = v


def empty_set(v: Value | None) -> bool:
    return stored_as(v) in ("SS", "NS", "BS") and len(members_of(v) or ()) == 0


def number_in(v: Value | None) -> Decimal | None:
    return number(get(v, "N"))


def number_value(n: Decimal) -> Value:
    return {"N": number_text(n)}


def key_text(v: Value | None) -> bytes | None:
    """The value of a key attribute as bytes; equal values of one type have equal bytes."""
    kind = stored_as(v)
    if v is None or kind not in ("S", "N", "B"):
        return None
    if kind == "S":
        return bytes_of(v["S"])
    if kind == "B":
        return bytes(v["B"])
    n = number(v["N"])
    return None if n is None else number_text(n).encode()


def compare_keys(a: Value | None, b: Value | None) -> int:
    """Compares values of one key attribute in DynamoDB's order. A missing one is first."""
    x, y = stored_as(a), stored_as(b)
    left: Any = x
    right: Any = y
    if x == y == "N":
        left, right = number_in(a) or ZERO, number_in(b) or ZERO
    elif x == y and x in ("S", "B"):
        left, right = key_text(a), key_text(b)
    return int(left > right) - int(left < right)


def sorted_keys(values: Iterable[Value]) -> list[Value]:
    return sorted(values, key=functools.cmp_to_key(compare_keys))


def members_of(v: Value | None) -> list[Value] | None:
    """A set's members as values; None if it is not a set."""
    kind = stored_as(v)
    return [{kind[0]: x} for x in v[kind]] if v and kind in ("SS", "NS", "BS") else None


def set_of(members: Sequence[Value]) -> Value | None:
    """A set of members of one type; None if there are none."""
    kind = stored_as(members[0]) if members else ""
    return {kind + "S": [v[kind] for v in members]} if members else None


def uvarint(n: int) -> bytes:
    out = bytearray()
    while n >= 0x80:
        out.append(n % 0x80 | 0x80)
        n //= 0x80
    out.append(n)
    return bytes(out)


def sized(tag: bytes, data: bytes) -> bytes:
    """Bytes with their length, so that concatenations are unambiguous."""
    return tag + uvarint(len(data)) + data


def sized_text(text: str) -> bytes:
    return sized(b"s", bytes_of(text))


def _canonical_number(text: str) -> bytes:
    n = number(text)
    return bytes_of(text if n is None else number_text(n))


def canonical(v: Value | None) -> bytes:
    """The canonical form of a value: equal if and only if the values are equal."""
    kind = stored_as(v)
    x: Any = v[kind] if v else None
    if kind == "S":
        return sized_text(x)
    if kind == "N":
        return sized(b"n", _canonical_number(x))
    if kind == "B":
        return sized(b"b", bytes(x))
    if kind == "BOOL":
        return b"t" if x else b"f"
    if kind == "NULL":
        return b"0"
    if kind == "L":
        return b"l" + uvarint(len(x)) + b"".join(map(canonical, x))
    if kind == "M":
        return b"m" + uvarint(len(x)) + b"".join(sized_text(name) + canonical(x[name]) for name in sorted(x))
    if kind == "SS":
        return _canonical_set(b"s", map(bytes_of, x))
    if kind == "NS":
        return _canonical_set(b"n", map(_canonical_number, x))
    if kind == "BS":
        return _canonical_set(b"b", map(bytes, x))
    return b"-"


def _canonical_set(tag: bytes, members: Iterable[bytes]) -> bytes:
    found = sorted(members)
    return b"u" + tag + uvarint(len(found)) + b"".join(sized(tag, m) for m in found)


def equal(a: Value | None, b: Value | None) -> bool:
    """Whether two values are equal, whatever the form of their numbers and the order of their sets."""
    return canonical(a) == canonical(b)
