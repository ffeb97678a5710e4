package write

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// expression builds the update expression of a request, and shares its names and values with the request's condition.
type expression struct {
	names                   map[string]string
	values                  schema.Item
	sets, adds, drops, gone []string
}

func newExpression() *expression {
	return &expression{names: map[string]string{}, values: schema.Item{}}
}

// path is a document path of aliases, so that reserved words do not matter.
func (x *expression) path(steps []string) string {
	var out strings.Builder
	for i, step := range steps {
		if _, element := schema.Index(step); element && i > 0 {
			out.WriteString(step)
			continue
		}
		if i > 0 {
			out.WriteByte('.')
		}
		out.WriteString(schema.AliasIn(x.names, step))
	}
	return out.String()
}

// value is a placeholder for a value.
func (x *expression) value(v types.AttributeValue) string {
	placeholder := schema.Free(x.values, ":v")
	x.values[placeholder] = v
	return placeholder
}

// set sets a path to a value, or removes it if the value is nil.
func (x *expression) set(path []string, v types.AttributeValue) {
	if v == nil {
		x.remove(path)
		return
	}
	x.sets = append(x.sets, x.path(path)+" = "+x.value(v))
}

// begin sets a path to a value if it is absent.
func (x *expression) begin(path []string, v types.AttributeValue) {
	p := x.path(path)
	x.sets = append(x.sets, p+" = if_not_exists("+p+", "+x.value(v)+")")
}

func (x *expression) remove(path []string) { x.gone = append(x.gone, x.path(path)) }

// native reports whether DynamoDB has an expression for an assignment: a sum has at most two operands, of which the first is
// not negative.
func (a *assignment) native() bool {
	n := len(a.operands)
	switch {
	case n == 0:
		return true
	case a.how != setting:
		return false
	case n == 1:
		return !a.operands[0].negative || a.value != nil
	default:
		return n == 2 && a.value == nil && (!a.operands[0].negative || !a.operands[1].negative)
	}
}

// assign adds a native assignment.
func (x *expression) assign(a *assignment) {
	p := x.path(a.path)
	switch {
	case a.how == initialising:
		x.begin(a.path, a.value)
	case a.how == uniting:
		x.adds = append(x.adds, p+" "+x.value(a.value))
	case a.how == dropping:
		x.drops = append(x.drops, p+" "+x.value(a.value))
	case a.how == appending || a.how == prepending:
		parts := []string{"if_not_exists(" + p + ", " + x.value(&types.AttributeValueMemberL{Value: []types.AttributeValue{}}) + ")", x.value(a.value)}
		if a.how == prepending {
			slices.Reverse(parts)
		}
		x.sets = append(x.sets, p+" = list_append("+strings.Join(parts, ", ")+")")
	case a.how == adding && len(a.path) == 1:
		x.adds = append(x.adds, p+" "+x.value(a.value))
	case a.how == adding: // ADD only works on top-level attributes
		zero := x.value(&types.AttributeValueMemberN{Value: "0"})
		x.sets = append(x.sets, p+" = if_not_exists("+p+", "+zero+") + "+x.value(a.value))
	case len(a.operands) == 0:
		x.set(a.path, a.value)
	default:
		x.sets = append(x.sets, p+" = "+x.sum(a))
	}
}

// sum is a native sum.
func (x *expression) sum(a *assignment) string {
	operands := slices.Clone(a.operands)
	slices.SortStableFunc(operands, func(l, r operand) int { // subtracted operands come last
		switch {
		case l.negative == r.negative:
			return 0
		case l.negative:
			return 1
		default:
			return -1
		}
	})
	terms := make([]string, 0, 2)
	for _, o := range operands {
		terms = append(terms, x.path(o.path))
	}
	last := operands[len(operands)-1].negative
	if a.value != nil {
		terms = append(terms, x.value(a.value))
		if last {
			slices.Reverse(terms) // :v - field
		}
	}
	operator := " + "
	if last {
		operator = " - "
	}
	return strings.Join(terms, operator)
}

// text is the expression; "" if it changes nothing.
func (x *expression) text() string {
	var out []string
	for _, section := range []struct {
		verb  string
		parts []string
	}{{"SET ", x.sets}, {"ADD ", x.adds}, {"DELETE ", x.drops}, {"REMOVE ", x.gone}} {
		if len(section.parts) > 0 {
			out = append(out, section.verb+strings.Join(section.parts, ", "))
		}
	}
	return strings.Join(out, " ")
}

// apply evaluates an update expression on an item.
func (x *expression) apply(old schema.Item) (schema.Item, error) {
	text := x.text()
	if text == "" {
		return old, nil
	}
	binder, err := eval.NewBinder(x.names, x.boundValues())
	if err != nil {
		return nil, err
	}
	update, err := binder.Update(text)
	if err != nil {
		return nil, err
	}
	var from attr.Item
	if old != nil {
		from = schema.Attributes(old)
	}
	next, err := update.Apply(from)
	if err != nil {
		return nil, err
	}
	return schema.ItemOf(next), nil
}

func (x *expression) boundValues() attr.Item {
	if len(x.values) == 0 {
		return nil
	}
	return schema.Attributes(x.values)
}

// conjunction joins conditions by AND; "" if there are none.
func conjunction(conditions ...string) string {
	var out []string
	for _, c := range conditions {
		if c != "" {
			out = append(out, c)
		}
	}
	if len(out) == 1 {
		return out[0]
	}
	for i, c := range out {
		if tree, err := expr.Load(expr.Condition, c); err == nil {
			if _, ok := tree.Root.(*expr.Or); ok {
				out[i] = "(" + expr.Print(tree) + ")" // without its own parentheses, because DynamoDB rejects redundant pairs
			}
		}
	}
	return strings.Join(out, " AND ")
}

// guard is the condition that a path still has the value that was read.
func (x *expression) guard(path []string, v types.AttributeValue) string {
	if v == nil {
		return "attribute_not_exists(" + x.path(path) + ")"
	}
	return x.path(path) + " = " + x.value(v)
}
