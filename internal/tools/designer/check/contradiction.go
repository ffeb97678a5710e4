package check

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/expression"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// triesMax is how many items are tried on two conditions before the question stays open.
const triesMax = 1 << 12

// contradiction is ST214: the filter of a read and the condition of the sparse index that serves it. Where no item meets both,
// the read never finds anything; where all that are in the index pass, the filter does nothing.
//
// The two are tried on items made of the constants that stand in them and of what lies around those. Conditions that ask for
// more than comparisons of a few scalar fields are left alone.
func (c *checker) contradiction(r *design.Read, p *plan.Plan) {
	if p.Place.Where == nil || p.Filter == nil {
		return
	}
	w, ok := c.worlds(p.Place.Entity, p.Place.Where, p.Filter)
	if !ok {
		return
	}
	in, dropped, both := "", false, false
	where, err := expression.Bind(c.design, p.Place.Entity, p.Place.Where, nil)
	if err != nil {
		return
	}
	complete := w.each(w.params, func(params expression.Values) bool {
		filter, err := expression.Bind(c.design, p.Place.Entity, p.Filter, func(name string) (types.AttributeValue, error) { return params[name], nil })
		if err != nil {
			return false
		}
		return w.each(w.fields, func(item expression.Values) bool {
			holds, err := where.Holds(item)
			if !holds || err != nil {
				return err == nil
			}
			if in == "" {
				in = w.text(item)
			}
			passes, err := filter.Holds(item)
			both, dropped = both || passes, dropped || !passes
			return err == nil && (!both || !dropped)
		})
	})
	switch {
	case both && dropped || !complete || in == "":
	case !both:
		c.find("ST214", r.Name, r.Pos, "never finds anything: %s holds items for which \"%s\" holds, and of those \"%s\" drops all", p.Place, p.Place.Where.Text, p.Filter.Text).
			witness(in + " is in the index and is dropped; what the filter wants is not there").mend("another index, or the filter without what the index excludes").report()
	default:
		c.find("ST214", r.Name, r.Pos, "has a filter that drops nothing: whatever is in %s has \"%s\"", p.Place, p.Place.Where.Text).as(Info).
			mend("no filter").report()
	}
}

// worlds are the items, and the parameters, with which conditions are tried.
type worlds struct {
	c              *checker
	entity         *design.Entity
	fields, params []variable
}

// variable is a field, by its attribute, or a parameter, with the values that are tried; nil is absent.
type variable struct {
	name   string
	field  *design.Field // nil of a parameter
	values []types.AttributeValue
}

// worlds are those of conditions on an entity, false where the conditions say more than can be tried.
func (c *checker) worlds(e *design.Entity, conditions ...*design.Condition) (*worlds, bool) {
	w := &worlds{c: c, entity: e}
	near := map[string][]string{}   // field → the constants that stand beside it
	beside := map[string][]string{} // parameter → the fields
	params := map[string]int{}      // field → how many parameters stand beside it
	for _, x := range conditions {
		words := strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ", ",", " , ").Replace(x.Expression))
		if slices.ContainsFunc(words, func(word string) bool {
			return strings.EqualFold(word, "size") || strings.EqualFold(word, "attribute_type")
		}) {
			return nil, false
		}
		fields := map[string]string{} // alias → field
		for _, n := range x.Names {
			f := e.Field(n.Field)
			if f == nil || n.Step() || !f.Type.Scalar() || f.Type.Kind == design.KindBytes {
				return nil, false
			}
			fields[n.Alias] = f.Name
			if !slices.ContainsFunc(w.fields, func(v variable) bool { return v.field == f }) {
				w.fields = append(w.fields, variable{name: f.Attribute(), field: f})
			}
		}
		for i, word := range words {
			v := slices.IndexFunc(x.Values, func(v design.ValueRef) bool { return v.Placeholder == word })
			if fields[word] != "" && i+2 < len(words) && fields[words[i+2]] != "" {
				return nil, false // one field is compared with another
			}
			if v < 0 {
				continue
			}
			f := lastOf(words[:i], fields)
			if i+2 < len(words) && fields[words[i+2]] != "" && strings.ContainsAny(words[i+1], "=<>") {
				f = fields[words[i+2]] // :least < total
			}
			if p := x.Values[v].Param; p != "" {
				beside[p], params[f] = append(beside[p], f), params[f]+1
			} else {
				near[f] = append(near[f], x.Values[v].Literal.Text)
			}
		}
	}
	tries := 1
	of := map[string][]types.AttributeValue{}
	for i, v := range w.fields {
		values := w.some(v.field, near[v.field.Name], 1+params[v.field.Name])
		w.fields[i].values, of[v.field.Name] = values, slices.DeleteFunc(slices.Clone(values), func(v types.AttributeValue) bool { return v == nil })
		if tries *= len(values); tries > triesMax {
			return nil, false
		}
	}
	for _, p := range slices.Sorted(maps.Keys(beside)) {
		v := variable{name: p}
		for _, f := range beside[p] {
			v.values = append(v.values, of[f]...)
		}
		w.params = append(w.params, v)
		if tries *= len(v.values); tries == 0 || tries > triesMax {
			return nil, false
		}
	}
	return w, true
}

