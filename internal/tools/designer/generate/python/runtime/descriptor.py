"""Descriptors: a design's tables, entities and patterns as plain data, with references by name.

In the document in descriptors.py empty values are omitted; link.py resolves the names.
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
    """The field that is stored in this attribute directly."""


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
    """Whether NULL is allowed: it removes a patched field."""
    attr: str = ""
    """Its name in Python."""


@dataclass
class Entry:
    index: str
    name: str
    """Alternatives in the index: an item has at most one of them."""
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
    by: Mapping[str, str]  # maps key fields of the other item to fields of the counted item, if their names differ
    where: Condition | None


@dataclass(frozen=True)
class Place:
    """A place of an entity's items: key, copy, entry or marker."""

    kind: str
    index: str = ""
    copy: str = ""
    marker: str = ""
    entry: str = ""
    """The name of the entry, if the index has several."""


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
    """The input of a |band, of which any value may be given: it stands for the whole band."""
    over: str
    """The layout of |date, whose partitions the range reads one after another, at most max_buckets; "" for a single partition."""
    max_buckets: int
    since: str
    """The earliest possible time, or back, how many milliseconds ago it is. The bounds are then optional, and the walk goes from
    there to now. A page walks at most max_buckets; the next one continues.
    """
    back: int
    segments: int
    """The number of segments of a Scan of the place; 0 if it is not a Scan."""
    select: bool
    """Whether the request selects exactly the counted items, so that DynamoDB can count them."""
    max_keys: int
    """The maximum number of inputs of a batch; 0 for no bound."""
    page: int
    limit: int
    owner: str
    hydrate: bool
    fields: list[str] | None
    params: list[Field]
    """The caller's inputs other than the bounds of the range."""
    make: Any = None
    """The class of its results."""

    @property
    def open(self) -> bool:
        """Whether a walk's bounds are optional."""
        return self.since != "" or self.back > 0


@dataclass
class PersonPart:
    """A part of a person's data: how its items are found and erased."""

    entity: Entity
    field: str
    """The input of read that is the person; "" if read takes fields of an item of the parent part."""
    read: Read | None
    """Finds the items; None if they are left to expire."""
    erase: Write | None
    """What erasure does to each item; None if it stays."""
    others: bool
    """Whether the items belong to other people and are not exported."""
    parts: list[PersonPart]
    """The parts that depend on each item, which are erased before it."""


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
    """A path is a field, or a path into one: address, city; lines, [0], quantity; reactions, :kind, which is an input or
    :line.kind.
    """

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
    """The step's name in errors; "" to use its number."""
    by: list[Assignment]
    set: list[Assignment]
    add: list[Assignment]
    init: list[Assignment]
    remove: list[list[str]]
    """The removed paths."""
    drop: list[Assignment]
    append: list[Assignment]
    prepend: list[Assignment]
    patch: list[str]
    """Fields that are set to the inputs of the same names, if present."""
    when: Condition | None
    otherwise: list[Else]


@dataclass
class Returned:
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
    """Each item is written separately, without conditions."""
    idempotent: Idempotent | None
    returned: list[Returned]
    replay: dict[str, str]
    """What determines the response to a repetition, besides its record: a read or a collection, and the input that is its owner.
    """
    done: Any = None
    replayed: Any = None
