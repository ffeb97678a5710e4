package write

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// change is a step's change of one item, as far as it is known without reading the item. It is immutable.
type change struct {
	call   *Call
	number int // of the step in the design's order; -1 for the idempotency record
	line   int // -1 if the step is not repeated
	action schema.Action
	// refusedAs is the action of the step, which determines the meaning of a failed condition.
	refusedAs schema.Action
	entity    *schema.Entity
	// values are all fields of an item that is created or put, otherwise those of its primary key.
	values   schema.Values
	primary  schema.Item
	assigned []assignment // for an update or upsert
	when     *schema.Condition
	refusals []schema.Else
	in       schema.Inputs
	// pinned are fields whose value the condition fixes.
	pinned schema.Values
}

// how an assignment changes its field.
type assigning uint8

const (
	setting assigning = iota
	adding
	initialising // if absent
	uniting      // add to a set
	dropping     // remove from a set
	appending
	prepending
)

// assignment is a change of a field, or of something inside it.
type assignment struct {
	target
	how assigning
	// value is the new value, or the known part of a sum; nil without operands removes the field.
	value    types.AttributeValue
	operands []operand
}

// newChange resolves a step, for a line or -1.
func (r *Call) newChange(number, line int) (*change, error) {
	o := occurrence{Call: r, Step: &r.Write.Steps[number], number: number, line: line}
	c := &change{
		call: r, number: number, line: line, action: o.Action, refusedAs: o.Action, entity: o.Entity,
		when: o.When, refusals: o.Else, in: schema.Inputs{Values: r.Input.Values, Now: r.now},
	}
	if line >= 0 {
		c.in.Line = r.Input.Lines[line]
	}
	var err error
	switch o.Action {
	case schema.Create, schema.Put:
		if err = canPut(c.entity, o.Action); err == nil {
			c.values, err = o.whole()
		}
	case schema.Update, schema.Upsert:
		if c.values, err = o.keyValues(); err == nil {
			c.assigned, err = o.assignments()
		}
	case schema.Delete, schema.Check:
		c.values, err = o.keyValues()
	default:
		err = fmt.Errorf("unknown action kind %d", o.Action)
	}
	if err == nil {
		c.primary, err = c.entity.KeyOf(c.entity.Key, c.values)
	}
	if err == nil {
		err = c.checkConditions()
	}
	if err != nil {
		return nil, o.fault(err)
	}
	c.pinned = c.pins()
	return c, nil
}

// checkConditions rejects invalid inputs of the conditions.
func (c *change) checkConditions() error {
	if err := c.checkCondition(c.when); err != nil {
		return err
	}
	for i := range c.refusals {
		if err := c.checkCondition(c.refusals[i].When); err != nil {
			return err
		}
	}
	return nil
}

// fault adds the location to an error that is not about an input.
func (o occurrence) fault(err error) error {
	if _, ok := errors.AsType[*schema.ValueError](err); ok {
		return err
	}
	return fmt.Errorf("step %d: %w", o.number+1, err)
}

// canPut rejects a blind put that would leave behind what belongs to the overwritten item.
func canPut(e *schema.Entity, a schema.Action) error {
	if a != schema.Put {
		return nil
	}
	stays := ""
	switch {
	case len(e.Markers) > 0:
		stays = "marker " + e.Markers[0].Name
	case len(e.Counts) > 0:
		stays = "counter " + e.Counts[0].Entity.Name + "." + e.Counts[0].Field
	case slices.ContainsFunc(e.Fields, func(f schema.Field) bool { return f.Counter }):
		stays = "its own counters"
	}
	for i := range e.Copies {
		if !Within(schema.FieldsOf(e.Copies[i].Key), schema.FieldsOf(e.Key)) {
			stays = "copy " + e.Copies[i].Name
		}
	}
	if stays != "" {
		return fmt.Errorf("put of %s cannot maintain %s, because it does not know the item that it overwrites: use create, upsert or update", e.Name, stays)
	}
	return nil
}

