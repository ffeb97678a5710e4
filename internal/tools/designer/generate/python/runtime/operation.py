"""What a request does to one item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .descriptor import Marker, Table
from .entity import identity
from .update import Expression, conjunction
from .values import Item

if TYPE_CHECKING:
    from .effect import Effect


class Operation:
    """What a request does to one item: putting, updating, deleting or checking.

    The role says what its refusal means. itself: the change is refused, or its item is not as it was read. elsewhere: a copy or
    marker is not as the item lets expect. occupying: a new copy has another item's place. taking: a marker is taken. releasing: a
    marker is another item's by now. nothing: an item that was not there, and so needed not be deleted, has come.
    """

    def __init__(self, kind: str, role: str, of: Effect, noun: str, item: Item) -> None:
        self.kind = kind
        self.role = role
        self.of = of
        self.noun = noun
        """What it is about, for errors that count operations."""
        self.item = item
        """What is put, and the key of what is updated, deleted or checked."""
        self.update = ""
        self.marker: Marker | None = None
        self._condition = ""
        self._x: Expression | None = None

    @property
    def identity(self) -> bytes:
        return identity(self.table, self.item)

    @property
    def table(self) -> Table:
        return self.of.c.entity.table

    def keeps(self, x: Expression, *conditions: str) -> None:
        """Sets the condition with the names and values that it shares with the update."""
        self._condition = conjunction(*conditions)
        self._x = x

    def request(self, table: str) -> dict[str, Any]:
        """The operation's own request."""
        out: dict[str, Any] = {"TableName": table, "Item" if self.kind == "putting" else "Key": self.item}
        if self._condition:
            out["ConditionExpression"] = self._condition
        if self._x and self._x.names:
            out["ExpressionAttributeNames"] = self._x.names
        if self._x and self._x.values:
            out["ExpressionAttributeValues"] = self._x.values
        if self.kind == "updating" and self.update:
            out["UpdateExpression"] = self.update
        return out

    def transact_item(self, table: str) -> dict[str, Any]:
        """The operation as a part of a transaction, which has no update of nothing: then only the condition is asked."""
        verb = {"putting": "Put", "deleting": "Delete", "updating": "Update" if self.update else "ConditionCheck"}.get(self.kind, "ConditionCheck")
        return {verb: {**self.request(table), "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}

    def batch_item(self) -> dict[str, Any]:
        """The operation as a part of a batch, which asks no condition."""
        return {"DeleteRequest": {"Key": self.item}} if self.kind == "deleting" else {"PutRequest": {"Item": self.item}}
