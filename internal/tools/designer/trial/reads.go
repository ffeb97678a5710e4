package trial

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// maxEverySize is the length of results up to which every page size is tried; for longer ones only some are.
const maxEverySize = 24

// maxBatch is the number of inputs in a batch: more than one BatchGetItem accepts.
const maxBatch = 130

// The budget of a pattern: requests for pages, and bytes of large results. Walks over everything are always made.
const (
	requestBudget = 900
	byteBudget    = 10 << 20
	largeResult   = 128 << 10
)

// reading tries a read.
type reading struct {
	truth

	trial  *Trial
	rng    *rand.Rand
	budget int
	bytes  int
}

// read tries a read with all questions.
func (t *Trial) read(ctx context.Context, r *lower.Read, out *Result) error {
	w, err := t.readWorld(ctx)
	if err != nil {
		return err
	}
	g := reading{
		truth: newTruth(t.design, r, t.now), trial: t, budget: requestBudget, bytes: byteBudget,
		rng: rand.New(rand.NewPCG(t.options.Seed, seedOf(r.Design.Name))), //nolint:gosec // reproducible from the seed
	}
	if broken := g.unorderable(); broken != "" {
		out.fail(Failure{Pattern: out.Name, Kind: Refused, Got: broken, Want: "an order by a field of the items"})
		return nil
	}
	if t.nothing(r.Plan.Place.Entity, out) {
		return nil
	}
	questions := g.questions(t.generator, w.records, g.rng)
	if r.Design.Each {
		for _, p := range g.batches(questions) {
			t.make(ctx, w, out, p)
		}
		g.trial.declare(r, out)
		return nil
	}
	for i, in := range questions {
		if !g.complete(in) || !storable(r.Plan.Place, in) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, p := range g.probes(in, i == 0, w) {
			t.make(ctx, w, out, &p)
		}
	}
	if !r.Design.Many && r.Run.Key != nil {
		if p := g.batch(questions, maxBatch); p != nil {
			t.make(ctx, w, out, p)
		}
	}
	g.trial.declare(r, out)
	return nil
}

// nothing reports whether no item can be stored, so that there is nothing to read.
func (t *Trial) nothing(e *design.Entity, out *Result) bool {
	for _, r := range t.none {
		if r.entity == e {
			out.fail(Failure{Pattern: out.Name, Kind: Refused, Got: r.Error(), Want: "items to read"})
			return true
		}
	}
	return false
}

// unorderable describes a read that orders by a field that its items do not have; "" for others.
func (g *reading) unorderable() string {
	for _, o := range g.read.Design.Order {
		if g.read.Plan.Place.Entity.Field(o.Field) == nil {
			return fmt.Sprintf("%s has no field %s to sort the list by", g.read.Design.Entity, o.Field)
		}
	}
	return ""
}

// probes are the calls for one question.
func (g *reading) probes(in table.Input, first bool, w *world) []probe {
	switch {
	case !g.read.Design.Many:
		return []probe{g.probe(in, "one", g.one(in))}
	case g.read.Design.Count:
		return []probe{g.probe(in, "count", g.count(in))}
	}
	want, _ := g.expected(w.records, in) // the call reports an invalid question
	n, bytes := len(want), 0
	for _, r := range want {
		bytes += w.sizes[r]
	}
	out := []probe{g.probe(in, "all", g.all(in, g.read.Run))}
	if bytes > largeResult {
		if g.bytes -= bytes; g.bytes < 0 {
			return nil
		}
		if g.bytes -= 3 * bytes; g.bytes < 0 {
			return out
		}
	}
	out = append(out, g.probe(in, "the first page", g.measured(in, 0)))
	if g.read.Run.Limit > 0 {
		return append(out, g.limits(in, n, first)...)
	}
	out = append(out, g.probe(in, fmt.Sprintf("a page of %d", table.MaxPage), g.measured(in, table.MaxPage)))
	for _, size := range g.sizes(n, first) {
		out = append(out, g.probe(in, fmt.Sprintf("pages of %d", size), g.pages(in, g.read.Run, size)))
	}
	return out
}

