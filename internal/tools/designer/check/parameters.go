package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/design"
)

// sameParameters is ST516: two steps are on items of one entity that only parameters tell apart, and a caller can give both
// the same value. A condition that compares them says that the authors know.
func (c *checker) sameParameters(w *design.Write) {
	for i, s := range w.Steps {
		for _, before := range w.Steps[:i] {
			if s.Entity != before.Entity || s.Each || before.Each {
				continue
			}
			e := c.design.Entity(s.Entity)
			var pairs, fields, params []string
			possible := true
			for _, field := range keyOf(e) {
				a, b := keyValue(before, field), keyValue(s, field)
				if a == b {
					continue
				}
				possible = possible && strings.HasPrefix(a, ":") && strings.HasPrefix(b, ":")
				pairs, fields = append(pairs, a+" and "+b), append(fields, field)
				params = append(params, strings.TrimPrefix(a, ":"), strings.TrimPrefix(b, ":"))
			}
			compared := slices.ContainsFunc(slices.Concat(before.When.Params(), s.When.Params()), func(p string) bool { return slices.Contains(params, p) })
			if len(pairs) == 0 || !possible || compared {
				continue
			}
			c.find("ST516", w.Name, s.Pos, "is on one %s if %s are the same: DynamoDB refuses two actions on one item, and the generated code says so before it asks",
				e.Name, strings.Join(pairs, ", and ")).
				witness(fmt.Sprintf(":%s = \"a\", :%s = \"a\"", params[0], params[1])).
				fix("when: \"%s <> :%s\" in the step of :%s, which says that they differ", fields[0], params[1], params[0]).report()
		}
	}
}

// keyValue is the value that a step has for a field of its key, as the design writes it; the parameter of that name if it has none.
func keyValue(s *design.Step, field string) string {
	if v := given(s, field); v != nil {
		if len(v.Terms) == 1 && v.Terms[0].Kind != design.ParamTerm {
			return strings.ReplaceAll(v.Text, ":", "")
		}
		return strings.ReplaceAll(v.Text, " ", "")
	}
	return ":" + field
}

// fractions is ST519: a value that may have a fraction is assigned or added to a field that has whole numbers, or is summed
// into one.
func (c *checker) fractions(w *design.Write, s *design.Step) {
	e := c.design.Entity(s.Entity)
	for _, a := range slices.Concat(s.Set, s.Add, s.Init) {
		f := e.Field(a.Field)
		if f == nil || !whole(f) {
			continue
		}
		for _, t := range a.Value.Terms {
			if name, sample := c.fraction(w, s, t); name != "" {
				c.find("ST519", w.Name, a.Pos, "gives %s of %s, which is of type %s, the value %s, which may have a fraction: the item can then not be read any more", f.Name, e.Name, f.Type, name).
					witness(sum(sample)).
					fix("%s: decimal; or an amount in the smallest unit, which is a whole number", f.Name).report()
			}
		}
	}
}

// summed is ST519 of a counter that sums a decimal.
func (c *checker) summed(e *design.Entity) {
	for _, x := range e.Counters {
		f, of := e.Field(x.Field), c.design.Entity(x.Of)
		if f == nil || of == nil || !whole(f) {
			continue
		}
		if g := of.Field(x.Sum); g != nil && g.Type.Kind == design.KindDecimal {
			c.find("ST519", e.Name, x.Pos, "sums %s of %s, which is a decimal, in %s, which is of type %s: the item can then not be read any more",
				g.Name, of.Name, f.Name, f.Type).witness(sum("0.5")).fix("%s: decimal", f.Name).report()
		}
	}
}

// sum shows what DynamoDB stores.
func sum(sample string) string {
	n, _ := strconv.ParseFloat(sample, 64)
	return fmt.Sprintf("100 + %s = %s", sample, strconv.FormatFloat(100+n, 'f', -1, 64))
}

func whole(f *design.Field) bool {
	return f.Type.Kind == design.KindInt || f.Type.Kind == design.KindMoney || f.Type.Kind == design.KindTTL
}

// fraction is what of a term may have a fraction, and one that has; "" for a term that has none.
func (c *checker) fraction(w *design.Write, s *design.Step, t design.Term) (name, sample string) {
	if t.Kind == design.ConstantTerm {
		if _, digits, found := strings.Cut(t.Constant.Text, "."); found && strings.Trim(digits, "0") != "" && t.Constant.Kind == design.NumberConstant {
			return t.Constant.Text, t.Constant.Text
		}
		return "", ""
	}
	plain, ofLine := strings.CutPrefix(t.Name, "line.")
	var f *design.Field
	switch t.Kind {
	case design.ParamTerm, design.FieldTerm:
		f = c.design.Entity(s.Entity).Field(plain)
		if i := slices.IndexFunc(w.Params, func(p *design.Field) bool { return p.Name == plain }); t.Kind == design.ParamTerm && i >= 0 && !ofLine {
			f = w.Params[i]
		}
	case design.SumTerm:
		ofLine = true
	default:
	}
	for _, other := range w.Steps {
		if f == nil && ofLine && other.Each {
			f = c.design.Entity(other.Entity).Field(plain)
		}
	}
	if f == nil || f.Type.Kind != design.KindDecimal {
		return "", ""
	}
	return t.Name, "0.5"
}
