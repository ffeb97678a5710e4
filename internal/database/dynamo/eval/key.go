package eval

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// Operator of a key predicate.
type Operator uint8

// The operators a key condition may have.
const (
	Equal Operator = iota
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
	Between
	BeginsWith
)

// KeyPredicate is one clause of a key condition: Name Op Values (two for Between, else one).
type KeyPredicate struct {
	Name   string
	Op     Operator
	Values []attr.Value
}

// KeyCondition binds a KeyConditionExpression. The clauses are in the order of the text, at most one for each name. Whether the
// names are keys and the operators are allowed for them depends on the schema, which the caller checks.
func (b *Binder) KeyCondition(text string) ([]KeyPredicate, error) {
	e, sc, err := b.bind(expr.KeyCondition, text)
	if err != nil {
		return nil, err
	}
	if err := sc.check(e.Root); err != nil {
		return nil, err
	}
	out, err := sc.clauses(nil, e.Root)
	if err != nil {
		return nil, err
	}
	for i := range out {
		for _, earlier := range out[:i] {
			if earlier.Name == out[i].Name {
				return nil, &expr.Error{Surface: sc.surface, Kind: expr.KindKeyTwice}
			}
		}
	}
	return out, nil
}

// clauses appends the clauses of a condition that only consists of ANDs.
func (sc *scope) clauses(out []KeyPredicate, n expr.Node) ([]KeyPredicate, error) {
	switch n := n.(type) {
	case *expr.And:
		var err error
		for _, t := range n.Terms {
			if out, err = sc.clauses(out, t); err != nil {
				return nil, err
			}
		}
		return out, nil
	case *expr.Comparison:
		return sc.comparisonClause(out, n)
	case *expr.Between:
		return sc.clause(out, "BETWEEN", Between, n.Operand, n.Low, n.High)
	case *expr.Call:
		if n.Function != expr.BeginsWith {
			return nil, sc.keyOperator(string(n.Function))
		}
		return sc.clause(out, string(n.Function), BeginsWith, n.Args[0], n.Args[1])
	case *expr.Or:
		return nil, sc.keyOperator("OR")
	case *expr.Not:
		return nil, sc.keyOperator("NOT")
	default:
		return nil, sc.keyOperator("IN")
	}
}

func (sc *scope) keyOperator(name string) error {
	return &expr.Error{Surface: sc.surface, Kind: expr.KindKeyOperator, Subject: name}
}

func (sc *scope) comparisonClause(out []KeyPredicate, n *expr.Comparison) ([]KeyPredicate, error) {
	if n.Op == expr.NotEqual {
		return nil, sc.keyOperator(string(n.Op))
	}
	op, left, right := n.Op, n.Left, n.Right
	if _, reversed := left.(*expr.Placeholder); reversed {
		op, left, right = op.Mirrored(), right, left
	}
	key, _ := KeyOperator(op)
	return sc.clause(out, string(n.Op), key, left, right)
}

// KeyOperator returns the operator of a key predicate that compares so; ok is false for <>.
func KeyOperator(c expr.Comparator) (op Operator, ok bool) {
	op, ok = keyOperators[c]
	return op, ok
}

var keyOperators = map[expr.Comparator]Operator{
	expr.Equal:          Equal,
	expr.Less:           Less,
	expr.LessOrEqual:    LessOrEqual,
	expr.Greater:        Greater,
	expr.GreaterOrEqual: GreaterOrEqual,
}

// clause appends one clause: a top-level attribute first, then values.
func (sc *scope) clause(out []KeyPredicate, name string, op Operator, operands ...expr.Node) ([]KeyPredicate, error) {
	fault := func(kind expr.Kind) ([]KeyPredicate, error) {
		return nil, &expr.Error{Surface: sc.surface, Kind: kind, Subject: name}
	}
	paths := 0
	for _, n := range operands {
		switch n := n.(type) {
		case *expr.Path:
			paths++
			if len(n.Steps) > 1 {
				return fault(expr.KindKeyNestedAttribute)
			}
		case *expr.Placeholder:
		default:
			return fault(expr.KindKeyNestedOperation)
		}
	}
	key, first := operands[0].(*expr.Path)
	switch {
	case paths == 0:
		return fault(expr.KindKeyNoName)
	case paths > 1:
		return fault(expr.KindKeyTwoNames)
	case !first:
		return fault(expr.KindKeyFirstOperand)
	}
	p := KeyPredicate{Name: key.Root(sc.names), Op: op, Values: make([]attr.Value, 0, len(operands)-1)}
	for _, n := range operands[1:] {
		if v, ok := n.(*expr.Placeholder); ok {
			p.Values = append(p.Values, sc.value(v))
		}
	}
	return append(out, p), nil
}
