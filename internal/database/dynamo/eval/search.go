package eval

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// Equality is one clause of a search condition: the attribute of that name has that value.
type Equality struct {
	Name  string
	Value attr.Value
}

// SearchCondition binds a SearchConditionExpression: equalities of top-level attributes, joined by AND, one for an attribute
// at most. Whether the search schema has the attributes, the caller knows.
func (b *Binder) SearchCondition(text string) ([]Equality, error) {
	e, sc, err := b.bind(expr.SearchCondition, text)
	if err != nil {
		return nil, err
	}
	if err := sc.check(e.Root); err != nil {
		return nil, err
	}
	return sc.equalities(nil, e.Root)
}

func (sc *scope) equalities(out []Equality, n expr.Node) ([]Equality, error) {
	fault := func(kind expr.Kind) ([]Equality, error) { return nil, &expr.Error{Surface: sc.surface, Kind: kind} }
	if and, ok := n.(*expr.And); ok {
		for _, t := range and.Terms {
			var err error
			if out, err = sc.equalities(out, t); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	c, ok := n.(*expr.Comparison)
	if !ok || c.Op != expr.Equal {
		return fault(expr.KindSearchComparator)
	}
	left, right := c.Left, c.Right
	if _, reversed := left.(*expr.Placeholder); reversed {
		left, right = right, left
	}
	path, named := left.(*expr.Path)
	value, valued := right.(*expr.Placeholder)
	switch {
	case !named || !valued:
		return fault(expr.KindSearchComparator)
	case len(path.Steps) > 1:
		return fault(expr.KindSearchNested)
	}
	name := path.Root(sc.names)
	for _, earlier := range out {
		if earlier.Name == name {
			return fault(expr.KindSearchTwice)
		}
	}
	return append(out, Equality{name, sc.value(value)}), nil
}
