package design

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

// Resolution of the names in a flow: results that are lists, fields of results, inputs and named values.

// selection checks a list, and returns the entity of its items; nil if they have none.
func (s *flowScope) selection(l *Selection) *Entity {
	var of *Entity
	given := find(s.flow.Given, func(f *Field) bool { return f.Name == l.List })
	found, known := s.results[l.List]
	switch {
	case l.Given && given == nil:
		s.Hint(l.Pos, syntax.Suggestion(l.List, namesIn(s.flow.Given, func(f *Field) string { return f.Name })), ":%s is not an input of the flow", l.List)
	case l.Given && (given.Type.Kind != KindList || given.Type.Elem == nil || given.Type.Elem.Kind != KindStruct):
		s.Hint(l.Pos, "use list<Line>, with a struct Line", ":%s has type %s, but lines must be a list of structs", l.List, given.Type)
	case l.Given:
		if l.Where != nil {
			s.Fault(l.Pos, "an input list is used as it is, without where")
		}
	case !known:
		s.unknown(l.List, l.Pos)
	case !found.many:
		s.Hint(l.Pos, "use a read with many", "%s is one item, not a list", l.List)
	default:
		of = found.entity
	}
	s.where(of, l.Where, s.Source.Within(l.Pos, l.Text, strings.LastIndex(l.Text, l.Where.text())))
	return of
}

// text is the text of a condition, which may be nil.
func (c *Condition) text() string {
	if c == nil {
		return ""
	}
	return c.Text
}

// where checks a condition on the items of a result: its parameters are the inputs of the flow.
func (s *flowScope) where(of *Entity, cond *Condition, p Pos) {
	if cond == nil {
		return
	}
	cond.Pos = p
	s.condition(of, cond, lineParams)
	for _, name := range cond.Params() {
		s.param(&ParamOperand{Name: name}, p)
	}
}

func (s *flowScope) unknown(name string, p Pos) {
	known := slices.Sorted(maps.Keys(s.results))
	s.Hint(p, cmp.Or(syntax.Suggestion(name, known), "add read: Pattern, as: "+name), "no earlier step has the result %q", name)
}

func (s *flowScope) name(n *NameOperand, p Pos) class {
	word, path, hasField := strings.Cut(n.Path, ".")
	found, known := s.results[word]
	switch {
	case !known && slices.Contains(s.values(), word):
		s.Hint(p, ":"+n.Path, "inputs and named values of a flow are written with a colon")
	case !known:
		s.unknown(word, p)
	case found.many:
		s.Hint(p, "count("+word+"), exists("+word+")", "%s is a list, not one value", word)
	case !hasField:
		s.Hint(p, word+".field, or exists("+word+")", "%s is an item, not one of its values", word)
	case found.entity != nil:
		return s.classAt(found.entity, path, p)
	}
	return unknownClass
}

func (s *flowScope) param(n *ParamOperand, p Pos) class {
	name, field, hasField := strings.Cut(n.Name, ".")
	if name == "line" {
		switch {
		case !s.repeats:
			s.Hint(p, "each: list", ":%s belongs to a line, but the step is not repeated", n.Name)
		case !hasField:
			s.Hint(p, ":line.field", ":line is a line, not one of its values")
		case s.line != nil:
			return s.classAt(s.line, field, p)
		}
		return unknownClass
	}
	if k, named := s.lets[name]; named {
		return k
	}
	given := find(s.flow.Given, func(f *Field) bool { return f.Name == name })
	switch {
	case given == nil:
		s.Hint(p, syntax.Suggestion(name, s.values()), ":%s is not an input of the flow", name)
		return unknownClass
	case hasField:
		return unknownClass
	}
	return classOf(given.Type)
}

func (s *flowScope) call(n *CallOperand, e *Expression, p Pos) class {
	switch n.Function {
	case NowFunction, NewIDFunction:
		return unknownClass // of the expected type
	case UnchangedFunction:
		s.Fault(p, "unchanged can only be used in invariants")
		return unknownClass
	default:
	}
	word, path, _ := strings.Cut(n.Of, ".")
	ofPos := s.Source.Within(e.Pos, e.Text, n.OfAt)
	found, known := s.results[word]
	if !known {
		s.unknown(word, ofPos)
	}
	if n.Per != "" {
		s.Hint(s.Source.Within(e.Pos, e.Text, n.PerAt), "read the items first", "of can only be used in invariants: a flow uses the results of its reads")
	}
	s.where(found.entity, n.Where, s.Source.Within(e.Pos, e.Text, n.WhereAt))
	switch {
	case known && !found.many && (n.Function != ExistsFunction || n.Where != nil):
		s.Hint(ofPos, "exists("+word+")", "%s is one item, not a list", word)
	case n.Function == SumFunction && found.entity != nil:
		if k := s.classAt(found.entity, path, ofPos); k != numberClass && k != unknownClass {
			s.Fault(ofPos, "%s is %s and cannot be summed", n.Of, k)
		}
	}
	if n.Function == ExistsFunction {
		return boolClass
	}
	return numberClass
}
