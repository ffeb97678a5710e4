package traffic

import (
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
)

// textMax is the maximum length of a shown value.
const textMax = 40

// Shape describes a request that belongs to no pattern.
type Shape struct {
	Operation string `json:"operation"`
	Index     string `json:"index,omitempty"`
	// Keys are the key conditions, or the first key, with long values cut: PK = "USER#1" AND begins_with(SK, "ORDER#").
	Keys string `json:"keys,omitempty"`
	// More is the number of further keys.
	More int `json:"more,omitempty"`
	// Filtered means that the request has a filter.
	Filtered bool `json:"filtered,omitempty"`
	// Form is the same for requests that differ in values only; it contains the beginnings of their keys.
	Form string `json:"form"`
}

func (r *request) shape() *Shape {
	s := &Shape{Operation: r.operation}
	var form strings.Builder
	form.WriteString(r.operation)
	switch {
	case r.statement != "":
		s.Keys = cut(strings.TrimSuffix(r.statement, "; "), 5*textMax) //nolint:mnd // a statement is longer than a value
		form.WriteString(" " + s.Keys)
	case r.query != nil:
		s.Index, s.Filtered = r.query.index, r.query.filtered
		form.WriteString(" " + s.Index)
		s.Keys = conditionsText(r.query.conditions, &form)
	case len(r.keys) > 0:
		s.Keys, s.More = keyText(r.keys[0].table, r.keys[0].key, &form), len(r.keys)-1
	case len(r.writes) > 0:
		s.Keys, s.More = keyText(r.writes[0].table, r.writes[0].item, &form), len(r.writes)-1
	}
	s.Form = form.String()
	return s
}

var operators = map[eval.Operator]string{
	eval.Equal: " = ", eval.Less: " < ", eval.LessOrEqual: " <= ", eval.Greater: " > ", eval.GreaterOrEqual: " >= ",
}

// conditionsText shows key conditions, and adds their form.
func conditionsText(list []eval.KeyPredicate, form *strings.Builder) string {
	var all []string
	for _, c := range list {
		first := valueText(c.Values[0])
		var text string
		switch c.Op {
		case eval.BeginsWith:
			text = "begins_with(" + c.Name + ", " + first + ")"
		case eval.Between:
			text = c.Name + " BETWEEN " + first + " AND " + valueText(c.Values[1])
		default:
			text = c.Name + operators[c.Op] + first
		}
		all = append(all, text)
		form.WriteString(" " + c.Name + operators[c.Op] + beginning(c.Values[0]))
	}
	return strings.Join(all, " AND ")
}

// keyText shows the key of an item, and adds its form.
func keyText(t *design.Table, it attr.Item, form *strings.Builder) string {
	if t == nil {
		return ""
	}
	names := []string{t.PK.Name}
	if t.SK != nil {
		names = append(names, t.SK.Name)
	}
	var all []string
	for _, name := range names {
		if v, there := it.Get(name); there {
			all = append(all, name+" = "+valueText(v))
			form.WriteString(" " + name + "=" + beginning(v))
		}
	}
	return strings.Join(all, " AND ")
}

// valueText shows a key value.
func valueText(v attr.Value) string {
	switch v.Kind() {
	case attr.KindString:
		return `"` + cut(v.Text(), textMax) + `"`
	case attr.KindNumber:
		return cut(v.Text(), textMax)
	default:
		return v.Kind().String()
	}
}

// beginning is the part of a key value up to the first separator, which usually distinguishes entities.
func beginning(v attr.Value) string {
	if i := strings.IndexAny(v.Text(), "#|:/"); v.Kind() == attr.KindString && i >= 0 {
		return v.Text()[:min(i, textMax)]
	}
	return ""
}

// cut shortens a text to n bytes or a few more.
func cut(text string, n int) string {
	for i := range text {
		if i >= n {
			return text[:i] + "…"
		}
	}
	return text
}
