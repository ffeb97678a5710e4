package engine

import (
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
	"github.com/monotable/monotable/internal/database/dynamo/partiql"
)

// lowering converts a statement's expressions to trees of package expr. Values become placeholders.
type lowering struct {
	*statement
	surface expr.Surface
	values  []attr.Value
}

// condition binds the conjunction of conditions and of more, which are already in the form of package expr; nil if there are
// none.
func (s *statement) condition(surface expr.Surface, conditions []partiql.Node, more ...expr.Node) (*eval.Condition, error) {
	l := lowering{statement: s, surface: surface}
	terms := more
	place := apierr.WhereNoCondition
	if len(conditions) > 1 {
		place = apierr.TermNoCondition
	}
	for _, n := range conditions {
		term, err := l.predicate(n, place)
		if err != nil {
			return nil, err
		}
		terms = append(terms, term)
	}
	return l.bind(allOf(terms))
}

func (l *lowering) bind(root expr.Node) (*eval.Condition, error) {
	if root == nil {
		return nil, nil
	}
	c, err := eval.NewCondition(l.surface, root, l.values)
	if err != nil {
		return nil, statementExpressionError(err)
	}
	return c, nil
}

func allOf(terms []expr.Node) expr.Node {
	switch len(terms) {
	case 0:
		return nil
	case 1:
		return terms[0]
	default:
		return &expr.And{Terms: terms}
	}
}

// fault is an error of package expr in a lowered expression.
func (l *lowering) fault(kind expr.Kind, subject string, count int) error {
	return statementExpressionError(&expr.Error{Surface: l.surface, Kind: kind, Subject: subject, Count: count})
}

// predicate lowers an expression with a truth value; place is the error if it has none.
func (l *lowering) predicate(n partiql.Node, place apierr.Sentence) (expr.Node, error) {
	switch n := n.(type) {
	case *partiql.And:
		terms, err := l.predicates(n.Terms)
		return &expr.And{Terms: terms}, err
	case *partiql.Or:
		terms, err := l.predicates(n.Terms)
		return &expr.Or{Terms: terms}, err
	case *partiql.Not:
		term, err := l.predicate(n.Term, apierr.NotOfOther)
		return &expr.Not{Term: term}, err
	case *partiql.Comparison:
		args, err := l.operands(n.Left, n.Right)
		if err != nil {
			return nil, err
		}
		return &expr.Comparison{Op: expr.Comparator(n.Op), Left: args[0], Right: args[1]}, nil
	case *partiql.Between:
		args, err := l.operands(n.Operand, n.Low, n.High)
		if err != nil {
			return nil, err
		}
		return negated(n.Negated, &expr.Between{Operand: args[0], Low: args[1], High: args[2]}), nil
	case *partiql.In:
		return l.in(n)
	case *partiql.Is:
		return l.is(n)
	case *partiql.Call:
		return l.test(n)
	case *partiql.Arithmetic:
		return nil, apierr.ConditionOperator.With(n.Op)
	default:
		return nil, place.With()
	}
}

func negated(negated bool, n expr.Node) expr.Node {
	if negated {
		return &expr.Not{Term: n}
	}
	return n
}