func (g *reading) probe(in table.Input, call string, run func(context.Context, *world) (*mismatch, error)) probe {
	names := append(slices.Clone(g.read.Design.Given()), g.read.Design.Owner, g.read.Design.Prefix)
	for _, input := range g.read.Inputs {
		names = append(names, input.Name)
	}
	return probe{given: describe(in, names, g.read.Design.Range), call: call, run: run, names: g.about(), at: &g.read.Plan.Place}
}

// limits ask for every limit up to more items than exist, at once and in pages; for a long result, only for the smallest
// and the greatest.
func (g *reading) limits(in table.Input, n int, first bool) []probe {
	var out []probe
	for limit := 1; limit <= n+1; limit++ {
		if limit > maxEverySize && limit < n-1 || !first && limit > 3 && limit < n-1 && g.rng.IntN(4) > 0 {
			continue
		}
		run := *g.read.Run
		run.Limit = limit
		out = append(out, g.probe(in, fmt.Sprintf("limit %d", limit), g.all(in, &run)))
		if size := 1 + g.rng.IntN(min(limit, table.MaxPage)); size < limit && g.spend(limit/size+1) {
			out = append(out, g.probe(in, fmt.Sprintf("limit %d in pages of %d", limit, size), g.pages(in, &run, size)))
		}
	}
	return out
}

// sizes are the page sizes for a result of n items: all from 1 to n + 1 for a short one, some for a longer one.
func (g *reading) sizes(n int, first bool) []int {
	var out []int
	switch {
	case n <= maxEverySize && g.spend(4*n+2):
		for size := 1; size <= n+1; size++ {
			out = append(out, size)
		}
		return out
	case first:
		out = []int{1, 2, 3, n / 3, n / 2, n/2 + 1, n - 1, n, n + 1, g.read.Run.Page}
	default:
		out = []int{2 + g.rng.IntN(max(n, 1)), n - 1, n, n + 1}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(size int) bool { return size < 1 || size > table.MaxPage || size < n && !g.spend(n/size+1) })
}

// spend takes requests from the budget, if there are enough.
func (g *reading) spend(requests int) bool {
	requests *= max(1, g.read.Plan.Fanout)
	if requests > g.budget {
		return false
	}
	g.budget -= requests
	return true
}

// all reads the whole result, up to the read's limit.
func (g *reading) all(in table.Input, run *table.Read) func(context.Context, *world) (*mismatch, error) {
	return func(ctx context.Context, w *world) (*mismatch, error) {
		w.client.take()
		l := listing{truth: g.truth, records: w.records, in: in, limit: run.Limit}
		for v, err := range w.db.All(ctx, run, in) {
			if err != nil {
				return nil, err
			}
			l.got = append(l.got, v)
		}
		m, err := l.judge()
		if over := g.overread(w, in, w.client.take()); m != nil {
			m.also = over
		} else {
			m = over
		}
		return m, err
	}
}

// measured reads a page, of the pattern's own size if size is 0, and compares the consumed capacity with the cost model.
func (g *reading) measured(in table.Input, size int) func(context.Context, *world) (*mismatch, error) {
	return func(ctx context.Context, w *world) (*mismatch, error) {
		w.client.take()
		page, err := w.db.Page(ctx, g.read.Run, in, table.PageOptions{Limit: size})
		if err != nil {
			return nil, err
		}
		seen := w.client.take()
		l := listing{truth: g.truth, records: w.records, in: in, got: page.Items, limit: g.read.Run.Limit}
		if page.Next != "" {
			l.limit = len(page.Items)
		}
		if l.limit > 0 || page.Next == "" {
			if m, err := l.judge(); m != nil || err != nil {
				return m, err
			}
		}
		return g.consumed(w, in, seen, size == 0), nil
	}
}

