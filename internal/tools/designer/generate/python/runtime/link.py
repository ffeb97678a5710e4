"""Links the descriptors of a document: resolves names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from .condition import Condition, ConditionParam
from .descriptor import (
    Assignment, Attribute, Collection, Copy, Count, Else, Entry, Field, Func, Idempotent, KeyAttribute, Marker, Member, Part, PersonPart, Place,
    Read, SortCondition, Step, Table, Term, Returned, Type, Write,
)
from .entity import Entity
from .errors import TableError


@dataclass
class Types:
    """The classes of generated code, by their names in descriptors, and the names of fields in Python."""

    names: Mapping[str, str] = field(default_factory=dict)
    structs: Mapping[str, Any] = field(default_factory=dict)
    entities: Mapping[str, Any] = field(default_factory=dict)
    reads: Mapping[str, Any] = field(default_factory=dict)
    collections: Mapping[str, tuple[Any, tuple[Any, ...]]] = field(default_factory=dict)
    """A collection's result, and the classes of its members."""
    writes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """The result of a write when it is done, and when it is a repetition."""
    errors: Mapping[str, type[TableError]] = field(default_factory=dict)

    def attr(self, name: str) -> str:
        return self.names.get(name, name)


class Program:
    """All descriptors of a document."""

    def __init__(self, document: Mapping[str, Any], types: Types) -> None:
        self._document = document
        self._types = types
        self._structs: dict[str, list[Field]] = {}
        self.tables = {name: _table(t) for name, t in document["tables"].items()}
        entities: dict[str, Any] = document.get("entities", {})
        self.entities = {name: self._entity(e) for name, e in entities.items()}
        for name, e in entities.items():
            out = self.entities[name]
            out.entries = self._entries(e.get("entries"))
            out.copies = [Copy(c["name"], _keys(c["key"]), c.get("fields"), self._entries(c.get("entries"))) for c in e.get("copies", ())]
            out.counts = [
                Count(self.entities[c["entity"]], c["field"], c.get("sum", ""), c.get("by", {}), self._condition(c.get("where"))) for c in e.get("counts", ())
            ]
        self.reads = {name: self._read(r) for name, r in document.get("reads", {}).items()}
        self.collections = {name: self._collection(c) for name, c in document.get("collections", {}).items()}
        self.writes = {name: self._write(w) for name, w in document.get("writes", {}).items()}
        self.person = [self._person(p) for p in document.get("person", {}).get("parts", ())]
        """The parts of a person's data."""

    def _type(self, t: Mapping[str, Any]) -> Type:
        out = Type(t["kind"], t.get("enum", []))
        if "elem" in t:
            out.elem = self._type(t["elem"])
        name = t.get("fields")
        if name is not None:
            if name not in self._structs:
                fields = self._structs[name] = []  # before its fields, which may contain the structure itself
                fields.extend(self._field(f) for f in self._document.get("structs", {}).get(name, ()))
            out.fields, out.make = self._structs[name], self._types.structs.get(name)
        return out

    def _field(self, f: Mapping[str, Any]) -> Field:
        name = f["name"]
        return Field(
            name, f.get("path", [name]), self._type(f["type"]), f.get("optional", False), f.get("minBytes", 0), f.get("maxBytes", 0),
            f.get("counter", False), f.get("removable", False), self._types.attr(name),
        )

    def _fields(self, list_of: Any) -> list[Field]:
        return [self._field(f) for f in list_of or ()]

    def _condition(self, c: Mapping[str, Any] | None) -> Condition | None:
        if c is None:
            return None
        params = [
            ConditionParam(p["placeholder"], p["input"], self._type(p["type"]) if p.get("type", {}).get("kind") else None)
            for p in c.get("params", ())
        ]
        return Condition(c["expression"], c.get("names", {}), params, c.get("constants", {}))

    def _entries(self, list_of: Any) -> list[Entry]:
        return [
            Entry(x["index"], x.get("name", ""), _keys(x.get("pk")), _keys(x.get("sk")), self._condition(x.get("where"))) for x in list_of or ()
        ]

    def _entity(self, e: Mapping[str, Any]) -> Entity:
        return Entity(
            e["name"], self.tables[e["table"]], e.get("typeValue", ""), self._fields(e.get("fields")), _keys(e["key"]),
            [Marker(m["name"], _keys(m["key"]), m.get("taken", "ErrExists")) for m in e.get("markers", ())],
            e.get("ttl", {}).get("field", ""), e.get("ttl", {}).get("after", 0), e.get("notFound", "ErrNotFound"), e.get("exists", "ErrExists"),
            self._types.entities.get(e["name"]),
        )

    def _person(self, p: Mapping[str, Any]) -> PersonPart:
        return PersonPart(
            self.entities[p["entity"]], p.get("field", ""), self._read(p["read"]) if "read" in p else None,
            self._write(p["erase"]) if "erase" in p else None, p.get("others", False), [self._person(x) for x in p.get("parts", ())],
        )

    def _read(self, r: Mapping[str, Any]) -> Read:
        return Read(
            pattern=r["pattern"], entity=self.entities[r["entity"]], many=r.get("many", False), place=_place(r["place"]),
            key=_keys(r["key"]) if "key" in r else None, pk=_keys(r.get("pk")), sk=_sort(r.get("sk")), sort=_attributes(r.get("sort")),
            reverse=r.get("reverse", False), consistent=r.get("consistent", False), filter=self._condition(r.get("filter")),
            filter_by=r.get("filterBy", []), by=r.get("by", []), prefix=r.get("prefix", ""), range=r.get("range", ""),
            bucket=r.get("bucket", ""), over=r.get("over", ""), max_buckets=r.get("maxBuckets", 0), since=r.get("since", ""), back=r.get("back", 0),
            segments=r.get("segments", 1) if r.get("scan") else 0,
            select=r.get("select", False), max_keys=r.get("maxKeys", 0), page=r.get("page", 0),
            limit=r.get("limit", 0), owner=r.get("owner", ""), hydrate=r.get("hydrate", False), fields=r.get("fields"),
            params=self._fields(r.get("inputs")), make=self._types.reads.get(r["pattern"]),
        )

    def _collection(self, c: Mapping[str, Any]) -> Collection:
        make, members = self._types.collections.get(c["pattern"], (None, (None,) * len(c["members"])))
        return Collection(
            pattern=c["pattern"], table=self.tables[c["table"]], index=c.get("index", ""),
            members=[
                Member(self.entities[m["entity"]], _place(m["place"]), m.get("fields"), of, self._types.attr(name))
                for m, of, name in zip(c["members"], members, c["results"])
            ],
            root=c["root"], by=c.get("by", []), pk=_keys(c.get("pk")), sk=_sort(c.get("sk")), sort=_attributes(c.get("sort")),
            reverse=c.get("reverse", False), consistent=c.get("consistent", False), page=c.get("page", 0), owner=c.get("owner", ""),
            root_apart=c.get("rootApart", False), root_sk=_sort(c.get("rootSK")), params=self._fields(c.get("inputs")), make=make,
        )

    def _write(self, w: Mapping[str, Any]) -> Write:
        i = w.get("idempotent")
        done, replayed = self._types.writes.get(w["pattern"], (None, None))
        return Write(
            pattern=w["pattern"], steps=[self._step(s) for s in w["steps"]], params=self._fields(w.get("params")),
            line_params=self._fields(w.get("lineParams")), lines=w.get("lines", False), max_lines=w.get("maxLines", 0), batch=w.get("batch", False),
            idempotent=Idempotent(self.entities[i["record"]], i.get("request", []), i.get("reused", "ErrReused")) if i else None,
            returned=[Returned(t["step"], self._types.attr(t["name"]), t.get("each", False)) for t in w.get("returned", ())], replay=w.get("replay", {}),
            done=done, replayed=replayed,
        )

    def _step(self, s: Mapping[str, Any]) -> Step:
        return Step(
            action=s["action"], entity=self.entities[s["entity"]], each=s.get("each", False), name=s.get("name", ""),
            by=_assignments(s.get("by")), set=_assignments(s.get("set")), add=_assignments(s.get("add")), init=_assignments(s.get("init")),
            remove=s.get("remove", []), drop=_assignments(s.get("drop")), append=_assignments(s.get("append")),
            prepend=_assignments(s.get("prepend")), patch=s.get("patch", []),
            when=self._condition(s.get("when")), otherwise=[Else(x["err"], self._condition(x.get("when"))) for x in s.get("else", ())],
        )


