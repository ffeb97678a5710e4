package check

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// entryParts checks ST410: an update changes one of several fields that make up a key of an entry, copy or marker. The
// other fields must be known: from the primary key, from the update itself, or from a condition that compares them with
// =. A field that no write changes can be read first. A field that another write changes may have a new value by then,
// and the update would write a key that the item should never have.
func (c *checker) entryParts(w *design.Write, s *design.Step, e *design.Entity) {
	changed := s.Changed()
	touches := func(fields []string) bool {
		return slices.ContainsFunc(fields, func(f string) bool { return slices.Contains(changed, f) })
	}
	for _, p := range plan.Places(c.design, e) {
		if p.Kind == plan.KeyPlace || p.Undeclared || p.Kind == plan.EntryPlace && unsets(s, slices.Concat(p.PK, p.SK)) {
			continue
		}
		_, leaves := plan.Implied(c.design, e, p.Where, s)
		enters := touches(p.Where.Fields()) && !leaves
		part := partChange{p: p}
		partition, sort := p.Attributes()
		attributes := slices.Concat(partition, sort)
		for i, t := range slices.Concat(p.PK, p.SK) {
			if touches(t.Fields()) {
				part.touched = append(part.touched, t.Text)
			} else if !enters {
				continue
			}
			if isOwnAttribute(e, attributes[i], t) {
				continue
			}
			for _, f := range t.Fields() {
				if !isKey(e, f) && !knows(s, f) && !slices.Contains(part.rest, f) {
					part.rest = append(part.rest, f)
				}
			}
		}
		if len(part.touched) == len(p.PK)+len(p.SK) && !enters { // it could add an item that does not belong in the index
			for _, f := range p.Where.Fields() {
				if !isKey(e, f) && !knows(s, f) && !slices.Contains(part.rest, f) {
					part.rest = append(part.rest, f)
				}
			}
		}
		if len(part.rest) > 0 {
			c.unknownPart(w, s, part)
		}
	}
}

// unsets reports whether a step removes a field that the templates need, so that no key results.
func unsets(s *design.Step, templates []*design.Template) bool {
	return slices.ContainsFunc(templates, func(t *design.Template) bool {
		return slices.ContainsFunc(t.Fields(), func(f string) bool { return slices.Contains(s.Remove, f) })
	})
}

// isOwnAttribute reports whether a key attribute is the field's own attribute, so that DynamoDB keeps the index in sync by itself.
func isOwnAttribute(e *design.Entity, k design.KeyAttribute, t *design.Template) bool {
	if len(t.Parts) != 1 || len(t.Parts[0].Funcs) > 0 {
		return false
	}
	f := e.Field(t.Parts[0].Field)
	return f != nil && !f.Nested() && f.Attribute() == k.Name
}

// partChange describes how an update affects the key of an entry, copy or marker.
type partChange struct {
	p       plan.Place
	touched []string // templates with a changed field; none if the update only adds the item to a sparse index
	rest    []string // fields whose value it does not know
}

// knows reports whether a step knows the value of a field after the update.
func knows(s *design.Step, field string) bool {
	if v := given(s, field); v != nil {
		return !has(v, design.FieldTerm)
	}
	if slices.Contains(s.Remove, field) || slices.Contains(s.Patch, field) {
		return true // absent; given by the caller; or read and compared
	}
	if slices.Contains(s.Changed(), field) {
		return false
	}
	return slices.Contains(pinned(s.When), field)
}

func (c *checker) unknownPart(w *design.Write, s *design.Step, part partChange) {
	p, rest := part.p, part.rest
	unknowable := slices.ContainsFunc(rest, func(f string) bool { return slices.Contains(s.Changed(), f) })
	var others []string
	for _, other := range c.design.Writes {
		if slices.ContainsFunc(rest, func(f string) bool { return changes(other, p.Entity.Name, f) }) && !c.notices(s, other) {
			others = append(others, other.Name)
		}
	}
	what := "adds the item to " + p.String() + ", whose key also needs "
	if len(part.touched) > 0 {
		what = "changes part of the key \"" + strings.Join(part.touched, " / ") + "\" of " + p.String() + ", which also needs "
	}
	find := func(format string, args ...any) *found {
		return c.find("ST410", w.Name, s.Pos, "%s%s, "+format, append([]any{what, strings.Join(rest, ", ")}, args...)...)
	}
	const fix = "when: \"%s = :%s\", with the value read before"
	switch {
	case unknowable:
		find("whose new value is not known before the write").fix("set it to a value and compare the old one: "+fix, rest[0], rest[0]).report()
	case s.Action == design.Upsert:
		find("which an item that does not exist yet does not have").fix("also set: { %s: … }, or create and update in separate writes", rest[0]).report()
	case len(others) == 0:
		find("which must be read first").as(Info).fix(fix, rest[0], rest[0]).report()
	case len(part.touched) > 0:
		find("which %s may change at the same time", strings.Join(others, ", ")).fix(fix, rest[0], rest[0]).report()
	default:
		find("which %s may change at the same time", strings.Join(others, ", ")).as(Warning).fix(fix, rest[0], rest[0]).report()
	}
}

// notices reports whether the condition of a step fails after any update by another write, because it compares a version: a number that
// these updates increment, and that no write changes otherwise.
func (c *checker) notices(s *design.Step, other *design.Write) bool {
	updates := func(x *design.Step) bool {
		return (x.Action == design.Update || x.Action == design.Upsert) && x.Entity == s.Entity
	}
	return slices.ContainsFunc(pinned(s.When), func(version string) bool {
		unnoticed := func(x *design.Step) bool { return updates(x) && !increments(x, version) }
		return !slices.ContainsFunc(other.Steps, unnoticed) && !slices.ContainsFunc(c.design.Writes, func(w *design.Write) bool {
			return slices.ContainsFunc(w.Steps, func(x *design.Step) bool { return unnoticed(x) && slices.Contains(x.Changed(), version) })
		})
	})
}

// increments reports whether a step adds a positive constant to a field.
func increments(s *design.Step, field string) bool {
	return slices.ContainsFunc(s.Add, func(a *design.Assignment) bool {
		if a.Field != field || len(a.Value.Terms) != 1 {
			return false
		}
		t := a.Value.Terms[0]
		return t.Kind == design.ConstantTerm && !t.Negative && strings.Trim(t.Constant.Text, "0.") != ""
	})
}
