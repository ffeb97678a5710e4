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
    """What a request does to one item: put, update, delete or check.

    The role determines what its rejection means. itself: the change is rejected, or its item has changed since it was read.
    elsewhere: a copy or marker does not match the item. occupying: a new copy's key is used by another item. taking: a marker is
    taken. releasing: a marker now belongs to another item. nothing: an item that did not exist, and so was not deleted, has been
    created.
    """

    def __init__(self, kind: str, role: str, of: Effect, noun: str, item: Item) -> None:
        self.kind = kind
        self.role = role
        self.of = of
        self.noun = noun
        """The kind of the item, for errors that count operations."""
        self.item = item
        """The item of a put, or the key of an update, delete or check."""
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
        """Sets the condition, with the names and values that it shares with the update."""
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
        """The operation as an element of a transaction, in which an empty update is invalid: then only the condition is checked.
        """
        verb = {"putting": "Put", "deleting": "Delete", "updating": "Update" if self.update else "ConditionCheck"}.get(self.kind, "ConditionCheck")
        return {verb: {**self.request(table), "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}

    def batch_item(self) -> dict[str, Any]:
        """The operation as an element of a batch, without its condition."""
        return {"DeleteRequest": {"Key": self.item}} if self.kind == "deleting" else {"PutRequest": {"Item": self.item}}
