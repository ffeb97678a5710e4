package write

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// occurrence is a step of a write, for one line if it is repeated.
type occurrence struct {
	*Call
	*schema.Step
	number, line int
}

// target is the destination of an assignment's path: a field, or something inside its structure.
type target struct {
	field *schema.Field // the entity's
	path  []string      // its stored path
	// member is the field at the end of the path, with its name in errors.
	member schema.Field
	whole  bool // whether it is the entity's field itself
}

// targetOf finds the destination of a path.
func targetOf(e *schema.Entity, steps []string) (target, error) {
	name := strings.Join(steps, ".")
	f := e.Field(steps[0])
	if f == nil {
		return target{}, fmt.Errorf("entity %s has no field %s", e.Name, name)
	}
	t := target{field: f, path: f.Path, member: *f, whole: len(steps) == 1}
	for _, step := range steps[1:] {
		inner := t.member.Type.Inner(step)
		if inner == nil {
			return target{}, fmt.Errorf("entity %s has no field %s", e.Name, name)
		}
		t.member = *inner
		t.path = append(slices.Clip(t.path), inner.Path...)
	}
	t.member.Name = name
	return t, nil
}

// target finds the destination of an assignment's path, with inputs that are map keys resolved.
func (o occurrence) target(steps []string) (target, error) {
	for i, step := range steps {
		name, given := strings.CutPrefix(step, ":")
		if !given {
			continue
		}
		key, err := o.mapKey(name)
		if err != nil {
			return target{}, err
		}
		steps = slices.Clone(steps)
		steps[i] = key
	}
	return targetOf(o.Entity, steps)
}

// mapKey is an input as the key of a map.
func (o occurrence) mapKey(name string) (string, error) {
	label := name
	name, ofLine := strings.CutPrefix(name, "line.")
	v := o.Input.Values[name]
	if ofLine && o.line >= 0 {
		v, label = o.Input.Lines[o.line][name], lineName(o.line, name)
	}
	text, is := v.(*types.AttributeValueMemberS)
	switch {
	case v == nil:
		return "", schema.Missing(label)
	case !is || text.Value == "":
		return "", &schema.ValueError{Field: label, Reason: "is a map key and must be a non-empty text"}
	}
	if _, element := schema.Index(text.Value); element {
		return "", &schema.ValueError{Field: label, Reason: "is " + text.Value + ", which is not a map key but a list index"}
	}
	return text.Value, nil
}

// operand is a field of the item, unchanged, in a sum.
type operand struct {
	negative bool
	field    *schema.Field
	path     []string
	// zero means that an absent field counts as 0.
	zero bool
}

// resolve is the value of terms as far as it is known without an item: the sum of the known terms, nil if there are
// none, and the fields of the item to which it is added.
func (o occurrence) resolve(t *target, terms []schema.Term) (types.AttributeValue, []operand, error) {
	if len(terms) == 1 && terms[0].Kind != schema.FieldTerm {
		if v, err := o.term(t, &terms[0]); err != nil || v == nil || !terms[0].Negative {
			return v, nil, err
		}
	}
	var operands []operand
	var sum decimal.Decimal
	known := false
	for i := range terms {
		term := &terms[i]
		if term.Kind == schema.FieldTerm {
			from, err := targetOf(o.Entity, term.Path)
			if err != nil {
				return nil, nil, err
			}
			operands = append(operands, operand{negative: term.Negative, field: from.field, path: from.path})
			continue
		}
		v, err := o.term(t, term)
		if err != nil {
			return nil, nil, err
		}
		n, err := o.numeric(t, term, v)
		if err != nil {
			return nil, nil, err
		}
		known = true
		if sum, err = sumOf(t.member.Name, sum, n, term.Negative); err != nil {
			return nil, nil, err
		}
	}
	if !known {
		return nil, operands, nil
	}
	return schema.NumberOf(sum), operands, nil
}

// numeric is a term's value as an operand of a sum.
func (o occurrence) numeric(t *target, term *schema.Term, v types.AttributeValue) (decimal.Decimal, error) {
	name := term.Name
	switch term.Kind {
	case schema.LineTerm:
		name = lineName(o.line, term.Name)
	case schema.InputTerm:
	default:
		name = t.member.Name
	}
	if v == nil {
		return decimal.Decimal{}, schema.Missing(name)
	}
	d, ok := schema.DecimalOf(v)
	if !ok {
		return d, &schema.ValueError{Field: name, Reason: "is not a number and cannot be added to a sum"}
	}
	return d, nil
}

// term is the value of a term that is known without an item; nil for an absent optional input.
func (o occurrence) term(t *target, term *schema.Term) (types.AttributeValue, error) {
	switch term.Kind {
	case schema.ConstantTerm:
		return term.Constant, nil
	case schema.InputTerm:
		return input(o.Write.Params, o.Input.Values, term.Name, term.Name, &t.member)
	case schema.LineTerm:
		if o.line < 0 {
			return nil, fmt.Errorf("%s belongs to a line, but the step is not repeated for lines", term.Name)
		}
		return input(o.Write.LineParams, o.Input.Lines[o.line], term.Name, lineName(o.line, term.Name), &t.member)
	case schema.NowTerm:
		return nowAs(t.member.Type.Kind, t.member.Name, o.now)
	case schema.NewIDTerm:
		return o.ids.newID(t.member.Type.Kind)
	case schema.SumTerm:
		return o.sum(term.Name)
	case schema.CountTerm:
		return &types.AttributeValueMemberN{Value: strconv.Itoa(len(o.Input.Lines))}, nil
	default:
		return nil, fmt.Errorf("unknown term kind %d", term.Kind)
	}
}

// input is an input by its name: a parameter, or otherwise a value for the field to which it is assigned.
func input(params []schema.Param, given schema.Values, name, label string, f *schema.Field) (types.AttributeValue, error) {
	v := given[name]
	p := param(params, name)
	switch {
	case v == nil && (p != nil || f.Optional || f.Type.Kind.Collection()):
		return nil, nil //nolint:nilnil // an absent optional input is not an error
	case v == nil:
		return nil, schema.Missing(label)
	case p != nil:
		return v, nil // it was checked with the parameters
	default:
		return v, f.Type.CheckValue(label, v, f.MinBytes, f.MaxBytes)
	}
}

// sum adds up an input of the lines. An absent optional one adds nothing.
func (r *Call) sum(name string) (types.AttributeValue, error) {
	var sum decimal.Decimal
	p := param(r.Write.LineParams, name)
	for n, line := range r.Input.Lines {
		v := line[name]
		if v == nil && p != nil && p.Optional {
			continue
		}
		if v == nil {
			return nil, schema.Missing(lineName(n, name))
		}
		d, ok := schema.DecimalOf(v)
		if !ok {
			return nil, &schema.ValueError{Field: lineName(n, name), Reason: "is not a number and cannot be added to a sum"}
		}
		var err error
		if sum, err = sum.Add(d); err != nil {
			return nil, &schema.ValueError{Field: lineName(n, name), Reason: "makes a sum that DynamoDB cannot store: " + err.Error()}
		}
	}
	return schema.NumberOf(sum), nil
}

// nowAs is a time in the stored form of a field: seconds for a ttl, milliseconds for another number, otherwise text.
func nowAs(k schema.Kind, name string, at time.Time) (types.AttributeValue, error) {
	if k.Numeric() && k != schema.KindTTL {
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(at.UnixMilli(), 10)}, nil
	}
	return schema.TimeAs(schema.Type{Kind: k}, name, at)
}
