package write

import "github.com/monotable/monotable/design/table/internal/schema"

// take puts a marker that must be free.
func (e *effect) take(m *schema.Marker, v schema.Values) error {
	it, err := e.entity.MarkerItem(m, v)
	if err != nil {
		return err
	}
	o := e.operation(Putting, taking, "put of marker "+m.Name, it)
	o.marker = m
	x := newExpression()
	o.keeps(x, e.isFree(x))
	return nil
}

// release deletes the item's marker. If items expire, or there may be no item, the marker may belong to another item: then
// it stays.
func (e *effect) release(m *schema.Marker) error {
	key, err := e.keyBefore(m.Key)
	if err != nil || key == nil || e.shared.foreign[e.entity.Table.IdentityOf(key)] {
		return err
	}
	o := e.operation(Deleting, releasing, "delete of marker "+m.Name, key)
	o.marker = m
	if e.entity.TTL == nil && e.exists() == present {
		return nil
	}
	x := newExpression()
	o.keeps(x, e.owns(m, x))
	return nil
}

// owns is the condition that a marker belongs to the item, by the fields of the item's key that it contains.
func (e *effect) owns(m *schema.Marker, x *expression) string {
	var own []string
	for _, name := range schema.FieldsOf(e.entity.Key) {
		f := e.entity.Field(name)
		if inKey(m.Key, f.Path) {
			continue
		}
		v := e.values[name]
		if stored, known := e.before(name); known {
			v = stored
		}
		own = append(own, "attribute_not_exists("+x.path(f.Path)+") OR "+x.path(f.Path)+" = "+x.value(v))
	}
	return conjunction(own...)
}

// renew puts the marker again in place. If items expire, it may belong to another item by now: then it is taken.
func (e *effect) renew(m *schema.Marker, v schema.Values) error {
	it, err := e.entity.MarkerItem(m, v)
	if err != nil {
		return err
	}
	o := e.operation(Putting, relatedItem, "put of marker "+m.Name, it)
	if e.entity.TTL == nil {
		return nil
	}
	x := newExpression()
	if own := e.owns(m, x); own != "" {
		o.role, o.marker = taking, m
		o.keeps(x, e.isFree(x)+" OR "+own)
	}
	return nil
}

// deriveMarker maintains a marker of a changed item: if its key changes, the old one is released and the new one taken; if
// only its content changes, it is put again.
func (e *effect) deriveMarker(m *schema.Marker) error {
	key := schema.FieldsOf(m.Key)
	held := e.entity.WithTTL(schema.FieldsOf(e.entity.Key, m.Key))
	if !e.changes(held) {
		return nil
	}
	old, err := e.keyBefore(m.Key)
	if err != nil {
		return err
	}
	v, err := e.valuesAfter(held)
	if err != nil {
		return err
	}
	e.relyAfter(key...)
	moved, err := e.entity.KeyOf(m.Key, v)
	if err != nil {
		return err
	}
	if old != nil && e.entity.Table.Identity(old) == e.entity.Table.Identity(moved) {
		e.relyAfter(held...)
		return e.renew(m, v)
	}
	if old != nil {
		if err := e.release(m); err != nil {
			return err
		}
	}
	e.relyAfter(held...)
	return e.take(m, v)
}