// lastOf is the field whose alias stands last; "" for none.
func lastOf(words []string, fields map[string]string) string {
	for _, word := range slices.Backward(words) {
		if f := fields[word]; f != "" {
			return f
		}
	}
	return ""
}

// some are values of a field: all that it can have, or the constants beside it and values around them, as many as can be told
// apart.
func (w *worlds) some(f *design.Field, constants []string, around int) []types.AttributeValue {
	var out []types.AttributeValue
	add := func(v types.AttributeValue) {
		if !slices.ContainsFunc(out, func(known types.AttributeValue) bool { return reflect.DeepEqual(known, v) }) {
			out = append(out, v)
		}
	}
	enum := w.c.design.Enum(f.Type.Name)
	switch {
	case f.Type.Kind == design.KindBool:
		add(&types.AttributeValueMemberBOOL{Value: true})
		add(&types.AttributeValueMemberBOOL{Value: false})
	case f.Type.Kind == design.KindEnum && enum != nil:
		for _, v := range enum.Values {
			add(&types.AttributeValueMemberS{Value: v})
		}
	case f.Type.Numeric():
		step := 1.0
		if f.Type.Kind == design.KindDecimal {
			step = 0.001
		}
		for _, text := range append(constants, "0") {
			n, err := strconv.ParseFloat(text, 64)
			for i := -around; err == nil && i <= around; i++ {
				add(&types.AttributeValueMemberN{Value: strconv.FormatFloat(n+float64(i)*step, 'f', -1, 64)})
			}
		}
	default:
		for _, text := range append(constants, "") {
			if text != "" {
				add(&types.AttributeValueMemberS{Value: text})
			}
			for i := range around {
				add(&types.AttributeValueMemberS{Value: text + string(rune('a'+i))})
			}
		}
	}
	if f.Type.Key() == design.KeyString && f.Type.Kind != design.KindEnum && f.Type.Kind != design.KindBool {
		add(&types.AttributeValueMemberS{})
	}
	if f.Optional {
		out = append(out, nil)
	}
	return out
}

// each calls try with all values of variables, until it returns false, and reports whether it never did.
func (w *worlds) each(variables []variable, try func(expression.Values) bool) bool {
	at := make([]int, len(variables))
	for {
		values := expression.Values{}
		for i, v := range variables {
			if value := v.values[at[i]]; value != nil {
				values[v.name] = value
			}
		}
		if !try(values) {
			return false
		}
		i := 0
		for ; i < len(at); i++ {
			if at[i]++; at[i] < len(variables[i].values) {
				break
			}
			at[i] = 0
		}
		if i == len(at) {
			return true
		}
	}
}

// text is an item as a design writes one.
func (w *worlds) text(item expression.Values) string {
	var parts []string
	for _, f := range w.fields {
		switch v := item[f.name].(type) {
		case *types.AttributeValueMemberS:
			parts = append(parts, f.field.Name+": "+v.Value)
		case *types.AttributeValueMemberN:
			parts = append(parts, f.field.Name+": "+v.Value)
		case *types.AttributeValueMemberBOOL:
			parts = append(parts, fmt.Sprintf("%s: %v", f.field.Name, v.Value))
		}
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// instant is ST215: a read of a list knows a time whose period chooses the partition, and the sort key has the time itself: it
// asks for what happened at that very instant.
func (c *checker) instant(r *design.Read, p *plan.Plan) {
	if !r.Many || p.Operation != plan.Query {
		return
	}
	for _, s := range p.SK {
		for _, part := range s.Template.Parts[:s.Parts] {
			f := p.Place.Entity.Field(part.Field)
			if f == nil || f.Type.Kind != design.KindTime || cutsTime(part) {
				continue
			}
			for _, t := range p.Place.PK {
				i := slices.IndexFunc(t.Parts, func(x design.Part) bool { return x.Field == f.Name && cutsTime(x) })
				if i < 0 {
					continue
				}
				c.find("ST215", r.Name, r.Pos, "asks by %s, of which the partition key has the %s and the sort key all: it finds only what happened at that very instant",
					f.Name, periodOf(plan.Place{Entity: p.Place.Entity, PK: []*design.Template{{Parts: t.Parts[i : i+1]}}})).
					witness(fmt.Sprintf("what happened a millisecond later is in the same partition %q and is not found", t.Text)).
					mend("a field for the period, with its own part in the partition key: by: [… %sPeriod], range: %s", f.Name, f.Name).report()
			}
		}
	}
}

func cutsTime(p design.Part) bool {
	return slices.ContainsFunc(p.Funcs, func(f design.Func) bool { return f.Name == "date" })
}