// Within reports whether names are a subset of others.
func Within(names, others []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(others, n) })
}

// whole are the values of an item that is created or put.
func (o occurrence) whole() (schema.Values, error) {
	v := make(schema.Values, len(o.Entity.Fields))
	for i := range o.Entity.Fields {
		f := &o.Entity.Fields[i]
		value, err := o.field(f)
		if err != nil {
			return nil, err
		}
		if value != nil {
			v[f.Name] = value
		}
	}
	return o.Entity.Counted(v), o.Entity.Check(v)
}

// field is the value of a field of a new item: from the step, otherwise from the line, otherwise from the caller.
func (o occurrence) field(f *schema.Field) (types.AttributeValue, error) {
	var inside []schema.Assignment
	for _, a := range slices.Concat(o.By, o.Set, o.Init, o.Add) {
		switch {
		case a.Path[0] != f.Name:
		case len(a.Path) == 1:
			return o.constant(a)
		default:
			inside = append(inside, a)
		}
	}
	if f.Counter {
		return nil, nil //nolint:nilnil // it starts at 0, which the item does implicitly
	}
	v, err := o.given(f)
	for i := 0; i < len(inside) && err == nil; i++ {
		v, err = o.putInside(v, inside[i])
	}
	if v != nil || err != nil {
		return v, err
	}
	ttl := o.Entity.TTL
	switch {
	case ttl != nil && ttl.Field == f.Name && ttl.After > 0:
		return nowAs(f.Type.Kind, f.Name, o.now.Add(ttl.After))
	case f.Optional || f.Type.Kind.Collection():
		return nil, nil //nolint:nilnil // an optional field without a value is absent
	default:
		return nil, schema.Missing(o.label(f.Name))
	}
}

// constant is the value of an assignment that must not depend on an item.
func (o occurrence) constant(a schema.Assignment) (types.AttributeValue, error) {
	t, err := o.target(a.Path)
	if err != nil {
		return nil, err
	}
	v, operands, err := o.resolve(&t, a.Value)
	if err == nil && len(operands) > 0 {
		err = fmt.Errorf("%s is computed from a field of %s, but there is no item yet", t.member.Name, o.Entity.Name)
	}
	if err == nil && v == nil && !t.member.Optional && !t.member.Type.Kind.Collection() {
		err = schema.Missing(t.member.Name)
	}
	if err != nil || v == nil {
		return nil, err
	}
	return v, t.member.Type.CheckValue(t.member.Name, v, t.member.MinBytes, t.member.MaxBytes)
}

// putInside stores a value inside a copy of a structure.
func (o occurrence) putInside(outer types.AttributeValue, a schema.Assignment) (types.AttributeValue, error) {
	v, err := o.constant(a)
	if err != nil || v == nil {
		return outer, err
	}
	t, err := o.target(a.Path)
	if err != nil {
		return nil, err
	}
	whole := schema.Item{}
	if outer != nil {
		schema.PutAt(whole, t.field.Path, outer)
	}
	schema.PutAt(whole, t.path, v)
	return schema.At(whole, t.field.Path), nil
}

// given is the input with a field's name, the line's if it has one; nil if there is none.
func (o occurrence) given(f *schema.Field) (types.AttributeValue, error) {
	v := o.input(f.Name)
	if v == nil {
		return nil, nil //nolint:nilnil // whether it is required depends on the action
	}
	return v, f.Type.CheckValue(o.label(f.Name), v, f.MinBytes, f.MaxBytes)
}

// input is the input with a name, the line's if it has one; nil if there is none.
func (o occurrence) input(name string) types.AttributeValue {
	if o.line >= 0 && o.Input.Lines[o.line][name] != nil {
		return o.Input.Lines[o.line][name]
	}
	return o.Input.Values[name]
}

// label is the name of an input in errors: the line's, if the step is repeated and the write has no input with that name.
func (o occurrence) label(name string) string {
	if o.line >= 0 && (o.Input.Lines[o.line][name] != nil || o.Input.Values[name] == nil) {
		return lineName(o.line, name)
	}
	return name
}

