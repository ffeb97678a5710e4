package trial

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

const (
	// writeItems is the approximate number of items per entity before the writes: few, so that writes touch the same items.
	writeItems = 12
	// The number of rounds, and the number of runs of each write per round.
	writeRounds = 5
	writeCalls  = 8
	// manyCalls is the number of calls that the writes of a design share, if that is fewer; each write is called at least
	// twice.
	manyCalls = 120
)

// writes runs all writes in a random order, and compares all tables with the expected content after each.
func (t *Trial) writes(ctx context.Context) error {
	if t.written != nil {
		return nil
	}
	t.written = map[string]*Result{}
	if len(t.program.Writes) == 0 {
		return nil
	}
	g := &writing{trial: t, compared: map[*design.Step][]compared{}, rng: rand.New(rand.NewPCG(t.options.Seed, seedOf("writes")))} //nolint:gosec // reproducible from the seed
	defer g.end()
	var order []*lower.Write
	for _, w := range t.program.Writes {
		t.written[w.Design.Name] = &Result{
			Subject: Subject{WriteSubject, w.Design.Name}, Declared: cost.OfWrite(w.Plan).Units(),
		}
		impossible := false
		for _, s := range w.Design.Steps {
			makes := s.Action == design.Create || s.Action == design.Put
			impossible = impossible || makes && t.nothing(t.design.Entity(s.Entity), t.written[w.Design.Name])
		}
		for range max(2, min(writeCalls, manyCalls/len(t.program.Writes))) {
			if !impossible {
				order = append(order, w)
			}
		}
	}
	for round := range writeRounds {
		if err := g.round(ctx, uint64(round), order); err != nil {
			return err
		}
	}
	for _, out := range t.written {
		if m := t.meters[out.Name]; m == nil || m.calls == 0 {
			out.Note = fmt.Sprintf("none of %d calls succeeded: each was rejected, as expected or as reported above", out.Cases)
		} else {
			out.Note = fmt.Sprintf("%d of %d calls succeeded", m.calls, out.Cases)
		}
	}
	return nil
}

// round runs all writes in a random order, starting with new items.
func (g *writing) round(ctx context.Context, number uint64, order []*lower.Write) error {
	g.requests = map[uint64]string{}
	if err := g.begin(ctx, g.population(number)); err != nil {
		return err
	}
	g.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for _, w := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := g.make(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", w.Design.Name, err)
		}
	}
	return nil
}

// writing runs writes.
type writing struct {
	trial *Trial
	rng   *rand.Rand
	world *world
	data  *generator
	// requests are the executed requests of idempotent writes, by the identities of their records.
	requests map[uint64]string
	compared map[*design.Step][]compared
}

// population is a small number of items per entity. Counted items have not expired, because DynamoDB does not update
// counters when it removes items, and the item with their counter exists.
func (g *writing) population(round uint64) []*record {
	t := g.trial
	g.data = newGenerator(t.program, writeItems, t.options.Seed+round<<32, t.now)
	g.data.lean = true
	all, _ := g.data.populate(t.samples)
	for before := -1; before != len(all); { // items that a removed item counted are orphans, too
		before = len(all)
		orphans := t.orphans(all)
		kept := slices.DeleteFunc(slices.Clone(all), func(r *record) bool {
			return len(r.run.Counts) > 0 && r.expired(t.now.Unix()) || orphans[r]
		})
		all, _ = t.storable(kept)
	}
	return all
}

// orphans are the records whose item with a counter for them is missing.
func (t *Trial) orphans(all []*record) map[*record]bool {
	there := map[uint64]bool{}
	for _, r := range all {
		there[r.identity()] = true
	}
	out := map[*record]bool{}
	for _, holder := range t.design.Entities {
		for _, c := range holder.Counters {
			for _, r := range all {
				if c.Of == r.entity.Name && refers(holder, r, c) && !there[holderOf(holder, r, c)] {
					out[r] = true
				}
			}
		}
	}
	return out
}

// begin creates a world with records.
func (g *writing) begin(ctx context.Context, records []*record) error {
	g.end()
	w, err := newWorld(ctx, g.trial.program, g.trial.now, records, g.trial.options.Open)
	if err != nil {
		return err
	}
	w.requests = g.requests
	g.world = w
	return nil
}

// end discards the world.
func (g *writing) end() {
	if g.world != nil {
		_ = g.world.close() // nothing in it is needed
		g.world = nil
	}
}

// make runs one write. After a failure it starts again in a new world with the records from before.
func (g *writing) make(ctx context.Context, w *lower.Write) error {
	in, err := g.input(ctx, w)
	if err != nil {
		return err
	}
	before := g.world.records
	out := g.trial.written[w.Design.Name]
	p := &probe{given: describeWrite(w, in), call: "once", run: g.call(w, in), names: writtenFields(w)}
	failed := out.Failed
	g.trial.make(ctx, g.world, out, p)
	if out.Failed > failed {
		return g.begin(ctx, before)
	}
	return nil
}

