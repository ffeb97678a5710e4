"""The export and the erasure of the items of a person."""

from __future__ import annotations

import base64
import datetime
import json
import re
from dataclasses import dataclass, field
from typing import Any, Callable, ContextManager, Generic, Iterator, NamedTuple, Sequence, TypeVar

from .call import Call
from .codec import decode_all
from .descriptor import Field, PersonPart, Type, Write
from .entity import Entity
from .errors import CursorError, NotFoundError, RefusedError, StillWrittenError, builtin, named
from .read import page, pages
from .source import Input
from .values import Value, Values, at
from .write import write

T = TypeVar("T", covariant=True)
_MAX_ERASE_PASSES = 8
_FIRST_ERASE_PAUSE = 0.02


class Kept(NamedTuple):
    """Which items of a person are not deleted."""

    entity: str
    reason: str
    """Why they are kept; "" where they expire."""
    changed: bool
    """Whether they are kept without some of their fields."""
    expires: bool
    """Whether they stay until their time is over."""


@dataclass
class Erased:
    """What erase_person did, by the names of entities."""

    deleted: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)
    """The items that stay as they are, by the design."""


class PersonItem(Generic[T]):
    """An item of a person."""

    def __init__(self, of: Entity, values: Values, resume: str) -> None:
        self.entity = of.name
        self.resume = resume
        """Continues an export with the page that the item is on, so that some items come again; "" where there is no cursor_key."""
        self._of = of
        self._values = values

    @property
    def item(self) -> T:
        """The item itself. One that is not as the design has it is a DecodeError; json writes it as it is stored."""
        made: T = self._of.make(**decode_all(self.entity, self._of.fields, self._values))
        return made

    def json(self) -> str:
        """The item as JSON: {"entity": …, "item": {…}}, with the fields by their names in the design, times as RFC 3339, and without
        secrets.
        """
        return '{"entity":' + _text(self.entity) + ',"item":' + _fields(self._of.fields, lambda f: self._values.get(f.name)) + "}"


Calling = Callable[[str], ContextManager[Call]]


def _only(part: PersonPart, person: str) -> Input:
    return Input({part.field: {"S": person}} if part.field else {})


def export_person(calling: Calling, paged: bool, parts: Sequence[PersonPart], person: str, after: str) -> Iterator[PersonItem[Any]]:
    """Walks all items that are a person's own, and what belongs to them. Nothing is asked before it is needed. paged is whether there
    are cursors.
    """
    found = re.fullmatch(r"([0-9]{1,9})\.(.*)", after or "0.", re.DOTALL)
    if found is None or (after and int(found[1]) >= len(parts)):
        err = builtin(CursorError)
        named("export", err)
        raise err
    first, cursor = int(found[1]), found[2]
    for n, part in enumerate(parts):
        if n < first or part.read is None or part.others:
            continue
        if not paged:
            yield from _walked(calling, part, _only(part, person))
            continue
        while True:
            with calling(part.read.pattern) as call:
                items, following = page(call, part.read, _only(part, person), None, cursor)
            yield from _exported(calling, part, items, f"{n}.{cursor}")
            cursor = following
            if not cursor:
                break


def _walked(calling: Calling, part: PersonPart, given: Input, resume: str = "") -> Iterator[PersonItem[Any]]:
    """Exports what a part finds."""
    if part.read:
        with calling(part.read.pattern) as call:
            for items in pages(call, part.read, given):
                yield from _exported(calling, part, items, resume)


def _exported(calling: Calling, part: PersonPart, items: Sequence[Values], resume: str) -> Iterator[PersonItem[Any]]:
    """Exports items with what belongs to them."""
    for v in items:
        yield PersonItem(part.entity, v, resume)
        for below in part.parts:
            if not below.others:
                yield from _walked(calling, below, Input(v), resume)


def erase_person(calling: Calling, parts: Sequence[PersonPart], person: str, pause: Callable[[float], None]) -> Erased:
    """Deletes the items of a person, or changes those that are kept: what belongs to an item before the item, the person's own item
    last. It looks again until it finds nothing, and may be repeated, for it continues by finding what is left.
    """
    eraser = _Eraser(calling)
    for turn in range(_MAX_ERASE_PASSES):
        eraser.first, eraser.found = turn == 0, 0
        for part in parts:
            eraser.part(part, _only(part, person))
        if eraser.found == 0:
            return eraser.done
        pause(_FIRST_ERASE_PAUSE * 2**turn)
    err = builtin(StillWrittenError, f", in each of {_MAX_ERASE_PASSES} passes")
    named("erase", err)
    raise err