// keyValues are the primary key fields of an item that exists, or may exist.
func (o occurrence) keyValues() (schema.Values, error) {
	names := schema.FieldsOf(o.Entity.Key)
	v := make(schema.Values, len(names))
	for _, name := range names {
		f := o.Entity.Field(name)
		if f == nil {
			return nil, fmt.Errorf("entity %s has no field %s, which its key needs", o.Entity.Name, name)
		}
		value, err := o.keyField(f)
		if err != nil {
			return nil, err
		}
		if value == nil {
			return nil, schema.Missing(o.label(name))
		}
		v[name] = value
	}
	return v, nil
}

func (o occurrence) keyField(f *schema.Field) (types.AttributeValue, error) {
	for _, a := range slices.Concat(o.By, o.Set) {
		if a.Path[0] == f.Name && len(a.Path) == 1 {
			return o.constant(a)
		}
	}
	return o.given(f)
}

// assignments are the assignments of an update or upsert. An upsert assigns all required fields, because it may create the
// item.
func (o occurrence) assignments() ([]assignment, error) {
	var out []assignment
	key := schema.FieldsOf(o.Entity.Key)
	for how, list := range [][]schema.Assignment{
		setting: o.Set, adding: o.Add, initialising: o.Init, uniting: nil, dropping: o.Drop, appending: o.Append, prepending: o.Prepend,
	} {
		for _, a := range list {
			if len(a.Path) == 1 && slices.Contains(key, a.Path[0]) {
				continue // it identifies the item
			}
			x, err := o.assignment(assigning(how), a)
			if err != nil {
				return nil, err
			}
			if x != nil {
				out = append(out, *x)
			}
		}
	}
	for _, path := range o.Remove {
		x, err := o.assignment(setting, schema.Assignment{Path: path}) // an assignment of nothing removes the path
		if err != nil {
			return nil, err
		}
		out = append(out, *x)
	}
	if err := apart(out); err != nil {
		return nil, err
	}
	for _, name := range o.Patch {
		x, err := o.patch(name)
		if err != nil {
			return nil, err
		}
		if x != nil {
			out = append(out, *x)
		}
	}
	if o.Action != schema.Upsert {
		return out, nil
	}
	for i := range o.Entity.Fields {
		f := &o.Entity.Fields[i]
		if slices.Contains(key, f.Name) || slices.ContainsFunc(out, func(a assignment) bool { return a.field.Name == f.Name }) {
			continue
		}
		x, err := o.beginning(f)
		if err != nil {
			return nil, err
		}
		if x != nil {
			out = append(out, *x)
		}
	}
	return out, nil
}

// apart rejects equal map keys, because a request can change each path only once.
func apart(list []assignment) error {
	for i := range list {
		for n := range list[:i] {
			if slices.Equal(list[i].path, list[n].path) {
				return &schema.ValueError{Field: list[i].member.Name, Reason: "is changed twice"}
			}
		}
	}
	return nil
}

// patch is the assignment of a field that the caller may pass; nil if it is not passed.
func (o occurrence) patch(name string) (*assignment, error) {
	t, err := targetOf(o.Entity, []string{name})
	if err != nil {
		return nil, err
	}
	v := o.input(name)
	if v == nil {
		return nil, nil //nolint:nilnil // it stays unchanged
	}
	x := &assignment{target: t}
	if (t.member.Optional || t.member.Type.Kind == schema.KindSet) && schema.IsNull(v) {
		return x, nil
	}
	if err := t.member.Type.CheckValue(o.label(name), v, t.member.MinBytes, t.member.MaxBytes); err != nil {
		return nil, err
	}
	x.value, err = t.member.ToStore(v)
	return x, err
}

