"""A change in one attempt: what is known of its item, and the operations on it and on all that belongs to it.

Fields are known from the input, from the condition, or because the item was read. What rests on a field that was read makes the
transaction depend on it (relied): it is held to the value that it had. What depends on fields that are not known raises Unread; the
attempt then reads the item and asks again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Callable, Iterable, NamedTuple, Sequence

from .change import Assigned, Change, Learned, Operand, added, within
from .condition import Condition, Inputs
from .descriptor import Copy, Count, Entry, Field, KeyAttribute, Marker, Table
from .entity import Entity, fields_of, identity, in_key
from .errors import Fault, InvalidValueError, TableError
from .keytext import ZERO, minus, plus
from .types import to_store, try_store
from .update import Expression, applied, conjunction, native
from .values import Item, Value, Values, at, number_in, number_value, put, stored


class Unread(Exception):
    """It depends on an item that was not read."""


class Unsettled(Exception):
    """A fault that may come from items that were read at different times. It counts as a conflict; the last attempt fails with it."""

    def __init__(self, cause: Exception) -> None:
        super().__init__("unsettled")
        self.cause = cause


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


class Movement(NamedTuple):
    """What a change moves a counter by."""

    counter: Count
    key: Values
    by: Decimal


class _Tally(NamedTuple):
    counts: bool
    key: Values
    n: Decimal


@dataclass
class _Known:
    v: Value | None


_Asked = Callable[[str], "_Known | None"]
"""What is known of a field; None where nothing is."""


class Effect:
    def __init__(self, c: Change, learned: Learned) -> None:
        self.c = c
        self.assigned = c.assigned
        self.learned = learned
        self.counters = False
        """Set where nothing but counters is changed, in an item that no step is about."""
        self.read = False
        self.old: Item | None = None
        self.will: Values = {}
        self.doomed = False
        """Set where the item that was read shows that the change will be refused."""
        self.moved = False
        """Set where a counter of the item is moved."""
        self.counted = False
        self.planned = False
        self.ops: list[Operation] = []
        self._entity = c.entity
        self._was: Values = {}
        self._relied: set[str] = set()
        self._made = False  # an upsert makes an item, for there was none when it was read

    def fault(self, err: Exception) -> Exception:
        """An error of the effect's own."""
        return Unsettled(err) if self.moved and not isinstance(err, Unread) else err

    def creates(self) -> bool:
        """Whether the whole item is put."""
        return self.c.action in ("create", "put") or self._made

    def _exists(self) -> str:
        """What is known of the item before the change: perhaps, present or absent."""
        if self.creates() or (self.read and self.old is None):
            return "absent"
        return "present" if self.read or self.c.action == "update" or (self.c.action == "delete" and self.c.when) else "perhaps"

    def _changed(self, name: str) -> bool:
        return any(a.field.name == name for a in self.assigned)

    def _changes(self, names: Iterable[str]) -> bool:
        return any(self._changed(name) for name in names)

    def _before(self, name: str) -> _Known | None:
        of_key = self.c.values.get(name)
        if of_key is not None and not self.creates():
            return _Known(of_key)
        if self._exists() == "absent":
            return _Known(None)
        if self.read:
            return _Known(self._was.get(name))
        return _Known(self.c.pinned[name]) if name in self.c.pinned else None

    def _after(self, name: str) -> _Known | None:
        if self.creates():
            return _Known(self.c.values.get(name))
        if not self._changed(name) and self._exists() == "present":
            return self._before(name)
        if self.read:
            return _Known(self.will.get(name))
        if name in self.c.values:
            return _Known(self.c.values[name])
        a = next((x for x in self.assigned if x.field.name == name and x.whole and x.how == "setting" and not x.operands), None)
        return _Known(a.value) if a else None

    def _rely_before(self, names: Iterable[str]) -> None:
        """Makes the change depend on fields being as they were read."""
        if self.read and self.old is not None:
            self._relied.update(name for name in names if name not in self.c.values and name not in self.c.pinned)

    def _rely_after(self, names: Iterable[str]) -> None:
        """Makes the change depend on all that fields have been computed of."""
        for name in names:
            if not self._changed(name):
                self._rely_before([name])
            for a in self.assigned:
                if a.field.name != name:
                    continue
                if not a.whole or a.how != "setting":
                    self._rely_before([name])
                self._rely_before(o.field.name for o in a.operands)

    def _values_before(self, names: Iterable[str]) -> Values:
        return _collect(names, self._before)

    def _values_after(self, names: Iterable[str]) -> Values:
        return _collect(names, self._after)

    def _key_before(self, key: Sequence[KeyAttribute]) -> Item | None:
        """The key that a copy or marker has; None where the item lacks fields of it, and so has none."""
        names = fields_of(key)
        v = self._values_before(names)
        self._rely_before(names)
        return None if len(v) < len(names) else self._entity.key_of(key, v)

    def add(self, f: Field, by: Decimal) -> None:
        """Moves a counter of the item. What is added to begins with 0."""
        for i, a in enumerate(self.assigned):
            n = number_in(a.value)
            begins = a.how == "initialising" and not n
            if a.field is f and (a.how == "adding" or begins) and not a.operands:
                moved = replace(a, how="adding", value=number_value(_moved_by(f, n, by)))
                self.assigned = [*self.assigned[:i], moved, *self.assigned[i + 1 :]]
                return
        self.assigned = [*self.assigned, Assigned(f, f.path, f, True, "adding", number_value(by))]

    def begin(self, f: Field, by: Decimal) -> None:
        """Takes what a counter is moved by into the values of an item that is made in the same write."""
        total = _moved_by(f, number_in(self.c.values.get(f.name)), by)
        self.c = replace(self.c, values={**self.c.values, f.name: number_value(total)})

    def see(self, old: Item | None) -> None:
        """Takes the item that was read, None for none, and computes what becomes of it."""
        self.read = True
        self.old = old
        self.planned = False
        self._was = self._entity.counted(self._entity.values_of(old))
        action, when = self.c.action, self.c.when
        if old is None and (action in ("update", "check") or (action == "delete" and when)):
            self.doomed = True
            return
        self.doomed = when is not None and not when.holds(old, self.c.inputs)
        if not self.doomed and action in ("update", "upsert"):
            self.compute()

    def compute(self) -> None:
        """Makes the new item as the request will."""
        self._settle()
        try:
            item = applied(self.assigned, _empty_maps(self._entity) if self.old is None else self.old)
        except Fault as err:
            raise Fault(f"compute what becomes of {self._entity.name}: {err}") from None
        self.will = {**self._entity.counted(self._entity.values_of(item)), **self.c.values}
        if self.old is None:
            self.c = replace(self.c, values=self.will)
            self._made = True

    def _settle(self) -> None:
        """Computes the sums that DynamoDB has no expression for. The item was read."""
        self.assigned = [a if native(a) else self._settled(a) for a in self.assigned]

    def _settled(self, a: Assigned) -> Assigned:
        total = number_in(a.value) or ZERO
        operands = [*a.operands, Operand(False, a.field, a.path, zero=True)] if a.how == "adding" else a.operands
        for o in operands:
            self._rely_before([o.field.name])
            v = at(self.old, o.path)
            if v is None and o.zero:
                continue
            n = number_in(v)
            if n is None:
                raise InvalidValueError(a.member.name, f"is computed of {o.field.name}, which is no number in the item")
            total = added(total, n, o.negative, a.member.name)
        return replace(a, how="setting" if a.how == "adding" else a.how, value=number_value(total), operands=[])

    def derive(self) -> None:
        """Makes the operations: on the item itself, which stands first, and on its copies and markers."""
        self.ops = []
        self.planned = False
        if self.doomed:
            self._refuse()
        elif self.creates():
            self._derive_whole()
        elif self.c.action == "delete":
            self._derive_delete()
        elif self.c.action == "check":
            self._derive_check()
        else:
            self._derive_update()
        self.planned = True

    def _operation(self, kind: str, role: str, noun: str, item: Item) -> Operation:
        o = Operation(kind, role, self, f"{noun} of {self._entity.name}", item)
        self.ops.append(o)
        return o

    def _is_there(self, x: Expression) -> str:
        return f"attribute_exists({x.path([self._entity.table.pk.name])})"

    def _is_absent(self, x: Expression) -> str:
        return f"attribute_not_exists({x.path([self._entity.table.pk.name])})"

    def _is_free(self, x: Expression) -> str:
        """That no item is there, or one whose time is over, which DynamoDB has not removed yet."""
        f = self._entity.ttl_field()
        if f is None:
            return self._is_absent(x)
        now = x.value({"N": str((self.c.inputs.now or 0) // 1000)})
        return f"{self._is_absent(x)} OR {x.path(f.path)} < {now}"

    def _when(self, x: Expression) -> str:
        return self.c.when.bind(self.c.inputs, x.names, x.values) if self.c.when else ""

    def _refuse(self) -> None:
        """Takes the place of a change that is refused already: an earlier one may be refused too."""
        x = Expression()
        self._operation("checking", "itself", "update", self.c.primary).keeps(x, self._is_there(x), self._is_absent(x))

    def _derive_whole(self) -> None:
        """Puts a whole item with its copies and markers."""
        x = Expression()
        o = self._operation("putting", "itself", "put" if self.c.action == "put" else "create", self._entity.item(None, self.c.values))
        when = self._when(x)
        if self._made:
            o.keeps(x, self._is_absent(x), when)
        elif self.c.action == "create":
            o.keeps(x, self._is_free(x), when)
        else:
            o.keeps(x, when)
        for c in self._entity.copies:
            self._put_copy(c, self.c.values)
        for m in self._entity.markers:
            self._take(m, self.c.values)

    def _derive_delete(self) -> None:
        """Deletes an item with its copies and markers. One that is not there has none."""
        x = Expression()
        if self._exists() == "absent":
            self._operation("checking", "nothing", "delete", self.c.primary).keeps(x, self._is_absent(x))
            return
        o = self._operation("deleting", "itself", "delete", self.c.primary)
        for c in self._entity.copies:
            key = self._key_before(c.key)
            if key is not None:
                self._operation("deleting", "elsewhere", f"delete of copy {c.name}", key)
        for m in self._entity.markers:
            self._release(m)
        when = self._when(x)
        if self._exists() == "present":
            o.keeps(x, self._is_there(x), when, self._guards(x))

    def _derive_check(self) -> None:
        x = Expression()
        when = self._when(x) or self._is_there(x)
        self._operation("checking", "itself", "check", self.c.primary).keeps(x, when)

    def _derive_update(self) -> None:
        """Changes an item that is there, or may be."""
        if not all(map(native, self.assigned)):
            raise Unread
        if self._exists() == "perhaps" and (self._entity.markers or any(len(a.path) > 1 for a in self.assigned)):
            raise Unread  # a marker is made with its item, and so is a map before something is set in it
        x = Expression()
        o = self._operation("updating", "itself", "count" if self.counters else "update", self.c.primary)
        for a in self.assigned:
            if not in_key(self._entity.key, a.path):
                x.assign(a)
        if self.c.action == "upsert":
            self._identify(x, self._entity.key, None)
        self._index(self._entity.entries, x)
        for c in self._entity.copies:
            self._derive_copy(c)
        for m in self._entity.markers:
            self._derive_marker(m)
        when = self._when(x)
        o.keeps(x, self._is_there(x) if self._exists() == "present" else "", when, self._guards(x))
        o.update = x.text()
        if o.update == "" and self._exists() == "perhaps":
            raise Unread  # of an item that is nothing but its key: a transaction cannot say that it is to be made

    def _identify(self, x: Expression, key: Sequence[KeyAttribute], held: Sequence[str] | None) -> None:
        """Sets what tells an item that may be made: the fields of the primary key, as far as they are held, and the type."""
        for name in fields_of(self._entity.key):
            f = self._entity.its(name)
            if not in_key(key, f.path) and (held is None or name in held):
                x.set(f.path, self.c.values.get(name))
        if self._entity.table.type_attr:
            x.set([self._entity.table.type_attr], {"S": self._entity.type_value})

    def _guards(self, x: Expression) -> str:
        """Holds the fields that the change relies on to the values that they had."""
        paths = [self._entity.its(name).path for name in sorted(self._relied)]
        return conjunction(*(x.guard(path, stored(self.old, path)) for path in paths))

    # Copies.

    def _put_copy(self, c: Copy, v: Values) -> None:
        o = self._operation("putting", "elsewhere", f"put of copy {c.name}", self._entity.item(c, v))
        if self.c.action == "create":
            x = Expression()
            o.role = "occupying"
            o.keeps(x, self._is_free(x))

    def _derive_copy(self, c: Copy) -> None:
        """Keeps a copy equal to an item that is changed: it is changed as the item is, or moved where its key changes."""
        held = self._entity.held_by(c)
        if held is None:
            held = [f.name for f in self._entity.fields]
        indexed = [name for x in c.entries for name in self._entry_fields(x)]
        key = fields_of(c.key)
        if self._exists() == "perhaps":
            if not within(key, fields_of(self._entity.key)):
                raise Unread
        elif not self._changes(held) and not self._changes(indexed):
            return
        old = self._key_before(c.key)
        if self._changes(key):
            v = self._values_after(key)
            self._rely_after(key)
            moved = self._entity.key_of(c.key, v)
            if old is None or identity(self._entity.table, old) != identity(self._entity.table, moved):
                self._move_copy(c, old, [*held, *indexed])
                return
        if old is None:
            return
        if identity(self._entity.table, old) in self.learned.lost:
            self._move_copy(c, None, [*held, *indexed])
            return
        self._change_copy(c, old, held)

    def _move_copy(self, c: Copy, old: Item | None, needs: Sequence[str]) -> None:
        """Deletes a copy and puts it under its new key."""
        if old is not None:
            self._operation("deleting", "elsewhere", f"delete of copy {c.name}", old)
        v = self._values_after(needs)
        self._rely_after(needs)
        self._put_copy(c, v)

    def _change_copy(self, c: Copy, key: Item, held: Sequence[str]) -> None:
        """Changes a copy where it is."""
        x = Expression()
        whole = self._rewritten(held)
        for a in self.assigned:
            if a.field.name in held and not in_key(c.key, a.path) and a.field.path[0] not in whole:
                x.assign(a)
        for attribute in whole:
            self._rewrite(x, attribute, held)
        if self.c.action == "upsert":
            self._identify(x, c.key, held)
        self._index(c.entries, x)
        update = x.text()
        if update == "":
            return  # nothing of the copy changes
        o = self._operation("updating", "elsewhere", f"update of copy {c.name}", key)
        o.update = update
        o.keeps(x, self._is_there(x) if self._exists() == "present" else "")

    def _rewritten(self, held: Sequence[str]) -> list[str]:
        """The attributes of a copy that are set as they will be, for they cannot be changed as the item's are: they are computed of
        fields that the copy does not hold, or are inside a map that it may lack.
        """
        out: dict[str, None] = {}
        for a in self.assigned:
            strange = any(o.field.name not in held for o in a.operands)
            if a.field.name in held and (strange or not self._has_map(a.field.path, held)):
                out[a.field.path[0]] = None
        return list(out)

    def _has_map(self, path: Sequence[str], held: Sequence[str]) -> bool:
        """Whether a copy with some fields surely has the map that a path leads into: a required field is in it."""
        inside = path[:-1]
        return not inside or any(
            not f.optional and f.type.kind != "set" and f.name in held and len(f.path) > len(inside) and f.path[: len(inside)] == inside
            for f in self._entity.fields
        )

    def _rewrite(self, x: Expression, attribute: str, held: Sequence[str]) -> None:
        """Sets a copy's attribute with all fields in it."""
        fields = [f for f in self._entity.fields if f.path[0] == attribute and f.name in held]
        names = [f.name for f in fields]
        v = self._values_after(names)
        self._rely_after(names)
        item: Item = {}
        for f in fields:
            value = to_store(f, v.get(f.name))
            if value is not None:
                put(item, f.path, value)
        x.set([attribute], item.get(attribute))

    # Markers.

    def _take(self, m: Marker, v: Values) -> None:
        """Puts a marker that must be free."""
        o = self._operation("putting", "taking", f"put of marker {m.name}", self._entity.marker(m, v))
        o.marker = m
        x = Expression()
        o.keeps(x, self._is_free(x))

    def _release(self, m: Marker) -> None:
        """Deletes the item's marker. Where items expire, or where there may be no item, it may be another's: then it stays."""
        key = self._key_before(m.key)
        if key is None or identity(self._entity.table, key) in self.learned.foreign:
            return
        o = self._operation("deleting", "releasing", f"delete of marker {m.name}", key)
        o.marker = m
        if not self._entity.ttl and self._exists() == "present":
            return
        x = Expression()
        o.keeps(x, self._owns(m, x))

    def _owns(self, m: Marker, x: Expression) -> str:
        """The condition of a marker that is the item's own, by the fields of the item's key that it holds."""
        fields = [f for f in map(self._entity.its, fields_of(self._entity.key)) if not in_key(m.key, f.path)]
        return conjunction(*(
            f"attribute_not_exists({x.path(f.path)}) OR {x.path(f.path)} = {x.value(self.c.values[f.name])}" for f in fields
        ))

    def _renew(self, m: Marker, v: Values) -> None:
        """Puts the marker again where it is. Where items expire it may be another's by now: then it is taken."""
        o = self._operation("putting", "elsewhere", f"put of marker {m.name}", self._entity.marker(m, v))
        if not self._entity.ttl:
            return
        x = Expression()
        own = self._owns(m, x)
        if own:
            o.role = "taking"
            o.marker = m
            o.keeps(x, f"{self._is_free(x)} OR {own}")

    def _derive_marker(self, m: Marker) -> None:
        """Keeps a marker of an item that is changed: moved where its key changes, else put again where what it holds changes."""
        key = fields_of(m.key)
        held = self._entity.held_by_marker(m)
        if not self._changes(held):
            return
        old = self._key_before(m.key)
        v = self._values_after(held)
        self._rely_after(key)
        moved = self._entity.key_of(m.key, v)
        if old is not None and identity(self._entity.table, old) == identity(self._entity.table, moved):
            self._rely_after(held)
            self._renew(m, v)
            return
        if old is not None:
            self._release(m)
        self._rely_after(held)
        self._take(m, v)

    # Index entries.

    def _entry_fields(self, x: Entry) -> list[str]:
        """The fields that an entry depends on: those of its keys and of its condition."""
        return [*fields_of(x.pk, x.sk), *self._entity.read_by(x.where)]

    def _index(self, entries: Sequence[Entry], x: Expression) -> None:
        """Changes the index attributes of an item that is changed, or of a copy of it, with the fields that they are made of."""
        for entry in entries:
            attributes = [*entry.pk, *entry.sk]
            known: Values = {}
            for a in attributes:
                after = self._after(a.field) if a.field and self._changed(a.field) else None
                if after and after.v is not None:
                    known[a.field] = after.v
            self._entity.plain_keys(attributes, known)
        names = [a.name for entry in entries for a in self._entity.synthetic(entry)]
        shared = {name for name in names if names.count(name) > 1}
        to_set: Item = {}
        to_begin: Item = {}
        gone: set[str] = set()
        for entry in self._touched(entries):
            self._enter(entry, shared, to_set, to_begin, gone)
        for name in sorted(to_set):
            x.set([name], to_set[name])
        for name in sorted(to_begin):
            x.begin([name], to_begin[name])
        for name in sorted(gone):
            if name not in to_set and name not in to_begin:  # an attribute may be of several indexes
                x.remove([name])

    def _touched(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries that may change: all where the item may be made, else those that depend on what changes, with neighbours."""
        out: list[Entry] = []
        attributes: set[str] = set()
        before = -1
        while before != len(out):
            before = len(out)
            for entry in entries:
                own = [a.name for a in self._entity.synthetic(entry)]
                if any(entry is x for x in out):
                    continue
                if self._exists() != "present" or not attributes.isdisjoint(own) or self._changes(self._entry_fields(entry)):
                    out.append(entry)
                    attributes.update(own)
        return out

    def _enter(self, entry: Entry, shared: set[str], to_set: Item, to_begin: Item, gone: set[str]) -> None:
        """Decides about one entry."""
        own = self._entity.synthetic(entry)
        if not own:
            return
        if self._leaves(entry):
            gone.update(a.name for a in own)
            return
        if self._exists() == "perhaps":
            self._enter_perhaps(entry, own, to_set, to_begin)
            return
        steady = self._steady(entry)
        for a in own:
            names = fields_of([a])
            if steady and a.name not in shared and not self._changes(names):
                continue
            v = self._values_after(names)
            self._rely_after(names)
            to_set.update(self._entity.key_of([a], v))

    def _leaves(self, entry: Entry) -> bool:
        """Whether the item surely has no entry: the condition does not hold, or a field of the key is absent."""
        for name in fields_of(entry.pk, entry.sk):
            known = self._after(name)
            if known and known.v is None:
                self._rely_after([name])
                return True
        t = _truth(self._entity, entry.where, self._after)
        if not t.known or t.holds:
            return False
        self._rely_after(t.relies)
        return True

    def _steady(self, entry: Entry) -> bool:
        """Whether an item that has the entry now has had it before. That it has the entry now must be known."""
        t = _truth(self._entity, entry.where, self._after)
        if not t.known or not t.holds:
            raise Unread
        self._rely_after(t.relies)
        steady = not self._changes(self._entity.read_by(entry.where))
        for name in fields_of(entry.pk, entry.sk):
            f = self._entity.field(name)
            if f is None or not f.optional:
                continue
            if self._after(name) is None:
                raise Unread
            self._rely_after([name])
            steady = steady and not self._changed(name)
        return steady

    def _enter_perhaps(self, entry: Entry, own: Sequence[KeyAttribute], to_set: Item, to_begin: Item) -> None:
        """Decides about an entry of an item that an upsert may make or may find."""
        t = _truth(self._entity, entry.where, self._after)
        if not t.known or not t.holds:
            raise Unread
        fields = [self._entity.field(name) for name in fields_of(entry.pk, entry.sk)]
        always = within(t.relies, fields_of(self._entity.key)) and not any(f is None or f.optional for f in fields)
        for a in own:
            v, begins = self._values_perhaps(fields_of([a]))
            if begins and not always:
                raise Unread
            (to_begin if begins else to_set).update(self._entity.key_of([a], v))

    def _values_perhaps(self, names: Sequence[str]) -> tuple[Values, bool]:
        """Fields after an upsert, and whether they are those of a new item."""
        v: Values = {}
        begins = changes = False
        for name in names:
            known = self._after(name)
            value = known.v if known else self._initial(name)
            if value is None:
                raise Unread
            begins = begins or known is None
            changes = changes or (known is not None and name not in self.c.values)
            v[name] = value
        if begins and changes:
            raise Unread  # a key of what is set and of what was there
        return v, begins

    def _initial(self, name: str) -> Value | None:
        """What an upsert gives a field where there is nothing; None where it does not, or where an item may lack the field."""
        a = next((x for x in self.assigned if x.field.name == name), None)
        return a.value if a and a.how == "initialising" and a.whole and not a.operands and not a.field.optional else None

    # Counters.

    def movements(self) -> list[Movement]:
        """What the effect moves counters by."""
        action = self.c.action
        if self.doomed or action in ("check", "put") or (action == "delete" and self._exists() == "absent"):
            return []
        return [m for c in self._entity.counts for m in self._moves(c)]

    def _moves(self, c: Count) -> list[Movement]:
        if self.creates():
            after = self._tally(c, self._after, self._rely_after)
            return _nonzero(c, after.key, after.n)
        if self._exists() == "perhaps":
            raise Unread
        if self.c.action == "delete":
            before = self._tally(c, self._before, self._rely_before)
            return _nonzero(c, before.key, before.n.copy_negate())
        key = fields_of(c.entity.key)
        if not self._changes(key) and not self._changes(self._entity.read_by(c.where)) and (not c.sum or not self._changed(c.sum)):
            return []
        by = self._added(c.sum)
        if by is not None and c.where is None and not self._changes(key):
            v = self._values_before(key)
            self._rely_before(key)
            return _nonzero(c, v, by)
        before = self._tally(c, self._before, self._rely_before)
        after = self._tally(c, self._after, self._rely_after)
        if before.counts and after.counts and _same_counter(c.entity, before.key, after.key):
            return _nonzero(c, after.key, minus(after.n, before.n))
        return [*_nonzero(c, before.key, before.n.copy_negate()), *_nonzero(c, after.key, after.n)]

    def _added(self, name: str) -> Decimal | None:
        """What an update adds to a field without reading it."""
        total: Decimal | None = None
        for a in self.assigned:
            if a.field.name != name:
                continue
            n = number_in(a.value)
            if total is not None or n is None or a.how != "adding" or not a.whole or a.operands:
                return None
            total = n
        return total

    def _tally(self, c: Count, value: _Asked, rely: Callable[[Iterable[str]], None]) -> _Tally:
        """What the item counts for, in one state; it relies on the fields that this is told from."""
        t = _truth(self._entity, c.where, value)
        if not t.known:
            raise Unread
        rely(t.relies)
        if not t.holds:
            return _Tally(False, {}, ZERO)
        names = [*fields_of(c.entity.key), *([c.sum] if c.sum else [])]
        key = _collect(names, value)
        rely(names)
        if not c.sum:
            return _Tally(True, key, Decimal(1))
        n = number_in(key.get(c.sum))
        if n is None and c.sum in key:
            raise InvalidValueError(c.sum, "is no number, and so cannot be summed")
        return _Tally(True, key, ZERO if n is None else n)


def _same_counter(e: Entity, a: Values, b: Values) -> bool:
    """Whether values make one key of the counter's item: it is the key that counts, which lower and fold make of several values."""
    try:
        return identity(e.table, e.key_of(e.key, a)) == identity(e.table, e.key_of(e.key, b))
    except (TableError, Fault):
        return False


def _moved_by(f: Field, n: Decimal | None, by: Decimal) -> Decimal:
    try:
        return plus(ZERO if n is None else n, by)
    except Fault as err:
        raise InvalidValueError(f.name, f"is moved by more than DynamoDB can hold: {err}") from None


def _nonzero(count: Count, key: Values, by: Decimal) -> list[Movement]:
    return [Movement(count, key, by)] if by else []


def _collect(names: Iterable[str], of: _Asked) -> Values:
    out: Values = {}
    for name in names:
        known = of(name)
        if known is None:
            raise Unread
        if known.v is not None:
            out[name] = known.v
    return out


class _Truth(NamedTuple):
    holds: bool
    known: bool
    relies: list[str]


def _truth(e: Entity, c: Condition | None, value: _Asked) -> _Truth:
    """Whether a condition holds, as far as that is known from some fields; relies are the fields that it was told from."""
    relies: list[str] = []
    known = True
    for part in c.conjuncts() if c else ():
        names = e.read_by(part)
        item = _partial(e, names, value)
        if item is None:
            known = False
            continue
        if not part.holds(item, Inputs({}, None)):
            return _Truth(False, True, names)
        relies.extend(names)
    return _Truth(True, known, relies)


def _partial(e: Entity, names: Iterable[str], value: _Asked) -> Item | None:
    """An item with some fields only; None where one of them is not known."""
    item: Item = {}
    for name in names:
        f = e.its(name)
        known = value(name)
        if known is None:
            return None
        v = try_store(f, known.v)
        if v is not None:
            put(item, f.path, v)
    return item


def _empty_maps(e: Entity) -> Item:
    """An item with nothing but the maps that fields are in."""
    item: Item = {}
    for f in e.fields:
        inside = f.path[:-1]
        if inside and at(item, inside) is None:
            put(item, inside, {"M": {}})
    return item
