"""Descriptors: a design's tables, entities and patterns as plain data, with what they refer to by name.

descriptors.py has them as a document, in which nothing stands that is empty; link.py makes these of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, TYPE_CHECKING

from .values import Value

if TYPE_CHECKING:
    from .condition import Condition
    from .entity import Entity


@dataclass(frozen=True)
class Attribute:
    name: str
    type: str


@dataclass
class Table:
    name: str
    physical: str
    pk: Attribute
    sk: Attribute | None
    type_attr: str


@dataclass(frozen=True)
class Func:
    name: str
    arg: str


@dataclass(frozen=True)
class Part:
    """A literal, or a field with functions."""

    literal: str = ""
    field: str = ""
    funcs: tuple[Func, ...] = ()


@dataclass(frozen=True)
class KeyAttribute(Attribute):
    template: tuple[Part, ...] = ()
    field: str = ""
    """The field that is stored in this attribute itself."""


@dataclass
class Type:
    kind: str
    enum: list[str] = field(default_factory=list)
    fields: list[Field] | None = None
    elem: Type | None = None
    make: Any = None
    """The class of a structure."""


@dataclass
class Field:
    """A field of an entity or structure, or a parameter of a pattern."""

    name: str
    path: list[str]
    type: Type
    optional: bool = False
    min_bytes: int = 0
    max_bytes: int = 0
    counter: bool = False
    removable: bool = False
    """Whether NULL is a value, with which a patched field is removed."""
    attr: str = ""
    """Its name in Python."""


@dataclass
class Entry:
    index: str
    name: str
    """Of several in the index, of which an item is in one at most."""
    pk: list[KeyAttribute]
    sk: list[KeyAttribute]
    where: Condition | None


@dataclass
class Copy:
    name: str
    key: list[KeyAttribute]
    fields: list[str] | None
    entries: list[Entry]


@dataclass
class Marker:
    name: str
    key: list[KeyAttribute]
    taken: str


@dataclass
class Count:
    entity: Entity
    field: str
    sum: str
    by: Mapping[str, str]  # the counted item's fields by those of the other's key, where the names differ
    where: Condition | None


@dataclass(frozen=True)
class Place:
    """Where an item of an entity stands: key, copy, entry or marker."""

    kind: str
    index: str = ""
    copy: str = ""
    marker: str = ""
    entry: str = ""
    """The name of the entry, of several in the index."""


@dataclass(frozen=True)
class SortCondition(Attribute):
    comparison: str
    known: tuple[Part, ...]
    next: Part | None
    open: bool
    to: tuple[Part, ...]


@dataclass
class Read:
    pattern: str
    entity: Entity
    many: bool
    place: Place
    key: list[KeyAttribute] | None
    pk: list[KeyAttribute]
    sk: list[SortCondition]
    sort: list[Attribute]
    reverse: bool
    consistent: bool
    filter: Condition | None
    filter_by: list[str]
    by: list[str]
    prefix: str
    range: str
    bucket: str
    """The input of which any value of a |band is given: all of the band is meant."""
    over: str
    """The layout of |date whose partitions the range walks one after another, max_buckets at most; "" where there is one."""
    max_buckets: int
    since: str
    """A time before which there is nothing, or back, how many milliseconds ago that is: the bounds may be left out then, and the walk
    goes from there to now. A page walks max_buckets, and the next one goes on.
    """
    back: int
    segments: int
    """A Scan reads all of the place, in so many segments; 0 of what is no Scan."""
    select: bool
    """Whether the request finds just what is counted, so that DynamoDB counts it."""
    max_keys: int
    """How many inputs a batch has at most; 0 is no bound."""
    page: int
    limit: int
    owner: str
    hydrate: bool
    fields: list[str] | None
    params: list[Field]
    """What the caller gives beside the bounds of the range."""
    make: Any = None
    """The class of what it finds."""

    @property
    def open(self) -> bool:
        """Whether a walk may be asked without bounds."""
        return self.since != "" or self.back > 0


@dataclass
class PersonPart:
    """A way to items of a person."""

    entity: Entity
    field: str
    """The input of read that the person is; "" where read takes the fields of an item of the part above."""
    read: Read | None
    """Finds the items; None where nothing does, for they expire."""
    erase: Write | None
    """What erasure does to each item; None where it stays."""
    others: bool
    """Whether the items are other people's, and not exported."""
    parts: list[PersonPart]
    """The ways to what belongs to each item, which is erased before it."""


@dataclass
class Member:
    entity: Entity
    place: Place
    fields: list[str] | None
    make: Any
    attr: str


@dataclass
class Collection:
    pattern: str
    table: Table
    index: str
    members: list[Member]
    root: int
    by: list[str]
    pk: list[KeyAttribute]
    sk: list[SortCondition]
    sort: list[Attribute]
    reverse: bool
    consistent: bool
    page: int
    owner: str
    root_apart: bool
    root_sk: list[SortCondition]
    params: list[Field]
    make: Any = None


@dataclass
class Term:
    kind: str
    negative: bool
    constant: Value | None
    name: str
    path: list[str]


@dataclass
class Assignment:
    """A path is a field, or steps into one: address, city; lines, [0], quantity; reactions, :kind, which is an input or :line.kind."""

    path: list[str]
    value: list[Term]


@dataclass
class Else:
    err: str
    when: Condition | None


@dataclass
class Step:
    action: str
    entity: Entity
    each: bool
    name: str
    """What errors call the step by; "" where its number must do."""
    by: list[Assignment]
    set: list[Assignment]
    add: list[Assignment]
    init: list[Assignment]
    remove: list[list[str]]
    """The paths of what goes."""
    drop: list[Assignment]
    append: list[Assignment]
    prepend: list[Assignment]
    patch: list[str]
    """Fields that have the values of the inputs of their names, where there are such."""
    when: Condition | None
    otherwise: list[Else]


@dataclass
class Told:
    """What a write returns: the item of a step, or of each line."""

    step: int
    attr: str
    each: bool


@dataclass
class Idempotent:
    record: Entity
    request: list[str]
    reused: str


@dataclass
class Write:
    pattern: str
    steps: list[Step]
    params: list[Field]
    line_params: list[Field]
    lines: bool
    max_lines: int
    batch: bool
    """Each item is written for itself, without conditions."""
    idempotent: Idempotent | None
    told: list[Told]
    replay: dict[str, str]
    """What answers a repetition, beside its record: a read or a collection, and the input that is its owner."""
    done: Any = None
    replayed: Any = None
