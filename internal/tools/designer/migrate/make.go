package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
)

// make parses NEW=ENTITY: each item of the entity gets one of the new entity.
func (p *Plan) make(s string) error {
	name, from, _ := strings.Cut(s, "=")
	n, of := p.after.Entity(name), p.after.Entity(from)
	switch {
	case n == nil || of == nil || p.before.Entity(name) != nil || p.before.Entity(from) == nil:
		return fmt.Errorf("--make %q: want NEW=ENTITY, an entity that only the new design has and one that both have, such as Account=User", s)
	case n.Table != of.Table:
		return fmt.Errorf("--make %q: %s is in table %s, but %s is in %s: both must be in the same table", s, name, n.Table, from, of.Table)
	case len(n.Unique)+len(n.Counters) > 0:
		return fmt.Errorf("--make %q: %s has markers or counters: create its items with a program of the new design", s, name)
	case p.makes[name] != "":
		return fmt.Errorf("--make %q: %s is already made from %s", s, name, p.makes[name])
	}
	p.makes[name] = from
	return nil
}

// createdFrom are the new entities made from an entity.
func (p *Plan) createdFrom(entity string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.makes)), func(name string) bool { return p.makes[name] != entity })
}

// takenOver reports whether a field of a new entity takes the value of the source's field of the same name.
func takenOver(field, of *design.Field) bool {
	return of != nil && field.Type.String() == of.Type.String()
}

// sourceOf finds a field, or a nested one, as address.city: the field's name, and the stored path from there. It is
// nil if there is none.
func sourceOf(d *design.Design, entity, path string) ([]string, design.Type) {
	e := d.Entity(entity)
	if e == nil {
		return nil, design.Type{}
	}
	name, rest, inside := strings.Cut(path, ".")
	f := e.Field(name)
	steps := []string{name}
	for f != nil && inside {
		name, rest, inside = strings.Cut(rest, ".")
		of := d.Struct(f.Type.Name)
		if of == nil {
			return nil, design.Type{}
		}
		i := slices.IndexFunc(of.Fields, func(x *design.Field) bool { return x.Name == name })
		if i < 0 {
			return nil, design.Type{}
		}
		f = of.Fields[i]
		steps = append(steps, f.Path...)
	}
	if f == nil {
		return nil, design.Type{}
	}
	return steps, f.Type
}

// depends are the fields, by entity, from which fills and new items are made.
func (p *Plan) depends() map[string][]string {
	out := map[string][]string{}
	for name, list := range p.fills {
		on := name
		if from := p.makes[name]; from != "" {
			on = from
		}
		for _, f := range list {
			if on == name {
				out[on] = append(out[on], f.field)
			}
			if f.value == nil {
				out[on] = append(out[on], f.source[0])
			}
		}
	}
	for name, from := range p.makes {
		for _, f := range p.after.Entity(name).Fields {
			if takenOver(f, p.after.Entity(from).Field(f.Name)) {
				out[from] = append(out[from], f.Name)
			}
		}
	}
	return out
}

// created are the items of new entities for an item, by its values.
func (b *backfill) created(e *table.Entity, v table.Values) ([]belonging, error) {
	var out []belonging
	for _, name := range b.plan.createdFrom(e.Name) {
		list := b.shape.entities[e.Table.Name]
		n := list[slices.IndexFunc(list, func(x *table.Entity) bool { return x.Name == name })]
		values := table.Values{}
		for _, f := range b.plan.after.Entity(name).Fields {
			if value := v[f.Name]; value != nil && takenOver(f, b.plan.after.Entity(e.Name).Field(f.Name)) {
				values[f.Name] = value
			}
		}
		for _, f := range b.plan.fills[name] {
			if value := f.of(v); value != nil {
				values[f.field] = value
			}
		}
		items, err := table.Items(n, values)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			out = append(out, belonging{item: item, created: true})
		}
	}
	return out, nil
}