// pages reads the result in pages of a size.
func (g *reading) pages(in table.Input, run *table.Read, size int) func(context.Context, *world) (*mismatch, error) {
	return func(ctx context.Context, w *world) (*mismatch, error) {
		l := listing{truth: g.truth, records: w.records, in: in, limit: run.Limit}
		after, number := table.Cursor(""), 0
		for {
			page, err := w.db.Page(ctx, run, in, table.PageOptions{Limit: size, After: after})
			if err != nil {
				return nil, err
			}
			number++
			if len(page.Items) > size || len(page.Items) < size && page.Next != "" && g.full() {
				return &mismatch{
					kind: WrongPage, got: fmt.Sprintf("page %d has %d items", number, len(page.Items)), want: fmt.Sprintf("%d, since it is not the last", size),
				}, nil
			}
			l.got = append(l.got, page.Items...)
			if after = page.Next; after == "" {
				return l.judge()
			}
			if number > len(w.records)+10*maxEverySize {
				return &mismatch{kind: WrongPage, got: fmt.Sprintf("there is a page after page %d", number), want: "an end"}, nil
			}
		}
	}
}

// full reports whether every page but the last is full: nothing is discarded after the read, and no page ends early
// because it has walked far enough.
func (g *reading) full() bool {
	return !g.read.Design.Scan && !g.read.Run.Open() && g.read.Run.Filter == nil && len(g.read.Run.FilterBy) == 0 && g.read.Run.Owner == "" && !g.read.Run.Hydrate
}

// one reads one item.
func (g *reading) one(in table.Input) func(context.Context, *world) (*mismatch, error) {
	return func(ctx context.Context, w *world) (*mismatch, error) {
		w.client.take()
		got, err := w.db.Get(ctx, g.read.Run, in)
		absent := errors.Is(err, table.ErrNotFound)
		if err != nil && !absent {
			return nil, err
		}
		if m, err := g.judgeOne(w, in, got); m != nil || err != nil {
			return m, err
		}
		seen := w.client.take()
		if m := g.overread(w, in, seen); m != nil || absent {
			return m, nil
		}
		return g.consumed(w, in, seen, true), nil
	}
}

// judgeOne compares one item, nil for none, with the truth.
func (g *reading) judgeOne(w *world, in table.Input, got table.Values) (*mismatch, error) {
	want, err := g.expected(w.records, in)
	if err != nil {
		return nil, err
	}
	switch {
	case got == nil && len(want) == 0:
		return nil, nil //nolint:nilnil // it is absent, as expected
	case got == nil:
		return (&mismatch{kind: WrongSet, got: "not found", want: g.line(want[0].values)}).about(want[0]), nil
	case len(want) > 1:
		return (&mismatch{
			kind: Ambiguous, got: g.line(got), want: fmt.Sprintf("at most one item, but there are %d, and which one is returned is undefined", len(want)),
		}).about(want[:2]...), nil
	}
	l := listing{truth: g.truth, records: w.records, in: in, got: []table.Values{got}}
	m, err := l.judge()
	if m != nil && len(want) == 0 {
		m.want = "not found"
	}
	return m, err
}

// count counts, and compares the number and the consumed capacity.
func (g *reading) count(in table.Input) func(context.Context, *world) (*mismatch, error) {
	return func(ctx context.Context, w *world) (*mismatch, error) {
		w.client.take()
		n, err := w.count(ctx, g.read.Run, in)
		if err != nil {
			return nil, err
		}
		want, err := g.expected(w.records, in)
		if err != nil {
			return nil, err
		}
		if n != len(want) {
			return (&mismatch{kind: WrongSet, got: fmt.Sprintf("%d items", n), want: fmt.Sprintf("%d items", len(want))}).about(want...), nil
		}
		seen := w.client.take()
		if m := g.overread(w, in, seen); m != nil {
			return m, nil
		}
		return g.consumed(w, in, seen, true), nil
	}
}

// batches are calls with few and with many keys, some of them repeated.
func (g *reading) batches(questions []table.Input) []*probe {
	var out []*probe
	for from := 0; from < len(questions); {
		n := min(1+g.rng.IntN(5), len(questions)-from)
		if p := g.batch(questions[from:from+n], 0); p != nil {
			out = append(out, p)
		}
		from += n
	}
	if p := g.batch(questions, maxBatch); p != nil {
		out = append(out, p)
	}
	return out
}

