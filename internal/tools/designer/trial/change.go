package trial

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// errInvalid is the error for an input with which nothing can be written: a value is missing or invalid, or two steps are on
// one item.
var errInvalid = errors.New("invalid input")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errInvalid}, args...)...)
}

// change is one step of a write, or one line of it, applied to plain values as the design describes it.
type change struct {
	program *lower.Program
	in      table.Input
	now     time.Time
	// created are the items that the write has returned, as the source of generated identifiers; nil if it was not executed.
	created *table.Outcome

	step *design.Step
	run  *table.Step
	at   int // the step
	line int // -1 for none
}

// typeAt is the type of what a path of fields leads to.
func typeAt(d *design.Design, e *design.Entity, path string) (design.Type, []string) {
	steps := design.PathSteps(path)
	f := e.Field(steps[0])
	t := f.Type
	var stored []string
	for _, step := range steps[1:] {
		s := d.Struct(t.Name)
		i := -1
		if t.Kind == design.KindStruct && s != nil {
			i = slices.IndexFunc(s.Fields, func(f *design.Field) bool { return f.Name == step })
		}
		if i >= 0 {
			t, stored = s.Fields[i].Type, append(stored, s.Fields[i].Path...)
			continue
		}
		stored = append(stored, step)
		if t.Elem != nil {
			t = *t.Elem
		}
	}
	return t, stored
}

// position is the list position in a step; -1 for a step into a map.
func position(step string) int {
	if n, err := strconv.Atoi(strings.Trim(step, "[]")); err == nil && strings.HasPrefix(step, "[") {
		return n
	}
	return -1
}

// valueAt is the value at a path of fields in an item; nil if there is none.
func valueAt(d *design.Design, e *design.Entity, values table.Values, path string) types.AttributeValue {
	v := values[design.Root(path)]
	_, stored := typeAt(d, e, path)
	return valueIn(v, stored)
}

// valueIn is the value at the end of steps into a value.
func valueIn(v types.AttributeValue, stored []string) types.AttributeValue {
	for _, step := range stored {
		switch in := v.(type) {
		case *types.AttributeValueMemberM:
			v = in.Value[step]
		case *types.AttributeValueMemberL:
			n := position(step)
			if n < 0 || n >= len(in.Value) {
				return nil
			}
			v = in.Value[n]
		default:
			return nil
		}
	}
	return v
}

// copied is a copy of a value whose maps can be changed.
func copied(v types.AttributeValue) types.AttributeValue {
	m, is := v.(*types.AttributeValueMemberM)
	if !is {
		return v
	}
	out := &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}}
	for name, member := range m.Value {
		out.Value[name] = copied(member)
	}
	return out
}

// put sets the value at a path of fields, nil to remove it, in values that the change owns.
func (c *change) put(values table.Values, path string, v types.AttributeValue) error {
	root := design.Root(path)
	stored, err := c.steps(path)
	if err != nil {
		return err
	}
	next, possible := replaced(values[root], stored, v)
	switch {
	case !possible:
		return invalid("%s is changed, but its parent does not exist", path)
	case next == nil:
		delete(values, root)
	default:
		values[root] = next
	}
	return nil
}

// steps are the steps into a field, with inputs that are map keys resolved.
func (c *change) steps(path string) ([]string, error) {
	_, stored := typeAt(c.program.Design, c.entity(), path)
	for i, step := range stored {
		name, given := strings.CutPrefix(step, ":")
		if !given {
			continue
		}
		v := c.in.Values[name]
		if name, ofLine := strings.CutPrefix(name, "line."); ofLine {
			v = c.in.Lines[c.line][name]
		}
		if v == nil || scalarText(v) == "" || position(scalarText(v)) >= 0 {
			return nil, invalid("%s is not a map key", step)
		}
		stored[i] = scalarText(v)
	}
	return stored, nil
}

// distinct rejects two changes of one path.
func (c *change) distinct() error {
	paths := slices.Clone(c.step.Remove)
	for _, a := range c.step.Assignments() {
		paths = append(paths, a.Field)
	}
	met := map[string]bool{}
	for _, path := range paths {
		stored, err := c.steps(path)
		if err != nil {
			return err
		}
		id := fmt.Sprintf("%s%q", design.Root(path), stored)
		if met[id] {
			return invalid("%s is changed twice", path)
		}
		met[id] = true
	}
	return nil
}

// replaced is a value with the value at the end of a path replaced, nil to remove it. It fails if the path leads through a
// missing value, or through one that is neither map nor list.
func replaced(in types.AttributeValue, path []string, v types.AttributeValue) (types.AttributeValue, bool) {
	if len(path) == 0 {
		return v, true
	}
	switch in := in.(type) {
	case *types.AttributeValueMemberM:
		next, possible := replaced(in.Value[path[0]], path[1:], v)
		out := maps.Clone(in.Value)
		if out == nil {
			out = map[string]types.AttributeValue{}
		}
		if out[path[0]] = next; next == nil {
			delete(out, path[0])
		}
		return &types.AttributeValueMemberM{Value: out}, possible
	case *types.AttributeValueMemberL:
		n := position(path[0])
		out := slices.Clone(in.Value)
		if n >= len(out) { // after the last element, whatever the position
			if len(path) == 1 && v != nil {
				out = append(out, v)
			}
			return &types.AttributeValueMemberL{Value: out}, n >= 0 && len(path) == 1
		}
		if n < 0 {
			return nil, false
		}
		next, possible := replaced(out[n], path[1:], v)
		if out[n] = next; next == nil {
			out = slices.Delete(out, n, n+1)
		}
		return &types.AttributeValueMemberL{Value: out}, possible
	default:
		return nil, false
	}
}

