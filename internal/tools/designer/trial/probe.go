package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// probe is one call of a pattern whose answer is compared with the truth. It can be made in any world, so that one that
// fails can be made again with fewer items.
type probe struct {
	given string // what the pattern is asked with, for people
	call  string // how: "all", "pages of 3"
	run   func(ctx context.Context, w *world) (*mismatch, error)
	// names are the fields, beside those of keys, and at is the place that items are shown with.
	names []string
	at    *plan.Place
}

// try makes a probe. What fails for reasons of its own is a mismatch, too.
func (p *probe) try(ctx context.Context, w *world) *mismatch {
	m, err := p.run(ctx, w)
	if err != nil {
		return &mismatch{kind: Failed, got: err.Error(), want: "a result"}
	}
	return m
}

// describe is an input for people.
func describe(in table.Input, names []string, ranged string) string {
	var out []string
	for _, name := range distinct(names) {
		if v := in.Values[name]; v != nil {
			out = append(out, name+": "+show(v))
		}
	}
	if in.From != nil {
		out = append(out, ranged+" from "+show(in.From))
	}
	if in.To != nil {
		out = append(out, ranged+" to "+show(in.To))
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

// A failing probe is made again with fewer items as long as that does not take too long: each time counts for one, and for
// one more for so many items that must be stored for it.
const (
	shrinkings    = 400
	itemsPerCount = 40
)

// shrink removes items from a world as long as a probe fails in the same way, and tells the failure of what is left.
func shrink(ctx context.Context, w *world, p *probe, m *mismatch) (*mismatch, []*record) {
	records := w.records
	left := shrinkings
	fails := func(some []*record) *mismatch {
		left -= 1 + len(some)/itemsPerCount
		if left < 0 || len(some) == len(records) {
			return nil
		}
		smaller, err := newWorld(ctx, w.program, w.now, some, w.opener)
		if err != nil {
			return nil // it is not this failure
		}
		defer func() { _ = smaller.close() }() // nothing is in it
		smaller.requests = w.requests
		return p.try(ctx, smaller).of(m.kind)
	}
	keep := func(some []*record) bool {
		if found := fails(some); found != nil {
			records, m = some, found
			return true
		}
		return false
	}
	if len(m.concerned) > 0 {
		keep(slices.DeleteFunc(slices.Clone(records), func(r *record) bool { return !slices.Contains(m.concerned, r) }))
	}
	for size := (len(records) + 1) / 2; size > 0 && left > 0; size /= 2 {
		for from := 0; from < len(records) && left > 0; {
			if !keep(slices.Delete(slices.Clone(records), from, min(from+size, len(records)))) {
				from += size
			}
		}
	}
	return m, records
}

// failure is a failed probe for the report, with as few items as show it.
func (t *Trial) failure(ctx context.Context, w *world, pattern string, p *probe, m *mismatch) Failure {
	before := len(w.records)
	m, left := shrink(ctx, w, p, m)
	f := Failure{
		Pattern: pattern, Kind: m.kind, Given: p.given, Call: p.call, Got: m.got, Want: m.want, Detail: m.detail,
		Shrunk: fmt.Sprintf("%d of %d items are enough to reproduce it", len(left), before),
	}
	shown := left
	if len(shown) > maxShown && len(m.concerned) > 0 {
		shown = m.concerned
	}
	for _, r := range shown[:min(len(shown), maxShown)] {
		f.Items = append(f.Items, r.lines(p.names, p.at)...)
	}
	if more := len(shown) - maxShown; more > 0 {
		f.Items = append(f.Items, fmt.Sprintf("and %d more", more))
	}
	return f
}

// maxShown is how many items a failure shows.
const maxShown = 6
