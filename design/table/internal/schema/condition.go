package schema

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// Inputs are the values of condition parameters.
type Inputs struct {
	Values, Line Values
	Now          time.Time
}

// nowInput is the input that is the time of the call unless it is given.
const nowInput = "now"

// Bind adds a condition to a request's names and values, with unused aliases and placeholders, and returns its expression. It
// checks inputs. An attribute that already has an alias keeps it. A nil condition gives "".
func (c *Condition) Bind(in Inputs, names map[string]string, values Item) (string, error) {
	if c == nil {
		return "", nil
	}
	fresh := map[string]string{}
	return c.rewrite(func(reference string) (string, error) {
		if known, ok := fresh[reference]; ok {
			return known, nil
		}
		if reference[0] == '#' {
			name, ok := c.Names[reference]
			if !ok {
				return "", undefined(reference)
			}
			fresh[reference] = AliasIn(names, name)
			return fresh[reference], nil
		}
		v, err := c.Value(reference, in)
		if err != nil {
			return "", err
		}
		fresh[reference] = Free(values, ":c")
		values[fresh[reference]] = v
		return fresh[reference], nil
	})
}

// Holds evaluates a condition over a stored item with the database's own evaluator. No condition holds always, and an item that
// is not there is nil.
func (c *Condition) Holds(it Item, in Inputs) (bool, error) {
	if c == nil {
		return true, nil
	}
	values := Item{}
	_, err := c.rewrite(func(reference string) (string, error) {
		if reference[0] == ':' && values[reference] == nil {
			v, err := c.Value(reference, in)
			values[reference] = v
			return reference, err
		}
		return reference, nil
	})
	if err != nil {
		return false, err
	}
	bound, err := c.evaluator(values)
	if err != nil {
		return false, fmt.Errorf("condition %q: %w", c.Expression, err)
	}
	var read attr.Item
	if it != nil {
		read = attributesOf(it, bound.Attributes())
	}
	return bound.Eval(read)
}

// evaluator is the condition with its values in place.
func (c *Condition) evaluator(values Item) (*eval.Condition, error) {
	names := c.Names
	if len(names) == 0 {
		names = nil // an empty map is a fault of a request
	}
	var params attr.Item
	if len(values) > 0 {
		params = Attributes(values)
	}
	binder, err := eval.NewBinder(names, params)
	if err != nil {
		return nil, err
	}
	return binder.Condition(expr.Condition, c.Expression)
}

// rewrite replaces the expression's aliases and placeholders. The grammar has no literals, so every # or : starts one.
func (c *Condition) rewrite(replace func(reference string) (string, error)) (string, error) {
	var out strings.Builder
	rest := c.Expression
	for {
		i := strings.IndexAny(rest, "#:")
		if i < 0 {
			out.WriteString(rest)
			return out.String(), nil
		}
		n := i + 1
		for n < len(rest) && expr.ValidReference(rest[i:n+1], rest[i]) {
			n++
		}
		to, err := replace(rest[i:n])
		if err != nil {
			return "", err
		}
		out.WriteString(rest[:i])
		out.WriteString(to)
		rest = rest[n:]
	}
}

// Value is the value of a placeholder.
func (c *Condition) Value(placeholder string, in Inputs) (types.AttributeValue, error) {
	if v, ok := c.Constants[placeholder]; ok {
		return v, nil
	}
	for i := range c.Params {
		if p := &c.Params[i]; p.Placeholder == placeholder {
			return p.value(in)
		}
	}
	return nil, undefined(placeholder)
}

// value returns the input of a param, which must have its type; a param without a kind takes any type.
func (p *ConditionParam) value(in Inputs) (types.AttributeValue, error) {
	v := in.Values[p.Input]
	if name, ofLine := strings.CutPrefix(p.Input, "line."); ofLine {
		v = in.Line[name]
	}
	switch {
	case v == nil && p.Input == nowInput:
		return TimeAs(p.Type, p.Input, in.Now)
	case v == nil:
		return nil, Missing(p.Input)
	case p.Type.Kind == "":
		return v, nil
	}
	return v, p.Type.CheckValue(p.Input, v, 0, 0)
}

// TimeAs is a time as a value of a type: a time, a date or the seconds of a ttl.
func TimeAs(t Type, name string, at time.Time) (types.AttributeValue, error) {
	switch {
	case t.Kind.Numeric() && !at.IsZero():
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(at.Unix(), 10)}, nil
	case t.Kind.textual() && !at.IsZero():
		text, err := keytext.OfTime(at)
		if err != nil {
			return nil, &ValueError{Field: name, Reason: "is not a time: " + err.Error()}
		}
		if t.Kind == KindDate {
			text = text[:len(keytext.DateLayout)]
		}
		return &types.AttributeValueMemberS{Value: text}, nil
	default:
		return nil, Missing(name)
	}
}

// AliasIn is the alias that an attribute has among a request's names, or is given.
func AliasIn(names map[string]string, attribute string) string {
	found := ""
	for alias, name := range names {
		if name == attribute && (found == "" || alias < found) {
			found = alias
		}
	}
	if found == "" {
		found = Free(names, "#c")
		names[found] = attribute
	}
	return found
}

// Free is a reference with a prefix that a map does not have.
func Free[V any](m map[string]V, prefix string) string {
	for n := len(m); ; n++ {
		reference := prefix + strconv.Itoa(n)
		if _, taken := m[reference]; !taken {
			return reference
		}
	}
}

// undefined reports a defect of a descriptor: its condition uses an undefined name.
func undefined(reference string) error {
	return fmt.Errorf("the condition has no value for %s", reference)
}
