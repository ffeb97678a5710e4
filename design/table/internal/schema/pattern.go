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
	// PK are the partition key's attributes of a Query. A field of a template that is no input is spread by |shard(n): all
	// partitions are asked, and their answers merged.
	PK []KeyAttribute
	SK []SortCondition
	// Sort are the key attributes that order the answer, as they are stored: what partitions are merged by.
	Sort       []Attribute
	Reverse    bool
	Consistent bool
	// Filter and FilterBy (fields that must equal inputs) are evaluated after the read.
	Filter   *Condition
	FilterBy []string
	// By are the inputs; all must be given. Prefix and Range are fields of which the caller may give a beginning or bounds.
	By            []string
	Prefix, Range string
	// Bucket is the input of which any value of a |band is given: all of the band is meant. "" if there is none, and for times.
	Bucket string
	// Over is the layout of |date whose partitions the Range walks one after another, from bound to bound; "" if there is one. They
	// are MaxBuckets at most.
	Over       string
	MaxBuckets int
	// Since is a time before which there is nothing, or Back how long ago that is: the bounds of Over may be left out then, and
	// the walk goes from there to now. A page walks MaxBuckets, and the next one goes on.
	Since string
	Back  time.Duration
	// Scan reads all of the place, in so many Segments at once; there are no PK, SK and By.
	Scan     bool
	Segments int
	// Count says that only the number of the items is wanted; Select, that the request finds just these, so that DynamoDB counts them.
	Count, Select bool
	// Each says that one item is wanted for each of many inputs.
	Each bool
	// MaxKeys is how many inputs a batch has at most; 0 is no bound.
	MaxKeys int
	// Page is how many items a page has if the caller does not say; Limit how many are returned in all. 0 is no bound.
	Page, Limit int
	// Owner is the field that is compared with the input of that name after the read; "" if the key has it or no
	// one owns the items.
	Owner string
	// Hydrate reads each found item by its primary key, for the place lacks fields that are returned; so does a marker.
	Hydrate bool
	// Fields are what is returned; nil is all.
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
	// Copy names the copy whose item or entry it is; Marker, the marker.
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
	// Known is the beginning of the template, all of whose fields are inputs.
	Known Template
	// Next is the field that follows, of which the caller gives a beginning (BeginsWith) or bounds (Between); its Field is
	// "" if none is given.
	Next Part
	// Open is set where the template goes on after Next, or after To, so that an upper bound must let all that follows pass.
	Open bool
	// To is the upper bound where the comparison is Within, all of whose fields are inputs; Known is the lower one. Either may be
	// empty, and does not bound then.
	To Template
}

// Input is what a pattern is asked with.
type Input struct {
	Values Values
	// From and To bound the field of a Range, inclusively; nil does not.
	From, To types.AttributeValue
	// Lines are what a write repeats steps for.
	Lines []Values
}

// Collection is a pattern whose answer has items of several entities from one partition.
type Collection struct {
	Pattern string
	Table   *Table
	Index   string
	Members []Member
	// Root is the member of which there is one, to which the others belong; -1 for none.
	Root       int
	By         []string
	PK         []KeyAttribute
	SK         []SortCondition
	Sort       []Attribute
	Reverse    bool
	Consistent bool
	Page       int // 0 reads all
	// Owner is a field of the root, or of every member where there is no root; see Read.
	Owner string
	// RootApart says that the root need not come first: it is read before the first page, by a Query of its own. RootSK bounds that;
	// it has conditions where the root's sort key is made of inputs alone.
	RootApart bool
	RootSK    []SortCondition
}

// Member is an entity of a collection, at a place.
type Member struct {
	Entity *Entity
	Place  Place
	// Fields are what the place has; nil is all.
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
	// Lines is whether the write takes lines, MaxLines the most it takes; 0 is what a transaction holds, and without end in a batch.
	Lines    bool
	MaxLines int
	// Batch makes the write BatchWriteItem requests, for lines without a bound: puts and deletes without conditions, of entities
	// that have neither copies nor markers and are not counted. What it leaves undone is an UnfinishedError.
	Batch      bool
	Idempotent *Idempotent
}

// Param is an input of a write.
type Param struct {
	Name     string
	Type     Type
	Optional bool
	// Removable says that NULL is a value, with which a patched field is removed.
	Removable bool
	MaxBytes  int
	// MinBytes is the least that a text has.
	MinBytes int
}

// Action is what a step does.
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
	// Name is what errors call the step by; "" where its number must do.
	Name string
	// By gives key fields their values, where the input of the field's name is not meant.
	By  []Assignment
	Set []Assignment
	Add []Assignment
	// Init gives fields values where there is nothing.
	Init []Assignment
	// Remove are the paths of what goes.
	Remove [][]string
	// Drop takes members out of sets; Append and Prepend put elements behind and before lists.
	Drop, Append, Prepend []Assignment
	// Patch are fields that have the values of the inputs of their names, where there are such: others stay as they are, and NULL
	// removes an optional one.
	Patch []string
	When  *Condition
	// Else are the errors of a refusal: the first whose condition holds for the item that refused.
	Else []Else
}

// Assignment gives a field, or a step into one (address, city; lines, [0], quantity; reactions, :kind, an input or :line.kind), a value.
type Assignment struct {
	Path  []string
	Value []Term
}

// TermKind is what a term takes its value from.
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

// Idempotent says how a repetition of a write is recognised: by a record that is created in the same transaction. The
// record's fields have the values of inputs and created items of the same names; its field "request" has the
// fingerprint of the write and Request, and a time that nothing else tells is that of the call.
type Idempotent struct {
	Record *Entity
	// Request are the inputs that must be the same in a repetition; "lines" are all lines. Empty compares nothing.
	Request []string
	// Reused is what a repetition with another request fails with; it wraps ErrReused.
	Reused error
}

// Outcome is what a write did.
type Outcome struct {
	// Items are the items of the steps, in their order: what a create or put stored, and what an update or upsert left
	// where the answer tells; nil otherwise. Where the item was read first, fields on which nothing depends are as they
	// were read. A step for each line has one for each line.
	Items [][]Values
	// Replayed is set where the request was a repetition: nothing was done, and Record is the record of the first.
	Replayed bool
	Record   Values
}

// Record is an entity's item as plain values, for Load.
type Record struct {
	Entity *Entity
	Values Values
}