// call runs a write in any world, and updates the world's records.
func (g *writing) call(run *lower.Write, in table.Input) func(context.Context, *world) (*mismatch, error) {
	return func(ctx context.Context, w *world) (*mismatch, error) {
		was, err := w.before(ctx)
		if err != nil {
			return nil, err
		}
		w.client.take()
		out, failed := w.db.Write(ctx, run.Run, in)
		call, seen := w.last, w.client.take()
		created := &out
		if failed != nil || out.Replayed {
			created = nil
		}
		v, err := w.judgeWrite(run, in, created)
		if err != nil {
			return nil, err
		}
		if m := v.misses(out, failed); m != nil {
			return w.explained(m, v), nil
		}
		is, err := w.all(ctx)
		if err != nil {
			return nil, err
		}
		if failed != nil || v.replayed {
			if m := unchanged(was, is); m != nil {
				return w.explained(m, v), nil
			}
			return nil, nil //nolint:nilnil // it was rejected, as expected
		}
		v.learn(w, run, in, is)
		if m, err := w.compareTables(is, v.records, v.ghosts); m != nil || err != nil {
			return w.explained(m, v), err
		}
		if m := g.returned(v, out); m != nil {
			return w.explained(m, v), nil
		}
		if m := g.consumed(w, run, in, call, seen, was, is); m != nil {
			return w.explained(m, v), nil
		}
		w.records, w.seen = v.records, is
		maps.Copy(w.ghosts, v.ghosts)
		return nil, nil //nolint:nilnil // everything is as expected
	}
}

// explained adds the items of the write, as they were before.
func (w *world) explained(m *mismatch, v *verdict) *mismatch {
	if m == nil {
		return nil
	}
	for _, e := range v.effects {
		m.about(e.old)
	}
	return m
}

// unchanged compares the tables before and after a write that did nothing.
func unchanged(was, is map[string]table.Item) *mismatch {
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if before, there := was[key]; !there || !sdk.Item(before).Equal(sdk.Item(is[key])) {
			return &mismatch{kind: Inconsistent, got: "a rejected write has changed " + strings.ReplaceAll(key, "\x00", " "), want: "nothing changed"}
		}
	}
	if len(is) != len(was) {
		return &mismatch{kind: Inconsistent, got: "a rejected write has deleted an item", want: "nothing changed"}
	}
	return nil
}

// learn takes the fingerprint of a request, which only the write knows, from the stored record.
func (v *verdict) learn(w *world, run *lower.Write, in table.Input, is map[string]table.Item) {
	r := v.requestOf
	if r == nil {
		return
	}
	if items, err := r.items(); err == nil {
		f := r.entity.Field("request")
		if stored := is[keyOf(r.run.Table, items[0])]; f != nil && stored != nil && load(stored, f.Path) != nil {
			r.give("request", load(stored, f.Path))
		}
	}
	w.requests[r.identity()] = w.fingerprint(run, in)
}

// returned compares the items that the write has returned with the stored ones.
func (g *writing) returned(v *verdict, out table.Outcome) *mismatch {
	for _, e := range v.effects {
		n := max(e.line, 0)
		if e.at < 0 || e.next == nil || e.at >= len(out.Items) || n >= len(out.Items[e.at]) || out.Items[e.at][n] == nil {
			continue
		}
		got := out.Items[e.at][n]
		for _, f := range e.next.entity.Fields {
			if !equal(got[f.Name], e.next.values[f.Name]) {
				return (&mismatch{
					kind: WrongFields, got: fmt.Sprintf("%s returns %s %s", e, f.Name, show(got[f.Name])), want: show(e.next.values[f.Name]),
				}).about(e.next)
			}
		}
	}
	return nil
}

// describeWrite describes an input of a write as readable text.
func describeWrite(w *lower.Write, in table.Input) string {
	names := func(list []lower.Input) []string {
		var out []string
		for _, i := range list {
			out = append(out, i.Name)
		}
		return out
	}
	out := []string{describe(in, names(w.Inputs), "")}
	for _, line := range in.Lines {
		out = append(out, "line { "+showFields(line, names(w.Lines))+" }")
	}
	return strings.Join(out, "; ")
}

// writtenFields are the fields that the steps of a write use.
func writtenFields(w *lower.Write) []string {
	var out []string
	for _, s := range w.Design.Steps {
		out = append(out, s.Changed()...)
		out = append(out, s.When.Fields()...)
	}
	return distinct(out)
}
