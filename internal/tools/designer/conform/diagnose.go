package conform

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// diagnose explains why an item is not recognized: which entity it seems to belong to, and what does
// not match.
func (c *checker) diagnose(t *tableState, item table.Item) {
	like := t.mostSimilar(item)
	if like == nil {
		c.find(Unknown, t.design.Name, t, item, "no entity has a key of this form")
		return
	}
	p := like.place
	c.countItem(p)
	values := valuesOf(p.entity.table, item)
	c.explain(t, like, item, values)
	if p.place.Kind != table.KeyPlace {
		c.ledger.isThere(t, p, item, doubtful)
		return
	}
	// Related items were made from its values, or from those in its key: either is possible.
	fromKey := maps.Clone(values)
	maps.Copy(fromKey, like.values(item))
	for _, v := range []table.Values{values, fromKey} {
		if items, _ := itemsOf(p.entity, v); items != nil {
			c.claims(t, p.entity, items, item, doubtful)
			c.counters.enter(t, p.entity, items[0], item, v, doubtful)
		}
	}
}

// explain reports the findings.
func (c *checker) explain(t *tableState, like *candidate, item table.Item, values table.Values) {
	e := like.place.entity
	explained := false
	find := func(k Kind, subject, message string) {
		c.find(k, e.design.Name+"."+subject, t, item, message)
		explained = true
	}
	if name := t.table.TypeAttr; name != "" && !like.marker {
		if s, ok := item[name].(*types.AttributeValueMemberS); !ok || s.Value != e.table.TypeValue {
			find(WrongValue, name, name+" is "+shown(item[name])+", but should be "+e.table.TypeValue)
		}
	}
	inKey := like.values(item)
	var used []table.Field
	sound := true
	for _, k := range like.keys {
		for _, name := range k.template.Fields() {
			f := fieldOf(e.table, name)
			if f == nil || slices.ContainsFunc(used, func(u table.Field) bool { return u.Name == name }) {
				continue
			}
			used = append(used, *f)
			if fault := valueFault(e.table, f, values[name]); fault != nil {
				sound = false
				message := fault.Error()
				if values[name] == nil && inKey[name] != nil {
					message += ", but the key has " + shown(inKey[name])
				}
				find(WrongValue, name, message)
			}
		}
	}
	if sound {
		want, err := keyAt(like, used, values)
		if err != nil {
			find(WrongKey, like.place.name, err.Error())
		}
		for _, k := range like.keys {
			if have, should := item[k.attribute], want[k.attribute]; err == nil && !same(have, should) {
				find(WrongKey, like.place.name, k.attribute+" is "+shown(have)+", but by its fields it should be "+shown(should))
			}
		}
	}
	if !explained {
		find(WrongKey, like.place.name, "its values do not form a key")
	}
}

// values are the values of the fields that can be parsed from the item's keys.
func (l *candidate) values(item table.Item) table.Values {
	out := table.Values{}
	for _, k := range l.keys {
		text, ok := keyText(item[k.attribute], k.kind)
		texts, parsed := k.parse(text)
		if !ok || !parsed {
			continue
		}
		for i, part := range k.template.Parts {
			f := l.place.entity.design.Field(part.Field)
			if f != nil && len(part.Funcs) == 0 && f.Type.Scalar() {
				out[part.Field] = lower.Scalar(f.Type, texts[i])
			}
		}
	}
	return out
}

// valuesOf are the values of an entity's fields in an item.
func valuesOf(e *table.Entity, item table.Item) table.Values {
	out := table.Values{}
	for i := range e.Fields {
		if v := at(item, e.Fields[i].Path); v != nil {
			out[e.Fields[i].Name] = v
		}
	}
	return out
}

func fieldOf(e *table.Entity, name string) *table.Field {
	i := slices.IndexFunc(e.Fields, func(f table.Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &e.Fields[i]
}

// valueFault describes what is wrong with a value of a required field; nil if nothing is.
func valueFault(e *table.Entity, f *table.Field, v types.AttributeValue) error {
	required := *f
	required.Optional, required.Counter = false, false
	values := table.Values{}
	if v != nil {
		values[f.Name] = v
	}
	_, err := table.Items(&table.Entity{Name: e.Name, Fields: []table.Field{required}}, values)
	return err
}

// keyAt are the key attributes at a place for values.
func keyAt(like *candidate, used []table.Field, values table.Values) (table.Item, error) {
	e := like.place.entity.table
	computed, err := table.Items(&table.Entity{Name: e.Name, Fields: used, Key: keyOfPlace(e, like.place.place)}, values)
	if err != nil {
		return nil, err
	}
	return computed[0], nil
}

// keyOfPlace is the primary key of the items at a place.
func keyOfPlace(e *table.Entity, p table.Place) []table.KeyAttribute {
	for i := range e.Copies {
		if p.Kind == table.CopyPlace && e.Copies[i].Name == p.Copy {
			return e.Copies[i].Key
		}
	}
	for i := range e.Markers {
		if p.Kind == table.MarkerPlace && e.Markers[i].Name == p.Marker {
			return e.Markers[i].Key
		}
	}
	return e.Key
}

// standIn is some value for a field, nil if its type has none.
func standIn(t table.Type, minBytes int) types.AttributeValue {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	switch design.Kind(t.Kind) {
	case design.KindUUID:
		return text("00000000-0000-4000-8000-000000000000")
	case design.KindULID:
		return text("00000000000000000000000000")
	case design.KindKSUID:
		return text("000000000000000000000000000")
	case design.KindEmail:
		return text("a@example.com")
	case design.KindTime:
		return text("1970-01-01T00:00:00.000Z")
	case design.KindDate:
		return text("1970-01-01")
	case design.KindEnum:
		if len(t.Enum) == 0 {
			return nil
		}
		return text(t.Enum[0])
	case design.KindInt, design.KindDecimal, design.KindMoney, design.KindTTL:
		return &types.AttributeValueMemberN{Value: "0"}
	case design.KindBool:
		return &types.AttributeValueMemberBOOL{}
	case design.KindBytes:
		return &types.AttributeValueMemberB{Value: make([]byte, max(1, minBytes))}
	case design.KindList:
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	case design.KindMap:
		return &types.AttributeValueMemberM{Value: table.Item{}}
	case design.KindSet:
		return &types.AttributeValueMemberSS{}
	case design.KindStruct:
		return standInStruct(t)
	default:
		return text(strings.Repeat("a", max(1, minBytes)))
	}
}

func standInStruct(t table.Type) types.AttributeValue {
	m := &types.AttributeValueMemberM{Value: table.Item{}}
	if t.Fields == nil {
		return m
	}
	for _, f := range *t.Fields {
		if f.Optional || len(f.Path) != 1 { // an error in a nested field makes it unusable, which is harmless
			continue
		}
		m.Value[f.Path[0]] = standIn(f.Type, f.MinBytes)
	}
	return m
}

// asValueError returns the error as a value error, if it is one.
func asValueError(err error) (*table.ValueError, bool) { return errors.AsType[*table.ValueError](err) }
