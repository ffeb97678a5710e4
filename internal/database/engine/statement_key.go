package engine

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
	"github.com/monotable/monotable/internal/database/dynamo/partiql"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// conjuncts returns the conditions that a WHERE clause combines with AND.
func conjuncts(where partiql.Node) []partiql.Node {
	switch n := where.(type) {
	case nil:
		return nil
	case *partiql.And:
		return slices.Clone(n.Terms)
	default:
		return []partiql.Node{n}
	}
}

// itemKey extracts the key of one item from conditions: an equality on each key attribute of t. rest are the other conditions.
func (s *statement) itemKey(t *catalog.Table, where partiql.Node) (key attr.Item, rest []partiql.Node, err error) {
	rest = conjuncts(where)
	for _, k := range []catalog.KeyAttribute{t.PK, t.SK} {
		if k.Name == "" {
			continue
		}
		at := slices.IndexFunc(rest, func(n partiql.Node) bool {
			name, op, _, ok := keyComparison(n)
			return ok && name == k.Name && op == eval.Equal
		})
		if at < 0 {
			switch {
			case s.Exists:
				return nil, nil, errExistsLacksCondition
			case s.Reads():
				return nil, nil, errSelectLacksKey
			}
			return nil, nil, apierr.StatementLacksKey.With()
		}
		_, _, operands, _ := keyComparison(rest[at])
		v, err := s.value(operands[0])
		if err != nil {
			return nil, nil, err
		}
		key = key.With(k.Name, v)
		rest = slices.Delete(rest, at, at+1)
		if s.Update != nil || s.Delete != nil {
			if err := s.refuseOtherKey(k.Name, v, rest); err != nil {
				return nil, nil, err
			}
		}
	}
	return key, rest, nil
}

// refuseOtherKey rejects conditions that require a key attribute to equal another value than v, also NULL. DynamoDB Local lets
// other conditions on a key attribute pass, and all of them in EXISTS.
func (s *statement) refuseOtherKey(name string, v attr.Value, conditions []partiql.Node) error {
	for _, n := range conditions {
		if is, ok := n.(*partiql.Is); ok {
			if of, isName := attributeName(is.Operand); isName && of == name && is.Type == partiql.TypeNull && !is.Negated {
				return apierr.StatementTwoKeys.With(name)
			}
			continue
		}
		of, op, operands, ok := keyComparison(n)
		if !ok || of != name || op != eval.Equal {
			continue
		}
		other, err := s.value(operands[0])
		if err != nil {
			return err
		}
		if !other.Equal(v) {
			return apierr.StatementTwoKeys.With(name)
		}
	}
	return nil
}

// keyComparison analyzes a condition that may be on a key: of a top-level attribute with values. op is the operator with the
// attribute on the left.
func keyComparison(n partiql.Node) (name string, op eval.Operator, values []partiql.Node, ok bool) {
	var operand partiql.Node
	switch n := n.(type) {
	case *partiql.Comparison:
		comparator := expr.Comparator(n.Op)
		operand, values = n.Left, []partiql.Node{n.Right}
		if isValue(operand) {
			operand, values, comparator = n.Right, []partiql.Node{n.Left}, comparator.Mirrored()
		}
		if op, ok = eval.KeyOperator(comparator); !ok {
			return "", 0, nil, false
		}
	case *partiql.Between:
		if n.Negated {
			return "", 0, nil, false
		}
		operand, op, values = n.Operand, eval.Between, []partiql.Node{n.Low, n.High}
	case *partiql.Call:
		if n.Function != "begins_with" || len(n.Args) != 2 {
			return "", 0, nil, false
		}
		operand, op, values = n.Args[0], eval.BeginsWith, n.Args[1:]
	default:
		return "", 0, nil, false
	}
	name, isName := attributeName(operand)
	return name, op, values, isName && !slices.ContainsFunc(values, func(v partiql.Node) bool { return !isValue(v) })
}

// attributeName returns the name of a path that is a top-level attribute.
func attributeName(n partiql.Node) (string, bool) {
	p, ok := n.(*partiql.Path)
	if !ok || len(p.Steps) != 1 {
		return "", false
	}
	return p.Steps[0].Name, true
}

// partitionValues returns the values, one of which the attribute must have for the condition to be true; ok is false if it may
// have others. whole means that the condition requires nothing else.
func (s *statement) partitionValues(n partiql.Node, name string) (values []attr.Value, whole, ok bool, err error) {
	switch n := n.(type) {
	case *partiql.And:
		for _, term := range n.Terms {
			if values, _, ok, err = s.partitionValues(term, name); ok || err != nil {
				return values, false, ok, err
			}
		}
		return nil, false, false, nil
	case *partiql.Or:
		whole = true
		for _, term := range n.Terms {
			some, all, ok, err := s.partitionValues(term, name)
			if !ok || err != nil {
				return nil, false, false, err
			}
			values, whole = append(values, some...), whole && all
		}
		return values, whole, true, nil
	case *partiql.In:
		if attribute, isName := attributeName(n.Operand); n.Negated || !isName || attribute != name || !s.isValueList(n.List) {
			return nil, false, false, nil
		}
		values, err = s.members(n.List)
		return values, true, true, err
	default:
		attribute, op, operands, isKey := keyComparison(n)
		if !isKey || attribute != name || op != eval.Equal {
			return nil, false, false, nil
		}
		v, err := s.value(operands[0])
		return []attr.Value{v}, true, true, err
	}
}

// isValueList reports whether an IN list has only constants.
func (s *statement) isValueList(list partiql.Node) bool {
	var elems []partiql.Node
	switch n := list.(type) {
	case *partiql.List:
		elems = n.Elems
	case *partiql.Set:
		elems = n.Elems
	default:
	}
	return !slices.ContainsFunc(elems, func(n partiql.Node) bool { return !isValue(n) })
}
