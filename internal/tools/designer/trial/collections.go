package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/render"
)

// gathering tries a collection.
type gathering struct {
	trial      *Trial
	collection *lower.Collection
	rng        *rand.Rand
}

// member is a member of a collection, treated as a read of its own.
func (g *gathering) member(i int) truth {
	c := g.collection.Design
	place := &g.collection.Plan.Members[i]
	return newTruth(g.trial.design, &lower.Read{
		Design: &design.Read{Name: c.Name, Entity: place.Entity.Name, Many: true, By: c.By, Via: c.Via},
		Run:    &table.Read{}, Plan: planAt(*place), Fields: g.collection.Members[i].Fields,
	}, g.trial.now)
}

// collection tries a collection with all questions.
func (t *Trial) collection(ctx context.Context, c *lower.Collection, out *Result) error {
	w, err := t.readWorld(ctx)
	if err != nil {
		return err
	}
	g := &gathering{t, c, rand.New(rand.NewPCG(t.options.Seed, seedOf(c.Design.Name)))} //nolint:gosec // reproducible from the seed
	for i, in := range g.questions(w) {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := len(g.expected(w, in))
		sizes := []int{0}
		for size := 1; c.Run.Page > 0 && size <= min(n+1, table.MaxPage); size++ {
			if n <= maxEverySize/2 || i == 0 && (size < 4 || size >= n) || g.rng.IntN(n) < 2 {
				sizes = append(sizes, size)
			}
		}
		for _, size := range sizes {
			call := "all"
			if size > 0 {
				call = fmt.Sprintf("pages of %d", size)
			}
			names := append(slices.Clone(c.Design.By), c.Design.Owner)
			t.make(ctx, w, out, &probe{given: describe(in, names, ""), call: call, run: g.probe(in, size)})
		}
	}
	out.Declared = cost.OfCollection(t.design, c.Plan).Units
	return nil
}

// questions are the questions that each member would get as a read of its own, with owners.
func (g *gathering) questions(w *world) []table.Input {
	c := g.collection
	var out []table.Input
	for i := range c.Plan.Members {
		for _, in := range g.member(i).questions(g.trial.generator, w.records, g.rng) {
			if !g.member(i).complete(in) || !storable(c.Plan.Members[i], in) {
				continue
			}
			if c.Design.Owner == "" || slices.Contains(c.Design.By, c.Design.Owner) {
				out = append(out, in)
				continue
			}
			out = append(out, g.owned(w, in)...)
		}
	}
	return out
}

// owned asks as the owner, and as someone else.
func (g *gathering) owned(w *world, in table.Input) []table.Input {
	c := g.collection
	var out []table.Input
	ask := func(r *record) {
		v := r.values[c.Design.Owner]
		if v == nil {
			return
		}
		own := table.Input{Values: table.Values{c.Design.Owner: v}}
		maps.Copy(own.Values, in.Values)
		out = append(out, own)
	}
	of := g.ownedMember()
	own, others := []*record{}, []*record{}
	for _, r := range w.records {
		switch {
		case r.entity != c.Plan.Members[of].Entity:
		case g.member(of).reaches(r, in):
			own = append(own, r)
		default:
			others = append(others, r)
		}
	}
	for _, list := range [][]*record{own, others} {
		if len(list) > 0 {
			ask(list[g.rng.IntN(len(list))])
		}
	}
	return out
}

// ownedMember is the member that determines the owner: the root, or the first.
func (g *gathering) ownedMember() int { return max(g.collection.Run.Root, 0) }

// wanted is an expected item, with the member it belongs to.
type wanted struct {
	record *record
	member int
}

// expected is the expected result of a collection; nil if its root does not exist or belongs to another
// owner.
func (g *gathering) expected(w *world, in table.Input) []wanted {
	c := g.collection
	owner := in.Values[c.Design.Owner]
	if slices.Contains(c.Design.By, c.Design.Owner) {
		owner = nil // it is in the key
	}
	var out []wanted
	root := c.Run.Root < 0
	for i := range c.Plan.Members {
		t := g.member(i)
		for _, r := range w.records {
			if !t.reaches(r, in) || i != c.Run.Root && !g.between(w, r, i, in) {
				continue
			}
			owned := owner == nil || equal(r.values[c.Design.Owner], owner)
			root = root || i == c.Run.Root && owned
			if c.Run.Root >= 0 || owned {
				out = append(out, wanted{r, i})
			}
		}
	}
	if !root {
		return nil
	}
	return out
}

