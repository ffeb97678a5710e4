package expression

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// Condition is a condition on an entity's items, given as values by field.
type Condition struct {
	text      string
	condition *eval.Condition
}

// Bind prepares a condition with the values of its parameters. A nil condition gives nil, which holds
// for every item.
func Bind(d *design.Design, e *design.Entity, c *design.Condition, params func(name string) (types.AttributeValue, error)) (*Condition, error) {
	if c == nil {
		return nil, nil //nolint:nilnil // no condition
	}
	names, aliases := map[string]string{}, map[string]string{}
	for _, ref := range c.Names {
		path := Path(d, e, ref.Field)
		if ref.Step() { // it follows the field that it belongs to
			path = path[len(Path(d, e, parent(ref.Field))):]
		}
		steps := make([]string, len(path))
		for i, step := range path {
			steps[i] = "#s" + strconv.Itoa(len(names))
			names[steps[i]] = step
		}
		aliases[ref.Alias] = strings.Join(steps, ".")
	}
	var values []attr.Field
	for _, ref := range c.Values {
		v := Constant(ref.Literal)
		if ref.Param != "" {
			given, err := params(ref.Param)
			if err != nil {
				return nil, err
			}
			if given == nil {
				return nil, fmt.Errorf("where %s: :%s is absent", c.Text, ref.Param)
			}
			v = given
		}
		values = append(values, attr.Field{Name: ref.Placeholder, Value: sdk.Value(v)})
	}
	item, _ := attr.NewItem(values) // the placeholders are distinct
	if len(item) == 0 {
		item = nil // an empty list of values is rejected
	}
	if len(names) == 0 {
		names = nil
	}
	binder, err := eval.NewBinder(names, item)
	if err != nil {
		return nil, fmt.Errorf("where %s: %w", c.Text, err)
	}
	bound, err := binder.Condition(expr.Condition, renamed(c.Expression, aliases))
	if err != nil {
		return nil, fmt.Errorf("where %s: %w", c.Text, err)
	}
	return &Condition{c.Text, bound}, nil
}

func parent(path string) string { return path[:strings.LastIndex(path, ".")] }

// renamed replaces the aliases of an expression, in which nothing else starts with a #.
func renamed(expression string, aliases map[string]string) string {
	var out strings.Builder
	for i := 0; i < len(expression); {
		n := 1
		if expression[i] != '#' {
			out.WriteByte(expression[i])
			i++
			continue
		}
		for i+n < len(expression) && expr.ValidReference(expression[i:i+n+1], '#') {
			n++
		}
		out.WriteString(aliases[expression[i:i+n]])
		i += n
	}
	return out.String()
}

// Holds reports whether the condition holds for an item.
func (c *Condition) Holds(it Values) (bool, error) {
	if c == nil {
		return true, nil
	}
	ok, err := c.condition.Eval(sdk.Item(it))
	if err != nil {
		return false, fmt.Errorf("where %s: %w", c.text, err)
	}
	return ok, nil
}

// Those returns the items for which the condition holds.
func (c *Condition) Those(items []Values) ([]Values, error) {
	if c == nil {
		return items, nil
	}
	var out []Values
	for _, it := range items {
		ok, err := c.Holds(it)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, it)
		}
	}
	return out, nil
}
