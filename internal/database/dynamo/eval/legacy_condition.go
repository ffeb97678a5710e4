package eval

import (
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// comparison is a legacy ComparisonOperator with its arguments.
type comparison struct {
	name string
	op   string
	args []attr.Value
}

// operatorRule defines the number and types of a ComparisonOperator's arguments.
type operatorRule struct {
	least, most int
	allowed     func(attr.Kind) bool
}

func anyKind(attr.Kind) bool { return true }

func isTextKind(k attr.Kind) bool { return k == attr.KindString || k == attr.KindBinary }

// isElement: "b cannot be a set, a map, or a list" (API reference of Condition).
func isElement(k attr.Kind) bool { return k.IsKey() || k == attr.KindBool || k == attr.KindNull }

var operatorRules = map[string]operatorRule{
	"EQ":           {1, 1, anyKind},
	"NE":           {1, 1, anyKind},
	"LT":           {1, 1, attr.Kind.IsKey},
	"LE":           {1, 1, attr.Kind.IsKey},
	"GT":           {1, 1, attr.Kind.IsKey},
	"GE":           {1, 1, attr.Kind.IsKey},
	"CONTAINS":     {1, 1, isElement},
	"NOT_CONTAINS": {1, 1, isElement},
	"BEGINS_WITH":  {1, 1, isTextKind},
	"BETWEEN":      {2, 2, attr.Kind.IsKey},
	"IN":           {1, expr.MaxInOperands, attr.Kind.IsKey},
	"NULL":         {0, 0, anyKind},
	"NOT_NULL":     {0, 0, anyKind},
}

// LowerExpected converts Expected and ConditionalOperator to a condition, or returns nil if there is nothing to check.
func LowerExpected(expected map[string]api.ExpectedAttributeValue, operator *string) (*Condition, error) {
	if err := checkOperator(operator, len(expected)); err != nil {
		return nil, err
	}
	clauses := make([]comparison, 0, len(expected))
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		e := expected[name]
		c, err := expectation(name, &e)
		if err != nil {
			return nil, err
		}
		clauses = append(clauses, c)
	}
	return lowerCondition(clauses, operator)
}

// expectation converts the older form of an entry (Exists, Value) to a comparison.
func expectation(name string, e *api.ExpectedAttributeValue) (comparison, error) {
	fault := func(kind expr.Kind, operand string) (comparison, error) {
		return comparison{}, &expr.Error{Kind: kind, Subject: name, Operand: operand}
	}
	if e.ComparisonOperator == nil {
		switch {
		case e.Value != nil && e.AttributeValueList != nil:
			return fault(expr.KindValueWithList, "")
		case e.AttributeValueList != nil:
			return fault(expr.KindListWithoutOperator, "")
		case e.Exists != nil && !*e.Exists && e.Value != nil:
			return fault(expr.KindValueWithoutExists, "")
		case e.Exists != nil && !*e.Exists:
			return comparison{name: name, op: "NULL"}, nil
		case e.Value != nil:
			return comparison{name: name, op: "EQ", args: []attr.Value{*e.Value}}, nil
		case e.Exists != nil:
			return fault(expr.KindExistsWithoutValue, "true")
		default:
			return fault(expr.KindExistsWithoutValue, "null")
		}
	}
	op := *e.ComparisonOperator
	switch {
	case e.Exists != nil:
		return fault(expr.KindExistsWithOperator, "")
	case e.Value != nil && e.AttributeValueList != nil:
		return fault(expr.KindValueWithList, "")
	case e.Value != nil:
		return comparison{name: name, op: op, args: []attr.Value{*e.Value}}, nil
	case e.AttributeValueList == nil && operatorRules[op].least > 0:
		return fault(expr.KindOperatorWithoutValue, op)
	default:
		return comparison{name: name, op: op, args: e.AttributeValueList}, nil
	}
}

// LowerFilter converts QueryFilter or ScanFilter (field) and ConditionalOperator to a filter, or returns nil if there is nothing
// to check.
func LowerFilter(field string, filter map[string]api.Condition, operator *string) (*Condition, error) {
	if err := checkOperator(operator, len(filter)); err != nil {
		return nil, err
	}
	clauses := make([]comparison, 0, len(filter))
	for _, name := range slices.Sorted(maps.Keys(filter)) {
		clauses = append(clauses, comparisonOf(name, filter[name]))
	}
	return lowerCondition(clauses, operator)
}

func comparisonOf(name string, c api.Condition) comparison {
	out := comparison{name: name, args: c.AttributeValueList}
	if c.ComparisonOperator != nil {
		out.op = *c.ComparisonOperator
	}
	return out
}

// checkOperator rejects a ConditionalOperator without clauses to combine.
func checkOperator(operator *string, clauses int) error {
	switch {
	case operator == nil:
		return nil
	case clauses == 0:
		return &expr.Error{Kind: expr.KindOperatorAlone}
	case clauses < 2:
		return &expr.Error{Kind: expr.KindOperatorForOne}
	default:
		return nil
	}
}

