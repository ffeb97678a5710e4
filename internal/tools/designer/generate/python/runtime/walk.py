"""Walks over the partitions of periods, from bound to bound."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Sequence

from .descriptor import KeyAttribute, Read
from .errors import CursorError, InvalidValueError, builtin
from .keytext import of_time, parse_time
from .values import Item, Value, get

if TYPE_CHECKING:
    from .source import Input, Source


@dataclass
class Over:
    """The range of a walk: the periods of a |date layout between bounds of a field."""

    layout: str
    field: str
    max_buckets: int
    """The maximum number of periods between the bounds; of an open walk, whose bounds are optional, the maximum per page."""
    open: bool


class Walk:
    """The partitions of the periods from bound to bound, period by period in reading order. They are created when they are
    needed: an open walk may have very many.
    """

    def __init__(self, source: Source, over: Over, keys: Sequence[Sequence[KeyAttribute]], given: Input, at: str) -> None:
        """Starts at the period of another walk's position; "" is the first one."""
        self.shards = len(keys)
        """How many partitions each period has."""
        self._source = source
        self._over = over
        self._keys = keys
        self._values = given.values
        low, high = _bound(given.low, over.field), _bound(given.high, over.field)
        self.ended = low > high
        first, last = _period(low, over.layout), _period(high, over.layout)
        if not over.open and not self.ended:
            n, following = 0, first
            while following is not None and last is not None and following <= last:
                n += 1
                if n > over.max_buckets:
                    raise InvalidValueError(over.field, f"has bounds that are more than {over.max_buckets} partitions apart")
                following = _period(following, over.layout, 1)
        self._next, self._last = (last, first) if source.o.reverse else (first, last)
        if at:
            self._next = parse_time(at)
            if self._next is None:
                raise builtin(CursorError)

    def step(self) -> tuple[str, list[Item]] | None:
        """The start of the next period, and its partitions; None at the end."""
        if self.ended or self._next is None:
            return None
        at = _time_text(self._next, self._over.field)
        v = {**self._values, self._over.field: {"S": at}}
        partitions = [self._source.o.entity.key_of(key, v) for key in self._keys]
        self.ended = self._next == self._last
        if not self.ended:
            self._next = _period(self._next, self._over.layout, -1 if self._source.o.reverse else 1)
        return at, partitions


def _bound(v: Value | None, field: str) -> int:
    text = get(v, "S")
    if text is None:
        raise InvalidValueError(field, "needs both bounds")
    at = parse_time(text)
    if at is None:
        raise InvalidValueError(field, f"{json.dumps(text, ensure_ascii=False)} is not a time: write 2024-01-15T10:00:00.000Z")
    return at


def _time_text(at: int, field: str) -> str:
    text = of_time(at)
    if text is None:
        raise InvalidValueError(field, "is outside the years 0000 to 9999")
    return text


def _period(at: int, layout: str, following: int = 0) -> int | None:
    """The start of a time's period, or of an earlier one, in milliseconds; None outside the years of four digits."""
    if layout not in ("yyyy", "yyyy-MM"):
        unit = 86_400_000 if layout == "yyyy-MM-dd" else 3_600_000
        return (at // unit + following) * unit
    text = of_time(at) or ""
    year, month = int(text[:4]), int(text[5:7]) - 1 if layout == "yyyy-MM" else 0
    year, month = divmod(12 * year + month + (following if layout == "yyyy-MM" else 12 * following), 12)
    return parse_time(f"{year:04}-{month + 1:02}-01T00:00:00.000Z")


def since(r: Read, given: Input, now: int) -> Input:
    """Sets the default bounds of a read with optional bounds: from its floor to now. Nothing before the floor is ever found."""
    if not r.open:
        return given
    floor = _time_text(now - r.back, r.range) if r.back else r.since
    low = get(given.low, "S")
    return replace(
        given, low={"S": floor} if given.low is None or (low is not None and low < floor) else given.low,
        high=given.high or {"S": _time_text(now, r.range)},
    )
