package trial

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// holds evaluates a condition of the design over plain values, by the names of fields rather than stored paths. given are
// the values of parameters by name. A nil condition always holds.
func holds(d *design.Design, e *design.Entity, c *design.Condition, values, given table.Values) (bool, error) {
	if c == nil {
		return true, nil
	}
	names := map[string]string{}
	for _, n := range c.Names {
		names[n.Alias] = n.Field[strings.LastIndex(n.Field, ".")+1:]
	}
	if len(names) == 0 {
		names = nil // an empty map is invalid in a request
	}
	var params []attr.Field
	for _, v := range c.Values {
		value, err := operand(v, given)
		if err != nil {
			return false, err
		}
		params = append(params, attr.Field{Name: v.Placeholder, Value: value})
	}
	bound, err := bind(names, params, c.Expression)
	if err != nil {
		return false, fmt.Errorf("condition %q: %w", c.Text, err)
	}
	var fields []attr.Field
	for _, f := range e.Fields {
		if v := values[f.Name]; v != nil {
			fields = append(fields, attr.Field{Name: f.Name, Value: named(d, f.Type, v)})
		}
	}
	it, _ := attr.NewItem(fields) // fields have distinct names
	return bound.Eval(it)
}

// bind binds a condition to names and parameters.
func bind(names map[string]string, params []attr.Field, text string) (*eval.Condition, error) {
	var values attr.Item
	if len(params) > 0 {
		values, _ = attr.NewItem(params) // placeholders are distinct
	}
	binder, err := eval.NewBinder(names, values)
	if err != nil {
		return nil, err
	}
	return binder.Condition(expr.Condition, text)
}

// operand is the value of a condition's placeholder.
func operand(v design.ValueRef, given table.Values) (attr.Value, error) {
	if v.Param != "" {
		value := given[v.Param]
		if value == nil {
			return attr.Value{}, fmt.Errorf("missing value for :%s", v.Param)
		}
		return sdk.Value(value), nil
	}
	switch v.Literal.Kind {
	case design.NumberConstant:
		return attr.ParseNumber(v.Literal.Text), nil
	case design.BoolConstant:
		return attr.Bool(v.Literal.Text == "true"), nil
	case design.NullConstant:
		return attr.Null(), nil
	default:
		return attr.String(v.Literal.Text), nil
	}
}

// named is a stored value in which the members of structures are named after their fields.
func named(d *design.Design, t design.Type, v types.AttributeValue) attr.Value {
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		return attr.Map(namedMembers(d, t, v.Value))
	case *types.AttributeValueMemberL:
		if t.Elem == nil {
			return sdk.Value(v)
		}
		elems := make([]attr.Value, len(v.Value))
		for i := range v.Value {
			elems[i] = named(d, *t.Elem, v.Value[i])
		}
		return attr.List(elems)
	default:
		return sdk.Value(v)
	}
}

func namedMembers(d *design.Design, t design.Type, m map[string]types.AttributeValue) attr.Item {
	var members []attr.Field
	if s := d.Struct(t.Name); t.Kind == design.KindStruct && s != nil {
		for _, f := range s.Fields {
			if v := load(m, f.Path); v != nil {
				members = append(members, attr.Field{Name: f.Name, Value: named(d, f.Type, v)})
			}
		}
		it, _ := attr.NewItem(members)
		return it
	}
	for name, v := range m {
		value := sdk.Value(v)
		if t.Elem != nil {
			value = named(d, *t.Elem, v)
		}
		members = append(members, attr.Field{Name: name, Value: value})
	}
	it, _ := attr.NewItem(members)
	return it
}

// load is the value at the end of a path into maps; nil if there is none.
func load(m map[string]types.AttributeValue, path []string) types.AttributeValue {
	for _, step := range path[:len(path)-1] {
		inner, is := m[step].(*types.AttributeValueMemberM)
		if !is {
			return nil
		}
		m = inner.Value
	}
	return m[path[len(path)-1]]
}

// withNow adds the time of the call to parameters, for conditions that use it. types are those of the conditions'
// parameters.
func withNow(given table.Values, c *table.Condition, now time.Time) table.Values {
	if c == nil {
		return given
	}
	for _, p := range c.Params {
		if p.Input != "now" || given["now"] != nil {
			continue
		}
		out := table.Values{"now": textValue(timeText(now))}
		switch design.Kind(p.Type.Kind) {
		case design.KindTTL, design.KindInt, design.KindMoney, design.KindDecimal:
			out["now"] = numberValue(fmt.Sprint(now.Unix()))
		case design.KindDate:
			out["now"] = textValue(timeText(now)[:len("2006-01-02")])
		default:
		}
		maps.Copy(out, given)
		return out
	}
	return given
}
