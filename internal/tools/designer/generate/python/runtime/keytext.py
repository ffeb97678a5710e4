"""The texts of keys, as bytes, and the numbers and times in them."""

from __future__ import annotations

import datetime
import decimal
import hashlib
import json
import re
import unicodedata
from decimal import Decimal

from .errors import Fault


def bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def well_formed(text: str) -> bool:
    """Whether a text can be encoded as UTF-8: it has no lone surrogates."""
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


# Numbers as in DynamoDB: exact, with at most 38 digits.

_MAX_DIGITS, _MAX_MAGNITUDE, _MIN_MAGNITUDE = 38, 125, -130
_exact = decimal.Context(prec=1000, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])
_number = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?")
ZERO = Decimal(0)


def _held(n: Decimal) -> Decimal:
    """A number without trailing zeros, if DynamoDB can store it."""
    if not n:
        return ZERO
    n = _exact.normalize(n)
    if n.adjusted() > _MAX_MAGNITUDE:
        raise Fault("decimal: magnitude above 9.99…E+125")
    if len(n.as_tuple().digits) > _MAX_DIGITS:
        raise Fault("decimal: more than 38 significant digits")
    if n.adjusted() < _MIN_MAGNITUDE:
        raise Fault("decimal: magnitude below 1E-130")
    return n


def parse_number(text: str) -> Decimal:
    """Parses digits with a point, a sign and an exponent."""
    found = _number.fullmatch(text)
    if not found or not (found[2] or found[3]):
        raise Fault("decimal: not a number")
    whole, fraction = found[2], found[3] or ""
    power = found[4] or "0"
    exponent = int(power) if len(power) < 10 else (-(10**9) if power.startswith("-") else 10**9)
    digits = (whole + fraction).lstrip("0")
    if digits == "":
        if exponent - len(fraction) > _MAX_MAGNITUDE:
            raise Fault("decimal: magnitude above 9.99…E+125")
        if exponent - len(fraction) < _MIN_MAGNITUDE:
            raise Fault("decimal: magnitude below 1E-130")
        return ZERO
    bare = digits.rstrip("0")
    if len(bare) > _MAX_DIGITS:
        raise Fault("decimal: more than 38 significant digits")
    exponent += len(digits) - len(bare) - len(fraction)
    return _held(Decimal((1 if found[1] == "-" else 0, tuple(map(int, bare)), exponent)))


def number(text: str | None) -> Decimal | None:
    """A text's number; None if it is invalid."""
    try:
        return None if text is None else parse_number(text)
    except Fault:
        return None


def plus(a: Decimal, b: Decimal) -> Decimal:
    return _held(_exact.add(a, b))


def minus(a: Decimal, b: Decimal) -> Decimal:
    return _held(_exact.subtract(a, b))


def number_text(n: Decimal) -> str:
    """The shortest text without an exponent."""
    return format(n, "f")


def int64(n: Decimal | None) -> int | None:
    """The number as an integer of 64 bits, if it is one."""
    if n is None or n.adjusted() > 18 or n.as_tuple().exponent < 0:  # type: ignore[operator]
        return None
    i = int(n)
    return i if -(2**63) <= i < 2**63 else None


def whole(text: str) -> str | None:
    n = int64(number(text))
    return None if n is None else str(n)


def decimal_text(text: str) -> str | None:
    n = number(text)
    return None if n is None else number_text(n)


# Times, in milliseconds since 1970. Their years are 0 to 9999, while datetime starts at 1.

_EPOCH = datetime.date(1970, 1, 1).toordinal()
_CYCLE = 146097  # the days of 400 years
_time = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))")
_date = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_stored_time = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


def _days(date: str) -> int | None:
    found = _date.fullmatch(date)
    if not found:
        return None
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    try:
        ordinal = datetime.date(year or 400, month, day).toordinal()
    except ValueError:
        return None
    return ordinal - _EPOCH - (0 if year else _CYCLE)


def of_time(ms: int) -> str | None:
    """The text of a time; None for a year without four digits."""
    days, rest = divmod(ms, 86_400_000)
    ordinal = days + _EPOCH
    if not -365 <= ordinal <= datetime.date.max.toordinal():
        return None
    date = datetime.date.fromordinal(ordinal if ordinal > 0 else ordinal + _CYCLE)
    seconds, millis = divmod(rest, 1000)
    year = date.year if ordinal > 0 else 0
    return f"{year:04}-{date.month:02}-{date.day:02}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{millis:03}Z"


