// Package plan decides how DynamoDB serves the reads and collections of a design: the place, the request, and why other
// places are not suitable.
//
// # Model
//
// A place (Place) is one kind of item in one physical order: an entity's items in the table, copies of them, their
// entries in an index, or markers. A read declares what is known (by, prefix, range) and what is wanted (order, fields).
// A place serves a read if
//
//   - every field of its partition key is known, since DynamoDB requires equality there. A field that only selects a
//     shard need not be known: then every shard is queried, and the results are merged;
//   - the other known fields are a prefix of its sort key: equalities, then at most one prefix or range;
//   - the fields after them are in the wanted order;
//   - it is as consistent and complete as required.
//
// Known fields elsewhere can only be filtered after the read, and discarded items are paid for. Places that do not serve
// the read are near misses, each with all its deficiencies, for findings and explanations.
//
// # Invariants
//
//	I1  A plan is a pure function of the design: the same design gives the same plans in the same order.
//	I2  A plan that is not a Scan is a request that DynamoDB accepts.
package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
)

// Operation is the request that serves a read.
type Operation string

// The operations.
const (
	GetItem Operation = "GetItem"
	Query   Operation = "Query"
	Scan    Operation = "Scan"
	// BatchGetItem reads one item for each of many keys.
	BatchGetItem Operation = "BatchGetItem"
)

// Plan describes how a read is served.
type Plan struct {
	Operation Operation
	Place     Place
	// Fanout is the number of partitions that are queried: 1, or the shards of the partition key.
	Fanout int
	// SK is the request's condition on each sort key attribute, for those that have one.
	SK []SortCondition
	// Reverse reads in descending order of the sort key.
	Reverse bool
	// Consistent asks for a strongly consistent read.
	Consistent bool
	// Filter is evaluated after the read; nil if there is none. FilterBy are known fields that only a filter can apply.
	// FilterRange and FilterPrefix are the fields with given bounds or prefixes that no key serves.
	Filter                    *design.Condition
	FilterBy                  []string
	FilterRange, FilterPrefix string
	// Limit is the number of items a request asks for; 0 if it has no limit.
	Limit int
	// Hydrate are the fields that the place lacks; each item must be read from the table for them.
	Hydrate []string
	// OwnerField is compared with the caller's own value after the read, or is already in the key.
	OwnerField string
	OwnerInKey bool
	// Wanted means that the design asks for the Scan; otherwise it is the fallback for a read that nothing serves.
	Wanted bool
	// Count means that only a number is wanted; Select, that DynamoDB counts, because the request finds exactly the
	// items to be counted.
	Count, Select bool
	// Over is the layout of |date whose partitions are walked from bound to bound; "" if there is one partition. Since
	// and MostPeriods are those of the Request.
	Over        string
	Since       string
	MostPeriods int
	// loose means that, as far as the plan can tell, the request may find more than is asked for.
	loose bool
}

// Unserved reports whether no key serves the read.
func (p *Plan) Unserved() bool { return p.Operation == Scan && !p.Wanted }

// SortComparison is the kind of condition on one sort key attribute.
type SortComparison uint8

// The comparisons.
const (
	SortEqual SortComparison = iota
	SortBeginsWith
	SortBetween
)

// SortCondition bounds one sort key attribute: its template's first Parts parts are known, and of the next, a prefix
// (with Prefix) or bounds (with Range).
type SortCondition struct {
	Comparison SortComparison
	Template   *design.Template
	Parts      int
	Prefix     string // the field whose prefix is given
	Range      string // the field whose bounds are given
}

// Reason says why a place does not serve a read.
type Reason uint8

// The reasons, from those that rule a place out to those that only cost.
const (
	PartitionKeyUnknown  Reason = iota // a field of the partition key is not known
	PrefixInPartitionKey               // only a prefix of a field of the partition key is known
	RangeInPartitionKey
	NotEveryItem   // the index is sparse, and the read does not say that it wants only its items
	NoBucket       // its partition key has no period of the given time
	NoWholeKey     // keys are given, and it has none that determines one item
	NoSortPosition // prefix or range applies to a field that is not next in the sort key
	WrongOrder
	NotConsistent
	NotFresh      // the index lags more than the read allows
	BandRead      // the key has only the band of a known field, so the rest of the band is read and discarded
	PartRead      // the same for a shard, a prefix or a short hash
	FilterNeeded  // a known field is neither in the partition key nor next in the sort key
	FieldsMissing // they must be read from the table, item by item
	FansOut
)

