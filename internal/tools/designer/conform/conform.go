// Package conform compares the items of real tables with a design: it finds items that match no entity, and guarantees of
// the design that do not hold.
//
// # Model
//
//	items, pass 1 ──Recognize──▶ entity and place ──Items──▶ what should be there
//	                    │ nil                          │
//	                    ▼                              ▼
//	            diagnosis: what it           own item: index keys, at once
//	            looks like, and why          copies, markers, counters: ledger, by hashes
//	            it is not that                         │ what does not balance
//	items, pass 2 to 5 ────────────────────────────────▶ findings with both sides
//
// Checks of a single item are made as it is read. Pairs of items are compared by a ledger: an item records its expected
// copies and markers, and those record that they exist, each under a hash of the key with a hash of the content. Matching
// entries are dropped. The rest is checked again in a second pass over the tables, which has both items at hand to
// describe the difference. Items of a live table may be read before and after a write, so what does not match is a finding only
// if it is the same in two consecutive passes. What has changed is read again, in up to five passes.
//
// # Memory
//
// About 100 bytes for each copy or marker whose counterpart has not been read yet and for each item with a counter, and
// twice that for entries to check again; nothing for other items. Items themselves are kept only as examples.
//
// # Invariants
//
//	I1  Items that match the design cause no findings, in whatever order they are read.
//	I2  An invalid item does not cause findings for its related items: if its values cannot be
//	    trusted, its copies, markers and counters are not checked.
//	I3  Expired items, which can be removed at any moment, are counted but not compared with others.
//
// # Errors and concurrency
//
// Errors are those of the iterators. A Check runs on its caller's goroutine.
package conform

import (
	"iter"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
)

// Pass starts a new iteration over a table's items.
type Pass func() iter.Seq2[table.Item, error]

// Options configure a check.
type Options struct {
	// Examples is the maximum number of items that a finding shows.
	Examples int
	// Now determines which items have expired.
	Now time.Time
	// Persons are the identifiers of people who have been erased: IDs, addresses. An item that contains one is a finding,
	// unless the design keeps it.
	Persons []string
	// Limit is the maximum number of items to read from each table; 0 means all. If a table has more, the report says so
	// (Cut), and items are only checked individually, because related items may be among those that were not read.
	Limit int64
	// Progress is called from time to time with the number of the pass and of the items read; nil for none.
	Progress func(pass int, items int64)
}

// mostPasses is how often the tables are read at most.
const mostPasses = 5

// Kind is the kind of a finding.
type Kind string

// The kinds of findings, in the order in which they are reported.
const (
	Unknown       Kind = "unknown"        // no entity has such an item
	WrongValue    Kind = "value"          // it belongs to an entity, but a field is missing or has the wrong type
	WrongKey      Kind = "key"            // it belongs to an entity, but its key does not match its fields
	IndexMissing  Kind = "index-missing"  // the key attributes of an index are missing
	IndexStale    Kind = "index-stale"    // they do not match the fields
	IndexUnwanted Kind = "index-unwanted" // they should not exist
	CopyMissing   Kind = "copy-missing"   // an item without its copy
	CopyOrphan    Kind = "copy-orphan"    // a copy without its item
	CopyDiverged  Kind = "copy-diverged"  // a copy that differs from its item
	MarkerMissing Kind = "marker-missing" // an item without its marker: its value is not unique
	MarkerOrphan  Kind = "marker-orphan"  // a marker without its item: its value cannot be used
	MarkerForeign Kind = "marker-foreign" // a marker that belongs to another item
	WrongCount    Kind = "count"          // a counter that differs from the number of counted items
)

// kinds are all kinds in order.
func kinds() []Kind {
	return []Kind{
		Unknown, WrongValue, WrongKey, IndexMissing, IndexStale, IndexUnwanted, CopyMissing, CopyOrphan, CopyDiverged,
		MarkerMissing, MarkerOrphan, MarkerForeign, WrongCount, PersonLeft,
	}
}

// Report is the result of a check.
type Report struct {
	Design   string        `json:"design"`
	Tables   []TableReport `json:"tables"`
	Findings []*Finding    `json:"findings"`
	// Cut means that a table has more items than Options.Limit.
	Cut bool `json:"cut,omitempty"`
	// Unsettled is the number of copies, markers and counters that could not be compared, because they changed
	// between all passes.
	Unsettled int `json:"unsettled,omitempty"`
	// Kept are the items that contain identifiers in Options.Persons and stay by the design.
	Kept []KeptCount `json:"kept,omitempty"`
}

// TableReport counts the items of a table.
type TableReport struct {
	Table string `json:"table"`
	Items int64  `json:"items"`
	// Expired are items whose expiry time has passed but that still exist.
	Expired int64        `json:"expired"`
	Places  []PlaceCount `json:"places"`
	// Undeclared are attributes of items that no field of the design declares.
	Undeclared []AttributeCount `json:"undeclared,omitempty"`
}

// PlaceCount is the number of items of an entity at a place: key, or the name of a copy or marker.
type PlaceCount struct {
	Entity string `json:"entity"`
	Place  string `json:"place"`
	Items  int64  `json:"items"`
}

// AttributeCount is the number of items of an entity with an attribute.
type AttributeCount struct {
	Entity    string `json:"entity"`
	Attribute string `json:"attribute"`
	Items     int64  `json:"items"`
}

// Finding is one kind of defect in some items.
type Finding struct {
	Kind Kind `json:"kind"`
	// Subject is the affected object: a table, an entity (Order), a field or a place of one (Order.total, Order.byUser).
	Subject  string    `json:"subject"`
	Items    int64     `json:"items"`
	Examples []Example `json:"examples,omitempty"`
}

// Example is one affected item.
type Example struct {
	Table   string `json:"table"`
	Key     string `json:"key"` // PK=USER#1 SK=PROFILE
	Message string `json:"message"`
	// PrimaryKey is the key as attributes.
	PrimaryKey table.Item `json:"-"`
}

// Check compares the items of a design's tables with it. Tables for which no items are given are left out, with the counters
// that involve them.
func Check(d *design.Design, items map[string]Pass, o Options) (*Report, error) {
	c := newChecker(d, items, o)
	if err := c.pass(1); err != nil {
		return nil, err
	}
	if c.cut {
		return c.report(), nil
	}
	c.unsettled = c.ledger.settle() + c.counters.settle()
	for number := 2; c.unsettled > 0 && number <= mostPasses; number++ {
		if err := c.pass(number); err != nil {
			return nil, err
		}
		c.unsettled = c.compareClaims() + c.compareCounters()
	}
	return c.report(), nil
}
