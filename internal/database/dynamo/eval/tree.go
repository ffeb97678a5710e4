package eval

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// NewCondition binds a tree that another language was lowered to. Placeholders stand for values by their slots; paths
// have no aliases.
func NewCondition(s expr.Surface, root expr.Node, values []attr.Value) (*Condition, error) {
	c := &Condition{scope: scope{surface: s, values: values, nested: nestedPaths(root)}, root: root}
	return c, c.check(root)
}

// NewUpdate binds actions that another language was lowered to, as NewCondition binds a tree.
func NewUpdate(actions []expr.Action, values []attr.Value) (*Update, error) {
	sc := scope{surface: expr.Update, values: values}
	for _, a := range actions {
		sc.nested = append(sc.nested, nestedPaths(a.Target, a.Value)...)
	}
	return bindUpdate(sc, actions)
}

// NewColumns binds a list of columns: each path is a column of its own in the result, named by columns. The columns'
// names are distinct.
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

// nestedPaths are the paths of more than one step in trees, in the order of the text. A nil tree has none.
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
