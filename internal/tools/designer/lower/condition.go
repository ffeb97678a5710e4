package lower

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

var aliases = regexp.MustCompile(`#[A-Za-z0-9_]+`) //nolint:gochecknoglobals // compiled once

// condition translates a condition to the entity's stored attributes; typed returns a parameter's type, and is nil
// if there are no parameters.
func (l *lowerer) condition(e *design.Entity, c *design.Condition, typed func(param string) design.Type) *table.Condition {
	if c == nil {
		return nil
	}
	out := &table.Condition{Names: map[string]string{}}
	paths := map[string]string{} // a step of a path → its alias in the design
	for _, n := range c.Names {
		stored := l.stored(e, n.Field)
		steps := make([]string, len(stored))
		for i, step := range stored {
			alias := n.Alias
			if len(stored) > 1 {
				alias += "_" + strconv.Itoa(i)
				for slices.ContainsFunc(c.Names, func(other design.NameRef) bool { return other.Alias == alias }) {
					alias += "_"
				}
			}
			steps[i], out.Names[alias] = alias, step
		}
		paths[n.Alias] = strings.Join(steps, ".")
	}
	out.Expression = aliases.ReplaceAllStringFunc(c.Expression, func(alias string) string { return paths[alias] })
	for _, v := range c.Values {
		if v.Param != "" {
			out.Params = append(out.Params, table.ConditionParam{Placeholder: v.Placeholder, Input: v.Param, Type: l.typeOf(typed(v.Param))})
			continue
		}
		if out.Constants == nil {
			out.Constants = map[string]types.AttributeValue{}
		}
		out.Constants[v.Placeholder] = constant(v.Literal)
	}
	return out
}

func constant(c design.Constant) types.AttributeValue {
	switch c.Kind {
	case design.NumberConstant:
		return &types.AttributeValueMemberN{Value: c.Text}
	case design.BoolConstant:
		return &types.AttributeValueMemberBOOL{Value: c.Text == "true"}
	case design.NullConstant:
		return &types.AttributeValueMemberNULL{Value: true}
	case design.StringConstant:
	}
	return &types.AttributeValueMemberS{Value: c.Text}
}

// stored is the last step of a path of fields as stored; a field within maps has several stored steps.
func (l *lowerer) stored(e *design.Entity, path string) []string {
	steps := strings.Split(path, ".")
	f := e.Field(steps[0])
	for _, step := range steps[1:] {
		f = within(l.program.Design, f, step)
		if f == nil {
			return []string{step} // a key of a map
		}
	}
	if f == nil {
		return []string{path}
	}
	return f.Path
}

// within is the field that a step leads to; nil for a map key.
func within(d *design.Design, f *design.Field, step string) *design.Field {
	if f == nil {
		return nil
	}
	t := f.Type
	if strings.HasPrefix(step, "[") && t.Elem != nil {
		return &design.Field{Name: step, Type: *t.Elem}
	}
	for t.Elem != nil && t.Kind == design.KindList {
		t = *t.Elem
	}
	if t.Kind == design.KindMap && t.Elem != nil {
		return &design.Field{Name: step, Type: *t.Elem, Path: []string{step}}
	}
	if t.Kind != design.KindStruct {
		return nil
	}
	for _, x := range d.Struct(t.Name).Fields {
		if x.Name == step {
			return x
		}
	}
	return nil
}

// FieldAt is the field at the end of a path of fields; nil if there is none.
func FieldAt(d *design.Design, e *design.Entity, path string) *design.Field {
	steps := design.PathSteps(path)
	f := e.Field(steps[0])
	for _, step := range steps[1:] {
		f = within(d, f, step)
	}
	return f
}

// typeAt is the type at the end of a path of fields.
func typeAt(d *design.Design, e *design.Entity, path string) (design.Type, bool) {
	f := FieldAt(d, e, path)
	if f == nil {
		return design.Type{}, false
	}
	return f.Type, true
}

// compared derives the type of a parameter from what a condition compares it with.
func compared(d *design.Design, e *design.Entity, c *design.Condition, param string) (design.Type, bool) {
	for _, x := range slices.Backward(Comparisons(d, e, c)) {
		if x.Value.Param == param {
			return x.Type, true
		}
	}
	return design.Type{}, false
}

