// Package byname copies between structs whose fields have the same names: from stored items to responses, and from requests to
// the inputs of data access.
//
// # Model
//
//	Copy[From, To]() ── types ──▶ a plan, or a panic that names every field at fault
//
//	      │
//	      ╰──▶ func(From) To: follows the plan; it does no lookups and cannot fail
//
// A plan is driven by the destination: each of its fields needs a source. So a response type lists everything that is returned,
// and a new stored field is not exposed by accident. Plans belong in package variables and route tables: a program with a
// misspelt name does not start.
//
// # Rules
//
//	N1  A field comes from the field with its name, or with the name in its tag: `from:"UserID"`. The sources are searched in
//	    order, then the structs in them, because results of writes contain the items that they created, and inputs contain bodies.
//	N2  In stored types, a pointer or map may have no source. `from:"-"` leaves a field to the caller. `from:"Name,optional"` and
//	    `from:",optional"` leave it zero if no source has it.
//	N3  Types are equal, or convert without loss: types of one kind (a string and an enum, a number and an amount), structs by
//	    name, lists item by item, a struct and its only, embedded field, a value and a pointer to it, and a string and a type
//	    that marshals as text.
//	N4  A nil pointer becomes the zero value of a non-pointer. In the other direction, a zero value becomes a nil pointer in
//	    stored types, and a pointer in responses.
//	N5  A list in a response is never nil.
//
// A type with json tags belongs to a response or request; others are stored types.
//
// Copies are safe for concurrent use; a slice or pointer of the same type is shared, not copied.
package byname

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Copy returns a function that copies a From into a new To.
func Copy[From, To any]() func(From) To {
	if reflect.TypeFor[From]() == reflect.TypeFor[To]() {
		return func(from From) To { return any(from).(To) } // they are the same type
	}
	p := must(reflect.TypeFor[To](), reflect.TypeFor[From]())
	return func(from From) (to To) {
		p.Fill(reflect.ValueOf(&to).Elem(), reflect.ValueOf(&from).Elem())
		return to
	}
}

// Copy2 is Copy from two structs: a field comes from the first one that has it.
func Copy2[A, B, To any]() func(A, B) To {
	p := must(reflect.TypeFor[To](), reflect.TypeFor[A](), reflect.TypeFor[B]())
	return func(a A, b B) (to To) {
		p.Fill(reflect.ValueOf(&to).Elem(), reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem())
		return to
	}
}

// Into is Copy into an existing struct: fields that the source does not have are unchanged.
func Into[From, To any]() func(From, *To) {
	p, err := Make(reflect.TypeFor[To](), true, reflect.TypeFor[From]())
	if err == nil {
		err = p.unused(reflect.TypeFor[From]())
	}
	if err != nil {
		panic(err)
	}
	return func(from From, to *To) { p.Fill(reflect.ValueOf(to).Elem(), reflect.ValueOf(&from).Elem()) }
}

func must(to reflect.Type, from ...reflect.Type) *Plan {
	p, err := Make(to, false, from...)
	if err != nil {
		panic(err)
	}
	return p
}

// Plan describes how a struct is filled.
type Plan struct {
	steps []step
	used  map[string]bool // fields of the sources, by name
}

// step fills one field.
type step struct {
	to     []int
	source int
	from   []int
	set    setter
}

// setter sets a value from another one.
type setter func(to, from reflect.Value)

// Make plans how to fill a struct from others. If partly is set, the destination may have fields without a source.
func Make(to reflect.Type, partly bool, from ...reflect.Type) (*Plan, error) {
	for _, t := range append([]reflect.Type{to}, from...) {
		if t.Kind() != reflect.Struct {
			return nil, fmt.Errorf("byname: %s is not a struct", t)
		}
	}
	m := maker{to: to, shown: tagged(to), partly: partly, from: from}
	p := &Plan{used: map[string]bool{}}
	m.fields(p, to, nil)
	if len(m.faults) > 0 {
		return nil, fmt.Errorf("byname: %s from %v: %w", to, from, errors.Join(m.faults...))
	}
	return p, nil
}

// Uses reports whether a field of a source is used.
func (p *Plan) Uses(name string) bool { return p.used[name] }

// Fill executes the plan. The sources have the plan's types, in its order, and the destination is settable.
func (p *Plan) Fill(to reflect.Value, from ...reflect.Value) {
	for i := range p.steps {
		s := &p.steps[i]
		if len(s.to) == 1 && len(s.from) == 1 { // most fields
			s.set(to.Field(s.to[0]), from[s.source].Field(s.from[0]))
			continue
		}
		s.set(to.FieldByIndex(s.to), follow(from[s.source], s.from))
	}
}

// unused returns an error that names a source's unused fields.
func (p *Plan) unused(from reflect.Type) error {
	var faults []error
	for _, f := range reflect.VisibleFields(from) {
		if f.IsExported() && !f.Anonymous && !p.used[f.Name] {
			faults = append(faults, fmt.Errorf("byname: %s of %s has no target", f.Name, from))
		}
	}
	return errors.Join(faults...)
}