def _attribute(a: Mapping[str, Any]) -> Attribute:
    return Attribute(a["name"], a["type"])


def _attributes(list_of: Any) -> list[Attribute]:
    return [_attribute(a) for a in list_of or ()]


def _table(t: Mapping[str, Any]) -> Table:
    return Table(t["name"], t["physical"], _attribute(t["pk"]), _attribute(t["sk"]) if "sk" in t else None, t.get("typeAttr", ""))


def _part(p: Mapping[str, Any]) -> Part:
    return Part(p.get("literal", ""), p.get("field", ""), tuple(Func(f["name"], f.get("arg", "")) for f in p.get("funcs", ())))


def _parts(list_of: Any) -> tuple[Part, ...]:
    return tuple(_part(p) for p in list_of or ())


def _keys(list_of: Any) -> list[KeyAttribute]:
    return [KeyAttribute(a["name"], a["type"], _parts(a.get("template")), a.get("field", "")) for a in list_of or ()]


def _place(p: Mapping[str, Any]) -> Place:
    return Place(p["kind"], p.get("index", ""), p.get("copy", ""), p.get("marker", ""), p.get("entry", ""))


def _sort(list_of: Any) -> list[SortCondition]:
    return [
        SortCondition(
            c["name"], c["type"], c["comparison"], _parts(c.get("known")), _part(c["next"]) if "next" in c else None, c.get("open", False),
            _parts(c.get("to")),
        )
        for c in list_of or ()
    ]


def _assignments(list_of: Any) -> list[Assignment]:
    return [
        Assignment(a["path"], [
            Term(t["kind"], t.get("negative", False), t.get("constant"), t.get("name", ""), t.get("path", [])) for t in a.get("value", ())
        ])
        for a in list_of or ()
    ]