// Comparison is a literal or parameter of a condition, with what the condition compares it with.
type Comparison struct {
	Value design.ValueRef
	Of    string // a field or path; size(tags)
	Type  design.Type
	// Whole means that the value is compared as a value of the type: with =, <> or IN, or as an element. Other comparisons
	// only depend on its order, or on a part of it.
	Whole bool
}

// Comparisons returns the comparisons of a condition whose types are known.
func Comparisons(d *design.Design, e *design.Entity, c *design.Condition) []Comparison {
	if c == nil {
		return nil
	}
	tree, err := expr.Parse(expr.Condition, c.Expression)
	if err != nil {
		return nil
	}
	q := comparisons{design: d, entity: e, condition: c}
	expr.Walk(tree.Root, q.visit)
	return q.found
}

// comparisons collects the comparisons of a condition.
type comparisons struct {
	design    *design.Design
	entity    *design.Entity
	condition *design.Condition
	found     []Comparison
}

func (q *comparisons) visit(n expr.Node) {
	switch n := n.(type) {
	case *expr.Comparison:
		q.pair(n.Op == expr.Equal || n.Op == expr.NotEqual, n.Left, n.Right)
	case *expr.Between:
		q.pair(false, n.Operand, n.Low, n.High)
	case *expr.In:
		q.pair(true, n.Operand, n.List...)
	case *expr.Call:
		q.call(n)
	default: // compares nothing
	}
}

// call handles functions that compare: begins_with takes a string, contains an element.
func (q *comparisons) call(n *expr.Call) {
	if len(n.Args) != 2 {
		return
	}
	of, t, known := q.typeOf(n.Args[0])
	switch {
	case n.Function == expr.Contains && known && t.Elem != nil:
		q.add(n.Args[1], of, *t.Elem, true)
	case n.Function == expr.BeginsWith, n.Function == expr.Contains, n.Function == expr.AttributeType:
		q.add(n.Args[1], of, design.Type{Kind: design.KindText}, false)
	}
}

func (q *comparisons) pair(whole bool, a expr.Node, others ...expr.Node) {
	for _, b := range others {
		for _, side := range [][2]expr.Node{{a, b}, {b, a}} {
			if of, t, known := q.typeOf(side[0]); known {
				q.add(side[1], of, t, whole)
			}
		}
	}
}

// add adds a comparison with a node that is a literal or a parameter.
func (q *comparisons) add(n expr.Node, of string, t design.Type, whole bool) {
	p, is := n.(*expr.Placeholder)
	if !is {
		return
	}
	i := slices.IndexFunc(q.condition.Values, func(v design.ValueRef) bool { return v.Placeholder == p.Name })
	if i >= 0 {
		q.found = append(q.found, Comparison{Value: q.condition.Values[i], Of: of, Type: t, Whole: whole})
	}
}

// typeOf is the type of an operand, and its name in the design.
func (q *comparisons) typeOf(n expr.Node) (string, design.Type, bool) {
	switch n := n.(type) {
	case *expr.Call:
		if len(n.Args) != 1 || n.Function != expr.Size {
			return "", design.Type{}, false
		}
		of, _, _ := q.typeOf(n.Args[0])
		return "size(" + of + ")", design.Type{Kind: design.KindInt}, true
	case *expr.Path:
		return q.typeOfPath(n)
	default:
		return "", design.Type{}, false
	}
}

// typeOfPath is the type of the path's last alias, or of its elements if indexes follow.
func (q *comparisons) typeOfPath(p *expr.Path) (string, design.Type, bool) {
	for i, step := range slices.Backward(p.Steps) {
		if step.Kind != expr.StepAlias {
			continue
		}
		at := slices.IndexFunc(q.condition.Names, func(n design.NameRef) bool { return n.Alias == step.Name })
		if at < 0 {
			break
		}
		of := q.condition.Names[at].Field
		t, known := typeAt(q.design, q.entity, of)
		for range p.Steps[i+1:] {
			if t.Elem == nil {
				return of, t, false
			}
			t = *t.Elem
		}
		return of, t, known
	}
	return "", design.Type{}, false
}
