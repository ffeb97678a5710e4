// Descriptors: a design's tables, entities and patterns as plain data. In the document in descriptors.ts they refer to each other
// by name, and empty values are omitted; link resolves the names.

import type { Declared } from "./errors.js";
import type { AttributeValue } from "./values.js";

export type Kind =
  | "id" | "uuid" | "ulid" | "ksuid" | "slug" | "email" | "text" | "secret" | "int" | "decimal" | "money" | "bool"
  | "time" | "date" | "ttl" | "bytes" | "enum" | "struct" | "list" | "set" | "map";

export interface Attribute {
  name: string;
  type: string;
}

export interface Part {
  literal?: string;
  field?: string;
  funcs?: { name: string; arg?: string }[];
}

export interface KeyAttribute extends Attribute {
  template?: Part[];
  /** The field that is stored in this attribute directly. */
  field?: string;
}

export interface Type {
  kind: Kind;
  enum?: string[];
  /** The name of a structure. */
  fields?: string;
  elem?: Type;
}

export interface Field {
  name: string;
  path: string[];
  type: Type;
  optional?: boolean;
  maxBytes?: number;
  minBytes?: number;
  counter?: boolean;
}

export interface ConditionDescriptor {
  expression: string;
  names?: { [alias: string]: string };
  params?: { placeholder: string; input: string; type?: Type | {} }[];
  constants?: { [placeholder: string]: AttributeValue };
}

export interface Entry {
  index: string;
  /** Alternatives in the index: an item has at most one of them. */
  name?: string;
  pk?: KeyAttribute[];
  sk?: KeyAttribute[];
  where?: ConditionDescriptor;
}

export interface Copy {
  name: string;
  key: KeyAttribute[];
  fields?: string[];
  entries?: Entry[];
}

export interface Marker {
  name: string;
  key: KeyAttribute[];
  taken?: string;
}

export interface Count {
  entity: string;
  field: string;
  sum?: string;
  /** Maps key fields of the other item to fields of the counted item, if their names differ. */
  by?: Record<string, string>;
  where?: ConditionDescriptor;
}

export interface EntityDescriptor {
  name: string;
  table: string;
  typeValue?: string;
  fields?: Field[];
  key: KeyAttribute[];
  entries?: Entry[];
  copies?: Copy[];
  markers?: Marker[];
  counts?: Count[];
  /** after is in milliseconds. */
  ttl?: { field: string; after?: number };
  notFound?: string;
  exists?: string;
}

export interface Table {
  name: string;
  physical: string;
  pk: Attribute;
  sk?: Attribute;
  typeAttr?: string;
  ttlAttr?: string;
}

export type PlaceKind = "key" | "copy" | "entry" | "marker";

export interface Place {
  kind: PlaceKind;
  index?: string;
  /** The name of the entry, if the index has several. */
  entry?: string;
  copy?: string;
  marker?: string;
}

export interface SortCondition extends Attribute {
  comparison: "equal" | "beginsWith" | "between" | "within";
  known?: Part[];
  next?: Part;
  open?: boolean;
  to?: Part[];
}

export interface Param {
  name: string;
  type: Type;
  optional?: boolean;
  /** Whether NULL is allowed: it removes a patched field. */
  removable?: boolean;
  maxBytes?: number;
  minBytes?: number;
}

export interface ReadDescriptor {
  pattern: string;
  entity: string;
  many?: boolean;
  place: Place;
  key?: KeyAttribute[];
  pk?: KeyAttribute[];
  sk?: SortCondition[];
  sort?: Attribute[];
  reverse?: boolean;
  consistent?: boolean;
  filter?: ConditionDescriptor;
  filterBy?: string[];
  by?: string[];
  prefix?: string;
  range?: string;
  /** The input of a |band, of which any value may be given: it stands for the whole band. */
  bucket?: string;
  /** The layout of |date, whose partitions the range reads one after another, at most maxBuckets. */
  over?: string;
  maxBuckets?: number;
  /**
   * The earliest possible time, or back, how many milliseconds ago it is. The bounds are then optional, and the walk goes from
   * there to now. A page walks at most maxBuckets; the next one continues.
   */
  since?: string;
  back?: number;
  /** Scans the place, in this number of segments. */
  scan?: boolean;
  segments?: number;
  /** Returns only the number of items; select: the request selects exactly these, so that DynamoDB can count them. */
  count?: boolean;
  select?: boolean;
  /** Returns one item for each of several inputs, at most maxKeys. */
  each?: boolean;
  maxKeys?: number;
  page?: number;
  limit?: number;
  owner?: string;
  hydrate?: boolean;
  fields?: string[];
  /** The caller's inputs other than the bounds of the range. */
  inputs?: Param[];
}

