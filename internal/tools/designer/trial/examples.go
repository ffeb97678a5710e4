package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// notFound is the error that an example of a read may expect.
const notFound = "NotFound"

// example runs the examples of a read or collection against a database that contains only the samples.
func (t *Trial) example(ctx context.Context, out *Result) error {
	for _, x := range t.design.Examples {
		if x.Pattern != out.Name {
			continue
		}
		if t.examples == nil {
			w, err := newWorld(ctx, t.program, t.now, t.samples, t.options.Open)
			if err != nil {
				return err
			}
			t.examples = w
		}
		out.Cases++
		f := t.exampleFails(ctx, x)
		if f == nil {
			continue
		}
		f.Pattern, f.Call = x.Pattern, fmt.Sprintf("the example at line %d, with the samples", x.Pos.Line)
		out.Failed++
		out.Failures = append(out.Failures, *f)
	}
	out.Requests += t.exampleRequests()
	return nil
}

func (t *Trial) exampleRequests() int {
	if t.examples == nil {
		return 0
	}
	return t.examples.client.takeCount()
}

// returnedItem is a returned item with its entity.
type returnedItem struct {
	entity *design.Entity
	values table.Values
}

// exampleFails runs an example; nil if the result is as expected.
func (t *Trial) exampleFails(ctx context.Context, x *design.Example) *Failure {
	f := &Failure{Kind: WrongSet}
	in, err := t.exampleInput(x)
	if err != nil {
		f.Kind, f.Got, f.Want = Failed, err.Error(), "values of the right types"
		return f
	}
	f.Given = describe(in, slices.Sorted(maps.Keys(in.Values)), "")
	f.Want = exampleWant(x)
	if r := t.program.Read(x.Pattern); r != nil && r.Design.Count {
		n, err := t.examples.count(ctx, r.Run, in)
		switch f.Got = "[" + strconv.Itoa(n) + "]"; {
		case err != nil:
			f.Kind, f.Got = Failed, err.Error()
		case f.Got == f.Want:
			return nil
		}
		return f
	}
	got, err := t.runExample(ctx, x.Pattern, in)
	switch {
	case x.Error == notFound && errors.Is(err, table.ErrNotFound):
		return nil
	case x.Error == notFound && err == nil && len(got) == 0:
		return nil
	case errors.Is(err, table.ErrNotFound):
		if x.Error == "" && len(x.Expect) == 0 {
			return nil
		}
		f.Got = "not found"
		return f
	case err != nil:
		f.Kind, f.Got = Failed, err.Error()
		return f
	}
	f.Got = exampleGot(got)
	if x.Error != "" || len(got) != len(x.Expect) {
		return f
	}
	for i, a := range got {
		if !t.expected(a, x.Expect[i]) {
			f.Detail = append(f.Detail, fmt.Sprintf("the first difference is at result %d", i+1))
			return f
		}
	}
	return nil
}

// exampleInput is the input of an example.
func (t *Trial) exampleInput(x *design.Example) (table.Input, error) {
	in := table.Input{Values: table.Values{}}
	inputs := t.inputsOf(x.Pattern)
	for _, name := range slices.Sorted(maps.Keys(x.Given)) {
		i := slices.IndexFunc(inputs, func(in lower.Input) bool { return in.Name == name })
		if i < 0 {
			return in, fmt.Errorf("%s has no input %s", x.Pattern, name)
		}
		v, err := lower.Value(t.design, inputs[i].Type, x.Given[name])
		if err != nil {
			return in, fmt.Errorf("%s %w", name, err)
		}
		in.Values[name] = v
	}
	return in, nil
}

// inputsOf are the inputs of a read or collection.
func (t *Trial) inputsOf(pattern string) []lower.Input {
	if r := t.program.Read(pattern); r != nil {
		return r.Inputs
	}
	return t.program.Collection(pattern).Inputs
}

func (t *Trial) runExample(ctx context.Context, pattern string, in table.Input) ([]returnedItem, error) {
	w := t.examples
	if c := t.program.Collection(pattern); c != nil {
		page, err := w.db.Collect(ctx, c.Run, in, table.PageOptions{})
		var out []returnedItem
		for _, f := range page.Items {
			out = append(out, returnedItem{c.Members[f.Member].Entity, f.Values})
		}
		return out, err
	}
	r := t.program.Read(pattern)
	if r.Design.Each {
		list, err := w.db.Batch(ctx, r.Run, []table.Input{in})
		if err != nil || list[0] == nil {
			return nil, err
		}
		return []returnedItem{{r.Plan.Place.Entity, list[0]}}, nil
	}
	if !r.Design.Many {
		v, err := w.db.Get(ctx, r.Run, in)
		return []returnedItem{{r.Plan.Place.Entity, v}}, err
	}
	list, err := w.db.List(ctx, r.Run, in)
	var out []returnedItem
	for _, v := range list {
		out = append(out, returnedItem{r.Plan.Place.Entity, v})
	}
	return out, err
}

// expected reports whether an item matches one in an example, given by its last key field or by some of its fields.
func (t *Trial) expected(a returnedItem, l design.Literal) bool {
	members := l.Map
	if members == nil {
		members = map[string]design.Literal{lastKeyField(a.entity): l}
	}
	for name, member := range members {
		f := a.entity.Field(name)
		if f == nil {
			return false
		}
		v, err := lower.Value(t.design, f.Type, member)
		if err != nil || !equal(v, a.values[name]) {
			return false
		}
	}
	return true
}

func lastKeyField(e *design.Entity) string {
	fields := plan.KeyFields(e)
	if len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1]
}

func exampleWant(x *design.Example) string {
	if x.Error != "" {
		return "the error " + x.Error
	}
	var out []string
	for _, l := range x.Expect {
		out = append(out, literal(l))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// literal is a value in the design's notation.
func literal(l design.Literal) string {
	if l.Map == nil {
		return l.Text
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(l.Map)) {
		out = append(out, name+": "+literal(l.Map[name]))
	}
	return "{ " + strings.Join(out, ", ") + " }"
}

func exampleGot(got []returnedItem) string {
	var out []string
	for _, a := range got {
		out = append(out, scalarText(a.values[lastKeyField(a.entity)]))
	}
	return "[" + strings.Join(out, ", ") + "]"
}
