package schema

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Items are all items of an entity's values: the item itself, its copies, its markers.
func Items(e *Entity, v Values) ([]Item, error) {
	places := []Place{{Kind: KeyPlace}}
	for i := range e.Copies {
		places = append(places, Place{Kind: CopyPlace, Copy: e.Copies[i].Name})
	}
	var out []Item
	for _, p := range places {
		it, err := e.ItemAt(p, v)
		if err != nil {
			return nil, err
		}
		out = append(out, it)
	}
	for i := range e.Markers {
		it, err := e.MarkerItem(&e.Markers[i], v)
		if err != nil {
			return nil, err
		}
		out = append(out, it)
	}
	return out, nil
}

// ItemAt returns the item of an entity (place KeyPlace) or of one of its copies, with keys, type attribute and index entries.
// Required fields must be present, except counters, which start at 0, and collections, which are empty.
func (e *Entity) ItemAt(p Place, v Values) (Item, error) {
	key, held := e.Key, []string(nil)
	if p.Copy != "" {
		c := e.copyOf(p.Copy)
		if c == nil {
			return nil, &ValueError{Field: p.Copy, Reason: "is not a copy of " + e.Name}
		}
		key, held = c.Key, e.HeldBy(c)
	}
	v = e.Counted(v)
	it, err := e.fieldsAndKey(held, key, v)
	if err != nil {
		return nil, err
	}
	if e.Table != nil && e.Table.TypeAttr != "" {
		it[e.Table.TypeAttr] = &types.AttributeValueMemberS{Value: e.TypeValue}
	}
	set, err := e.indexKeys(p, v)
	if err != nil {
		return nil, err
	}
	maps.Copy(it, set)
	return it, nil
}

// MarkerItem returns a marker's item: the fields that find the entity's item, the unique fields, and the expiry time of both. It
// has no type attribute, which is for items that represent the entity.
func (e *Entity) MarkerItem(m *Marker, v Values) (Item, error) {
	return e.fieldsAndKey(e.WithTTL(FieldsOf(e.Key, m.Key)), m.Key, e.Counted(v))
}

// fieldsAndKey is an item with some fields, nil for all, and a key.
func (e *Entity) fieldsAndKey(held []string, key []KeyAttribute, v Values) (Item, error) {
	if err := e.Check(v); err != nil {
		return nil, err
	}
	it := Item{}
	for i := range e.Fields {
		f := &e.Fields[i]
		if held != nil && !slices.Contains(held, f.Name) {
			continue
		}
		value, err := f.ToStore(v[f.Name])
		if err != nil {
			return nil, err
		}
		if value != nil {
			PutAt(it, f.Path, value)
		}
	}
	keys, err := e.KeyOf(key, v)
	if err != nil {
		return nil, err
	}
	maps.Copy(it, keys)
	return it, nil
}

// Counted returns values with all counters, which start at 0.
func (e *Entity) Counted(v Values) Values {
	var out Values
	for i := range e.Fields {
		f := &e.Fields[i]
		if !f.Counter || v[f.Name] != nil {
			continue
		}
		if out == nil {
			out = make(Values, len(v)+1)
			maps.Copy(out, v)
		}
		out[f.Name] = &types.AttributeValueMemberN{Value: "0"}
	}
	if out == nil {
		return v
	}
	return out
}

// ToStore returns the stored form of a field's value: nil for nothing.
func (f *Field) ToStore(v types.AttributeValue) (types.AttributeValue, error) {
	switch {
	case EmptySet(v):
		return nil, nil // DynamoDB has none: one that is not there is empty
	case v != nil:
		return v, nil
	case f.Optional, f.Type.Kind == KindSet:
		return nil, nil
	case f.Type.Kind == KindList:
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{}}, nil
	case f.Type.Kind == KindMap:
		return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}}, nil
	default:
		return nil, Missing(f.Name)
	}
}

// EmptySet reports whether a value is a set without members, which DynamoDB does not store.
func EmptySet(v types.AttributeValue) bool {
	switch set := v.(type) {
	case *types.AttributeValueMemberSS:
		return len(set.Value) == 0
	case *types.AttributeValueMemberNS:
		return len(set.Value) == 0
	case *types.AttributeValueMemberBS:
		return len(set.Value) == 0
	default:
		return false
	}
}

// copyOf returns the copy with a name, or nil.
func (e *Entity) copyOf(name string) *Copy {
	for i := range e.Copies {
		if e.Copies[i].Name == name {
			return &e.Copies[i]
		}
	}
	return nil
}

// HeldBy returns the fields of a copy, nil for all. In addition to the design's fields, it has the fields of its keys, so that
// the copy can be recognized and updated, and the expiry time.
func (e *Entity) HeldBy(c *Copy) []string {
	if c.Fields == nil {
		return nil
	}
	keys := [][]KeyAttribute{c.Key}
	for i := range c.Entries {
		keys = append(keys, c.Entries[i].PK, c.Entries[i].SK)
	}
	return e.WithTTL(append(FieldsOf(keys...), c.Fields...))
}

// WithTTL are fields and the one by which the entity's items go.
func (e *Entity) WithTTL(fields []string) []string {
	if e.TTL != nil && e.TTL.Field != "" {
		fields = append(fields, e.TTL.Field)
	}
	return fields
}

// ValuesOf reads the fields out of a stored item, by their paths.
func (e *Entity) ValuesOf(it Item) Values {
	v := make(Values, len(e.Fields))
	for i := range e.Fields {
		f := &e.Fields[i]
		if value := At(it, f.Path); value != nil {
			v[f.Name] = value
		}
	}
	return v
}

// TTLField is the field by which the entity's items go, nil if they stay.
func (e *Entity) TTLField() *Field {
	if e.TTL == nil {
		return nil
	}
	return e.Field(e.TTL.Field)
}

// Expired reports whether an item's time is over.
func (e *Entity) Expired(it Item, now int64) bool {
	f := e.TTLField()
	if f == nil || it == nil {
		return false
	}
	d, ok := DecimalOf(At(it, f.Path))
	seconds, whole := d.Int64()
	return ok && whole && seconds < now
}

// FieldNames are the names of all fields.
func (e *Entity) FieldNames() []string { return Each(e.Fields, func(f Field) string { return f.Name }) }

// HasMap reports whether a copy with some fields surely has the map that a path leads into: a required field is in it.
func (e *Entity) HasMap(path, held []string) bool {
	inside := path[:len(path)-1]
	return len(inside) == 0 || slices.ContainsFunc(e.Fields, func(f Field) bool {
		return !f.Optional && f.Type.Kind != KindSet && slices.Contains(held, f.Name) && len(f.Path) > len(inside) && slices.Equal(f.Path[:len(inside)], inside)
	})
}

// EmptyMaps is an item with only the maps that contain fields.
func (e *Entity) EmptyMaps() Item {
	it := Item{}
	for i := range e.Fields {
		f := &e.Fields[i]
		if inside := f.Path[:len(f.Path)-1]; len(inside) > 0 && At(it, inside) == nil {
			PutAt(it, inside, &types.AttributeValueMemberM{Value: Item{}})
		}
	}
	return it
}
