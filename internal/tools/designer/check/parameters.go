package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/design"
)

// sameParameters checks ST516: only parameters distinguish the items of two steps, so a caller can pass the same value
// for both. A condition that compares them shows that the authors are aware of it.
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
			value := `"a"`
			if f := e.Field(fields[0]); f != nil && whole(f) {
				value = "1"
			}
			c.find("ST516", w.Name, s.Pos, "writes the same %s twice if %s are equal: DynamoDB rejects two actions on one item, so the generated code returns an error before it sends the request",
				e.Name, strings.Join(pairs, ", and ")).
				witness(fmt.Sprintf(":%s = %s, :%s = %s", params[0], value, params[1], value)).
				fix("when: \"%s <> :%s\" in the step of :%s, which states that they differ", fields[0], params[1], params[0]).report()
		}
	}
}

// keyValue returns a step's value for a key field, as written in the design, or the parameter of the same name if it sets
// none.
func keyValue(s *design.Step, field string) string {
	if v := given(s, field); v != nil {
		if len(v.Terms) == 1 && v.Terms[0].Kind != design.ParamTerm {
			return strings.ReplaceAll(v.Text, ":", "")
		}
		return strings.ReplaceAll(v.Text, " ", "")
	}
	return ":" + field
}

// fractions checks ST519: a value that may have a fraction is assigned or added to a field of whole numbers.
func (c *checker) fractions(w *design.Write, s *design.Step) {
	e := c.design.Entity(s.Entity)
	for _, a := range slices.Concat(s.Set, s.Add, s.Init) {
		f := e.Field(a.Field)
		if f == nil || !whole(f) {
			continue
		}
		for _, t := range a.Value.Terms {
			if name, sample := c.fraction(w, s, t); name != "" {
				c.find("ST519", w.Name, a.Pos, "assigns or adds to %s of %s, which is of type %s, the value %s, which may have a fraction: the item could then no longer be read", f.Name, e.Name, f.Type, name).
					witness(sum(sample)).
					fix("%s: decimal; or use an amount in the smallest unit, which is a whole number", f.Name).report()
			}
		}
	}
}

// summed checks ST519 for counters that sum a decimal.
func (c *checker) summed(e *design.Entity) {
	for _, x := range e.Counters {
		f, of := e.Field(x.Field), c.design.Entity(x.Of)
		if f == nil || of == nil || !whole(f) {
			continue
		}
		if g := of.Field(x.Sum); g != nil && g.Type.Kind == design.KindDecimal {
			c.find("ST519", e.Name, x.Pos, "sums %s of %s, which is a decimal, in %s, which is of type %s: the item could then no longer be read",
				g.Name, of.Name, f.Name, f.Type).witness(sum("0.5")).fix("%s: decimal", f.Name).report()
		}
	}
}

// sum shows the number that DynamoDB would store.
func sum(sample string) string {
	n, _ := strconv.ParseFloat(sample, 64)
	return fmt.Sprintf("100 + %s = %s", sample, strconv.FormatFloat(100+n, 'f', -1, 64))
}

func whole(f *design.Field) bool {
	return f.Type.Kind == design.KindInt || f.Type.Kind == design.KindMoney || f.Type.Kind == design.KindTTL
}

// fraction returns the name of a term's value that may have a fraction, and a sample; "" if it cannot have one.
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