// follow returns the field at a path, and dereferences pointers on the way.
func follow(v reflect.Value, path []int) reflect.Value {
	for _, i := range path {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				panic(fmt.Sprintf("byname: there is no %s to copy from", v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}

// tagged reports whether a type belongs to a response or request.
func tagged(t reflect.Type) bool {
	for _, f := range reflect.VisibleFields(t) {
		if _, ok := f.Tag.Lookup("json"); ok {
			return true
		}
	}
	return false
}

// maker builds a plan.
type maker struct {
	to     reflect.Type
	shown  bool
	partly bool
	from   []reflect.Type
	faults []error
}

func (m *maker) fields(p *Plan, t reflect.Type, path []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(append([]int(nil), path...), i)
		name, rest, _ := strings.Cut(f.Tag.Get("from"), ",")
		switch {
		case name == "-" || !f.IsExported():
			continue
		case f.Anonymous && f.Type.Kind() == reflect.Struct && name == "":
			m.fields(p, f.Type, at)
			continue
		case name == "":
			name = f.Name
		}
		found, fault := m.source(name, f.Type)
		if fault != nil {
			if !errors.Is(fault, errNoSource) || rest != "optional" && !m.partly && (m.shown || f.Type.Kind() != reflect.Pointer && f.Type.Kind() != reflect.Map) {
				m.faults = append(m.faults, fmt.Errorf("%s: %w", f.Name, fault))
			}
			continue
		}
		found.to = at
		p.used[name] = true
		p.steps = append(p.steps, found)
	}
}

// errNoSource is the error for a field that no source has.
var errNoSource = errors.New("no source has a field of that name")

// source finds a field's source: the first field with that name whose type can be converted.
func (m *maker) source(name string, to reflect.Type) (step, error) {
	var fault error
	for _, s := range m.candidates(name) {
		from := typeAt(m.from[s.source], s.from)
		try := maker{to: m.to, shown: m.shown, from: m.from}
		s.set = try.convert(to, from)
		if s.set != nil && len(try.faults) == 0 {
			return s, nil
		}
		fault = errors.Join(append([]error{fault, fmt.Errorf("is %s, and %s of %s is %s", to, name, m.from[s.source], from)}, try.faults...)...)
	}
	if fault == nil {
		fault = fmt.Errorf("%w: %s", errNoSource, name)
	}
	return step{}, fault
}

// candidates returns the fields with a name: those of the sources, and those of the structs in them.
func (m *maker) candidates(name string) []step {
	var direct, inner []step
	for i, t := range m.from {
		if f, ok := t.FieldByName(name); ok && f.IsExported() {
			direct = append(direct, step{source: i, from: f.Index})
		}
		for _, outer := range reflect.VisibleFields(t) {
			of := outer.Type
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			if of.Kind() != reflect.Struct || !outer.IsExported() {
				continue
			}
			if f, ok := of.FieldByName(name); ok && f.IsExported() {
				inner = append(inner, step{source: i, from: append(append([]int(nil), outer.Index...), f.Index...)})
			}
		}
	}
	return append(direct, inner...)
}

// typeAt returns the type of the field at a path.
func typeAt(t reflect.Type, path []int) reflect.Type {
	for _, i := range path {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		t = t.Field(i).Type
	}
	return t
}

var textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()

// convert returns a conversion between two types, or nil if there is none.
func (m *maker) convert(to, from reflect.Type) setter {
	switch {
	case to.Kind() == reflect.Slice && from.Kind() == reflect.Slice:
		return m.list(to, from)
	case to == from:
		return func(to, from reflect.Value) { to.Set(from) }
	case to.Kind() == reflect.Pointer || from.Kind() == reflect.Pointer:
		return m.pointer(to, from)
	case around(to, from):
		return func(to, from reflect.Value) { to.Field(0).Set(from) }
	case around(from, to):
		return func(to, from reflect.Value) { to.Set(from.Field(0)) }
	case to.Kind() == reflect.Struct && from.Kind() == reflect.Struct:
		inner := maker{to: to, shown: m.shown, from: []reflect.Type{from}}
		p := &Plan{used: map[string]bool{}}
		inner.fields(p, to, nil)
		m.faults = append(m.faults, inner.faults...)
		return func(to, from reflect.Value) { p.Fill(to, from) }
	case to.Kind() == from.Kind() && from.ConvertibleTo(to):
		return func(to, from reflect.Value) { to.Set(from.Convert(to.Type())) }
	case to.Kind() == reflect.String && from.Implements(textMarshaler):
		return func(to, from reflect.Value) {
			text, _ := from.Interface().(encoding.TextMarshaler).MarshalText() // checked above; stored values are strings
			to.SetString(string(text))
		}
	default:
		return nil
	}
}

// around reports whether a struct's only field is embedded and has a given type: table.Decimal in a JSON Decimal.
func around(outer, inner reflect.Type) bool {
	return outer.Kind() == reflect.Struct && outer.NumField() == 1 && outer.Field(0).Anonymous && outer.Field(0).IsExported() && outer.Field(0).Type == inner
}

func (m *maker) list(to, from reflect.Type) setter {
	same := to.Elem() == from.Elem()
	set := m.convert(to.Elem(), from.Elem())
	if set == nil {
		return nil
	}
	return func(to, from reflect.Value) {
		if from.IsNil() && !m.shown {
			to.SetZero()
			return
		}
		if same && !from.IsNil() {
			to.Set(from.Convert(to.Type()))
			return
		}
		list := reflect.MakeSlice(to.Type(), from.Len(), from.Len())
		for i := range from.Len() {
			set(list.Index(i), from.Index(i))
		}
		to.Set(list)
	}
}

func (m *maker) pointer(to, from reflect.Type) setter {
	target, source := to, from
	if to.Kind() == reflect.Pointer {
		target = to.Elem()
	}
	if from.Kind() == reflect.Pointer {
		source = from.Elem()
	}
	set := m.convert(target, source)
	if set == nil {
		return nil
	}
	return func(to, from reflect.Value) {
		if from.Kind() == reflect.Pointer {
			if from.IsNil() {
				to.SetZero()
				return
			}
			from = from.Elem()
		} else if !m.shown && from.IsZero() {
			to.SetZero()
			return
		}
		if to.Kind() == reflect.Pointer {
			to.Set(reflect.New(target))
			to = to.Elem()
		}
		set(to, from)
	}
}