// Shortfall is one respect in which a place does not serve a read.
type Shortfall struct {
	Reason Reason
	Fields []string
}

// String describes the deficiency.
func (l Shortfall) String() string {
	fields := "{" + strings.Join(l.Fields, "} {") + "}"
	switch l.Reason {
	case PartitionKeyUnknown:
		return "its partition key needs " + fields
	case PrefixInPartitionKey:
		return fields + " is in the partition key, which DynamoDB compares by equality, not by prefix"
	case RangeInPartitionKey:
		return fields + " is in the partition key, which DynamoDB compares by equality, not by range"
	case NotEveryItem:
		return "it does not contain every item"
	case NoBucket:
		return "its partition key has no |date or |band of " + fields
	case NoWholeKey:
		return "its primary key is not fully known"
	case NoSortPosition:
		return fields + " is not the next part of the sort key"
	case WrongOrder:
		return "it does not sort by " + fields
	case NotConsistent:
		return "a global index is only eventually consistent"
	case NotFresh:
		return "it can lag further behind than the read allows"
	case BandRead:
		return "its key only has the band of " + fields + ": the rest of the band is read, paid for and discarded"
	case PartRead:
		return "its key only has a part of " + fields + ": other items with the same part are read, paid for and discarded"
	case FilterNeeded:
		return fields + " can only be filtered after the read, and discarded items are paid for"
	case FieldsMissing:
		return "it does not include " + fields
	case FansOut:
		return "every shard must be queried"
	}
	return ""
}

// Miss is a place that was not chosen, with its deficiencies; none if it would serve as well.
type Miss struct {
	Place Place
	Lacks []Shortfall
	// Plan is the plan at that place; nil if it is impossible.
	Plan *Plan
}

// Result is the planner's result for a read.
type Result struct {
	Read *design.Read
	// Plan is never nil; a Scan where no place serves.
	Plan  *Plan
	Lacks []Shortfall // of the chosen place
	// Others are the other places, the nearest first.
	Others []Miss
}

// ForRead plans a read.
func ForRead(d *design.Design, r *design.Read) Result {
	e := d.Entity(r.Entity)
	if r.Scan {
		return scan(d, r)
	}
	var all []Miss
	for _, p := range Places(d, e) {
		if p.Marker != nil && (r.Many || p.Index != nil) {
			continue // a marker leads to one item, by its own key
		}
		all = append(all, match(d, p, r))
	}
	slices.SortStableFunc(all, func(a, b Miss) int { return cmp.Compare(a.rank(), b.rank()) })
	out := Result{Read: r}
	if i := slices.IndexFunc(all, func(m Miss) bool { return m.Plan != nil && (r.Via == "" || m.Place.Name == r.Via) }); i >= 0 {
		out.Plan, out.Lacks = all[i].Plan, all[i].Lacks
		if r.Count {
			out.Plan.Select = out.Plan.selects(d)
		}
		out.Others = slices.Delete(all, i, i+1)
		return out
	}
	out.Plan = &Plan{
		Operation: Scan, Place: Places(d, e)[0], Fanout: 1, Consistent: r.Consistent,
		Filter: r.Filter, FilterBy: r.By, FilterRange: cmp.Or(r.Range, r.Bucket), FilterPrefix: r.Prefix,
	}
	out.Others = all
	return out
}

// rank orders places: first those that serve the read, the best first; then the others, the nearest first.
func (m Miss) rank() int {
	rank := 0
	if m.Plan == nil {
		rank += 1 << 20
	}
	for _, l := range m.Lacks {
		rank += weights[l.Reason]
	}
	if m.Plan == nil {
		return rank
	}
	if m.Plan.Operation == Query {
		rank += 2
	}
	switch m.Place.Kind {
	case MarkerPlace:
		rank += 8 // two reads
	case EntryPlace:
		rank += 4
	case CopyPlace:
		rank++
	default:
	}
	return rank + m.Plan.Fanout - 1
}

// weights are the penalties of the reasons when places are compared.
var weights = [...]int{ //nolint:gochecknoglobals // a table
	PartitionKeyUnknown: 4096, PrefixInPartitionKey: 2048, RangeInPartitionKey: 2048, NotEveryItem: 4096, NoWholeKey: 2048, NoBucket: 4096,
	NoSortPosition: 1024, WrongOrder: 512, NotConsistent: 256, NotFresh: 256, FilterNeeded: 128, BandRead: 32, PartRead: 32, FieldsMissing: 64, FansOut: 16,
}
