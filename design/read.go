package design

import (
	"fmt"
	"slices"
	"time"
)

// Read is a query for items of one entity: it declares what is known and what is wanted.
type Read struct {
	Name   string `json:"name"`
	Doc    string `json:"doc,omitempty"`
	Entity string `json:"entity"`
	// Many distinguishes a list from at most one item. Count returns only the number of items; Scan reads the whole place.
	Many  bool `json:"many,omitempty"`
	Count bool `json:"count,omitempty"`
	Scan  bool `json:"scan,omitempty"`
	// Each returns one item for each of many keys. Keys declares their number; nil if it is not declared.
	Each bool   `json:"each,omitempty"`
	Keys *Lines `json:"keys,omitempty"`
	// By are the fields whose values the caller passes.
	By []string `json:"by,omitempty"`
	// Prefix is a field of which the caller passes a prefix; Range, one of which the caller passes a lower and an upper
	// bound, both optional.
	Prefix string `json:"prefix,omitempty"`
	Range  string `json:"range,omitempty"`
	// Bucket is a time field, or a whole number. The caller passes any moment, and the read finds all items of the
	// period that contains it: the day, if the partition key has |date(yyyy-MM-dd); or any number, and finds those of
	// its
	// |band.
	Bucket string `json:"bucket,omitempty"`
	// Over is the period of the partitions that a Range walks, from bound to bound: year, month, day or hour. Buckets
	// is the number of periods in a call; nil if the design does not say.
	Over    string `json:"over,omitempty"`
	Buckets *Lines `json:"buckets,omitempty"`
	// Since is the time before which there is nothing, 2024-01-31 or 2024-01-31T10:00:00Z, or a duration before now,
	// 90d: with it, a walk Over periods does not need bounds; "" if it does. See Floor.
	Since string  `json:"since,omitempty"`
	Order []Order `json:"order,omitempty"`
	// Filter is a condition on the returned items, evaluated after the read.
	Filter *Condition `json:"filter,omitempty"`
	// Returns are the fields that the caller needs; empty means all that the place has.
	Returns []string `json:"returns,omitempty"`
	// Page is the number of items per page, Limit the total number of items; 0 means no limit.
	Page  int `json:"page,omitempty"`
	Limit int `json:"limit,omitempty"`
	// Segments is the number of parallel segments of a Scan; 0 means one.
	Segments int `json:"segments,omitempty"`
	// Consistent asks for a strongly consistent read. FreshMillis is the maximum staleness of the result in
	// milliseconds; 0 allows any.
	Consistent  bool `json:"consistent,omitempty"`
	FreshMillis int  `json:"freshMillis,omitempty"`
	// Owner is the field that must match the caller: items of other owners count as not found.
	Owner string `json:"owner,omitempty"`
	// Shared is the reason why other tenants' items may be returned; "" if they may not.
	Shared string `json:"shared,omitempty"`
	// Via names the index, copy or marker that serves the read; the planner verifies it. "" leaves the choice to the
	// planner.
	Via    string       `json:"via,omitempty"`
	Rate   float64      `json:"rate,omitempty"` // per second
	Accept []Acceptance `json:"accept,omitempty"`
	Pos    Pos          `json:"-"`
}

// Given returns the fields whose values the caller passes: By and Bucket.
func (r *Read) Given() []string {
	if r.Bucket == "" {
		return r.By
	}
	return append(slices.Clone(r.By), r.Bucket)
}

// Floor returns Since as a time or as a duration before now; zero if it is not declared.
func (r *Read) Floor() (at time.Time, back time.Duration, err error) {
	if r.Since == "" {
		return at, 0, nil
	}
	if back, err := lengthOfTime(r.Since); err == nil {
		return at, back, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err = time.Parse(layout, r.Since); err == nil && at.UnixMilli() >= 0 {
			return at.UTC(), 0, nil
		}
	}
	return time.Time{}, 0, fmt.Errorf("%q is not a date since 1970, a time, or a duration from a second to 50 years", r.Since)
}

// Order is one field of a sort order.
type Order struct {
	Field string `json:"field"`
	Desc  bool   `json:"desc,omitempty"`
}

// Collection is a query for items of several entities in one partition, served by one Query.
type Collection struct {
	Name string   `json:"name"`
	Doc  string   `json:"doc,omitempty"`
	Of   []string `json:"of"` // entities
	By   []string `json:"by,omitempty"`
	// Root is the entity with a single item, to which the others belong.
	Root   string `json:"root,omitempty"`
	Owner  string `json:"owner,omitempty"`
	Shared string `json:"shared,omitempty"`
	Via    string `json:"via,omitempty"`
	// From and To bound the sort keys that are read by prefix: from this text on, and up to the keys that begin with
	// To. Their fields are those of By. nil means the bounds that follow from the members' templates.
	From *Template `json:"from,omitempty"`
	To   *Template `json:"to,omitempty"`
	// Order is "asc" or "desc", by the sort key; "" is the direction in which the root comes first, ascending by
	// default.
	Order       string       `json:"order,omitempty"`
	Consistent  bool         `json:"consistent,omitempty"`
	FreshMillis int          `json:"freshMillis,omitempty"` // see Read
	Page        int          `json:"page,omitempty"`
	Rate        float64      `json:"rate,omitempty"`
	Accept      []Acceptance `json:"accept,omitempty"`
	Pos         Pos          `json:"-"`
}
