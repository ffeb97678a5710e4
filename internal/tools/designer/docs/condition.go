package docs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// truth is the result of a condition: it holds, it does not, or it depends on unknown values.
type truth int8

const (
	no truth = iota - 1
	open
	yes
)

// operand is an operand of a condition: known, known to be absent, or unknown.
type operand struct {
	known, absent bool
	value         design.Constant
}

// judge evaluates a condition for an item of which some fields are known; field returns a field's operand. It only
// decides what needs scalars: nested fields, sizes and parameters are unknown.
func judge(c *design.Condition, field func(name string) operand) truth {
	if c == nil {
		return yes
	}
	parsed, err := expr.Parse(expr.Condition, c.Expression)
	if err != nil {
		return open
	}
	return judgement{c, field}.of(parsed.Root)
}

type judgement struct {
	condition *design.Condition
	field     func(name string) operand
}

func (j judgement) of(n expr.Node) truth {
	switch n := n.(type) {
	case *expr.And:
		out := yes
		for _, term := range n.Terms {
			out = min(out, j.of(term))
		}
		return out
	case *expr.Or:
		out := no
		for _, term := range n.Terms {
			out = max(out, j.of(term))
		}
		return out
	case *expr.Not:
		return -j.of(n.Term)
	case *expr.Comparison:
		return compare(n.Op, j.operand(n.Left), j.operand(n.Right))
	case *expr.Between:
		of := j.operand(n.Operand)
		return min(compare(expr.GreaterOrEqual, of, j.operand(n.Low)), compare(expr.LessOrEqual, of, j.operand(n.High)))
	case *expr.In:
		out := no
		for _, member := range n.List {
			out = max(out, compare(expr.Equal, j.operand(n.Operand), j.operand(member)))
		}
		return out
	case *expr.Call:
		return j.call(n)
	default:
		return open
	}
}

func (j judgement) call(n *expr.Call) truth {
	of := j.operand(n.Args[0])
	switch {
	case !of.known && !of.absent:
		return open
	case n.Function == expr.AttributeExists:
		return truthOf(!of.absent)
	case n.Function == expr.AttributeNotExists:
		return truthOf(of.absent)
	case n.Function == expr.BeginsWith && len(n.Args) == 2:
		prefix := j.operand(n.Args[1])
		switch {
		case of.absent || prefix.absent:
			return no
		case !prefix.known:
			return open
		}
		return truthOf(of.value.Kind == design.StringConstant && prefix.value.Kind == design.StringConstant && strings.HasPrefix(of.value.Text, prefix.value.Text))
	default:
		return open
	}
}

func (j judgement) operand(n expr.Node) operand {
	switch n := n.(type) {
	case *expr.Path:
		if len(n.Steps) != 1 {
			return operand{}
		}
		i := slices.IndexFunc(j.condition.Names, func(r design.NameRef) bool { return r.Alias == n.Steps[0].Name })
		if i < 0 || j.condition.Names[i].Step() {
			return operand{}
		}
		return j.field(j.condition.Names[i].Field)
	case *expr.Placeholder:
		i := slices.IndexFunc(j.condition.Values, func(v design.ValueRef) bool { return v.Placeholder == n.Name })
		if i < 0 || j.condition.Values[i].Param != "" {
			return operand{}
		}
		return operand{known: true, value: j.condition.Values[i].Literal}
	default:
		return operand{}
	}
}

// compare compares like DynamoDB: an absent value, or one of another type, is only unequal.
func compare(op expr.Comparator, a, b operand) truth {
	if a.absent || b.absent {
		return truthOf(op == expr.NotEqual)
	}
	if !a.known || !b.known {
		return open
	}
	if a.value.Kind != b.value.Kind {
		return truthOf(op == expr.NotEqual)
	}
	order := cmp.Compare(a.value.Text, b.value.Text)
	if a.value.Kind == design.NumberConstant {
		x, err := decimal.Parse(a.value.Text)
		y, fault := decimal.Parse(b.value.Text)
		if err != nil || fault != nil {
			return open
		}
		order = x.Cmp(y)
	}
	ordered := a.value.Kind == design.NumberConstant || a.value.Kind == design.StringConstant
	switch op {
	case expr.Equal:
		return truthOf(order == 0)
	case expr.NotEqual:
		return truthOf(order != 0)
	case expr.Less:
		return truthOf(ordered && order < 0)
	case expr.LessOrEqual:
		return truthOf(ordered && order <= 0)
	case expr.Greater:
		return truthOf(ordered && order > 0)
	case expr.GreaterOrEqual:
		return truthOf(ordered && order >= 0)
	default:
		return open
	}
}

func truthOf(holds bool) truth {
	if holds {
		return yes
	}
	return no
}

// constantKind is the kind of constants for a type in conditions; 0 if there is none.
func constantKind(t design.Type) design.ConstantKind {
	switch {
	case !t.Scalar() || t.Kind == design.KindBytes:
		return 0
	case t.Kind == design.KindBool:
		return design.BoolConstant
	case t.Numeric():
		return design.NumberConstant
	default:
		return design.StringConstant
	}
}
