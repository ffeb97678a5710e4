// Package expression evaluates the expressions of designs: invariants about everything that is stored, and the
// conditions and arguments of the steps of a flow.
//
// # Model
//
//	design.Expression ──Eval──▶ a value, in a Scope that resolves names, parameters and functions
//	                     ╰─ Invariant: the scope is a State, once for each group of related items
//
// Values are those of the SDK, and items are an entity's fields by their names. An absent value is nil; it is equal to
// nothing and has no order. The text after where is a condition in DynamoDB's grammar, and the database's own
// evaluator decides it.
//
// # Invariants
//
//	I1  Evaluation changes nothing and depends on nothing but its operands.
//	I2  An invariant whose names stand for no items holds.
//
// The results of Compile are safe for concurrent use. Errors mean that a value cannot be computed: a sum of more than
// 38 digits, a condition that DynamoDB rejects.
package expression

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// Values are an item's fields by their names.
type Values = map[string]types.AttributeValue

// Scope resolves the parts of an expression; an absent value is nil.
type Scope interface {
	Name(path string) (types.AttributeValue, error)
	Param(name string) (types.AttributeValue, error)
	Call(c *design.CallOperand) (types.AttributeValue, error)
}

// Eval returns the value of an expression.
func Eval(e *design.Expression, s Scope) (types.AttributeValue, error) {
	v, err := operand(e.Root, s)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", e.Text, err)
	}
	return v, nil
}

// Holds reports whether a statement is true; a statement with an absent value is not.
func Holds(e *design.Expression, s Scope) (bool, error) {
	v, err := Eval(e, s)
	return truth(v), err
}

func operand(o design.Operand, s Scope) (types.AttributeValue, error) {
	switch o := o.(type) {
	case *design.ConstantOperand:
		return Constant(o.Constant), nil
	case *design.NameOperand:
		return s.Name(o.Path)
	case *design.ParamOperand:
		return s.Param(o.Name)
	case *design.CallOperand:
		return s.Call(o)
	case *design.Negation:
		v, err := operand(o.Operand, s)
		return Bool(!truth(v)), err
	case *design.Operation:
		return operation(o, s)
	default:
		return nil, fmt.Errorf("%T is not an operand", o)
	}
}

func operation(o *design.Operation, s Scope) (types.AttributeValue, error) {
	left, err := operand(o.Left, s)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Operator == design.And && !truth(left):
		return Bool(false), nil
	case o.Operator == design.Or && truth(left):
		return Bool(true), nil
	}
	right, err := operand(o.Right, s)
	if err != nil {
		return nil, err
	}
	switch o.Operator {
	case design.And, design.Or:
		return Bool(truth(right)), nil
	case design.Plus, design.Minus:
		return sum(left, right, o.Operator == design.Minus)
	default:
		return Bool(compare(o.Operator, left, right)), nil
	}
}

// Bool returns a boolean value.
func Bool(b bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: b} }

// Number returns a whole number.
func Number(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: decimal.FromInt(int64(n)).String()}
}

func truth(v types.AttributeValue) bool {
	b, is := v.(*types.AttributeValueMemberBOOL)
	return is && b.Value
}

// Constant returns a constant as a value.
func Constant(c design.Constant) types.AttributeValue {
	switch c.Kind {
	case design.NumberConstant:
		return &types.AttributeValueMemberN{Value: c.Text}
	case design.BoolConstant:
		return Bool(c.Text == "true")
	case design.NullConstant:
		return &types.AttributeValueMemberNULL{Value: true}
	case design.StringConstant:
	}
	return &types.AttributeValueMemberS{Value: c.Text}
}

// compare compares two values of one type; values of two types, and absent values, are only unequal.
func compare(o design.Operator, a, b types.AttributeValue) bool {
	order, same := orderOf(a, b)
	if !same {
		return o == design.NotEqual
	}
	switch o {
	case design.Equal:
		return order == 0
	case design.NotEqual:
		return order != 0
	case design.Less:
		return order < 0
	case design.LessOrEqual:
		return order <= 0
	case design.Greater:
		return order > 0
	case design.GreaterOrEqual:
		return order >= 0
	default:
		return false
	}
}

func orderOf(a, b types.AttributeValue) (order int, same bool) {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		if b, same := b.(*types.AttributeValueMemberS); same {
			return strings.Compare(a.Value, b.Value), true
		}
	case *types.AttributeValueMemberN:
		if b, same := b.(*types.AttributeValueMemberN); same {
			left, err := decimal.Parse(a.Value)
			right, otherErr := decimal.Parse(b.Value)
			return left.Cmp(right), err == nil && otherErr == nil
		}
	case *types.AttributeValueMemberB:
		if b, same := b.(*types.AttributeValueMemberB); same {
			return strings.Compare(string(a.Value), string(b.Value)), true
		}
	case *types.AttributeValueMemberBOOL:
		if b, same := b.(*types.AttributeValueMemberBOOL); same && a.Value == b.Value {
			return 0, true
		} else if same {
			return 1, true
		}
	}
	return 0, false
}

// sum adds or subtracts; the result is absent if an operand is.
func sum(a, b types.AttributeValue, minus bool) (types.AttributeValue, error) {
	left, is := a.(*types.AttributeValueMemberN)
	right, also := b.(*types.AttributeValueMemberN)
	if !is || !also {
		return nil, nil //nolint:nilnil // absent
	}
	x, err := decimal.Parse(left.Value)
	if err != nil {
		return nil, err
	}
	y, err := decimal.Parse(right.Value)
	if err != nil {
		return nil, err
	}
	total := x.Add
	if minus {
		total = x.Sub
	}
	z, err := total(y)
	if err != nil {
		return nil, err
	}
	return &types.AttributeValueMemberN{Value: z.String()}, nil
}
