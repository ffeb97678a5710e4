package eval

import (
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// Condition is a bound condition or filter. A nil *Condition is always true. Safe for concurrent use.
type Condition struct {
	scope
	root expr.Node
}

// Condition binds a ConditionExpression or a FilterExpression.
func (b *Binder) Condition(s expr.Surface, text string) (*Condition, error) {
	e, sc, err := b.bind(s, text)
	if err != nil {
		return nil, err
	}
	c := &Condition{scope: sc, root: e.Root}
	if err := c.check(c.root); err != nil {
		return nil, err
	}
	return c, nil
}

// Eval evaluates the condition on an item; nil is a missing item. An operand that the item does not have, or whose type does not
// fit the operator, makes a comparison false, and <> true. Eval fails if DynamoDB returns a ValidationException for an item,
// which no current operator does.
func (c *Condition) Eval(it attr.Item) (bool, error) {
	if c == nil {
		return true, nil
	}
	return c.holds(c.root, it), nil
}

// Attributes returns the top-level attributes that the condition reads, sorted, as needed by itemenc's Select.
func (c *Condition) Attributes() []string {
	if c == nil {
		return nil
	}
	var names []string
	expr.Walk(c.root, func(n expr.Node) {
		if p, ok := n.(*expr.Path); ok {
			names = append(names, p.Root(c.names))
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// NestedAttributes returns the top-level attributes below which the condition reads, in the order of the text.
func (c *Condition) NestedAttributes() []string {
	if c == nil {
		return nil
	}
	return c.scope.NestedAttributes()
}

func (c *Condition) holds(n expr.Node, it attr.Item) bool {
	switch n := n.(type) {
	case *expr.And:
		return !slices.ContainsFunc(n.Terms, func(t expr.Node) bool { return !c.holds(t, it) })
	case *expr.Or:
		return slices.ContainsFunc(n.Terms, func(t expr.Node) bool { return c.holds(t, it) })
	case *expr.Not:
		return !c.holds(n.Term, it)
	case *expr.Comparison:
		return c.compare(n, it)
	case *expr.Between:
		v := c.operand(n.Operand, it)
		return atMost(c.operand(n.Low, it), v) && atMost(v, c.operand(n.High, it))
	case *expr.In:
		v := c.operand(n.Operand, it)
		return !v.IsZero() && slices.ContainsFunc(n.List, func(e expr.Node) bool { return c.operand(e, it).Equal(v) })
	case *expr.Call:
		return c.predicate(n, it)
	default:
		return false
	}
}

func atMost(a, b attr.Value) bool {
	order, ok := a.Compare(b)
	return ok && order <= 0
}

func (c *Condition) compare(n *expr.Comparison, it attr.Item) bool {
	left, right := c.operand(n.Left, it), c.operand(n.Right, it)
	equal := func() bool { return !left.IsZero() && !right.IsZero() && left.Equal(right) }
	order, ok := 0, true
	if n.Op != expr.Equal && n.Op != expr.NotEqual {
		order, ok = left.Compare(right)
	}
	switch n.Op {
	case expr.Equal:
		return equal()
	case expr.NotEqual:
		return !equal()
	case expr.Less:
		return ok && order < 0
	case expr.LessOrEqual:
		return ok && order <= 0
	case expr.Greater:
		return ok && order > 0
	default:
		return ok && order >= 0
	}
}

// operand returns the value of an operand, or the zero Value if the item has none.
func (c *Condition) operand(n expr.Node, it attr.Item) attr.Value {
	switch n := n.(type) {
	case *expr.Placeholder:
		return c.value(n)
	case *expr.Path:
		v, _ := c.find(n, it)
		return v
	case *expr.Call:
		if size, ok := sizeOf(c.operand(n.Args[0], it)); ok {
			return attr.Number(strconv.Itoa(size))
		}
		return attr.Value{}
	default:
		return attr.Value{}
	}
}

// sizeOf returns the result of size(): UTF-16 code units of a string, bytes of a binary, elements of a document or set.
func sizeOf(v attr.Value) (int, bool) {
	switch k := v.Kind(); {
	case k == attr.KindString:
		return utf16Len(v.Text()), true
	case k == attr.KindBinary:
		return len(v.Text()), true
	case k == attr.KindList || k.IsSet():
		return len(v.Elems()), true
	case k == attr.KindMap:
		return len(v.Item()), true
	default:
		return 0, false
	}
}

func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

func (c *Condition) predicate(n *expr.Call, it attr.Item) bool {
	v := c.operand(n.Args[0], it)
	switch n.Function {
	case expr.AttributeExists:
		return !v.IsZero()
	case expr.AttributeNotExists:
		return v.IsZero()
	case expr.AttributeType:
		return !v.IsZero() && v.Kind().String() == c.operand(n.Args[1], it).Text()
	case expr.BeginsWith:
		prefix := c.operand(n.Args[1], it)
		return isText(v) && v.Kind() == prefix.Kind() && strings.HasPrefix(v.Text(), prefix.Text())
	default:
		return contains(v, c.operand(n.Args[1], it))
	}
}

func isText(v attr.Value) bool { return v.Kind() == attr.KindString || v.Kind() == attr.KindBinary }

// contains reports whether v contains part: a string a substring, a binary a subsequence, a set a member, a list an element.
func contains(v, part attr.Value) bool {
	switch {
	case part.IsZero():
		return false
	case isText(v):
		return v.Kind() == part.Kind() && strings.Contains(v.Text(), part.Text())
	default:
		return slices.ContainsFunc(v.Elems(), part.Equal)
	}
}
