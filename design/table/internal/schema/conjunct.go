package schema

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// Conjuncts are the conditions that must all hold for this one to: the parts that AND joins. Each can be known to fail while
// the others are not known at all.
func (c *Condition) Conjuncts() ([]*Condition, error) {
	tree, err := expr.Load(expr.Condition, c.Expression)
	if err != nil {
		return nil, err
	}
	and, ok := tree.Root.(*expr.And)
	if !ok {
		return []*Condition{c}, nil
	}
	out := make([]*Condition, len(and.Terms))
	for i, term := range and.Terms {
		part := *tree
		part.Root = term
		out[i] = c.only(expr.Print(&part), term)
	}
	return out, nil
}

// only is a part of the condition with the names that it uses. Placeholders that it does not use are of no account.
func (c *Condition) only(text string, term expr.Node) *Condition {
	names := map[string]string{}
	expr.Walk(term, func(n expr.Node) {
		if p, ok := n.(*expr.Path); ok {
			for _, step := range p.Steps {
				if name, ok := c.Names[step.Name]; ok {
					names[step.Name] = name
				}
			}
		}
	})
	return &Condition{Expression: text, Names: names, Params: c.Params, Constants: c.Constants}
}

// attributes are the top-level attributes that a condition reads.
func (c *Condition) attributes() []string {
	tree, err := expr.Load(expr.Condition, c.Expression)
	if err != nil {
		return slices.Collect(maps.Values(c.Names))
	}
	var out []string
	expr.Walk(tree.Root, func(n expr.Node) {
		if p, ok := n.(*expr.Path); ok {
			out = append(out, c.Attribute(p))
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// Attribute is the top-level attribute of a path.
func (c *Condition) Attribute(p *expr.Path) string {
	step := p.Steps[0].Name
	if name, ok := c.Names[step]; ok {
		return name
	}
	return step
}

// ReadBy are the fields that a condition reads, by the attributes in which they are.
func (e *Entity) ReadBy(c *Condition) []string {
	if c == nil {
		return nil
	}
	attributes := c.attributes()
	var out []string
	for i := range e.Fields {
		if slices.Contains(attributes, e.Fields[i].Path[0]) {
			out = append(out, e.Fields[i].Name)
		}
	}
	return out
}

// Truth says whether a condition holds, as far as some known fields determine it: known is false if they do not. relies lists the
// fields that determined it.
func (e *Entity) Truth(c *Condition, value func(field string) (types.AttributeValue, bool)) (holds, known bool, relies []string, err error) {
	if c == nil {
		return true, true, nil, nil
	}
	parts, err := c.Conjuncts()
	if err != nil {
		return false, false, nil, err
	}
	known = true
	for _, part := range parts {
		fields := e.ReadBy(part)
		it, all := e.partial(fields, value)
		if !all {
			known = false
			continue
		}
		holds, err := part.Holds(it, Inputs{})
		if err != nil {
			return false, false, nil, err
		}
		if !holds {
			return false, true, fields, nil
		}
		relies = append(relies, fields...)
	}
	return true, known, relies, nil
}

// partial is an item with some fields only; all is false if one of them is not known.
func (e *Entity) partial(fields []string, value func(field string) (types.AttributeValue, bool)) (it Item, all bool) {
	it = Item{}
	for _, name := range fields {
		f := e.Field(name)
		v, known := value(name)
		if !known {
			return nil, false
		}
		if stored, err := f.ToStore(v); err == nil && stored != nil {
			PutAt(it, f.Path, stored)
		}
	}
	return it, true
}
