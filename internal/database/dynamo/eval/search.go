package eval

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// SearchCondition is a bound SearchConditionExpression: comparisons, BETWEEN and IN of top-level attributes with values,
// joined by AND, OR and NOT.
type SearchCondition struct {
	*Condition
	Clauses []SearchClause // in the order of the text
}

// SearchClause is one condition of a SearchCondition on a named attribute. The caller knows whether the search schema has the
// attribute.
type SearchClause struct {
	Name   string
	Values []attr.Value
	// Pinned means that the attribute must equal Values[0] for the whole condition to be true: the clause is an equality, only
	// below ANDs.
	Pinned bool
}

// SearchCondition binds a SearchConditionExpression.
func (b *Binder) SearchCondition(text string) (*SearchCondition, error) {
	c, err := b.Condition(expr.SearchCondition, text)
	if err != nil {
		return nil, err
	}
	s := &SearchCondition{Condition: c}
	if err := s.collect(c.root, true); err != nil {
		return nil, err
	}
	return s, nil
}

// collect appends the clauses of a part of the condition; required means that the whole is only true if the part is.
func (s *SearchCondition) collect(n expr.Node, required bool) error {
	switch n := n.(type) {
	case *expr.And:
		return s.collectAll(n.Terms, required)
	case *expr.Or:
		return s.collectAll(n.Terms, false)
	case *expr.Not:
		return s.collect(n.Term, false)
	case *expr.Comparison:
		left, right := n.Left, n.Right
		if _, reversed := left.(*expr.Placeholder); reversed {
			left, right = right, left
		}
		return s.clause(required && n.Op == expr.Equal, left, right)
	case *expr.Between:
		return s.clause(false, n.Operand, n.Low, n.High)
	case *expr.In:
		return s.clause(false, n.Operand, n.List...)
	default:
		return s.fault(expr.KindSearchComparator)
	}
}

func (s *SearchCondition) collectAll(terms []expr.Node, required bool) error {
	for _, t := range terms {
		if err := s.collect(t, required); err != nil {
			return err
		}
	}
	return nil
}

func (s *SearchCondition) clause(pinned bool, operand expr.Node, values ...expr.Node) error {
	path, named := operand.(*expr.Path)
	switch {
	case !named:
		return s.fault(expr.KindSearchComparator)
	case len(path.Steps) > 1:
		return s.fault(expr.KindSearchNested)
	}
	c := SearchClause{Name: path.Root(s.names), Pinned: pinned}
	for _, n := range values {
		p, ok := n.(*expr.Placeholder)
		if !ok {
			return s.fault(expr.KindSearchComparator)
		}
		c.Values = append(c.Values, s.value(p))
	}
	s.Clauses = append(s.Clauses, c)
	return nil
}

func (s *SearchCondition) fault(kind expr.Kind) error {
	return &expr.Error{Surface: s.surface, Kind: kind}
}