// LowerKeyConditions converts KeyConditions to clauses, ordered by name. Their number depends on the schema, which the caller
// checks.
func LowerKeyConditions(conditions map[string]api.Condition) ([]KeyPredicate, error) {
	if len(conditions) == 0 {
		return nil, &expr.Error{Kind: expr.KindKeyCount}
	}
	out := make([]KeyPredicate, 0, len(conditions))
	for _, name := range slices.Sorted(maps.Keys(conditions)) {
		c := comparisonOf(name, conditions[name])
		if err := c.check(); err != nil {
			return nil, err
		}
		op, ok := keyComparisons[c.op]
		if !ok {
			return nil, &expr.Error{Kind: expr.KindKeyNotIndexable}
		}
		out = append(out, KeyPredicate{Name: name, Op: op, Values: c.args})
	}
	return out, nil
}

var keyComparisons = map[string]Operator{
	"EQ":          Equal,
	"LT":          Less,
	"LE":          LessOrEqual,
	"GT":          Greater,
	"GE":          GreaterOrEqual,
	"BETWEEN":     Between,
	"BEGINS_WITH": BeginsWith,
}

// check rejects an empty attribute name, a wrong number of arguments, and arguments of a type that the operator does not accept.
func (c *comparison) check() error {
	if c.name == "" {
		return &expr.Error{Kind: expr.KindAttributeNameEmpty}
	}
	if err := checkFaults(c.args...); err != nil {
		return err
	}
	rule, known := operatorRules[c.op]
	if !known || len(c.args) < rule.least || len(c.args) > rule.most {
		return &expr.Error{Kind: expr.KindArgumentCount, Subject: c.op}
	}
	for _, v := range c.args {
		if !rule.allowed(v.Kind()) {
			return &expr.Error{Kind: expr.KindArgumentType, Subject: c.op, Operand: v.Kind().String()}
		}
		if v.Kind() != c.args[0].Kind() {
			return &expr.Error{Kind: expr.KindArgumentTypesDiffer}
		}
	}
	if c.op == "BETWEEN" && !atMost(c.args[0], c.args[1]) {
		return &expr.Error{Kind: expr.KindLegacyBoundOrder}
	}
	return nil
}

// checkFaults rejects invalid attribute values.
func checkFaults(values ...attr.Value) error {
	for _, v := range values {
		if f, faulty := v.Fault(); faulty {
			return &expr.Error{Kind: expr.KindFaultyArgument, Near: apierr.InvalidValue("", f).Message, Fault: f}
		}
		if v.Depth() > attr.MaxDepth {
			return &expr.Error{Kind: expr.KindValueTooDeep}
		}
	}
	return nil
}

// lowerCondition combines clauses with AND, or with ConditionalOperator.
func lowerCondition(clauses []comparison, operator *string) (*Condition, error) {
	if len(clauses) == 0 {
		return nil, nil
	}
	out := &Condition{scope: scope{surface: expr.Condition}}
	terms := make([]expr.Node, 0, len(clauses))
	for i := range clauses {
		if err := clauses[i].check(); err != nil {
			return nil, err
		}
		terms = append(terms, clauses[i].lower(&out.scope))
	}
	switch {
	case len(terms) == 1:
		out.root = terms[0]
	case operator != nil && *operator == "OR":
		out.root = &expr.Or{Terms: terms}
	default:
		out.root = &expr.And{Terms: terms}
	}
	return out, nil
}

// placeholder assigns a slot to a value.
func (sc *scope) placeholder(v attr.Value) expr.Node {
	sc.values = append(sc.values, v)
	return &expr.Placeholder{Slot: len(sc.values) - 1}
}

var comparators = map[string]expr.Comparator{
	"EQ": expr.Equal,
	"NE": expr.NotEqual,
	"LT": expr.Less,
	"LE": expr.LessOrEqual,
	"GT": expr.Greater,
	"GE": expr.GreaterOrEqual,
}

// lower returns the tree of the comparison, whose arguments have been checked.
func (c *comparison) lower(sc *scope) expr.Node {
	path := expr.Literal(c.name)
	args := make([]expr.Node, len(c.args))
	for i, v := range c.args {
		args[i] = sc.placeholder(v)
	}
	call := func(f expr.Function) expr.Node {
		return &expr.Call{Function: f, Args: append([]expr.Node{path}, args...)}
	}
	switch c.op {
	case "NULL":
		return call(expr.AttributeNotExists)
	case "NOT_NULL":
		return call(expr.AttributeExists)
	case "BEGINS_WITH":
		return call(expr.BeginsWith)
	case "CONTAINS":
		return call(expr.Contains)
	case "NOT_CONTAINS":
		// A missing attribute neither contains nor does not contain anything.
		exists := &expr.Call{Function: expr.AttributeExists, Args: []expr.Node{path}}
		return &expr.And{Terms: []expr.Node{exists, &expr.Not{Term: call(expr.Contains)}}}
	case "IN":
		return &expr.In{Operand: path, List: args}
	case "BETWEEN":
		return &expr.Between{Operand: path, Low: args[0], High: args[1]}
	default:
		return &expr.Comparison{Op: comparators[c.op], Left: path, Right: args[0]}
	}
}