// between reports whether a record's sort key is within the bounds that the design declares for the
// collection.
func (g *gathering) between(w *world, r *record, member int, in table.Input) bool {
	d, place := g.collection.Design, g.collection.Plan.Members[member]
	it := w.at(r, place)
	_, sk := place.Attributes()
	if it == nil || len(sk) == 0 || d.From == nil && d.To == nil {
		return it != nil
	}
	key, given := scalarText(it[sk[0].Name]), map[string]design.Literal{}
	for name, v := range in.Values {
		given[name] = design.Literal{Text: scalarText(v)}
	}
	text := func(t *design.Template) string {
		rendered, err := render.Key(place.Entity, t, design.KeyString, given)
		if err != nil {
			return key // for bytes, which no sample writes as stored
		}
		return rendered
	}
	after := d.From == nil || key >= text(d.From)
	return after && (d.To == nil || key <= text(d.To) || strings.HasPrefix(key, text(d.To)))
}

// probe collects in pages of a given size, or everything; 0 is the collection's own size.
func (g *gathering) probe(in table.Input, size int) func(context.Context, *world) (*mismatch, error) {
	c := g.collection
	return func(ctx context.Context, w *world) (*mismatch, error) {
		w.client.take()
		want := g.expected(w, in)
		var got []table.Found
		o := table.PageOptions{Limit: size}
		for number := 1; ; number++ {
			page, err := w.db.Collect(ctx, c.Run, in, o)
			if errors.Is(err, table.ErrNotFound) && c.Run.Root >= 0 && number == 1 {
				if len(want) == 0 {
					return nil, nil //nolint:nilnil // there is none, as expected
				}
				return (&mismatch{kind: WrongSet, got: "not found", want: fmt.Sprintf("%d items", len(want))}).about(recordsOf(want)...), nil
			}
			if err != nil {
				return nil, err
			}
			if size > 0 && len(page.Items) > size {
				return &mismatch{kind: WrongPage, got: fmt.Sprintf("page %d has %d items", number, len(page.Items)), want: fmt.Sprintf("at most %d", size)}, nil
			}
			root := slices.ContainsFunc(page.Items, func(f table.Found) bool { return f.Member == c.Run.Root })
			if c.Run.Root >= 0 && root != (number == 1) {
				return &mismatch{kind: WrongPage, got: fmt.Sprintf("page %d has the root: %t", number, root), want: "the root on page 1 only"}, nil
			}
			got = append(got, page.Items...)
			if o.After = page.Next; o.After == "" {
				break
			}
			if number > len(w.records)+10*maxEverySize {
				return &mismatch{kind: WrongPage, got: fmt.Sprintf("there is a page after page %d", number), want: "an end"}, nil
			}
		}
		if m := g.judge(want, got); m != nil {
			return m, nil
		}
		if size == 0 {
			return g.consumed(w, in, w.client.take()), nil
		}
		return nil, nil //nolint:nilnil // the result is correct
	}
}

func recordsOf(list []wanted) []*record {
	var out []*record
	for _, w := range list {
		out = append(out, w.record)
	}
	return out
}

// judge compares a result with the expected one.
func (g *gathering) judge(want []wanted, got []table.Found) *mismatch {
	c := g.collection
	if c.Run.Root >= 0 && len(want) == 0 {
		return &mismatch{kind: WrongSet, got: fmt.Sprintf("%d items", len(got)), want: "not found: there is no root, or it has another owner"}
	}
	left := map[string][]*record{}
	for _, w := range want {
		p := g.identify(w.member, w.record.values)
		left[p] = append(left[p], w.record)
	}
	for i, f := range got {
		p := g.identify(f.Member, f.Values)
		of := g.member(f.Member)
		if len(left[p]) == 0 {
			return (&mismatch{
				kind: WrongSet, got: fmt.Sprintf("result %d of %d: %s %s", i+1, len(got), c.Members[f.Member].Entity.Name, of.line(f.Values)),
				want: "not to be returned, or with other values, or less often",
			}).about(recordsOf(want)...)
		}
		left[p] = left[p][1:]
	}
	for _, w := range want {
		if p := g.identify(w.member, w.record.values); len(left[p]) > 0 {
			return (&mismatch{
				kind: WrongSet, got: fmt.Sprintf("%d results without it", len(got)),
				want: fmt.Sprintf("%d results, including %s %s", len(want), w.record.entity.Name, g.member(w.member).line(w.record.values)),
			}).about(w.record)
		}
	}
	return nil
}

// identify is the text by which items of a member are identified.
func (g *gathering) identify(member int, v table.Values) string {
	var names []string
	for _, f := range g.collection.Members[member].Fields {
		names = append(names, f.Name)
	}
	return fmt.Sprint(member) + strings.TrimSpace(projected(v, names))
}
