"""New IDs of the kinds in designs."""

from __future__ import annotations

import secrets
import uuid
from typing import Callable


class Ids:
    """Generates the IDs of one call. ULIDs of one call ascend, although their time is the same."""

    def __init__(self, now: int, given: Callable[[str], str] | None) -> None:
        self._now = now
        self._given = given
        self._last: int | None = None

    def make(self, kind: str) -> str:
        if self._given:
            return self._given(kind)
        if kind == "uuid":
            return str(uuid.uuid4())
        if kind == "ksuid":
            seconds = max(0, self._now // 1000 - 1_400_000_000)
            return _based(int.from_bytes(seconds.to_bytes(4, "big") + secrets.token_bytes(16), "big"), _BASE62, 27)
        self._last = secrets.randbits(79) if self._last is None else self._last + 1
        return _based(self._now << 80 | self._last, _CROCKFORD, 26)


_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def _based(n: int, digits: str, length: int) -> str:
    out = ""
    for _ in range(length):
        n, digit = divmod(n, len(digits))
        out = digits[digit] + out
    return out
