package eval

import (
	"strconv"

	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// AWS's charges for the parts of an update expression, besides names and values.
const (
	chargeStatement   = 3
	chargeAssignment  = 19 // SET and ADD
	chargeRemoval     = 1  // REMOVE and DELETE
	chargeTargetStep  = 4  // each step of a target after the first
	chargePath        = 1  // a path on the right-hand side
	chargeStep        = 14 // each step of it
	chargePlus        = 34
	chargeMinus       = 37
	chargeIfNotExists = 39
	chargeListAppend  = 37
)

// StatementSize returns the size of an update expression as AWS charges it: what it writes, whatever the item contains. A value
// counts for each of its uses.
func (u *Update) StatementSize() int {
	size := chargeStatement
	for i := range u.actions {
		a := &u.actions[i]
		switch a.Verb {
		case expr.Set, expr.Add:
			size += chargeAssignment + u.targetCharge(a.Target) + u.charge(a.Value)
		case expr.Remove, expr.Delete:
			size += chargeRemoval + u.targetCharge(a.Target)
		}
	}
	return size
}

func (u *Update) targetCharge(p *expr.Path) int {
	size := u.stepSize(&p.Steps[0])
	for i := 1; i < len(p.Steps); i++ {
		size += chargeTargetStep + u.stepSize(&p.Steps[i])
	}
	return size
}

// stepSize returns the length of a name, or of the digits of an index.
func (u *Update) stepSize(s *expr.Step) int {
	if s.Kind == expr.StepIndex {
		return len(strconv.Itoa(s.Number))
	}
	return len(s.Resolve(u.names))
}

// charge returns the charge of an operand.
func (u *Update) charge(n expr.Node) int {
	switch n := n.(type) {
	case *expr.Placeholder:
		return u.value(n).Size()
	case *expr.Path:
		size := chargePath
		for i := range n.Steps {
			size += chargeStep + u.stepSize(&n.Steps[i])
		}
		return size
	case *expr.Arithmetic:
		own := chargePlus
		if n.Op == expr.Minus {
			own = chargeMinus
		}
		return own + u.charge(n.Left) + u.charge(n.Right)
	case *expr.Call:
		own := chargeListAppend
		if n.Function == expr.IfNotExists {
			own = chargeIfNotExists
		}
		return own + u.charge(n.Args[0]) + u.charge(n.Args[1])
	default:
		return 0
	}
}
