// Links a document: resolves names.

import { type LinkedStep, type Write } from "./change.js";
import { Condition } from "./condition.js";
import type { ConditionDescriptor, Document, Entry, Field, Param, PersonPartDescriptor, ReadDescriptor, Type, WriteDescriptor } from "./descriptor.js";
import { Entity, type LinkedEntry } from "./entity.js";
import type { Part } from "./person.js";
import type { Collection, Read } from "./read.js";
import type { LinkedField, LinkedType } from "./types.js";

export type LinkedParam = Omit<Param, "type"> & { type: LinkedType };

export interface Program {
  document: Document;
  entities: Map<string, Entity>;
  reads: Map<string, Read & { params: LinkedParam[] }>;
  collections: Map<string, Collection & { params: LinkedParam[] }>;
  writes: Map<string, Write>;
  /** The parts of a person's data. */
  person: Part[];
}

export function link(d: Document): Program {
  const structs = new Map<string, LinkedField[]>();
  const type = (t: Type): LinkedType => {
    const { fields, elem, ...own } = t;
    const out: LinkedType = own;
    if (elem) {
      out.elem = type(elem);
    }
    if (fields !== undefined) {
      let linked = structs.get(fields);
      if (!linked) {
        linked = [];
        structs.set(fields, linked); // before its fields, which may contain the structure itself
        linked.push(...(d.structs?.[fields] ?? []).map(field));
      }
      out.fields = linked;
    }
    return out;
  };
  const field = (f: Field): LinkedField => ({ ...f, type: type(f.type) });
  const param = (p: Param): LinkedParam => ({ ...p, type: type(p.type) });
  const condition = (c: ConditionDescriptor | undefined): Condition | undefined =>
    c && new Condition(c, (c.params ?? []).map((p) => ({ ...p, type: p.type && "kind" in p.type ? type(p.type) : undefined })));
  const entries = (list: Entry[] | undefined): LinkedEntry[] =>
    (list ?? []).map((x) => ({ index: x.index, name: x.name ?? "", pk: x.pk ?? [], sk: x.sk ?? [], where: condition(x.where) }));

  const entities = new Map(Object.values(d.entities).map((e) => [e.name, new Entity(e, d.tables[e.table]!, (e.fields ?? []).map(field))]));
  const entity = (name: string): Entity => entities.get(name)!;
  for (const e of Object.values(d.entities)) {
    const out = entity(e.name);
    out.entries = entries(e.entries);
    out.copies = (e.copies ?? []).map((c) => ({ ...c, entries: entries(c.entries) }));
    out.counts = (e.counts ?? []).map((c) => ({ entity: entity(c.entity), field: c.field, sum: c.sum ?? "", by: c.by ?? {}, where: condition(c.where) }));
  }
  const named = <D, T>(all: { [name: string]: D } | undefined, make: (x: D) => T): Map<string, T> =>
    new Map(Object.entries(all ?? {}).map(([name, x]) => [name, make(x)]));
  const read = (r: ReadDescriptor): Read & { params: LinkedParam[] } =>
    ({ ...r, entity: entity(r.entity), filter: condition(r.filter), params: (r.inputs ?? []).map(param) });
  const write = (w: WriteDescriptor): Write => ({
    ...w,
    params: (w.params ?? []).map(param),
    lineParams: (w.lineParams ?? []).map(param),
    idempotent: w.idempotent && {
      record: entity(w.idempotent.record), request: w.idempotent.request ?? [], reused: w.idempotent.reused ?? "Reused",
    },
    steps: w.steps.map((s): LinkedStep => ({
      ...s, entity: entity(s.entity), when: condition(s.when), else: (s.else ?? []).map((x) => ({ err: x.err, when: condition(x.when) })),
    })),
  });
  const part = (p: PersonPartDescriptor): Part => ({
    entity: entity(p.entity), field: p.field, read: p.read && read(p.read), erase: p.erase && write(p.erase), others: p.others ?? false,
    parts: (p.parts ?? []).map(part),
  });
  return {
    document: d,
    entities,
    reads: named(d.reads, read),
    collections: named(d.collections, (c) => ({
      ...c, table: d.tables[c.table]!, members: c.members.map((m) => ({ ...m, entity: entity(m.entity) })), params: (c.inputs ?? []).map(param),
    })),
    writes: named(d.writes, write),
    person: (d.person?.parts ?? []).map(part),
  };
}
