package check

import (
	"slices"

	"github.com/monotable/monotable/design"
)

// repetition is ST507: what adds to something, or makes something with an id that is made up anew, does so again when a
// client repeats a request whose answer was lost. One step that cannot be done twice guards the whole write.
func (c *checker) repetition(w *design.Write) {
	if w.Idempotent != nil {
		return
	}
	fresh := c.freshFields(w)
	if slices.ContainsFunc(w.Steps, func(s *design.Step) bool { return spent(s) || c.taken(s, fresh) }) {
		return
	}
	for _, s := range w.Steps {
		does := ""
		switch {
		case slices.ContainsFunc(s.Add, func(a *design.Assignment) bool { return !isSet(c.design.Entity(s.Entity), a.Field) }):
			does = "adds to " + s.Entity + " again"
		case s.Action == design.Update && slices.ContainsFunc(s.Set, func(a *design.Assignment) bool { return has(a.Value, design.FieldTerm) && len(a.Value.Terms) > 1 }):
			does = "adds to " + s.Entity + " again"
		case len(s.Append)+len(s.Prepend) > 0:
			does = "lengthens a list of " + s.Entity + " again"
		case s.Action == design.Create || s.Action == design.Put:
			if slices.ContainsFunc(keyOf(c.design.Entity(s.Entity)), func(f string) bool { return slices.Contains(fresh, f) }) {
				does = "makes a second " + s.Entity
			}
		}
		if does != "" {
			c.find("ST507", w.Name, w.Pos, "a client that sends it again, because the answer was lost, %s", does).
				fix("idempotent: { with: …, request: […] }").report()
			return
		}
	}
}

// isSet reports whether a field is a set, which has a member once however often it is added.
func isSet(e *design.Entity, field string) bool {
	f := e.Field(field)
	return f != nil && f.Type.Kind == design.KindSet
}

// freshFields are the key fields that a write makes up anew each time: times of the write and new ids. An id that the
// caller gives as a parameter is not.
func (c *checker) freshFields(w *design.Write) []string {
	var out []string
	for _, s := range w.Steps {
		if s.Action != design.Create && s.Action != design.Put {
			continue
		}
		e := c.design.Entity(s.Entity)
		for _, name := range keyOf(e) {
			param := slices.ContainsFunc(w.Params, func(p *design.Field) bool { return p.Name == name })
			v := given(s, name)
			if has(v, design.NowTerm, design.NewIDTerm) || v == nil && !param && e.Field(name) != nil && own(c.design, e, e.Field(name)) {
				out = append(out, name)
			}
		}
	}
	return out
}

// taken reports whether a step creates an item whose key, or a marker's, is the same in a repetition.
func (c *checker) taken(s *design.Step, fresh []string) bool {
	if s.Action != design.Create {
		return false
	}
	e := c.design.Entity(s.Entity)
	same := func(fields []string) bool {
		return !slices.ContainsFunc(fields, func(f string) bool { return slices.Contains(fresh, f) })
	}
	return same(keyOf(e)) || slices.ContainsFunc(e.Unique, func(m *design.Marker) bool {
		return same(slices.Concat(m.Key.PK.Fields(), m.Key.SK.Fields()))
	})
}

// idempotency is ST514.
func (c *checker) idempotency(w *design.Write) {
	i := w.Idempotent
	if i == nil {
		return
	}
	record := c.design.Entity(i.With)
	tenant := c.design.Tenant
	if tenant != "" && !isKey(record, tenant) {
		c.find("ST514", w.Name, i.Pos, "the idempotency key %q has no %s in it: another %s who sends the same key is answered with this one's result",
			record.Key.PK.Text, tenant, tenant).fix("pk: \"…#{%s}#{…}\"", tenant).report()
	}
	if record.TTL == nil {
		c.find("ST514", w.Name, i.Pos, "the records of %s never expire", record.Name).as(Warning).
			fix("ttl: { attr: …, after: 24h }").report()
	}
	if len(i.Request) == 0 {
		c.find("ST514", w.Name, i.Pos, "the same key with another request is answered as a repetition, since nothing of the request is compared").
			as(Warning).fix("request: [the parameters that make it the same request]").report()
	}
}
