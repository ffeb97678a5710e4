package expression

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
)

// triesMax is the number of items that are tried before the question is left undecided.
const triesMax = 1 << 12

// Overlap looks for an item that satisfies both conditions, and returns it in a design's notation; "" if there is none.
// decided is false if that is unknown: the conditions use more than comparisons of a few scalar fields with constants.
func Overlap(d *design.Design, e *design.Entity, a, b *design.Condition) (item string, decided bool) {
	w, ok := Try(d, e, a, b)
	if !ok || len(w.params) > 0 {
		return "", false
	}
	both := bound(d, e, a, b)
	if both == nil {
		return "", false
	}
	decided = w.EachItem(func(it Values) bool {
		for _, c := range both {
			holds, err := c.Holds(it)
			if err != nil || !holds {
				return err == nil
			}
		}
		item = w.Text(it)
		return false
	})
	return item, decided || item != ""
}

// Implies reports whether a condition certainly holds for every item that satisfies another, for any parameters of the other.
// It may miss an implication.
func Implies(d *design.Design, e *design.Entity, when, then *design.Condition) bool {
	if when == nil {
		return false
	}
	w, ok := Try(d, e, when, then)
	if !ok {
		return false
	}
	sure := bound(d, e, then)
	if sure == nil {
		return false
	}
	return w.EachParams(func(params Values) bool {
		c, err := Bind(d, e, when, func(name string) (types.AttributeValue, error) { return params[name], nil })
		return err == nil && w.EachItem(func(it Values) bool {
			holds, err := c.Holds(it)
			if err != nil || !holds {
				return err == nil
			}
			follows, err := sure[0].Holds(it)
			return err == nil && follows
		})
	})
}

// Decide reports what is known about a condition for items with given values, by field name, and arbitrary values in some
// other fields: that it holds, that it does not, or neither.
func Decide(d *design.Design, e *design.Entity, c *design.Condition, given map[string]types.AttributeValue, present []string) (holds, fails bool) {
	w, ok := Try(d, e, c)
	if !ok || len(w.params) > 0 {
		return false, false
	}
	for i, f := range w.fields {
		if v, known := given[f.field.Name]; known {
			w.fields[i].values = []types.AttributeValue{v}
		} else if slices.Contains(present, f.field.Name) {
			w.fields[i].values = slices.DeleteFunc(f.values, func(v types.AttributeValue) bool { return v == nil })
		}
	}
	ready := bound(d, e, c)
	if ready == nil {
		return false, false
	}
	holds, fails = true, true
	decided := w.EachItem(func(it Values) bool {
		is, err := ready[0].Holds(it)
		holds, fails = holds && is, fails && !is
		return err == nil && (holds || fails)
	})
	return decided && holds, decided && fails
}

// bound are prepared conditions without parameters; nil if one cannot be prepared.
func bound(d *design.Design, e *design.Entity, list ...*design.Condition) []*Condition {
	var out []*Condition
	for _, c := range list {
		ready, err := Bind(d, e, c, func(string) (types.AttributeValue, error) { return nil, nil }) //nolint:nilnil // there are no parameters
		if err != nil {
			return nil
		}
		out = append(out, ready)
	}
	return out
}

// Tries are the items and parameters on which conditions are evaluated. They are built from the constants in the conditions
// and neighbouring values, so they cover every case of conditions that compare a few scalar fields with constants.
type Tries struct {
	design         *design.Design
	fields, params []variable
}

// variable is a field or a parameter, with the values that are tried; nil is absent.
type variable struct {
	name   string
	field  *design.Field // nil for a parameter
	values []types.AttributeValue
}

// Try builds the items and parameters for conditions on an entity; false if the conditions go beyond what can be tried.
func Try(d *design.Design, e *design.Entity, conditions ...*design.Condition) (*Tries, bool) {
	w := &Tries{design: d}
	near := map[string][]string{}         // field → the constants it is compared with
	comparedWith := map[string][]string{} // parameter → the fields it is compared with
	params := map[string]int{}            // field → the number of parameters it is compared with
	for _, x := range conditions {
		words := strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ", ",", " , ").Replace(x.Expression))
		if slices.ContainsFunc(words, func(word string) bool {
			return strings.EqualFold(word, "size") || strings.EqualFold(word, "attribute_type") || strings.EqualFold(word, "contains")
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
				w.fields = append(w.fields, variable{name: f.Name, field: f})
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
				comparedWith[p], params[f] = append(comparedWith[p], f), params[f]+1
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
	for _, p := range slices.Sorted(maps.Keys(comparedWith)) {
		v := variable{name: p}
		for _, f := range comparedWith[p] {
			v.values = append(v.values, of[f]...)
		}
		w.params = append(w.params, v)
		if tries *= len(v.values); tries == 0 || tries > triesMax {
			return nil, false
		}
	}
	return w, true
}

// lastOf is the field whose alias occurs last; "" if there is none.
func lastOf(words []string, fields map[string]string) string {
	for _, word := range slices.Backward(words) {
		if f := fields[word]; f != "" {
			return f
		}
	}
	return ""
}

// some are values of a field: all possible ones, or the constants it is compared with and enough values around them to tell
// them apart.
func (w *Tries) some(f *design.Field, constants []string, around int) []types.AttributeValue {
	var out []types.AttributeValue
	add := func(v types.AttributeValue) {
		if !slices.ContainsFunc(out, func(known types.AttributeValue) bool { return reflect.DeepEqual(known, v) }) {
			out = append(out, v)
		}
	}
	enum := w.design.Enum(f.Type.Name)
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

// EachItem calls try with all items until it returns false, and reports whether it never did.
func (w *Tries) EachItem(try func(Values) bool) bool { return each(w.fields, try) }

// EachParams does the same with all parameters.
func (w *Tries) EachParams(try func(Values) bool) bool { return each(w.params, try) }

func each(variables []variable, try func(Values) bool) bool {
	at := make([]int, len(variables))
	for {
		values := Values{}
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

// Text is an item in a design's notation.
func (w *Tries) Text(item Values) string {
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
