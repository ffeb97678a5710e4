"""Cursors: how far each partition has been read, sealed for one pattern, input, owner and caller.

A cursor contains keys of items, so it is encrypted and authenticated. The standard library has no AES: the text is encrypted with
a stream of HMAC-SHA256 over a counter, and then authenticated with HMAC-SHA256, with keys derived for each cursor. They are not
compatible with cursors of the Go package design/table.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from dataclasses import dataclass
from typing import NoReturn, Sequence

from .descriptor import Attribute
from .errors import ConfigError, CursorError, Fault, builtin
from .keytext import bytes_of, text_of
from .values import Item, Value, key_text, sized, uvarint

CURSOR_VERSION = b"\x01"
_NONCE_BYTES = 24
_TAG_BYTES = 32
_BLOCK_BYTES = 32
_PADDING = 32
_MIN_KEY = 32


@dataclass(frozen=True)
class Position:
    """How far a partition has been read: not at all, after a key, or to its end."""

    at: Item | None = None
    done: bool = False


class Sealer:
    """Seals cursors and opens them. The first secret seals."""

    def __init__(self, cursor_key: bytes, old: Sequence[bytes]) -> None:
        for i, secret in enumerate((cursor_key, *old)):
            if len(secret) < _MIN_KEY:
                name = "cursor_key" if i == 0 else f"old_cursor_keys[{i - 1}]"
                raise builtin(ConfigError, f": {name} has {len(secret)} bytes: it must have at least {_MIN_KEY}, from a random source")
        self._secrets = (cursor_key, *old)

    def seal(self, scope: bytes, text: bytes) -> str:
        nonce = secrets.token_bytes(_NONCE_BYTES)
        padded = text + b"\0" * (-len(text) % _PADDING)
        sealed = _crypt(self._secrets[0], nonce, padded)
        tag = _tag(self._secrets[0], nonce, scope, sealed)
        return base64.urlsafe_b64encode(CURSOR_VERSION + nonce + sealed + tag).rstrip(b"=").decode()

    def open(self, scope: bytes, cursor: str) -> bytes:
        try:
            data = base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
        except (binascii.Error, UnicodeEncodeError):
            _refuse()
        canonical = base64.urlsafe_b64encode(data).rstrip(b"=").decode() == cursor
        if not canonical or len(data) < 1 + _NONCE_BYTES + _TAG_BYTES or data[:1] != CURSOR_VERSION:
            _refuse()
        nonce, sealed, tag = data[1 : 1 + _NONCE_BYTES], data[1 + _NONCE_BYTES : -_TAG_BYTES], data[-_TAG_BYTES:]
        for secret in self._secrets:
            if hmac.compare_digest(tag, _tag(secret, nonce, scope, sealed)):
                return _crypt(secret, nonce, sealed)
        _refuse()


def _refuse() -> NoReturn:
    raise builtin(CursorError)


def _key(secret: bytes, use: bytes, nonce: bytes) -> bytes:
    """The key of the single cursor with this nonce, for one use."""
    return hmac.digest(secret, b"monotable cursor 1 " + use + nonce, "sha256")


def _crypt(secret: bytes, nonce: bytes, text: bytes) -> bytes:
    key = _key(secret, b"encrypt ", nonce)
    stream = b"".join(hmac.digest(key, i.to_bytes(8, "big"), "sha256") for i in range(-(-len(text) // _BLOCK_BYTES)))
    return bytes(a ^ b for a, b in zip(text, stream))


def _tag(secret: bytes, nonce: bytes, scope: bytes, sealed: bytes) -> bytes:
    return hmac.digest(_key(secret, b"authenticate ", nonce), sized(b"", scope) + sealed, "sha256")


def encode_period(began: int, at: str) -> bytes:
    """The position of a walk over periods: when it started, and the start of the current period."""
    return sized(b"", str(began).encode()) + sized(b"", bytes_of(at))


def decode_period(text: bytes) -> tuple[int, str, bytes]:
    """The inverse; also returns the rest."""
    d = _Decoder(text)
    return int(d.bytes()), text_of(d.bytes()), d.text


def encode_positions(left: int, positions: Sequence[Position], attributes: Sequence[Attribute]) -> bytes:
    """How many more items may follow (0 for no bound), then the state of each partition."""
    out = uvarint(max(left, 0))
    for p in positions:
        if p.done or p.at is None:
            out += b"\x02" if p.done else b"\x00"
            continue
        out += b"\x01"
        for a in attributes:
            text = key_text(p.at.get(a.name))
            if text is None:
                raise Fault(f"DynamoDB returned an item without its key attribute {a.name}")
            out += sized(b"", text)
    return out


def decode_positions(text: bytes, partitions: Sequence[Item], attributes: Sequence[Attribute]) -> tuple[int, list[Position]]:
    """The inverse, for the given partitions; the keys include the partitions' own attributes."""
    d = _Decoder(text)
    left = d.number()
    positions: list[Position] = []
    for partition in partitions:
        state = d.take(1)
        if state == b"\x01":
            at: Item = dict(partition)
            for a in attributes:
                at[a.name] = _value(a, d.bytes())
            positions.append(Position(at))
        elif state in (b"\x00", b"\x02"):
            positions.append(Position(done=state == b"\x02"))
        else:
            _refuse()
    if d.text.strip(b"\0"):
        _refuse()
    return left, positions


class _Decoder:
    """Splits a text."""

    def __init__(self, text: bytes) -> None:
        self.text = text

    def take(self, n: int) -> bytes:
        if n > len(self.text):
            _refuse()
        out, self.text = self.text[:n], self.text[n:]
        return out

    def number(self) -> int:
        n = 0
        for shift in range(0, 35, 7):
            b = self.take(1)[0]
            n |= (b & 0x7F) << shift
            if b < 0x80:
                return n
        _refuse()

    def bytes(self) -> bytes:
        return self.take(self.number())


def _value(a: Attribute, text: bytes) -> Value:
    return {"B": text} if a.type == "B" else {a.type: text_of(text)}
