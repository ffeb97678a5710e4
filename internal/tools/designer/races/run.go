package races

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
	"github.com/monotable/monotable/internal/tools/designer/expression"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// run is one attempt of a call with a given client.
type run struct {
	program *lower.Program
	values  *values
	call    *call
	client  *replay
	db      *table.DB
	now     time.Time
	newID   func(table.Kind) string
	// given are the call's arguments and named values.
	given table.Values
	// results are the results of reads, by name.
	results map[string]found
	line    table.Values
	want    design.Type // of the current argument
	// strict makes a value of a missing item an error.
	strict bool
}

// found is the result of a read.
type found struct {
	read  *lower.Read
	there bool
	items []table.Values
}

// all runs the steps.
func (r *run) all(ctx context.Context) error {
	r.results, r.given = map[string]found{}, maps.Clone(r.call.given)
	for _, s := range r.call.steps {
		if err := r.step(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) step(ctx context.Context, s *callStep) error {
	lines := []table.Values{nil}
	if s.Each != nil {
		var err error
		if lines, err = r.selected(s.Each); err != nil {
			return err
		}
	}
	for _, line := range lines {
		r.line = line
		if s.If != nil {
			ok, err := expression.Holds(s.If, r)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
		}
		if err := r.let(s); err != nil {
			return err
		}
		if s.read == nil && s.write == nil {
			continue
		}
		if err := r.request(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// let evaluates the named values of a step.
func (r *run) let(s *callStep) error {
	for _, a := range s.Let {
		v, err := r.strictly(a.Value, design.Type{})
		if err != nil {
			return err
		}
		r.given[a.Name] = v
	}
	return nil
}

// strictly evaluates an expression in which values of missing items are errors.
func (r *run) strictly(e *design.Expression, want design.Type) (types.AttributeValue, error) {
	r.want, r.strict = want, true
	defer func() { r.strict = false }()
	return expression.Eval(e, r)
}

func (r *run) request(ctx context.Context, s *callStep) error {
	in := table.Input{Values: table.Values{}}
	for _, input := range s.inputs() {
		v, err := r.argument(s, &input)
		if err != nil {
			return err
		}
		if v != nil {
			in.Values[input.Name] = v
		}
	}
	r.client.pattern, r.client.repeatable = s.pattern(), false
	if s.read != nil {
		return r.read(ctx, s, in)
	}
	switch {
	case s.lines != "":
		in.Lines = r.call.lists[s.lines]
	case s.Lines != nil:
		items, err := r.selected(s.Lines)
		if err != nil {
			return err
		}
		in.Lines = items
	}
	in.Lines = only(in.Lines, s.write.Lines)
	r.client.repeatable = s.write.Run.Idempotent != nil
	_, err := r.db.Write(ctx, s.write.Run, in)
	if errors.Is(err, errLost) {
		r.client.repeatable = false // the caller retries it, and a response is lost at most once
		_, err = r.db.Write(ctx, s.write.Run, in)
	}
	return err
}

// argument is the value of a pattern's input: as given by the step, otherwise by the call.
func (r *run) argument(s *callStep, in *lower.Input) (types.AttributeValue, error) {
	i := slices.IndexFunc(s.With, func(a *design.Argument) bool { return a.Name == in.Name })
	if i < 0 {
		return r.given[in.Name], nil
	}
	return r.strictly(s.With[i].Value, in.Type)
}

// only are lines reduced to the inputs of a write.
func only(lines []table.Values, inputs []lower.Input) []table.Values {
	var out []table.Values
	for _, line := range lines {
		values := table.Values{}
		for _, in := range inputs {
			if v := line[in.Name]; v != nil {
				values[in.Name] = v
			}
		}
		out = append(out, values)
	}
	return out
}

func (r *run) read(ctx context.Context, s *callStep, in table.Input) error {
	got := found{read: s.read}
	switch {
	case !s.read.Run.Many:
		item, err := r.db.Get(ctx, s.read.Run, in)
		if err != nil && !errors.Is(err, table.ErrNotFound) {
			return err
		}
		if got.there = err == nil; got.there {
			got.items = []table.Values{item}
		}
	case s.read.Run.Limit > 0:
		items, err := r.db.List(ctx, s.read.Run, in)
		if err != nil {
			return err
		}
		got.items, got.there = items, len(items) > 0
	default:
		page, err := r.db.Page(ctx, s.read.Run, in, table.PageOptions{})
		if err != nil {
			return err
		}
		got.items, got.there = page.Items, len(page.Items) > 0
	}
	if s.As != "" {
		r.results[s.As] = got
	}
	r.client.found(r.foundWords(s, got))
	return nil
}

// foundWords describes the result of a read: for one item the fields that the flow uses, for a list the
// number.
func (r *run) foundWords(s *callStep, f found) string {
	entity := f.read.Design.Entity
	switch {
	case f.read.Run.Many:
		return fmt.Sprintf("%d %s", len(f.items), entity)
	case !f.there:
		return "no " + entity
	}
	var fields []string
	for _, name := range r.call.asked(s.As) {
		v := expression.At(f.items[0], expression.Path(r.program.Design, r.program.Design.Entity(entity), name))
		if text := name + ": " + r.values.show(v); v != nil && !slices.Contains(fields, text) {
			fields = append(fields, text)
		}
	}
	if len(fields) == 0 {
		return "1 " + entity
	}
	return entity + " { " + strings.Join(fields, ", ") + " }"
}

// selected are the items of a selection.
func (r *run) selected(l *design.Selection) ([]table.Values, error) {
	if l.Given {
		return r.call.lists[l.List], nil
	}
	return r.those(r.results[l.List], l.Where)
}

// those are the items of a result that satisfy a condition.
func (r *run) those(f found, where *design.Condition) ([]table.Values, error) {
	if f.read == nil {
		return nil, nil // the step that reads it was skipped
	}
	d := r.program.Design
	bound, err := expression.Bind(d, d.Entity(f.read.Design.Entity), where, r.Param)
	if err != nil {
		return nil, err
	}
	list := make([]expression.Values, len(f.items))
	for i, it := range f.items {
		list[i] = it
	}
	list, err = bound.Those(list)
	out := make([]table.Values, len(list))
	for i, it := range list {
		out[i] = it
	}
	return out, err
}

// Name is a field of a result.
func (r *run) Name(path string) (types.AttributeValue, error) {
	word, field, _ := strings.Cut(path, ".")
	f := r.results[word]
	switch {
	case f.there:
		d := r.program.Design
		return expression.At(f.items[0], expression.Path(d, d.Entity(f.read.Design.Entity), field)), nil
	case r.strict:
		return nil, fmt.Errorf("%s: %w", word, table.ErrNotFound)
	default:
		return nil, nil //nolint:nilnil // absent
	}
}

// Param is an argument of the call, or a value of the line.
func (r *run) Param(name string) (types.AttributeValue, error) {
	root, rest, _ := strings.Cut(name, ".")
	if root == "line" {
		return expression.At(r.line, strings.Split(rest, ".")), nil
	}
	return expression.At(r.given, strings.Split(name, ".")), nil
}

// Call is a function of a result, or a generated value.
func (r *run) Call(c *design.CallOperand) (types.AttributeValue, error) {
	switch c.Function {
	case design.NowFunction:
		return r.time(), nil
	case design.NewIDFunction:
		return &types.AttributeValueMemberS{Value: r.newID(table.Kind(r.want.Kind))}, nil
	default:
	}
	word, field, _ := strings.Cut(c.Of, ".")
	f := r.results[word]
	items, err := r.those(f, c.Where)
	if err != nil {
		return nil, err
	}
	switch c.Function {
	case design.CountFunction:
		return expression.Number(len(items)), nil
	case design.ExistsFunction:
		return expression.Bool(len(items) > 0), nil
	case design.SumFunction:
		if f.read == nil {
			return expression.Number(0), nil
		}
		d := r.program.Design
		list := make([]expression.Values, len(items))
		for i, it := range items {
			list[i] = it
		}
		return expression.Total(list, expression.Path(d, d.Entity(f.read.Design.Entity), field))
	default:
		return nil, fmt.Errorf("%s() is not a function of flows", c.Function)
	}
}

// time is the time of the run in the wanted type.
func (r *run) time() types.AttributeValue {
	switch r.want.Kind {
	case design.KindTTL, design.KindInt, design.KindDecimal, design.KindMoney:
		return &types.AttributeValueMemberN{Value: fmt.Sprint(r.now.Unix())}
	case design.KindDate:
		return &types.AttributeValueMemberS{Value: r.now.Format(keytext.DateLayout)}
	default:
		return &types.AttributeValueMemberS{Value: r.now.Format(keytext.TimeLayout)}
	}
}
