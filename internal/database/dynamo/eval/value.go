package eval

import (
	"errors"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// evaluate returns the value of an update's operand for the old item.
func (u *Update) evaluate(n expr.Node, old attr.Item) (attr.Value, error) {
	switch n := n.(type) {
	case *expr.Placeholder:
		return u.value(n), nil
	case *expr.Path:
		v, ok := u.find(n, old)
		if !ok {
			return attr.Value{}, updateError(expr.KindMissingAttribute)
		}
		return v, nil
	case *expr.Arithmetic:
		left, right, err := u.both(n.Left, n.Right, old)
		if err != nil {
			return attr.Value{}, err
		}
		return sum(n.Op, left, right)
	case *expr.Call:
		return u.call(n, old)
	default:
		return attr.Value{}, updateError(expr.KindUpdateType)
	}
}

func (u *Update) both(a, b expr.Node, old attr.Item) (left, right attr.Value, err error) {
	if left, err = u.evaluate(a, old); err != nil {
		return left, right, err
	}
	right, err = u.evaluate(b, old)
	return left, right, err
}

func (u *Update) call(n *expr.Call, old attr.Item) (attr.Value, error) {
	if n.Function == expr.IfNotExists {
		if path, ok := n.Args[0].(*expr.Path); ok {
			if v, ok := u.find(path, old); ok {
				return v, nil
			}
		}
		return u.evaluate(n.Args[1], old)
	}
	left, right, err := u.both(n.Args[0], n.Args[1], old)
	if err != nil {
		return attr.Value{}, err
	}
	if left.Kind() != attr.KindList || right.Kind() != attr.KindList {
		return attr.Value{}, updateError(expr.KindUpdateType)
	}
	return concat(left, right), nil
}

func concat(a, b attr.Value) attr.Value {
	out := make([]attr.Value, 0, len(a.Elems())+len(b.Elems()))
	out = append(out, a.Elems()...)
	return attr.List(append(out, b.Elems()...))
}

// sum adds or subtracts two numbers.
func sum(op expr.ArithmeticOp, a, b attr.Value) (attr.Value, error) {
	if a.Kind() != attr.KindNumber || b.Kind() != attr.KindNumber {
		return attr.Value{}, updateError(expr.KindUpdateType)
	}
	x, y := decimal.ParseCanonical(a.Text()), decimal.ParseCanonical(b.Text())
	add := x.Add
	if op == expr.Minus {
		add = x.Sub
	}
	out, err := add(y)
	switch {
	case err == nil:
		return attr.Number(out.String()), nil
	case errors.Is(err, decimal.ErrOverflow):
		return attr.Value{}, updateError(expr.KindNumberOverflow)
	case errors.Is(err, decimal.ErrUnderflow):
		return attr.Value{}, updateError(expr.KindNumberUnderflow)
	default:
		return attr.Value{}, updateError(expr.KindNumberPrecision)
	}
}

// smallSet is the number of members up to which a linear search is faster than a hash table.
const smallSet = 16

// memberOf returns a membership test for a set.
func memberOf(set attr.Value) func(attr.Value) bool {
	members := set.Elems()
	if len(members) <= smallSet {
		return func(v attr.Value) bool {
			for i := range members {
				if members[i].Text() == v.Text() {
					return true
				}
			}
			return false
		}
	}
	texts := make(map[string]struct{}, len(members))
	for i := range members {
		texts[members[i].Text()] = struct{}{}
	}
	return func(v attr.Value) bool {
		_, ok := texts[v.Text()]
		return ok
	}
}

// union returns the union of two sets, which is a itself if b adds nothing.
func union(a, b attr.Value) attr.Value {
	isOld := memberOf(a)
	added := make([]attr.Value, 0, len(b.Elems()))
	for _, v := range b.Elems() {
		if !isOld(v) {
			added = append(added, v)
		}
	}
	if len(added) == 0 {
		return a
	}
	return attr.OrderedSet(a.Kind(), append(slices.Clip(a.Elems()), added...))
}

// difference returns the members of a that are not in b, or the zero Value if none is left.
func difference(a, b attr.Value) attr.Value {
	isGone := memberOf(b)
	out := make([]attr.Value, 0, len(a.Elems()))
	for _, v := range a.Elems() {
		if !isGone(v) {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		return attr.Value{}
	}
	return attr.OrderedSet(a.Kind(), out)
}
