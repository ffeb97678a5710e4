// Descriptors: a design's tables, entities and patterns as plain data. descriptors.ts has them as a document, in which one
// refers to another by its name and nothing stands that is empty; link makes a program of it.

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
  /** The field that is stored in this attribute itself. */
  field?: string;
}

export interface Type {
  kind: Kind;
  enum?: string[];
  /** The name of a structure's fields. */
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
  /** Of several in the index, of which an item is in one at most. */
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
  /** The counted item's fields by those of the other's key, where the names differ. */
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
  /** The name of the entry, of several in the index. */
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
  /** Whether NULL is a value, with which a patched field is removed. */
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
  /** The input of which any value of a |band is given: all of the band is meant. */
  bucket?: string;
  /** The layout of |date whose partitions the range walks one after another, maxBuckets at most. */
  over?: string;
  maxBuckets?: number;
  /**
   * A time before which there is nothing, or back, how many milliseconds ago that is: the bounds may be left out then, and the walk
   * goes from there to now. A page walks maxBuckets, and the next one goes on.
   */
  since?: string;
  back?: number;
  /** Reads all of the place, in so many segments. */
  scan?: boolean;
  segments?: number;
  /** Only the number of the items is wanted; select, that the request finds just these, so that DynamoDB counts them. */
  count?: boolean;
  select?: boolean;
  /** One item is wanted for each of many inputs, which are maxKeys at most. */
  each?: boolean;
  maxKeys?: number;
  page?: number;
  limit?: number;
  owner?: string;
  hydrate?: boolean;
  fields?: string[];
  /** What the caller gives beside the bounds of the range. */
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
  /** A field, or steps into one: address, city; lines, [0], quantity; reactions, :kind, which is an input or :line.kind. */
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
  /** What errors call the step by; its number without one. */
  name?: string;
  by?: Assignment[];
  set?: Assignment[];
  add?: Assignment[];
  init?: Assignment[];
  /** The paths of what goes. */
  remove?: string[][];
  /** What is taken out of sets, and put behind and before lists. */
  drop?: Assignment[];
  append?: Assignment[];
  prepend?: Assignment[];
  /** Fields that have the values of the inputs of their names, where there are such. */
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
  /** Each item is written for itself, without conditions. */
  batch?: boolean;
  idempotent?: { record: string; request?: string[]; reused?: string };
  /** What the write returns: the item of a step, or of each line, under a name. */
  told?: Told[];
  /** What answers a repetition, beside its record: a read or a collection. */
  replay?: { read?: string; collection?: string; owner?: string };
}

export interface Told {
  step: number;
  name: string;
  each?: boolean;
}

/** How the items of a person are exported and erased. */
export interface PersonDescriptor {
  /** What the design names persons by. */
  field: string;
  /** The ways to the person's items, in the order of erasure. */
  parts?: PersonPartDescriptor[];
}

/** A way to items of a person. */
export interface PersonPartDescriptor {
  entity: string;
  /** The input of read that the person is; without it, read takes the fields of an item of the part above. */
  field?: string;
  /** Finds the items; there is none where nothing does, for they expire. */
  read?: ReadDescriptor;
  /** What erasure does to each item; without it an item stays. keep is the reason for which it does, changed by erase or not. */
  erase?: WriteDescriptor;
  keep?: string;
  /** Whether items stay until their time is over. */
  expires?: boolean;
  /** Whether the items are other people's, and not exported. */
  others?: boolean;
  /** The ways to what belongs to each item, which is erased before it. */
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