// assignment resolves an assignment; nil if there is nothing to do.
func (o occurrence) assignment(how assigning, a schema.Assignment) (*assignment, error) {
	t, err := o.target(a.Path)
	if err != nil {
		return nil, err
	}
	x := &assignment{target: t, how: how}
	if how == adding && t.member.Type.Kind == schema.KindSet {
		x.how = uniting
	}
	if x.value, x.operands, err = o.resolve(&t, a.Value); err != nil {
		return nil, err
	}
	known := len(x.operands) == 0
	switch {
	case x.how >= uniting:
		return x.gathering()
	case known && x.value == nil && how != setting:
		return nil, nil //nolint:nilnil // an absent optional input adds and initializes nothing
	case how == adding:
		return x, x.addable()
	case known && x.value != nil:
		if err := t.member.Type.CheckValue(t.member.Name, x.value, t.member.MinBytes, t.member.MaxBytes); err != nil {
			return nil, err
		}
	default:
	}
	if known {
		x.value, err = t.member.ToStore(x.value)
	}
	if known && err == nil && x.value == nil && how == initialising {
		return nil, nil //nolint:nilnil // an empty set, which is stored as absent
	}
	return x, err
}

// gathers reports whether the step adds to a set or a list, or removes from a set.
func (o occurrence) gathers(f *schema.Field) bool {
	named := func(a schema.Assignment) bool { return a.Path[0] == f.Name }
	return slices.ContainsFunc(slices.Concat(o.Drop, o.Append, o.Prepend), named) ||
		f.Type.Kind == schema.KindSet && slices.ContainsFunc(o.Add, named)
}

// gathering is an assignment of members or elements that the caller passes; nil if there are none.
func (a *assignment) gathering() (*assignment, error) {
	if len(a.operands) > 0 {
		return nil, fmt.Errorf("%s gets members of another field, which a request cannot express", a.member.Name)
	}
	if a.value == nil {
		return nil, nil //nolint:nilnil // an optional input that is absent
	}
	if err := a.member.Type.CheckValue(a.member.Name, a.value, a.member.MinBytes, a.member.MaxBytes); err != nil {
		return nil, err
	}
	if list, ok := a.value.(*types.AttributeValueMemberL); schema.EmptySet(a.value) || ok && len(list.Value) == 0 {
		return nil, nil //nolint:nilnil // no members
	}
	return a, nil
}

// addable rejects values that cannot be added to a number.
func (a *assignment) addable() error {
	if a.value == nil {
		return nil
	}
	d, ok := schema.DecimalOf(a.value)
	if !ok {
		return &schema.ValueError{Field: a.member.Name, Reason: "is not a number, so nothing can be added to it"}
	}
	if _, err := strconv.ParseInt(d.String(), 10, 64); err != nil && a.member.Type.Kind != schema.KindDecimal {
		return &schema.ValueError{Field: a.member.Name, Reason: "is a whole number of 64 bits: only whole numbers of 64 bits can be added to it"}
	}
	return nil
}

// beginning is the value that an upsert sets for a field without an assignment; nil for none. An input of the caller is set;
// a required field without an input gets the initial value of a new item.
func (o occurrence) beginning(f *schema.Field) (*assignment, error) {
	x := &assignment{target: target{field: f, path: f.Path, member: *f, whole: true}, how: initialising}
	if f.Counter {
		x.value = &types.AttributeValueMemberN{Value: "0"}
		return x, nil
	}
	v, err := o.given(f)
	if err != nil {
		return nil, err
	}
	if o.gathers(f) {
		v = nil // missingItem was added to it
	}
	ttl := o.Entity.TTL
	switch {
	case v != nil:
		x.how = setting
		x.value, err = f.ToStore(v)
		return x, err
	case ttl != nil && ttl.Field == f.Name && ttl.After > 0:
		x.value, err = nowAs(f.Type.Kind, f.Name, o.now.Add(ttl.After))
		return x, err
	case f.Optional:
		return nil, nil //nolint:nilnil // it stays unchanged
	}
	if x.value, err = f.ToStore(nil); err != nil {
		return nil, schema.Missing(o.label(f.Name))
	}
	if x.value == nil {
		return nil, nil //nolint:nilnil // an empty set is stored as absent
	}
	return x, nil // an empty list or map
}
