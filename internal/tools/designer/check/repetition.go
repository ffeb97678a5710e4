package check

import (
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// repetition checks ST507: a write that adds to a value, or creates an item with a new ID, has its effect twice when a
// client retries after a lost response. One step that cannot succeed twice protects the whole write.
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
			does = "extends a list of " + s.Entity + " again"
		case s.Action == design.Create || s.Action == design.Put:
			if slices.ContainsFunc(keyOf(c.design.Entity(s.Entity)), func(f string) bool { return slices.Contains(fresh, f) }) {
				does = "creates a second " + s.Entity
			}
		}
		if does != "" {
			c.find("ST507", w.Name, w.Pos, "a retry after a lost response %s", does).
				fix("idempotent: { with: …, request: […] }").report()
			return
		}
	}
}

// isSet reports whether a field is a set, so that adding a member again has no effect.
func isSet(e *design.Entity, field string) bool {
	f := e.Field(field)
	return f != nil && f.Type.Kind == design.KindSet
}

// freshFields returns the key fields that are new in every call of a write: the time of the write and generated IDs, but
// not IDs that the caller passes as parameters.
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
			if has(v, design.NowTerm, design.NewIDTerm) || v == nil && !param && e.Field(name) != nil && plan.Own(c.design, e, e.Field(name)) {
				out = append(out, name)
			}
		}
	}
	return out
}

// taken reports whether a step creates an item whose key, or whose marker's key, is the same in a retry.
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

// idempotency checks ST514.
func (c *checker) idempotency(w *design.Write) {
	i := w.Idempotent
	if i == nil {
		return
	}
	record := c.design.Entity(i.With)
	tenant := c.design.Tenant
	if tenant != "" && !isKey(record, tenant) {
		c.find("ST514", w.Name, i.Pos, "the idempotency key %q does not include %s: another %s that sends the same key gets this one's result",
			record.Key.PK.Text, tenant, tenant).fix("pk: \"…#{%s}#{…}\"", tenant).report()
	}
	if record.TTL == nil {
		c.find("ST514", w.Name, i.Pos, "the records of %s never expire", record.Name).as(Warning).
			fix("ttl: { attr: …, after: 24h }").report()
	}
	if len(i.Request) == 0 {
		c.find("ST514", w.Name, i.Pos, "the same key with a different request counts as a retry, since nothing of the request is compared").
			as(Warning).fix("request: [parameters that identify the request]").report()
	}
}
