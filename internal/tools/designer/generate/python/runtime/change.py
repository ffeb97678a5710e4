"""The changes of a write's steps, as far as they are known without reading items."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Sequence

from .condition import Condition, Inputs
from .descriptor import Else, Field
from .entity import Entity
from .values import Item, Value, Values

if TYPE_CHECKING:
    from .writing import Writing


@dataclass
class Operand:
    """A field's current value, as an operand of a sum. zero is whether a missing one counts as 0."""

    negative: bool
    field: Field
    path: Sequence[str]
    zero: bool = False


@dataclass
class Assigned:
    """A change of a field, or of something inside its structure.

    The value is the new value, or the known part of a sum; without a value and operands, the field is removed. The member is the
    field at the end of the path, by its name in errors.
    """

    field: Field
    path: Sequence[str]
    member: Field
    whole: bool
    how: str
    """setting, adding, initialising, uniting, dropping, appending or prepending."""
    value: Value | None
    operands: list[Operand] = dataclasses.field(default_factory=list)


@dataclass
class Change:
    """What a step does to one item. Immutable."""

    of: Writing
    """The entity of the step."""
    number: int
    line: int
    action: str
    refused_as: str
    """The action of the step, which determines what its rejection means."""
    entity: Entity
    values: Values
    """All values of an item that is created or put, otherwise the fields of its primary key."""
    primary: Item
    inputs: Inputs
    assigned: list[Assigned] = dataclasses.field(default_factory=list)
    when: Condition | None = None
    refusals: list[Else] = dataclasses.field(default_factory=list)
    pinned: Values = dataclasses.field(default_factory=dict)
    """Fields whose values the condition determines."""


@dataclass
class Learned:
    """What earlier attempts have learned about items that cannot be known beforehand, by their identity."""

    foreign: set[bytes] = dataclasses.field(default_factory=set)
    """Markers that now belong to other items: they are not deleted."""
    lost: set[bytes] = dataclasses.field(default_factory=set)
    """Missing copies: they are put."""
