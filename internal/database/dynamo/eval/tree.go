package eval

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// NewCondition binds a tree lowered from another language. Placeholders refer to values by slot; paths have no aliases.
func NewCondition(s expr.Surface, root expr.Node, values []attr.Value) (*Condition, error) {
	c := &Condition{scope: scope{surface: s, values: values, nested: nestedPaths(root)}, root: root}
	return c, c.check(root)
}

// NewUpdate binds actions lowered from another language, like NewCondition.
func NewUpdate(actions []expr.Action, values []attr.Value) (*Update, error) {
	sc := scope{surface: expr.Update, values: values}
	for _, a := range actions {
		sc.nested = append(sc.nested, nestedPaths(a.Target, a.Value)...)
	}
	return bindUpdate(sc, actions)
}

// NewColumns binds a list of columns: each path is a column of the result, with a name in columns. The names are distinct.
func NewColumns(paths []*expr.Path, columns []string) (*Projection, error) {
	p := &Projection{scope: scope{surface: expr.Projection}, paths: expr.SortPaths(paths, nil)}
	for _, path := range paths {
		p.nested = append(p.nested, nestedPaths(path)...)
	}
	if err := expr.CheckPaths(expr.Projection, paths, p.paths, nil); err != nil {
		return nil, err
	}
	if _, flat := p.Names(); flat {
		return p, nil
	}
	p.columns = make([]string, len(paths))
	for i, path := range paths {
		p.columns[slices.Index(p.paths, path)] = columns[i]
	}
	return p, nil
}

// applyColumns returns the columns that the item has.
func (p *Projection) applyColumns(it attr.Item) attr.Item {
	fields := make([]attr.Field, 0, len(p.paths))
	for i, path := range p.paths {
		if v, ok := p.find(path, it); ok {
			fields = append(fields, attr.Field{Name: p.columns[i], Value: v})
		}
	}
	out, _ := attr.NewItem(fields)
	return out
}

// nestedPaths returns the paths with more than one step in trees, in the order of the text. Trees may be nil.
func nestedPaths(trees ...expr.Node) (nested []*expr.Path) {
	for _, tree := range trees {
		if tree == nil {
			continue
		}
		expr.Walk(tree, func(n expr.Node) {
			if p, ok := n.(*expr.Path); ok && len(p.Steps) > 1 {
				nested = append(nested, p)
			}
		})
	}
	return nested
}
