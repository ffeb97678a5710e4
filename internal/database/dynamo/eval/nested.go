package eval

import "github.com/monotable/monotable/internal/database/dynamo/expr"

// NestedAttributes returns the top-level attributes below which the condition reads, in the order of the text:
// key attributes must not be among them.
func (c *Condition) NestedAttributes() []string {
	if c == nil {
		return nil
	}
	return c.appendNested(nil, c.root)
}

// NestedAttributes returns the top-level attributes below which the projection reads, sorted.
func (p *Projection) NestedAttributes() []string {
	var names []string
	for _, path := range p.paths {
		names = p.appendNested(names, path)
	}
	return names
}

// NestedAttributes returns the top-level attributes below which the update reads or writes, in the order of its
// targets.
func (u *Update) NestedAttributes() []string {
	var names []string
	for i := range u.actions {
		a := &u.actions[i]
		names = u.appendNested(names, a.Target)
		if a.Value != nil {
			names = u.appendNested(names, a.Value)
		}
	}
	return names
}

// appendNested appends the roots of the paths in n that have more than one step.
func (sc *scope) appendNested(names []string, n expr.Node) []string {
	expr.Walk(n, func(n expr.Node) {
		if p, ok := n.(*expr.Path); ok && len(p.Steps) > 1 {
			names = append(names, p.Root(sc.names))
		}
	})
	return names
}
