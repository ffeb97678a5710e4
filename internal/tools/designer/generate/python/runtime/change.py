"""What the steps of a write come to as far as no item must be known for it."""

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
    """A field of the item as it is, in a sum. zero is whether an absent one is 0."""

    negative: bool
    field: Field
    path: Sequence[str]
    zero: bool = False


@dataclass
class Assigned:
    """A change of a field, or of something inside its structure.

    A value is what is set, or the known part of a sum; none with no operands removes. The member is the field at the end of the
    path, by the name that errors have.
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
    """What a step does with one item. It is not changed once made."""

    of: Writing
    """Whose step it is."""
    number: int
    line: int
    action: str
    refused_as: str
    """The action of the step, which says what its refusal means."""
    entity: Entity
    values: Values
    """All values of an item that is created or put, and else the fields of its primary key."""
    primary: Item
    inputs: Inputs
    assigned: list[Assigned] = dataclasses.field(default_factory=list)
    when: Condition | None = None
    refusals: list[Else] = dataclasses.field(default_factory=list)
    pinned: Values = dataclasses.field(default_factory=dict)
    """Fields that the condition says to have a value."""


@dataclass
class Learned:
    """What attempts have found of items that cannot be known before, by their identity."""

    foreign: set[bytes] = dataclasses.field(default_factory=set)
    """Markers that are other items' by now: they are not deleted."""
    lost: set[bytes] = dataclasses.field(default_factory=set)
    """Copies that are not there: they are put."""
