package eval

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// NewCondition binds a tree that another language was lowered to. Placeholders stand for values by their slots; paths
// have no aliases.
func NewCondition(s expr.Surface, root expr.Node, values []attr.Value) (*Condition, error) {
	c := &Condition{scope: scope{surface: s, values: values}, root: root}
	return c, c.check(root)
}

// NewUpdate binds actions that another language was lowered to, as NewCondition binds a tree.
func NewUpdate(actions []expr.Action, values []attr.Value) (*Update, error) {
	return bindUpdate(scope{surface: expr.Update, values: values}, actions)
}

// NewColumns binds a list of columns: each path is a column of its own in the result, named by columns. The columns'
// names are distinct.
func NewColumns(paths []*expr.Path, columns []string) (*Projection, error) {
	p := &Projection{scope: scope{surface: expr.Projection}, paths: expr.SortPaths(paths, nil)}
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