export interface CollectionDescriptor {
  pattern: string;
  table: string;
  index?: string;
  members: { entity: string; place: Place; fields?: string[] }[];
  root: number;
  by?: string[];
  pk?: KeyAttribute[];
  sk?: SortCondition[];
  sort?: Attribute[];
  reverse?: boolean;
  consistent?: boolean;
  page?: number;
  owner?: string;
  rootApart?: boolean;
  rootSK?: SortCondition[];
  inputs?: Param[];
  /** The names of the members in the result. */
  results: string[];
}

export type Action = "create" | "put" | "update" | "upsert" | "delete" | "check";

export interface Term {
  kind: "constant" | "input" | "line" | "field" | "now" | "newID" | "sum" | "count";
  negative?: boolean;
  constant?: AttributeValue;
  name?: string;
  path?: string[];
}

export interface Assignment {
  /** A field, or a path into one: address, city; lines, [0], quantity; reactions, :kind, which is an input or :line.kind. */
  path: string[];
  value: Term[];
}

export interface Else {
  err: string;
  when?: ConditionDescriptor;
}

export interface Step {
  action: Action;
  entity: string;
  each?: boolean;
  /** The step's name in errors; without it, its number is used. */
  name?: string;
  by?: Assignment[];
  set?: Assignment[];
  add?: Assignment[];
  init?: Assignment[];
  /** The removed paths. */
  remove?: string[][];
  /** What is removed from sets, and appended and prepended to lists. */
  drop?: Assignment[];
  append?: Assignment[];
  prepend?: Assignment[];
  /** Fields that are set to the inputs of the same names, if present. */
  patch?: string[];
  when?: ConditionDescriptor;
  else?: Else[];
}

export interface WriteDescriptor {
  pattern: string;
  steps: Step[];
  params?: Param[];
  lineParams?: Param[];
  lines?: boolean;
  maxLines?: number;
  /** Each item is written separately, without conditions. */
  batch?: boolean;
  idempotent?: { record: string; request?: string[]; reused?: string };
  /** What the write returns under a name: the item of a step, or of each line. */
  returned?: Returned[];
  /** What determines the response to a repetition, besides its record: a read or a collection. */
  replay?: { read?: string; collection?: string; owner?: string };
}

export interface Returned {
  step: number;
  name: string;
  each?: boolean;
}

/** How the items of a person are exported and erased. */
export interface PersonDescriptor {
  /** The field that identifies persons. */
  field: string;
  /** The person's parts, in the order of erasure. */
  parts?: PersonPartDescriptor[];
}

/** A part of a person's data: how its items are found and erased. */
export interface PersonPartDescriptor {
  entity: string;
  /** The input of read that is the person; without it, read takes fields of an item of the parent part. */
  field?: string;
  /** Finds the items; missing if they are left to expire. */
  read?: ReadDescriptor;
  /**
   * What erasure does to each item; without it, an item stays. keep is the reason why it stays, whether or not erase changes it.
   */
  erase?: WriteDescriptor;
  keep?: string;
  /** Whether items stay until they expire. */
  expires?: boolean;
  /** Whether the items belong to other people and are not exported. */
  others?: boolean;
  /** The parts that depend on each item, which are erased before it. */
  parts?: PersonPartDescriptor[];
}

/** A design as a document. */
export interface Document {
  design: string;
  tables: { [name: string]: Table };
  structs?: { [name: string]: Field[] };
  entities: { [name: string]: EntityDescriptor };
  reads?: { [name: string]: ReadDescriptor };
  collections?: { [name: string]: CollectionDescriptor };
  writes?: { [name: string]: WriteDescriptor };
  person?: PersonDescriptor;
  errors?: { [name: string]: Declared };
}
