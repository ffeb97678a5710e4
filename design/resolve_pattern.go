package design

import (
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

func (r *resolver) read(in namedEntry[readShape]) {
	s := in.value
	out := &Read{
		Name: in.name, Doc: s.Doc, By: r.texts(s.By), Returns: r.texts(s.Returns), Filter: r.condition(s.Filter),
		Page: s.Page, Limit: s.Limit, Segments: s.Segments, Consistent: s.Consistent, Rate: s.Rate, Accept: r.accept(s.Accept), Pos: in.pos,
	}
	r.design.Reads = append(r.design.Reads, out)
	r.put(&out.Prefix, s.Prefix)
	r.put(&out.Range, s.Range)
	r.put(&out.Bucket, s.Bucket)
	r.put(&out.Over, s.Over)
	r.put(&out.Since, s.Since)
	if s.Buckets != nil {
		out.Buckets = &Lines{Max: s.Buckets.Max, Typical: s.Buckets.Typical, Pos: s.Buckets.Pos}
	}
	r.put(&out.Owner, s.Owner)
	r.put(&out.Shared, s.Shared)
	r.put(&out.Via, s.Via)
	r.fresh(s.Fresh, &out.Consistent, &out.FreshMillis)
	if s.Keys != nil {
		out.Keys = &Lines{Max: s.Keys.Max, Typical: s.Keys.Typical, Pos: s.Keys.Pos}
	}
	r.what(in, out)
	for _, o := range s.Order {
		out.Order = append(out.Order, r.order(o))
	}
}

// what parses what is read: one item, a list, a number, one item per key, or everything.
func (r *resolver) what(in namedEntry[readShape], out *Read) {
	s := in.value
	ways := []struct {
		name string
		of   text
		set  *bool
	}{{"one", s.One, nil}, {"many", s.Many, &out.Many}, {"count", s.Count, &out.Count}, {"each", s.EachOf, &out.Each}, {"scan", s.Scan, &out.Scan}}
	first := ""
	for _, w := range ways {
		switch {
		case !w.of.given():
			continue
		case first != "":
			r.Fault(in.pos, "read %s cannot have both %s and %s", in.name, first, w.name)
			return
		}
		first = w.name
		r.put(&out.Entity, w.of)
		if w.set != nil {
			*w.set = true
		}
	}
	out.Many = out.Many || out.Count || out.Scan
	if first == "" {
		r.Hint(in.pos, "one: Entity, or many: Entity", "read %s does not name an entity", in.name)
	}
}

// fresh parses strong, which is consistent: true, or a maximum staleness.
func (r *resolver) fresh(t text, consistent *bool, millis *int) {
	switch {
	case t.given() && *consistent:
		r.Hint(t.pos, "fresh: strong", "consistent: true already sets the freshness")
	case t.value == "strong":
		*consistent = true
	default:
		*millis = r.milliseconds(t)
	}
}

// order parses "createdAt desc". The checker reports an order by a field that the entity does not have.
func (r *resolver) order(t text) Order {
	var o Order
	switch w := strings.Fields(t.value); {
	case len(w) == 0 || len(w) > 2 || !syntax.IsName(w[0]):
		r.Hint(t.pos, "createdAt desc", "%q is not an order", t.value)
	case len(w) == 2 && w[1] != "asc" && w[1] != "desc":
		r.Hint(t.pos, w[0]+" desc", "%q is neither asc nor desc", w[1])
	default:
		o = Order{Field: w[0], Desc: len(w) == 2 && w[1] == "desc"}
	}
	return o
}

func (r *resolver) collection(in namedEntry[collectionShape]) {
	s := in.value
	out := &Collection{
		Name: in.name, Doc: s.Doc, Of: r.texts(s.Of), By: r.texts(s.By), Consistent: s.Consistent, Page: s.Page, Rate: s.Rate,
		Accept: r.accept(s.Accept), Pos: in.pos,
	}
	r.design.Collections = append(r.design.Collections, out)
	r.put(&out.Root, s.Root)
	r.put(&out.Owner, s.Owner)
	r.put(&out.Shared, s.Shared)
	r.put(&out.Via, s.Via)
	r.put(&out.Order, s.Order)
	r.fresh(s.Fresh, &out.Consistent, &out.FreshMillis)
	r.collectionBounds(out, s)
}

// collectionBounds parses from and to, or prefix, which sets both.
func (r *resolver) collectionBounds(out *Collection, s collectionShape) {
	if s.Prefix.given() {
		if s.From.given() || s.To.given() {
			r.Hint(s.Prefix.pos, "use prefix, or from and to", "a collection cannot have both a prefix and bounds")
		}
		s.From, s.To = s.Prefix, s.Prefix
	}
	if s.From.given() {
		out.From = r.template(s.From)
	}
	if s.To.given() {
		out.To = r.template(s.To)
	}
}

func (r *resolver) write(in namedEntry[writeShape]) {
	s := in.value
	w := &Write{Name: in.name, Doc: s.Doc, Params: r.params(s.Params), Batch: s.Batch, Steps: []*Step{}, Rate: s.Rate, Accept: r.accept(s.Accept), Pos: in.pos}
	r.design.Writes = append(r.design.Writes, w)
	if s.Lines != nil {
		w.Lines = &Lines{Max: s.Lines.Max, Typical: s.Lines.Typical, Pos: s.Lines.Pos}
	}
	if i := s.Idempotent; i != nil {
		w.Idempotent = &Idempotent{Request: r.texts(i.Request), Pos: i.Pos}
		r.put(&w.Idempotent.With, i.With)
		r.put(&w.Idempotent.Replay, i.Replay)
		if !i.With.given() {
			r.Hint(i.Pos, "with: Idempotency", "idempotent needs the entity that keeps the records")
		}
	}
	if len(s.Do) == 0 {
		r.Hint(in.pos, "do: [ { create: Entity } ]", "write %s has no steps", in.name)
	}
	for i := range s.Do {
		r.step(w, &s.Do[i])
	}
}

func (r *resolver) step(w *Write, s *stepShape) {
	step := &Step{When: r.condition(s.When), Pos: s.Pos}
	for _, a := range []struct {
		action Action
		of     text
	}{{Create, s.Create}, {Put, s.Put}, {Update, s.Update}, {Upsert, s.Upsert}, {Delete, s.Delete}, {Check, s.Check}} {
		switch {
		case !a.of.given():
		case step.Action != "":
			r.Fault(a.of.pos, "a step has one action: either %s or %s", step.Action, a.action)
		default:
			step.Action = a.action
			r.put(&step.Entity, a.of)
		}
	}
	if step.Action == "" {
		r.Hint(s.Pos, "use create, put, update, upsert, delete or check", "the step has no action")
		return
	}
	w.Steps = append(w.Steps, step)
	if s.Each.given() {
		step.Each = true
		if s.Each.value != "lines" {
			r.Hint(s.Each.pos, "each: lines", "there is no list %q to repeat the step for", s.Each.value)
		}
	}
	r.put(&step.Name, s.Name)
	step.By = r.assignments(s.By)
	step.Set, step.Add, step.Init = r.assignments(s.Set), r.assignments(s.Add), r.assignments(s.Init)
	step.Drop, step.Append, step.Prepend = r.assignments(s.Drop), r.assignments(s.Append), r.assignments(s.Prepend)
	step.Patch, step.Remove = r.texts(s.Patch), r.texts(s.Remove)
	for _, in := range s.Else.named {
		refusal := &Refusal{Error: in.name, Pos: in.pos}
		if in.value.value != "*" {
			refusal.When = r.condition(in.value)
		}
		step.Else = append(step.Else, refusal)
	}
}

func (r *resolver) assignments(list assignShape) []*Assignment {
	var out []*Assignment
	for _, in := range list.named {
		v, err := ParseValue(in.value.value)
		if !r.Parsed(in.value.pos, err) {
			continue
		}
		v.Pos = in.value.pos
		out = append(out, &Assignment{Field: in.name, Value: v, Pos: in.pos})
	}
	return out
}

// runs parses samples, examples and invariants.
func (r *resolver) runs(f *fileShape) {
	d := r.design
	for _, list := range f.Samples {
		for _, item := range list.value {
			s := &Sample{Values: map[string]Literal{}, Pos: list.pos}
			r.put(&s.Entity, text{list.name, list.pos})
			for i, v := range item {
				if i == 0 {
					s.Pos = v.pos
				}
				v.value.Pos = v.pos // the position of the name, where an error of either is expected
				s.Values[v.name] = v.value
			}
			d.Samples = append(d.Samples, s)
		}
	}
	for _, list := range f.Examples {
		for _, in := range list.value {
			x := &Example{Given: map[string]Literal{}, Expect: in.Expect, Pos: in.Pos}
			r.put(&x.Pattern, text{list.name, list.pos})
			r.put(&x.Error, in.Error)
			for _, g := range in.Given {
				g.value.Pos = g.pos
				x.Given[g.name] = g.value
			}
			if in.Expect == nil && !in.Error.given() {
				r.Hint(in.Pos, "add expect: [ … ], or error: NotFound", "the example has no expected result")
			}
			d.Examples = append(d.Examples, x)
		}
	}
	for _, in := range f.Invariants {
		x := &Invariant{Name: in.name, Doc: in.value.Doc, Pos: in.pos}
		if in.value.At.value != "always" {
			r.put(&x.At, in.value.At)
		}
		r.put(&x.Text, in.value.Hold)
		d.Invariants = append(d.Invariants, x)
	}
}
