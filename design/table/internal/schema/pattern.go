package schema

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Read is a pattern that finds items of one entity.
type Read struct {
	Pattern string
	Entity  *Entity
	Many    bool
	Place   Place
	// Key is the whole primary key at the place of a GetItem; nil for a Query.
	Key []KeyAttribute
	// PK are the partition key's attributes of a Query. A template field that is not an input is spread by |shard(n): all
	// partitions are queried and their results merged.
	PK []KeyAttribute
	SK []SortCondition
	// Sort are the stored key attributes that order the results; partitions are merged by them.
	Sort       []Attribute
	Reverse    bool
	Consistent bool
	// Filter and FilterBy (fields that must equal inputs) are evaluated after the read.
	Filter   *Condition
	FilterBy []string
	// By are the inputs; all are required. Prefix and Range are fields of which the caller may pass a prefix or bounds.
	By            []string
	Prefix, Range string
	// Bucket is the input of a |band, of which any value selects the whole band. "" if there is none, and for times.
	Bucket string
	// Over is the layout of |date whose partitions the Range spans one after another, from bound to bound; "" if there is only
	// one. MaxBuckets limits their number.
	Over       string
	MaxBuckets int
	// Since is a time before which there are no items, or Back how long ago that is: the bounds of Over are then optional, and
	// the read runs from there to now. A page reads MaxBuckets partitions, and the next page continues.
	Since string
	Back  time.Duration
	// Scan reads the whole place, in Segments parallel segments; there are no PK, SK and By.
	Scan     bool
	Segments int
	// Count says that only the number of the items is wanted; Select, that the request finds just these, so that DynamoDB counts them.
	Count, Select bool
	// Each says that one item is wanted for each of many inputs.
	Each bool
	// MaxKeys is the maximum number of inputs of a batch; 0 means no limit.
	MaxKeys int
	// Page is the default number of items per page; Limit the maximum number of results in total. 0 means no limit.
	Page, Limit int
	// Owner is the field that is compared with the input of that name after the read; "" if the key has it or no
	// one owns the items.
	Owner string
	// Hydrate reads each found item by its primary key, because the place lacks returned fields, or is a marker.
	Hydrate bool
	// Fields are the returned fields; nil means all.
	Fields []string
}

// Open reports whether a walk may be asked without bounds.
func (r *Read) Open() bool { return r.Since != "" || r.Back > 0 }

// PlaceKind is the sort of a place.
type PlaceKind uint8

// The places.
const (
	KeyPlace    PlaceKind = iota // the item itself
	CopyPlace                    // a copy
	EntryPlace                   // an entry of the item, or of a copy, in an index
	MarkerPlace                  // a marker, from which the item is read
)

// Place is where a read finds items.
type Place struct {
	Kind  PlaceKind
	Index string // of an entry
	Entry string // the name of the entry, of several in the index
	// Copy names the copy, if it is the place or has the entry; Marker likewise.
	Copy, Marker string
}

// Comparison is how a Query bounds a sort key attribute.
type Comparison uint8

// The comparisons.
const (
	Equal Comparison = iota
	BeginsWith
	Between
	Within
)

// SortCondition bounds one sort key attribute.
type SortCondition struct {
	Attribute
	Comparison Comparison
	// Known is the start of the template, whose fields are all inputs.
	Known Template
	// Next is the following field, of which the caller passes a prefix (BeginsWith) or bounds (Between); its Field is "" if none
	// is passed.
	Next Part
	// Open is set if the template continues after Next, or after To, so that an upper bound must include all continuations.
	Open bool
	// To is the upper bound if the comparison is Within, whose fields are all inputs; Known is the lower one. Either may be
	// empty, which means no bound.
	To Template
}

// Input is the input of a call of a pattern.
type Input struct {
	Values Values
	// From and To bound the field of a Range, inclusively; nil does not.
	From, To types.AttributeValue
	// Lines are the lines for which a write repeats steps.
	Lines []Values
}

// Collection is a pattern that returns items of several entities from one partition.
type Collection struct {
	Pattern string
	Table   *Table
	Index   string
	Members []Member
	// Root is the member with a single item, to which the others belong; -1 if there is none.
	Root       int
	By         []string
	PK         []KeyAttribute
	SK         []SortCondition
	Sort       []Attribute
	Reverse    bool
	Consistent bool
	Page       int // 0 reads all
	// Owner is a field of the root, or of every member if there is no root; see Read.
	Owner string
	// RootApart means that the root need not come first: it is read before the first page, with its own Query. RootSK bounds that
	// Query; it has conditions if the root's sort key consists of inputs alone.
	RootApart bool
	RootSK    []SortCondition
}