// stepFields are the assignments of a step to one field: to the whole field, or to paths in it.
type stepFields []*design.Assignment

// of are the assignments to a field.
func (l stepFields) of(field string) (whole *design.Assignment, inside []*design.Assignment) {
	for _, a := range l {
		root := design.Root(a.Field)
		switch {
		case root != field:
		case root != a.Field:
			inside = append(inside, a)
		default:
			whole = a
		}
	}
	return whole, inside
}

func (c *change) entity() *design.Entity { return c.program.Design.Entity(c.step.Entity) }

// given is the input with a name: the line's if it has one.
func (c *change) given(name string) types.AttributeValue {
	if c.line >= 0 {
		if v := c.in.Lines[c.line][name]; v != nil {
			return v
		}
	}
	return c.in.Values[name]
}

// parameters are the values of a condition's parameters.
func (c *change) parameters(condition *table.Condition) table.Values {
	out := maps.Clone(c.in.Values)
	if c.line >= 0 {
		for name, v := range c.in.Lines[c.line] {
			out["line."+name] = v
		}
	}
	return withNow(out, condition, c.now)
}

// key is the key of the step's item, by field.
func (c *change) key() (table.Values, error) {
	out := table.Values{}
	for _, name := range plan.KeyFields(c.entity()) {
		whole, _ := stepFields(slices.Concat(c.step.By, c.step.Set)).of(name)
		if c.step.Action == design.Create || c.step.Action == design.Put {
			whole, _ = stepFields(slices.Concat(c.step.By, c.step.Set, c.step.Init, c.step.Add)).of(name)
		}
		v := c.given(name)
		if whole != nil {
			var err error
			if v, err = c.value(whole, nil); err != nil {
				return nil, err
			}
		}
		if v == nil {
			return nil, invalid("%s is missing", name)
		}
		out[name] = v
	}
	return out, nil
}

// value is the value of an assignment, given the old item.
func (c *change) value(a *design.Assignment, old table.Values) (types.AttributeValue, error) {
	e := c.entity()
	t, _ := typeAt(c.program.Design, e, a.Field)
	terms := a.Value.Terms
	if len(terms) == 1 && !terms[0].Negative && terms[0].Kind != design.FieldTerm {
		return c.term(terms[0], t, a.Field, old)
	}
	var sum decimal.Decimal
	for _, term := range terms {
		v, err := c.term(term, t, a.Field, old)
		if err != nil {
			return nil, err
		}
		n, is := v.(*types.AttributeValueMemberN)
		if !is {
			if len(terms) == 1 && (v != nil || term.Kind == design.ParamTerm) {
				return v, nil // a field as it is, of any type, or an optional input that is not given
			}
			return nil, invalid("%s is computed from a value that is not a number", a.Field)
		}
		d, err := decimal.Parse(n.Value)
		if err == nil && term.Negative {
			sum, err = sum.Sub(d)
		} else if err == nil {
			sum, err = sum.Add(d)
		}
		if err != nil {
			return nil, invalid("%s: %v", a.Field, err)
		}
	}
	return numberValue(sum.String()), nil
}

// term is the value of one term, for a field of a type.
func (c *change) term(term design.Term, t design.Type, field string, old table.Values) (types.AttributeValue, error) {
	switch term.Kind {
	case design.ConstantTerm:
		switch term.Constant.Kind {
		case design.NumberConstant:
			return numberValue(term.Constant.Text), nil
		case design.BoolConstant:
			return boolValue(term.Constant.Text == "true"), nil
		default:
			return textValue(term.Constant.Text), nil
		}
	case design.ParamTerm:
		if name, ofLine := strings.CutPrefix(term.Name, "line."); ofLine {
			return c.in.Lines[c.line][name], nil
		}
		return c.in.Values[term.Name], nil
	case design.FieldTerm:
		return valueAt(c.program.Design, c.entity(), old, term.Name), nil
	case design.NowTerm:
		return timeAs(t, c.now), nil
	case design.NewIDTerm:
		return c.newID(t, field)
	case design.SumTerm:
		var sum decimal.Decimal
		for _, line := range c.in.Lines {
			if line[term.Name] == nil {
				continue
			}
			d, err := decimal.Parse(scalarText(line[term.Name]))
			if err == nil {
				sum, err = sum.Add(d)
			}
			if err != nil {
				return nil, invalid("%s: %v", field, err)
			}
		}
		return numberValue(sum.String()), nil
	default:
		return numberValue(fmt.Sprint(len(c.in.Lines))), nil
	}
}

// newID is the identifier that the write has generated; any identifier if it was not executed.
func (c *change) newID(t design.Type, field string) (types.AttributeValue, error) {
	if c.created == nil {
		switch t.Kind {
		case design.KindUUID:
			return textValue("12345678-1234-4234-a234-123456789abc"), nil
		case design.KindKSUID:
			return textValue(strings.Repeat("0", 27)), nil
		default:
			return textValue(strings.Repeat("0", 26)), nil
		}
	}
	n := max(c.line, 0)
	if c.at >= len(c.created.Items) || n >= len(c.created.Items[c.at]) || c.created.Items[c.at][n][field] == nil {
		return nil, fmt.Errorf("the write does not return the new %s", field)
	}
	return c.created.Items[c.at][n][field], nil
}

// timeAs converts a time to the stored form of a type.
func timeAs(t design.Type, at time.Time) types.AttributeValue {
	switch {
	case t.Kind == design.KindTTL:
		return numberValue(fmt.Sprint(at.Unix()))
	case t.Numeric():
		return numberValue(fmt.Sprint(at.UnixMilli()))
	case t.Kind == design.KindDate:
		return textValue(at.UTC().Format(keytext.DateLayout))
	default:
		return textValue(timeText(at))
	}
}