def parse_time(text: str) -> int | None:
    """The time of an RFC 3339 text."""
    found = _time.fullmatch(text)
    days = _days(found[1]) if found else None
    if not found or days is None:
        return None
    hour, minute, second = int(found[2]), int(found[3]), int(found[4])
    zone_hour, zone_minute = int(found[7] or 0), int(found[8] or 0)
    if hour > 23 or minute > 59 or second > 59 or zone_hour > 23 or zone_minute > 59:
        return None
    zone = (zone_hour * 60 + zone_minute) * (-1 if found[6] == "-" else 1)
    at = days * 86_400_000 + ((hour * 60 + minute - zone) * 60 + second) * 1000 + int((found[5] or "")[:3].ljust(3, "0"))
    return at if of_time(at) is not None else None


def is_date(text: str) -> bool:
    return _days(text) is not None


def is_time(text: str) -> bool:
    """Whether a text is a time in the stored format."""
    return _stored_time.fullmatch(text) is not None and parse_time(text) is not None


# The functions of templates.


def natural(arg: str) -> int:
    return int(arg) if re.fullmatch("[0-9]{1,9}", arg) else 0


def apply(name: str, arg: str, of: bytes) -> bytes:
    """A function of templates. An invalid text is a Fault, whose message quotes the text."""
    n = natural(arg)
    if name == "lower":
        return bytes_of(_lower(text_of(of)))
    if name == "fold":
        return bytes_of(_fold(text_of(of)))
    if name == "slug":
        return bytes_of(re.sub("[^a-z0-9]+", "-", _fold(text_of(of))))
    if name == "pad":
        return _pad(of, n)
    if name == "desc":
        return _pad(str(10**n - 1 - int(_pad(of, n))).encode(), n)
    if name == "ts":
        return _timestamp(of, arg)
    if name == "date":
        if arg not in ("yyyy", "yyyy-MM", "yyyy-MM-dd", "yyyy-MM-ddTHH") or len(of) < len(arg):
            raise Fault(f"|date({arg}) does not apply to {_quoted(of)}")
        return of[: len(arg)]
    if name in ("band", "mod"):
        return _divided(name, of, n)
    if name == "shard":
        return str(_fnv(of) % max(n, 1)).encode()
    if name == "first":
        return bytes_of(text_of(of)[:n])
    if name == "hash":
        return hashlib.sha256(of).hexdigest()[:n].encode()
    raise Fault(f"there is no function |{name}")


def _quoted(of: bytes) -> str:
    return json.dumps(text_of(of), ensure_ascii=False)


def _lower(text: str) -> str:
    """Lower case letter by letter: independent of the context and of the same length."""
    return "".join(c.lower()[0] for c in text)


_space = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")


def _fold(text: str) -> str:
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.category(c).startswith("M"))
    return " ".join(word for word in _space.split(_lower(bare)) if word)


def _pad(of: bytes, n: int) -> bytes:
    if re.search(b"[^0-9]", of):
        raise Fault(f"{_quoted(of)} is not a whole number of at least 0")
    if of == b"" or len(of) > n:
        raise Fault(f"{_quoted(of)} does not fit into {n} digits")
    return of.rjust(n, b"0")


def _divided(name: str, of: bytes, n: int) -> bytes:
    """band is the quotient rounded down, mod the remainder: never negative."""
    if not re.fullmatch(b"[+-]?[0-9]+", of) or n < 1:
        raise Fault(f"{_quoted(of)} is not a whole number")
    quotient, rest = divmod(int(of), n)
    return str(rest if name == "mod" else quotient).encode()


def _timestamp(of: bytes, unit: str) -> bytes:
    at = parse_time(text_of(of))
    if at is None:
        raise Fault(f"{_quoted(of)} is not a time: write 2024-01-15T10:00:00.000Z")
    return _pad(str(at // 1000).encode(), 10) if unit == "s" else _pad(str(at).encode(), 13)


def _fnv(of: bytes) -> int:
    h = 0x811C9DC5
    for b in of:
        h = ((h ^ b) * 0x01000193) & 0xFFFFFFFF
    return h
