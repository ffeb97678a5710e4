"""A change in one attempt: the operations on its item, copies, markers and counters."""

from __future__ import annotations

from typing import Sequence

from .change import Change, Learned
from .descriptor import Copy, Field, KeyAttribute, Marker
from .entity import fields_of, identity, in_key, within
from .entries import change_entries
from .known import Known, Unread
from .operation import Operation
from .types import to_store
from .update import Expression, bounds, conjunction, native
from .values import Item, Value, Values, put, stored


class Effect(Known):
    def __init__(self, c: Change, learned: Learned) -> None:
        super().__init__(c)
        self.counters = False
        """Set if only counters change, in an item without a step of its own."""
        self.counted = False
        """The counters that it moves have been determined."""
        self.ops: list[Operation] = []
        self._learned = learned

    def derive(self) -> None:
        """Creates the operations: on the item itself, which is first, and on its copies and markers."""
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
        o = Operation(kind, role, self, f"{noun} of {self.entity.name}", item)
        self.ops.append(o)
        return o

    def _is_there(self, x: Expression) -> str:
        return f"attribute_exists({x.path([self.entity.table.pk.name])})"

    def _is_absent(self, x: Expression) -> str:
        return f"attribute_not_exists({x.path([self.entity.table.pk.name])})"

    def _is_free(self, x: Expression) -> str:
        """Requires that the item is missing, or has expired but is not deleted yet."""
        f = self.entity.ttl_field()
        if f is None:
            return self._is_absent(x)
        now = x.value({"N": str((self.c.inputs.now or 0) // 1000)})
        return f"{self._is_absent(x)} OR {x.path(f.path)} < {now}"

    def _when(self, x: Expression) -> str:
        return self.c.when.bind(self.c.inputs, x.names, x.values) if self.c.when else ""

    def _refuse(self) -> None:
        """Replaces a change that is already known to be rejected; an earlier one may be rejected too."""
        x = Expression()
        self._operation("checking", "itself", "update", self.c.primary).keeps(x, self._is_there(x), self._is_absent(x))

    def _derive_whole(self) -> None:
        """Puts a whole item with its copies and markers."""
        x = Expression()
        o = self._operation("putting", "itself", "put" if self.c.action == "put" else "create", self.entity.item(None, self.c.values))
        when = self._when(x)
        if self.made:
            o.keeps(x, self._is_absent(x), when)
        elif self.c.action == "create":
            o.keeps(x, self._is_free(x), when)
        else:
            o.keeps(x, when)
        for c in self.entity.copies:
            self._put_copy(c, self.c.values)
        for m in self.entity.markers:
            self._take(m, self.c.values)

    def _derive_delete(self) -> None:
        """Deletes an item with its copies and markers. A missing item has none."""
        x = Expression()
        if self.exists() == "absent":
            self._operation("checking", "nothing", "delete", self.c.primary).keeps(x, self._is_absent(x))
            return
        o = self._operation("deleting", "itself", "delete", self.c.primary)
        for c in self.entity.copies:
            key = self.key_before(c.key)
            if key is not None:
                self._operation("deleting", "elsewhere", f"delete of copy {c.name}", key)
        for m in self.entity.markers:
            self._release(m)
        when = self._when(x)
        if self.exists() == "present":
            o.keeps(x, self._is_there(x), when, self._guards(x))

    def _derive_check(self) -> None:
        x = Expression()
        when = self._when(x) or self._is_there(x)
        self._operation("checking", "itself", "check", self.c.primary).keeps(x, when)

    def _derive_update(self) -> None:
        """Changes an item that exists or may exist."""
        if not all(map(native, self.assigned)):
            raise Unread
        if self.exists() == "unknown" and (self.entity.markers or any(len(a.path) > 1 for a in self.assigned)):
            raise Unread  # a marker is created with its item, and so is a map before something is set in it
        x = Expression()
        o = self._operation("updating", "itself", "count" if self.counters else "update", self.c.primary)
        for a in self.assigned:
            if not in_key(self.entity.key, a.path):
                x.assign(a)
        if self.c.action == "upsert":
            self._identify(x, self.entity.key, None)
        change_entries(self, self.entity.entries, x)
        for c in self.entity.copies:
            self._derive_copy(c)
        for m in self.entity.markers:
            self._derive_marker(m)
        when = self._when(x)
        o.keeps(x, self._is_there(x) if self.exists() == "present" else "", when, self._guards(x), bounds(self.assigned, x))
        o.update = x.text()
        if o.update == "" and self.exists() == "unknown":
            raise Unread  # the item has only its key: an update in a transaction cannot create it explicitly

    def _identify(self, x: Expression, key: Sequence[KeyAttribute], held: Sequence[str] | None) -> None:
        """Sets the attributes that identify an item that may be created: the fields of the primary key, if stored, and the type.
        """
        for name in fields_of(self.entity.key):
            f = self.entity.its(name)
            if not in_key(key, f.path) and (held is None or name in held):
                x.set(f.path, self.c.values.get(name))
        if self.entity.table.type_attr:
            x.set([self.entity.table.type_attr], {"S": self.entity.type_value})

    def _guards(self, x: Expression) -> str:
        """Requires the fields on which the change depends to have the values that were read."""
        paths = [self.entity.its(name).path for name in sorted(self.relied)]
        return conjunction(*(x.guard(path, stored(self.old, path)) for path in paths))

    # Copies.

    def _put_copy(self, c: Copy, v: Values) -> None:
        o = self._operation("putting", "elsewhere", f"put of copy {c.name}", self.entity.item(c, v))
        if self.c.action == "create":
            x = Expression()
            o.role = "occupying"
            o.keeps(x, self._is_free(x))

    def _derive_copy(self, c: Copy) -> None:
        """Keeps a copy in sync with a changed item: it is changed in the same way, or moved if its key changes."""
        held = self.entity.held_by(c)
        if held is None:
            held = [f.name for f in self.entity.fields]
        indexed = [name for x in c.entries for name in self.entity.entry_fields(x)]
        key = fields_of(c.key)
        if self.exists() == "unknown":
            if not within(key, fields_of(self.entity.key)):
                raise Unread
        elif not self.changes(held) and not self.changes(indexed):
            return
        old = self.key_before(c.key)
        if self.changes(key):
            v = self.values_after(key)
            self.rely_after(key)
            moved = self.entity.key_of(c.key, v)
            if old is None or identity(self.entity.table, old) != identity(self.entity.table, moved):
                self._move_copy(c, old, [*held, *indexed])
                return
        if old is None:
            return
        if identity(self.entity.table, old) in self._learned.lost:
            self._move_copy(c, None, [*held, *indexed])
            return
        self._change_copy(c, old, held)

    def _move_copy(self, c: Copy, old: Item | None, needs: Sequence[str]) -> None:
        """Deletes a copy and puts it at its new key."""
        if old is not None:
            self._operation("deleting", "elsewhere", f"delete of copy {c.name}", old)
        v = self.values_after(needs)
        self.rely_after(needs)
        self._put_copy(c, v)

    def _change_copy(self, c: Copy, key: Item, held: Sequence[str]) -> None:
        """Changes a copy in place."""
        x = Expression()
        whole = self._rewritten(held)
        for a in self.assigned:
            if a.field.name in held and not in_key(c.key, a.path) and a.field.path[0] not in whole:
                x.assign(a)
        for attribute in whole:
            self._rewrite(x, attribute, held)
        if self.c.action == "upsert":
            self._identify(x, c.key, held)
        change_entries(self, c.entries, x)
        update = x.text()
        if update == "":
            return  # nothing in the copy changes
        o = self._operation("updating", "elsewhere", f"update of copy {c.name}", key)
        o.update = update
        o.keeps(x, self._is_there(x) if self.exists() == "present" else "")

    def _rewritten(self, held: Sequence[str]) -> list[str]:
        """The attributes of a copy that are set to their final values, because they cannot be changed like the item's: they are
        computed from fields that the copy does not have, or are inside a map that it may not have.
        """
        out: dict[str, None] = {}
        for a in self.assigned:
            strange = any(o.field.name not in held for o in a.operands)
            if a.field.name in held and (strange or not self._has_map(a.field.path, held)):
                out[a.field.path[0]] = None
        return list(out)

    def _has_map(self, path: Sequence[str], held: Sequence[str]) -> bool:
        """Whether a copy with some fields certainly has the map of a path: if a required field is in it."""
        inside = path[:-1]
        return not inside or any(
            not f.optional and f.type.kind != "set" and f.name in held and len(f.path) > len(inside) and f.path[: len(inside)] == inside
            for f in self.entity.fields
        )

    def _rewrite(self, x: Expression, attribute: str, held: Sequence[str]) -> None:
        """Sets a copy's attribute with all fields in it."""
        fields = [f for f in self.entity.fields if f.path[0] == attribute and f.name in held]
        names = [f.name for f in fields]
        v = self.values_after(names)
        self.rely_after(names)
        item: Item = {}
        for f in fields:
            value = to_store(f, v.get(f.name))
            if value is not None:
                put(item, f.path, value)
        x.set([attribute], item.get(attribute))

    # Markers.

    def _take(self, m: Marker, v: Values) -> None:
        """Puts a marker that must not exist."""
        o = self._operation("putting", "taking", f"put of marker {m.name}", self.entity.marker(m, v))
        o.marker = m
        x = Expression()
        o.keeps(x, self._is_free(x))

    def _release(self, m: Marker) -> None:
        """Deletes the item's marker. If items expire, or there may be no item, it may belong to another item; then it stays."""
        key = self.key_before(m.key)
        if key is None or identity(self.entity.table, key) in self._learned.foreign:
            return
        o = self._operation("deleting", "releasing", f"delete of marker {m.name}", key)
        o.marker = m
        if not self.entity.ttl and self.exists() == "present":
            return
        x = Expression()
        o.keeps(x, self._owns(m, x))

    def _owns(self, m: Marker, x: Expression) -> str:
        """The condition that a marker belongs to the item, by the fields of the item's key in it."""
        def own(f: Field) -> Value:
            known = self.before(f.name)
            return known.v if known is not None and known.v is not None else self.c.values[f.name]

        fields = [f for f in map(self.entity.its, fields_of(self.entity.key)) if not in_key(m.key, f.path)]
        return conjunction(*(
            f"attribute_not_exists({x.path(f.path)}) OR {x.path(f.path)} = {x.value(own(f))}" for f in fields
        ))

    def _renew(self, m: Marker, v: Values) -> None:
        """Puts an existing marker again. If items expire it may now belong to another item; then it counts as taken."""
        o = self._operation("putting", "elsewhere", f"put of marker {m.name}", self.entity.marker(m, v))
        if not self.entity.ttl:
            return
        x = Expression()
        own = self._owns(m, x)
        if own:
            o.role = "taking"
            o.marker = m
            o.keeps(x, f"{self._is_free(x)} OR {own}")

    def _derive_marker(self, m: Marker) -> None:
        """Keeps the marker of a changed item in sync: moved if its key changes, otherwise put again if its contents change."""
        key = fields_of(m.key)
        held = self.entity.held_by_marker(m)
        if not self.changes(held):
            return
        old = self.key_before(m.key)
        v = self.values_after(held)
        self.rely_after(key)
        moved = self.entity.key_of(m.key, v)
        if old is not None and identity(self.entity.table, old) == identity(self.entity.table, moved):
            self.rely_after(held)
            self._renew(m, v)
            return
        if old is not None:
            self._release(m)
        self.rely_after(held)
        self._take(m, v)
