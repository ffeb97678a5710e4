package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// probe is one call of a pattern whose result is compared with the truth. It can run in any world, so that a failing probe
// can be repeated with fewer items.
type probe struct {
	given string // the input, as readable text
	call  string // how: "all", "pages of 3"
	run   func(ctx context.Context, w *world) (*mismatch, error)
	// names are the fields, besides key fields, and at is the place with which items are shown.
	names []string
	at    *plan.Place
}

// try runs a probe. An unexpected error is a mismatch, too.
func (p *probe) try(ctx context.Context, w *world) *mismatch {
	m, err := p.run(ctx, w)
	if err != nil {
		return &mismatch{kind: Failed, got: err.Error(), want: "a result"}
	}
	return m
}

// describe is an input as readable text.
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

// A failing probe is repeated with fewer items within a budget: each run costs one, plus one for a number of items that
// must be stored for it.
const (
	shrinkings    = 400
	itemsPerCount = 40
)

// shrink removes items from a world as long as a probe fails in the same way, and returns the failure with the remaining
// items.
func shrink(ctx context.Context, w *world, p *probe, m *mismatch) (*mismatch, []*record) {
	records := w.records
	left := shrinkings
	fails := func(some []*record) *mismatch {
		left -= 1 + len(some)/itemsPerCount
		if left < 0 || len(some) == len(records) {
			return nil
		}
		smaller, err := newWorld(ctx, w.program, w.now, recounted(w.program, some), w.opener)
		if err != nil {
			return nil // it is a different failure
		}
		defer func() { _ = smaller.close() }() // nothing in it is needed
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

// failure is a failed probe for the report, with as few items as possible.
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

// maxShown is the number of items that a failure shows.
const maxShown = 6