class _Eraser:
    def __init__(self, calling: Calling) -> None:
        self.done = Erased()
        self.first = True  # in the first pass
        self.found = 0  # in this pass, of what is to go
        self._calling = calling

    def part(self, part: PersonPart, given: Input) -> None:
        if part.read is None:
            return
        with self._calling(part.read.pattern) as call:
            for items in pages(call, part.read, given):
                self._page(part, items, given)

    def _page(self, part: PersonPart, items: list[Values], given: Input) -> None:
        self._below(part, items)
        w = part.erase
        if w is None:
            self._count(self.done.kept, part, len(items) if self.first else 0)
            return
        if w.batch and items:
            self._write(w, Input({}, lines=items))
            self.found += len(items)
            self._count(self.done.deleted, part, len(items))
        else:
            for v in items:
                self._one(part, w, v, given)
        if w.steps[0].action == "delete":
            self._below(part, items)  # it may have been written just before they went

    def _below(self, part: PersonPart, items: Sequence[Values]) -> None:
        for v in items:
            for below in part.parts:
                self.part(below, Input(v))

    def _one(self, part: PersonPart, w: Write, v: Values, given: Input) -> None:
        """Erases one item. One that is gone, or is no longer the person's, is nothing to do."""
        step = w.steps[0]
        deletes = step.action == "delete"
        released = deletes or part.field in [*(a.path[0] for a in step.set), *(path[0] for path in step.remove)]
        if not released and not self.first:
            return
        try:
            self._write(w, Input({**v, **given.values} if part.field else v))
        except (NotFoundError, RefusedError):
            return
        self.found += 1 if released else 0
        self._count(self.done.deleted if deletes else self.done.changed, part, 1)

    def _write(self, w: Write, given: Input) -> None:
        with self._calling(w.pattern) as call:
            write(call, w, given)

    def _count(self, of: dict[str, int], part: PersonPart, n: int) -> None:
        if n > 0:
            of[part.entity.name] = of.get(part.entity.name, 0) + n


def _text(x: str) -> str:
    return json.dumps(x, ensure_ascii=False)


def _fields(fields: Sequence[Field], value: Callable[[Field], Value | None]) -> str:
    """Fields as an object of JSON, in their order. Secrets and absent fields are left out."""
    parts: list[str] = []
    for f in fields:
        v = None if f.type.kind == "secret" else value(f)
        if v is not None:
            parts.append(f"{_text(f.name)}:{_json(f.type, v)}")
    return "{" + ",".join(parts) + "}"


def _json(t: Type | None, v: Value) -> str:
    """A value of a type as JSON; of what the type does not know, as it is stored."""
    kind, x = next(iter(v.items()))
    elem = t.elem if t else None
    if kind == "S":
        return _text(x)
    if kind == "N":
        text: str = x
        return _time(text) if t and t.kind == "ttl" else text
    if kind == "BOOL":
        return "true" if x else "false"
    if kind == "B":
        return _base64(x)
    if kind == "SS":
        return "[" + ",".join(map(_text, x)) + "]"
    if kind == "NS":
        return "[" + ",".join(x) + "]"
    if kind == "BS":
        return "[" + ",".join(map(_base64, x)) + "]"
    if kind == "L":
        return "[" + ",".join(_json(elem, e) for e in x) + "]"
    if kind == "M":
        if t and t.fields is not None:
            return _fields(t.fields, lambda f: at(x, f.path))
        return "{" + ",".join(f"{_text(name)}:{_json(elem, x[name])}" for name in sorted(x)) + "}"
    return "null"


def _base64(x: Any) -> str:
    return _text(base64.b64encode(bytes(x)).decode())


def _time(seconds: str) -> str:
    try:
        when = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=int(seconds))
    except (OverflowError, ValueError):
        return seconds
    return _text(when.isoformat(timespec="milliseconds") + "Z")