func (l *lowering) predicates(nodes []partiql.Node) ([]expr.Node, error) {
	out := make([]expr.Node, len(nodes))
	for i, n := range nodes {
		var err error
		if out[i], err = l.predicate(n, apierr.TermNoCondition); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (l *lowering) in(n *partiql.In) (expr.Node, error) {
	operand, err := l.operand(n.Operand)
	if err != nil {
		return nil, err
	}
	in := &expr.In{Operand: operand}
	switch list := n.List.(type) {
	case *partiql.List:
		in.List, err = l.operands(list.Elems...)
	case *partiql.Set:
		in.List, err = l.operands(list.Elems...)
	default:
		var values []attr.Value
		values, err = l.members(n.List)
		for _, v := range values {
			in.List = append(in.List, l.placeholder(v))
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(in.List) == 0:
		return nil, apierr.InOfOther.With()
	case len(in.List) > expr.MaxInOperands:
		return nil, l.fault(expr.KindInTooLong, "", len(in.List))
	}
	return negated(n.Negated, in), nil
}

// members returns the values of a list after IN: a list, a set, or a parameter that is one of them.
func (s *statement) members(list partiql.Node) ([]attr.Value, error) {
	switch n := list.(type) {
	case *partiql.List:
		return s.literals(n.Elems)
	case *partiql.Set:
		return s.literals(n.Elems)
	case *partiql.Parameter:
		if v := s.parameters[n.Number]; v.Kind() == attr.KindList || v.Kind().IsSet() {
			return v.Elems(), nil
		}
	default:
	}
	return nil, apierr.InOfOther.With()
}

func (l *lowering) is(n *partiql.Is) (expr.Node, error) {
	operand, err := l.operand(n.Operand)
	if err != nil {
		return nil, err
	}
	if _, isPath := operand.(*expr.Path); !isPath {
		return nil, l.fault(expr.KindOperandNoPath, "IS", 0)
	}
	if n.Type == partiql.TypeMissing {
		if n.Negated {
			return &expr.Call{Function: expr.AttributeExists, Args: []expr.Node{operand}}, nil
		}
		return &expr.Call{Function: expr.AttributeNotExists, Args: []expr.Node{operand}}, nil
	}
	null := l.placeholder(attr.String(attr.KindNull.String()))
	return negated(n.Negated, &expr.Call{Function: expr.AttributeType, Args: []expr.Node{operand, null}}), nil
}

// test lowers a function used as a condition.
func (l *lowering) test(n *partiql.Call) (expr.Node, error) {
	switch f := expr.Function(n.Function); f {
	case expr.BeginsWith, expr.Contains, expr.AttributeType:
		return l.call(n, 2)
	case expr.Size:
		return nil, l.fault(expr.KindFunctionMisplaced, n.Function, 0)
	default:
		return nil, l.misplaced(f)
	}
}

// misplaced returns the error for a function that DynamoDB does not have, or not in such an expression.
func (l *lowering) misplaced(f expr.Function) error {
	switch f {
	case expr.BeginsWith, expr.Contains, expr.AttributeType, expr.Size:
		if l.surface == expr.Update {
			return apierr.FunctionInUpdate.With(f)
		}
		return l.fault(expr.KindFunctionMisplaced, string(f), 0)
	case expr.ListAppend:
		return apierr.FunctionInCondition.With(f)
	default:
		return apierr.FunctionUnknown.With(f)
	}
}

func (l *lowering) call(n *partiql.Call, operands int) (*expr.Call, error) {
	if len(n.Args) != operands {
		return nil, l.fault(expr.KindOperandCount, n.Function, len(n.Args))
	}
	args, err := l.operands(n.Args...)
	return &expr.Call{Function: expr.Function(n.Function), Args: args}, err
}

func (l *lowering) operands(nodes ...partiql.Node) ([]expr.Node, error) {
	out := make([]expr.Node, len(nodes))
	for i, n := range nodes {
		var err error
		if out[i], err = l.operand(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// operand lowers an expression with a value: sums and list_append in an update, size otherwise.
func (l *lowering) operand(n partiql.Node) (expr.Node, error) {
	switch n := n.(type) {
	case *partiql.Path:
		return l.path(n)
	case *partiql.Call:
		f := expr.Function(n.Function)
		switch {
		case f == expr.Size && l.surface != expr.Update:
			return l.call(n, 1)
		case f == expr.ListAppend && l.surface == expr.Update:
			return l.call(n, 2)
		default:
			return nil, l.misplaced(f)
		}
	case *partiql.Arithmetic:
		if l.surface != expr.Update {
			return nil, apierr.ConditionOperator.With(n.Op)
		}
		args, err := l.operands(n.Left, n.Right)
		if err != nil {
			return nil, err
		}
		return &expr.Arithmetic{Op: expr.ArithmeticOp(n.Op), Left: args[0], Right: args[1]}, nil
	default:
		if !isValue(n) {
			return nil, apierr.StatementNoOperand.With()
		}
		v, err := l.value(n)
		return l.placeholder(v), err
	}
}

func (l *lowering) placeholder(v attr.Value) expr.Node {
	l.values = append(l.values, v)
	return &expr.Placeholder{Slot: len(l.values) - 1}
}

func (l *lowering) path(p *partiql.Path) (*expr.Path, error) {
	if len(p.Steps) > expr.MaxPathSteps {
		return nil, l.fault(expr.KindPathTooDeep, "", len(p.Steps))
	}
	out := &expr.Path{Steps: make([]expr.Step, len(p.Steps))}
	for i, s := range p.Steps {
		if s.ByName {
			out.Steps[i] = expr.Step{Kind: expr.StepName, Name: s.Name}
		} else {
			out.Steps[i] = expr.Step{Kind: expr.StepIndex, Number: s.Index}
		}
	}
	return out, nil
}

// changes binds the SETs and REMOVEs of an update.
func (s *statement) changes(changes []partiql.Change) (*eval.Update, error) {
	l := lowering{statement: s, surface: expr.Update}
	actions := make([]expr.Action, len(changes))
	for i, c := range changes {
		var err error
		if actions[i], err = l.change(c); err != nil {
			return nil, err
		}
	}
	u, err := eval.NewUpdate(actions, l.values)
	if err != nil {
		return nil, statementExpressionError(err)
	}
	return u, nil
}

func (l *lowering) change(c partiql.Change) (expr.Action, error) {
	target, err := l.path(c.Target)
	if err != nil {
		return expr.Action{}, err
	}
	a := expr.Action{Verb: expr.Remove, Target: target}
	if c.Value == nil {
		return a, nil
	}
	if call, isCall := c.Value.(*partiql.Call); isCall {
		switch call.Function {
		case "set_add":
			a.Verb = expr.Add
		case "set_delete":
			a.Verb = expr.Delete
		}
		if a.Verb != expr.Remove {
			a.Value, err = l.setOperand(call, target)
			return a, err
		}
	}
	a.Verb = expr.Set
	a.Value, err = l.operand(c.Value)
	return a, err
}

// setOperand lowers the set that set_add or set_delete adds to or removes from its target: SET a = set_add(a, <<'x'>>).
func (l *lowering) setOperand(call *partiql.Call, target *expr.Path) (expr.Node, error) {
	if len(call.Args) != 2 {
		return nil, l.fault(expr.KindOperandCount, call.Function, len(call.Args))
	}
	first, err := l.operand(call.Args[0])
	if err != nil {
		return nil, err
	}
	path, isPath := first.(*expr.Path)
	name := strings.ToUpper(call.Function)
	if !isPath || expr.ComparePaths(path, target, nil) != 0 {
		return nil, apierr.SetFunctionOfOtherPath.With(name)
	}
	if !isValue(call.Args[1]) {
		return nil, apierr.SetFunctionOfNoSet.With(name)
	}
	set, err := l.value(call.Args[1])
	if err != nil {
		return nil, err
	}
	if !set.Kind().IsSet() {
		return nil, apierr.SetFunctionOfNoSet.With(name)
	}
	return l.placeholder(set), nil
}
