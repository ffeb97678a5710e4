package eval

import (
	"encoding/base64"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// anyType is AWS's name of the type of an operand that depends on the item.
const anyType = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"

// check rejects operands that are invalid for every item: values of a type that the operator does not accept, reversed bounds, a
// path compared with itself.
func (sc *scope) check(n expr.Node) error {
	switch n := n.(type) {
	case *expr.And:
		return sc.checkAll(n.Terms)
	case *expr.Or:
		return sc.checkAll(n.Terms)
	case *expr.Not:
		return sc.check(n.Term)
	case *expr.Comparison:
		return sc.checkComparison(n)
	case *expr.Between:
		return sc.checkBetween(n)
	case *expr.In:
		if err := sc.checkAll(n.List); err != nil {
			return err
		}
		return sc.distinct("IN", n.Pos, n.Operand, n.List...)
	case *expr.Call:
		return sc.checkCall(n)
	default:
		return nil
	}
}

func (sc *scope) checkAll(nodes []expr.Node) error {
	for _, n := range nodes {
		if err := sc.check(n); err != nil {
			return err
		}
	}
	return nil
}

func (sc *scope) checkComparison(n *expr.Comparison) error {
	if err := sc.check(n.Left); err != nil {
		return err
	}
	if err := sc.check(n.Right); err != nil {
		return err
	}
	if n.Op != expr.Equal && n.Op != expr.NotEqual {
		if err := sc.only(attr.Kind.IsKey, string(n.Op), n.Pos, n.Left, n.Right); err != nil {
			return err
		}
	}
	return sc.distinct(string(n.Op), n.Pos, n.Left, n.Right)
}

func (sc *scope) checkBetween(n *expr.Between) error {
	for _, operand := range [...]expr.Node{n.Operand, n.Low, n.High} {
		if err := sc.check(operand); err != nil {
			return err
		}
	}
	if err := sc.only(attr.Kind.IsKey, "BETWEEN", n.Pos, n.Operand, n.Low, n.High); err != nil {
		return err
	}
	low, isLow := n.Low.(*expr.Placeholder)
	high, isHigh := n.High.(*expr.Placeholder)
	if isLow && isHigh {
		l, h := sc.value(low), sc.value(high)
		order, same := l.Compare(h)
		switch {
		case !same:
			return &expr.Error{Surface: sc.surface, Kind: expr.KindBoundTypes, Pos: n.Pos, Operand: ShowOperand(l), Other: ShowOperand(h)}
		case order > 0:
			return &expr.Error{Surface: sc.surface, Kind: expr.KindBoundOrder, Pos: n.Pos, Operand: ShowOperand(l), Other: ShowOperand(h)}
		}
	}
	return sc.distinct("BETWEEN", n.Pos, n.Operand, n.Low, n.High)
}

// ShowOperand formats a scalar as in AWS's messages about bounds and start keys: {S:text}.
func ShowOperand(v attr.Value) string {
	text := v.Text()
	if v.Kind() == attr.KindBinary {
		text = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return "{" + v.Kind().String() + ":" + text + "}"
}

func (sc *scope) checkCall(n *expr.Call) error {
	if err := sc.checkAll(n.Args); err != nil {
		return err
	}
	name := string(n.Function)
	switch n.Function {
	case expr.Size:
		hasSize := func(k attr.Kind) bool {
			return k != attr.KindNumber && k != attr.KindBool && k != attr.KindNull
		}
		return sc.only(hasSize, name, n.Pos, n.Args[0])
	case expr.BeginsWith:
		text := func(k attr.Kind) bool { return k == attr.KindString || k == attr.KindBinary }
		if err := sc.only(text, name, n.Pos, n.Args...); err != nil {
			return err
		}
	case expr.Contains: // nothing is contained in a value that is no container
	case expr.AttributeType:
		return sc.checkTypeName(n)
	default:
		return nil
	}
	return sc.distinct(name, n.Pos, n.Args[0], n.Args[1])
}

// checkTypeName checks the second operand of attribute_type: a placeholder for the name of a type.
func (sc *scope) checkTypeName(n *expr.Call) error {
	e := &expr.Error{Surface: sc.surface, Kind: expr.KindOperandType, Pos: n.Pos, Subject: string(n.Function)}
	kind := sc.kindOf(n.Args[1])
	switch kind {
	case attr.KindInvalid:
		e.Operand = anyType
		return e
	case attr.KindString:
	default:
		e.Operand = kind.String()
		return e
	}
	p, ok := n.Args[1].(*expr.Placeholder)
	if !ok {
		return e
	}
	name := sc.value(p).Text()
	if attr.KindOf(name) == attr.KindInvalid {
		e.Kind, e.Operand = expr.KindTypeName, name
		return e
	}
	return nil
}

// kindOf returns the type of an operand, or KindInvalid if it depends on the item.
func (sc *scope) kindOf(n expr.Node) attr.Kind {
	switch n := n.(type) {
	case *expr.Placeholder:
		return sc.value(n).Kind()
	case *expr.Arithmetic:
		return attr.KindNumber
	case *expr.Call:
		switch n.Function {
		case expr.Size:
			return attr.KindNumber
		case expr.ListAppend:
			return attr.KindList
		default:
			return attr.KindInvalid
		}
	default:
		return attr.KindInvalid
	}
}

// only rejects operands whose type is known and not allowed.
func (sc *scope) only(allowed func(attr.Kind) bool, operator string, pos int, operands ...expr.Node) error {
	for _, n := range operands {
		if k := sc.kindOf(n); k != attr.KindInvalid && !allowed(k) {
			return &expr.Error{Surface: sc.surface, Kind: expr.KindOperandType, Pos: pos, Subject: operator, Operand: k.String()}
		}
	}
	return nil
}

// distinct rejects a first operand that is a path and also among the others.
func (sc *scope) distinct(operator string, pos int, first expr.Node, others ...expr.Node) error {
	path, ok := first.(*expr.Path)
	if !ok {
		return nil
	}
	same := func(n expr.Node) bool {
		p, ok := n.(*expr.Path)
		return ok && expr.ComparePaths(path, p, sc.names) == 0
	}
	if !slices.ContainsFunc(others, same) {
		return nil
	}
	return &expr.Error{Surface: sc.surface, Kind: expr.KindNotDistinct, Pos: pos, Subject: operator, Operand: path.Format(sc.names)}
}