// consumedKeys compares the capacity that a batch has consumed with the cost model: each distinct key is priced once.
func (g *reading) consumedKeys(w *world, in []table.Input, seen traffic) *mismatch {
	p := g.read.Plan
	met, formula, measured := map[string]bool{}, 0.0, 0.0
	for _, one := range in {
		names := []string{}
		for _, name := range g.read.Design.By {
			for _, part := range occurrences(p.Place, name) {
				names = append(names, through(part.Funcs, scalarText(one.Values[name])))
			}
		}
		key := fmt.Sprintf("%q", names)
		if met[key] {
			continue
		}
		met[key] = true
		reached, bytes := g.reached(w, one), 0
		if len(reached) > 0 {
			bytes = w.size(p.Place, w.at(reached[0], p.Place))
		}
		formula += readUnits(p, p.Place, plan.GetItem, bytes)
	}
	for _, c := range seen.read {
		measured += units(&c)
	}
	if g.read.Run.Hydrate {
		return nil // its items are read again
	}
	g.trial.meter(g.read.Design.Name).add(measured, formula)
	if measured == formula {
		return nil
	}
	return &mismatch{kind: Capacity, got: fmt.Sprintf("%g read units consumed", measured), want: fmt.Sprintf("%g, by the cost model, for the requested keys", formula)}
}

// batch reads one item for each of many inputs, some of them repeated.
func (g *reading) batch(questions []table.Input, most int) *probe {
	var in []table.Input
	for _, q := range questions {
		if g.complete(q) && storable(g.read.Plan.Place, q) {
			in = append(in, q)
		}
	}
	if limit := g.read.Run.MaxKeys; limit > 0 {
		in, most = in[:min(len(in), limit)], min(most, limit)
	}
	if len(in) == 0 {
		return nil
	}
	for len(in) < most {
		in = append(in, in[g.rng.IntN(len(in))])
	}
	g.rng.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
	return &probe{given: fmt.Sprintf("%d inputs", len(in)), call: "batch", names: g.about(), at: &g.read.Plan.Place, run: func(ctx context.Context, w *world) (*mismatch, error) {
		w.client.take()
		got, err := w.db.Batch(ctx, g.read.Run, in)
		if err != nil {
			return nil, err
		}
		seen := w.client.take()
		if len(got) != len(in) {
			return &mismatch{kind: WrongSet, got: fmt.Sprintf("%d results", len(got)), want: fmt.Sprintf("%d, one per input", len(in))}, nil
		}
		for i := range in {
			if m, err := g.judgeOne(w, in[i], got[i]); m != nil || err != nil {
				if m != nil {
					m.detail = append(m.detail, fmt.Sprintf("it is input %d: %s", i+1, g.probe(in[i], "", nil).given))
				}
				return m, err
			}
		}
		if g.read.Design.Each {
			return g.consumedKeys(w, in, seen), nil
		}
		return nil, nil //nolint:nilnil // all are correct
	}}
}

// overread describes items that a Query has examined although they were not asked for: with the same prefix, or of other
// entities.
func (g *reading) overread(w *world, in table.Input, seen traffic) *mismatch {
	if g.read.Run.Key != nil || g.read.Run.Scan {
		return nil
	}
	reached := map[string]bool{}
	n := 0
	run := g.read.Run.Entity.Table
	for _, r := range w.records {
		if !g.reaches(r, in) {
			continue
		}
		if it := w.at(r, g.read.Plan.Place); it != nil {
			reached[keyOf(run, it)] = true
			n++
		}
	}
	m := &mismatch{
		kind: Overread, got: fmt.Sprintf("the request examines %d items", seen.looked), want: fmt.Sprintf("only the %d requested", n),
	}
	for _, it := range seen.found {
		if r := w.owner(run, it); r != nil && !reached[keyOf(run, it)] {
			m.got = fmt.Sprintf("the request also examines an item of %s, %s: %s", r.entity.Name, tableKey(run, it), showFields(r.values, plan.KeyFields(r.entity)))
			return m.about(r)
		}
	}
	if seen.looked > n {
		return m
	}
	return nil
}