// Member is an entity of a collection, at a place.
type Member struct {
	Entity *Entity
	Place  Place
	// Fields are the fields of the place; nil means all.
	Fields []string
}

// Found is an item of a collection.
type Found struct {
	Member int
	Values Values
}

// Write is a pattern that changes items as a whole or not at all, unless it is a batch.
type Write struct {
	Pattern string
	Steps   []Step
	// Params are the inputs with their types, those of lines under LineParams.
	Params, LineParams []Param
	// Lines says whether the write takes lines, MaxLines their maximum number; 0 means the limit of a transaction, and no limit
	// for a batch.
	Lines    bool
	MaxLines int
	// Batch sends the write as BatchWriteItem requests, for any number of lines: puts and deletes without conditions, of entities
	// that have no copies or markers and are not counted. What remains undone is reported as an UnfinishedError.
	Batch      bool
	Idempotent *Idempotent
}

// Param is an input of a write.
type Param struct {
	Name     string
	Type     Type
	Optional bool
	// Removable means that NULL is a valid value, which removes a patched field.
	Removable bool
	MaxBytes  int
	// MinBytes is the least that a text has.
	MinBytes int
}

// Action is the operation of a step.
type Action uint8

// The actions; see package design.
const (
	Create Action = iota + 1
	Put
	Update
	Upsert
	Delete
	Check
)

// Step is one action on one item, or on one for each line.
type Step struct {
	Action Action
	Entity *Entity
	Each   bool
	// Name is the step's name in errors; "" if it only has its number.
	Name string
	// By sets key fields that differ from the input of the same name.
	By  []Assignment
	Set []Assignment
	Add []Assignment
	// Init sets fields that are absent.
	Init []Assignment
	// Remove lists the paths to remove.
	Remove [][]string
	// Drop takes members out of sets; Append and Prepend put elements behind and before lists.
	Drop, Append, Prepend []Assignment
	// Patch lists fields that take the inputs of their names, if present: other fields stay unchanged, and NULL removes an
	// optional one.
	Patch []string
	When  *Condition
	// Else lists the errors of a rejection: the first whose condition holds for the rejecting item.
	Else []Else
}

// Assignment gives a field, or a step into one (address, city; lines, [0], quantity; reactions, :kind, an input or :line.kind), a value.
type Assignment struct {
	Path  []string
	Value []Term
}

// TermKind is the source of a term's value.
type TermKind uint8

// The kinds of terms.
const (
	ConstantTerm TermKind = iota + 1
	InputTerm             // an input of the write: Name
	LineTerm              // an input of the line: Name
	FieldTerm             // a field of the item as it is: Path
	NowTerm               // the time of the call, in the field's type
	NewIDTerm             // a new id of the field's type
	SumTerm               // of the lines' inputs: Name
	CountTerm             // of the lines
)

// Term is an operand of a sum, most often the only one.
type Term struct {
	Kind     TermKind
	Negative bool
	Constant types.AttributeValue
	Name     string
	Path     []string
}

// Else is a declared error with its condition; nil is always.
type Else struct {
	Err  error
	When *Condition
}

// Idempotent says how a retry of a write is recognized: by a record created in the same transaction. The record's fields have
// the values of inputs and created items with the same names; its field "request" has the fingerprint of the write and
// Request, and a time without another source is the time of the call.
type Idempotent struct {
	Record *Entity
	// Request lists the inputs that must be the same in a retry; "lines" means all lines. Empty means that nothing is compared.
	Request []string
	// Reused is the error of a retry with another request; it wraps ErrReused.
	Reused error
}

// Outcome is the result of a write.
type Outcome struct {
	// Items are the items of the steps, in order: what a create or put stored, and the state after an update or upsert if the
	// response has it; nil otherwise. If the item was read first, fields that the write does not depend on have the values read.
	// A step for each line has one item per line.
	Items [][]Values
	// Replayed is set for a retry: nothing was done, and Record is the record of the first request.
	Replayed bool
	Record   Values
}

// Record is an entity's item as plain values, for Load.
type Record struct {
	Entity *Entity
	Values Values
}
