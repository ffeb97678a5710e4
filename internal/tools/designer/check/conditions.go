package check

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// equality is a comparison field = value that a condition implies.
type equality struct {
	field string
	value design.ValueRef
}

// equalities returns the = comparisons of a condition without OR and NOT. It returns none for other conditions.
func equalities(c *design.Condition) []equality {
	words := conjuncts(c)
	var out []equality
	for i := 1; i+1 < len(words); i++ {
		if words[i] != "=" {
			continue
		}
		for _, pair := range [][2]string{{words[i-1], words[i+1]}, {words[i+1], words[i-1]}} {
			n := slices.IndexFunc(c.Names, func(n design.NameRef) bool { return n.Alias == pair[0] })
			v := slices.IndexFunc(c.Values, func(v design.ValueRef) bool { return v.Placeholder == pair[1] })
			if n >= 0 && v >= 0 {
				out = append(out, equality{c.Names[n].Field, c.Values[v]})
			}
		}
	}
	return out
}

// absent returns the fields that a condition requires to be absent by attribute_not_exists.
func absent(c *design.Condition) []string {
	words := conjuncts(c)
	var out []string
	for i, w := range words {
		if strings.EqualFold(w, "attribute_not_exists") && i+2 < len(words) {
			n := slices.IndexFunc(c.Names, func(n design.NameRef) bool { return n.Alias == words[i+2] })
			if n >= 0 {
				out = append(out, c.Names[n].Field)
			}
		}
	}
	return out
}

// conjuncts returns the words of a condition that uses only AND, and nil for other conditions.
func conjuncts(c *design.Condition) []string {
	if c == nil {
		return nil
	}
	words := strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ", ",", " , ").Replace(c.Expression))
	if slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, "OR") || strings.EqualFold(w, "NOT") }) {
		return nil
	}
	return words
}

// pinned returns the fields whose value is fixed by a step's condition.
func pinned(c *design.Condition) []string {
	var out []string
	for _, e := range equalities(c) {
		out = append(out, e.field)
	}
	return out
}

// spent reports whether a step cannot succeed twice: its condition no longer holds, since the step changes a field that
// the condition compares with =, sets one that must be absent, or deletes the item.
func spent(s *design.Step) bool {
	if s.When == nil {
		return false
	}
	if s.Action == design.Delete {
		return true
	}
	changed := s.Changed()
	return slices.ContainsFunc(slices.Concat(pinned(s.When), absent(s.When)), func(f string) bool { return slices.Contains(changed, f) })
}

// given returns the value that a step sets a field to; nil if it does not set it.
func given(s *design.Step, field string) *design.ValueExpr {
	for _, a := range slices.Concat(s.By, s.Set) {
		if a.Field == field {
			return a.Value
		}
	}
	return nil
}

// has reports whether a value has a term of one of the kinds.
func has(v *design.ValueExpr, kinds ...design.TermKind) bool {
	return v != nil && slices.ContainsFunc(v.Terms, func(t design.Term) bool { return slices.Contains(kinds, t.Kind) })
}

// changes reports whether a write changes a field of an existing item.
func changes(w *design.Write, entity, field string) bool {
	return slices.ContainsFunc(w.Steps, func(s *design.Step) bool {
		update := s.Action == design.Update || s.Action == design.Upsert
		begins := slices.ContainsFunc(s.Init, func(a *design.Assignment) bool { return a.Field == field })
		return update && s.Entity == entity && !begins && slices.Contains(s.Changed(), field)
	})
}

// keyOf returns the fields of an entity's primary key.
func keyOf(e *design.Entity) []string { return plan.KeyFields(e) }

// isKey reports whether a field is part of an entity's primary key.
func isKey(e *design.Entity, field string) bool { return slices.Contains(keyOf(e), field) }
