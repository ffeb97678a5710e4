// Package diff classifies the changes between two designs: which are free, which DynamoDB carries out while serving
// requests, which need items to be rewritten, and which break existing data or programs.
//
// A change is classified by its effect on the data, and on programs that use the code of the old design. Data is compared by
// what is stored: a table, field or entity with another name only in the design is a change for programs. The cost of a
// backfill is estimated from the volumes of the new design, and includes the index entries that DynamoDB writes with the
// items.
package diff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/align"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// Class says what a change requires.
type Class string

// The classes, from the lightest.
const (
	Free       Class = "free"        // existing data is not affected
	Setting    Class = "setting"     // a setting of the table, effective immediately
	IndexBuild Class = "index build" // DynamoDB builds an index while it serves requests
	Backfill   Class = "backfill"    // items must be written again, with additional attributes
	Rewrite    Class = "rewrite"     // items must be moved to other keys
	Breaking   Class = "breaking"    // programs or data of the old design do not fit the new one
)

// order ranks the classes, the lightest first.
func (c Class) order() int {
	return slices.Index([]Class{Free, Setting, IndexBuild, Backfill, Rewrite, Breaking}, c)
}

// Change is one difference.
type Change struct {
	Class   Class  `json:"class"`
	Subject string `json:"subject"`
	Message string `json:"message"`
	// Items is the number of items that must be written, WriteUnits the cost in units, Cost the same on demand in
	// dollars.
	Items      float64    `json:"items,omitempty"`
	WriteUnits float64    `json:"writeUnits,omitempty"`
	Cost       float64    `json:"cost,omitempty"`
	Pos        design.Pos `json:"pos,omitzero"` // in the new design; zero if the object was removed
}

// Designs returns the changes from one design to another, the heaviest class first, then in the order of the text.
func Designs(before, after *design.Design) []Change {
	names := align.To(before, after, "Old")
	d := &differ{old: names.Design, now: after, names: names, before: before}
	d.ran, _ = lower.Lower(before) // check reports patterns that cannot be run
	d.runs, _ = lower.Lower(after)
	d.tables()
	d.entities()
	d.enums()
	d.structures()
	d.patterns()
	slices.SortStableFunc(d.changes, func(a, b Change) int { return cmp.Compare(b.Class.order(), a.Class.order()) })
	return d.changes
}

// Breaks reports whether any of the changes is breaking.
func Breaks(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Class == Breaking })
}

type differ struct {
	moves map[string]bool // the tables, by name, whose items all move; the move includes the cost
	// old is the old design in the names of the new one; names has the original ones, and before the patterns.
	old, now, before *design.Design
	names            *align.Names
	// What programs of the designs run; patterns that cannot be run are missing.
	ran, runs *lower.Program
	changes   []Change
}

func (d *differ) add(c Class, subject string, p design.Pos, format string, args ...any) *Change {
	d.changes = append(d.changes, Change{Class: c, Subject: subject, Message: fmt.Sprintf(format, args...), Pos: p})
	return &d.changes[len(d.changes)-1]
}

// pairs calls both for objects in both lists, matched by name, and added and removed for the others.
func pairs[T any](old, now []*T, name func(*T) string, both func(o, n *T), added, removed func(*T)) {
	named := func(list []*T, want string) *T { return find(list, func(x *T) bool { return name(x) == want }) }
	for _, n := range now {
		if o := named(old, name(n)); o != nil {
			both(o, n)
		} else {
			added(n)
		}
	}
	for _, o := range old {
		if named(now, name(o)) == nil {
			removed(o)
		}
	}
}

func (d *differ) enums() {
	pairs(d.old.Enums, d.now.Enums, func(e *design.Enum) string { return e.Name },
		func(o, n *design.Enum) {
			for _, v := range n.Values {
				if !slices.Contains(o.Values, v) {
					d.add(Free, n.Name, n.Pos, "the value %q is new; programs with the old design preserve it", v)
				}
			}
			for _, v := range o.Values {
				if !slices.Contains(n.Values, v) {
					d.add(Breaking, n.Name, n.Pos, "the value %q was removed, but items may contain it", v)
				}
			}
			d.renamedType(o, n.Name, n.Pos)
		},
		func(*design.Enum) {}, func(*design.Enum) {})
}

// called is the name of an object of the old design there.
func (d *differ) called(x any, name string) string { return cmp.Or(d.names.Was(x), name) }

// renamedType reports an enumeration or a structure with another name.
func (d *differ) renamedType(o any, now string, p design.Pos) {
	if was := d.names.Was(o); was != "" {
		d.add(Breaking, was, p, "the type is now called %s: stored values do not change, but programs must be compiled with the new name", now)
	}
}
