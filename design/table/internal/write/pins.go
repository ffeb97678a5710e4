package write

import (
	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// pins are the fields whose value the condition of a change fixes: for "status = :from", the changed item has that
// status, and need not be read for it.
func (c *change) pins() schema.Values {
	if c.when == nil || c.action == schema.Create || c.action == schema.Put {
		return nil
	}
	parts, err := c.when.Conjuncts()
	if err != nil {
		return nil // the request will report it
	}
	out := schema.Values{}
	for _, part := range parts {
		tree, err := expr.Load(expr.Condition, part.Expression)
		if err != nil {
			return nil
		}
		if equal, ok := tree.Root.(*expr.Comparison); ok && equal.Op == expr.Equal {
			c.pin(out, part, equal.Left, equal.Right)
			c.pin(out, part, equal.Right, equal.Left)
		}
	}
	return out
}

// pin adds the field of a comparison with a value.
func (c *change) pin(out schema.Values, part *schema.Condition, left, right expr.Node) {
	path, isPath := left.(*expr.Path)
	placeholder, isValue := right.(*expr.Placeholder)
	if !isPath || !isValue || len(path.Steps) != 1 {
		return
	}
	v, err := part.Value(placeholder.Name, c.in)
	if err != nil {
		return
	}
	attribute := part.Attribute(path)
	for i := range c.entity.Fields {
		f := &c.entity.Fields[i]
		if len(f.Path) == 1 && f.Path[0] == attribute && f.Type.CheckValue(f.Name, v, f.MinBytes, f.MaxBytes) == nil {
			out[f.Name] = v
		}
	}
}
