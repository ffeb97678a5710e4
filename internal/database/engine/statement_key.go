package engine

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/partiql"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// conjuncts are the conditions that a WHERE clause connects by AND.
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

// itemKey takes the key of one item out of conditions: an equality on each key attribute of t. rest are the others.
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
			return nil, nil, apierr.StatementLacksKey.With()
		}
		_, _, operands, _ := keyComparison(rest[at])
		v, err := s.value(operands[0])
		if err != nil {
			return nil, nil, err
		}
		key = key.With(k.Name, v)
		rest = slices.Delete(rest, at, at+1)
	}
	return key, rest, nil
}

// keyComparison takes apart a condition that may be one on a key: of a top-level attribute, with values. op is the
// operator as if the attribute stood on the left.
func keyComparison(n partiql.Node) (name string, op eval.Operator, values []partiql.Node, ok bool) {
	var operand partiql.Node
	switch n := n.(type) {
	case *partiql.Comparison:
		var known bool
		if op, known = keyOperators[n.Op]; !known {
			return "", 0, nil, false
		}
		operand, values = n.Left, []partiql.Node{n.Right}
		if isValue(operand) {
			operand, values, op = n.Right, []partiql.Node{n.Left}, mirrored[op]
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

var keyOperators = map[string]eval.Operator{
	"=":  eval.Equal,
	"<":  eval.Less,
	"<=": eval.LessOrEqual,
	">":  eval.Greater,
	">=": eval.GreaterOrEqual,
}

// mirrored are the operators that hold for the operands the other way round.
var mirrored = map[eval.Operator]eval.Operator{
	eval.Equal:          eval.Equal,
	eval.Less:           eval.Greater,
	eval.LessOrEqual:    eval.GreaterOrEqual,
	eval.Greater:        eval.Less,
	eval.GreaterOrEqual: eval.LessOrEqual,
}

// attributeName is the name of a path that is a top-level attribute.
func attributeName(n partiql.Node) (string, bool) {
	p, ok := n.(*partiql.Path)
	if !ok || len(p.Steps) != 1 {
		return "", false
	}
	return p.Steps[0].Name, true
}

// partitionValues are the values one of which the attribute must have for the condition to be true; ok is false where
// there are others. whole says that the condition asks for nothing else.
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

// isValueList reports whether what follows IN are values only.
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
