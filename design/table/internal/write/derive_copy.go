package write

import (
	"slices"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// putCopy puts a new copy.
func (e *effect) putCopy(c *schema.Copy, v schema.Values) error {
	it, err := e.entity.ItemAt(schema.Place{Kind: schema.CopyPlace, Copy: c.Name}, v)
	if err != nil {
		return err
	}
	o := e.operation(Putting, relatedItem, "put of copy "+c.Name, it)
	if e.action == schema.Create {
		x := newExpression()
		o.role = occupying
		o.keeps(x, e.isFree(x))
	}
	return nil
}

// deriveCopy keeps a copy equal to its changed item: the copy is changed in the same way, or moved if its key changes.
func (e *effect) deriveCopy(c *schema.Copy) error {
	held := e.entity.HeldBy(c)
	if held == nil {
		held = e.entity.FieldNames()
	}
	place := schema.Place{Kind: schema.CopyPlace, Copy: c.Name}
	key := schema.FieldsOf(c.Key)
	if e.exists() == unknown {
		if !Within(key, schema.FieldsOf(e.entity.Key)) {
			return errUnread
		}
	} else if !e.changes(held) && !e.changes(e.entity.Indexed(place)) {
		return nil
	}
	old, err := e.keyBefore(c.Key)
	if err != nil {
		return err
	}
	if e.changes(key) {
		v, err := e.valuesAfter(key)
		if err != nil {
			return err
		}
		e.relyAfter(key...)
		moved, err := e.entity.KeyOf(c.Key, v)
		if err != nil {
			return err
		}
		if old == nil || e.entity.Table.Identity(old) != e.entity.Table.Identity(moved) {
			return e.moveCopy(c, old, slices.Concat(held, e.entity.Indexed(place)))
		}
	}
	if old == nil {
		return nil
	}
	if e.shared.lost[e.entity.Table.IdentityOf(old)] {
		return e.moveCopy(c, nil, slices.Concat(held, e.entity.Indexed(place)))
	}
	return e.changeCopy(c, place, old, held)
}

// moveCopy deletes a copy and puts it under its new key.
func (e *effect) moveCopy(c *schema.Copy, old schema.Item, needs []string) error {
	if old != nil {
		e.operation(Deleting, relatedItem, "delete of copy "+c.Name, old)
	}
	v, err := e.valuesAfter(needs)
	if err != nil {
		return err
	}
	e.relyAfter(needs...)
	return e.putCopy(c, v)
}

// changeCopy changes a copy in place.
func (e *effect) changeCopy(c *schema.Copy, place schema.Place, key schema.Item, held []string) error {
	x := newExpression()
	whole := e.rewritten(held)
	for i := range e.assigned {
		a := &e.assigned[i]
		attribute := a.field.Path[0]
		if !slices.Contains(held, a.field.Name) || inKey(c.Key, a.path) {
			continue
		}
		if !slices.Contains(whole, attribute) {
			x.assign(a)
		}
	}
	for _, attribute := range whole {
		if err := e.rewrite(x, attribute, held); err != nil {
			return err
		}
	}
	if e.action == schema.Upsert {
		e.identify(x, c.Key, held)
	}
	if err := e.index(place, x); err != nil {
		return err
	}
	update := x.text()
	if update == "" {
		return nil // missingItem in the copy changes
	}
	o := e.operation(updating, relatedItem, "update of copy "+c.Name, key)
	o.Update = update
	if e.exists() == present {
		o.keeps(x, e.isThere(x))
	} else {
		o.keeps(x)
	}
	return nil
}

// rewritten are the attributes of a copy that are set to their final value, because they cannot be changed like the
// item's: they are computed from fields that the copy does not contain, or are inside a map that it may lack.
func (e *effect) rewritten(held []string) []string {
	var out []string
	for i := range e.assigned {
		a := &e.assigned[i]
		if !slices.Contains(held, a.field.Name) || slices.Contains(out, a.field.Path[0]) {
			continue
		}
		uncopied := slices.ContainsFunc(a.operands, func(o operand) bool { return !slices.Contains(held, o.field.Name) })
		if uncopied || !e.entity.HasMap(a.field.Path, held) {
			out = append(out, a.field.Path[0])
		}
	}
	return out
}

// rewrite sets a copy's attribute with all fields in it.
func (e *effect) rewrite(x *expression, attribute string, held []string) error {
	var fields []string
	for i := range e.entity.Fields {
		if f := &e.entity.Fields[i]; f.Path[0] == attribute && slices.Contains(held, f.Name) {
			fields = append(fields, f.Name)
		}
	}
	v, err := e.valuesAfter(fields)
	if err != nil {
		return err
	}
	e.relyAfter(fields...)
	it := schema.Item{}
	for _, name := range fields {
		f := e.entity.Field(name)
		value, err := f.ToStore(v[name])
		if err != nil {
			return err
		}
		if value != nil {
			schema.PutAt(it, f.Path, value)
		}
	}
	x.set([]string{attribute}, it[attribute])
	return nil
}
