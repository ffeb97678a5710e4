package conform

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
)

// trust says whether an item's values are reliable enough to compare other items with them.
type trust bool

const (
	sound trust = true
	// doubtful items make claims that match anything, and need not be matched: they are invalid themselves, or have expired.
	doubtful trust = false
)

// visit checks an item.
func (c *checker) visit(t *tableState, item table.Item) {
	expired := t.expired(item, c.options.Now.Unix())
	if !c.again {
		t.report.Items++
		if expired {
			t.report.Expired++
		}
	}
	e, p, values := table.Recognize(t.descriptors, item)
	c.personal(t, e, p, values, item)
	if e == nil {
		c.diagnose(t, item)
		return
	}
	place := t.placeOf(e, p)
	c.countItem(place)
	if p.Kind != table.KeyPlace {
		c.ledger.isThere(t, place, item, trust(!expired))
		return
	}
	c.own(t, place.entity, item, values, trust(!expired))
}

// countItem counts an item of a place.
func (c *checker) countItem(p *placeState) {
	if !c.again {
		p.count++
	}
}

// own checks an entity's own item: its values, its type, its index keys, and the items that it requires.
func (c *checker) own(t *tableState, e *entityState, item table.Item, values table.Values, is trust) {
	items, valid := c.values(t, e, item, values)
	if items == nil {
		return
	}
	if !valid {
		is = doubtful
	} else if !c.again {
		c.countUndeclared(t, e, item)
	}
	c.claims(t, e, items, item, is)
	c.counters.enter(t, e, items[0], item, values, is)
}

// values checks what an entity's own item shows by itself: its values, its type and its index keys. It returns the items that
// the values make, and whether all of the values are valid.
func (c *checker) values(t *tableState, e *entityState, item table.Item, values table.Values) (items []table.Item, valid bool) {
	items, bad := itemsOf(e, values)
	for _, bad := range bad {
		c.find(WrongValue, e.design.Name+"."+bad.field, t, item, bad.fault.Error())
	}
	if items == nil {
		return nil, false
	}
	if name := t.table.TypeAttr; name != "" && item[name] == nil {
		c.find(WrongValue, e.design.Name+"."+name, t, item, name+" is missing, but should be "+e.table.TypeValue)
	}
	if len(bad) == 0 && !c.again {
		c.indexKeys(t, e, items[0], item)
	}
	return items, len(bad) == 0
}

// claims records what an item's copies and markers should be.
func (c *checker) claims(t *tableState, e *entityState, items []table.Item, item table.Item, is trust) {
	for i, other := range items[1:] {
		c.ledger.shouldBe(t, e.places[i+1], other, item, is)
	}
}

// badValue is a value that does not match its field's type.
type badValue struct {
	field string // of the entity
	fault error
}

// itemsOf are the items that an entity's values make. Invalid values are reported and replaced by others, so that at least the
// keys of the other items are known; nil if that is impossible.
func itemsOf(e *entityState, values table.Values) ([]table.Item, []badValue) {
	var bad []badValue
	for range e.design.Fields {
		items, err := table.Items(e.whole, values)
		if err == nil {
			return items, bad
		}
		fault, ok := asValueError(err)
		if !ok {
			return nil, append(bad, badValue{"key", err})
		}
		name, _, _ := strings.Cut(fault.Field, ".")
		name, _, _ = strings.Cut(name, "[")
		f := e.design.Field(name)
		if f == nil || slices.ContainsFunc(bad, func(b badValue) bool { return b.field == name }) {
			return nil, append(bad, badValue{name, err})
		}
		bad = append(bad, badValue{name, err})
		known := fieldOf(e.table, name)
		if values[name] = standIn(known.Type, known.MinBytes); values[name] == nil {
			return nil, bad
		}
	}
	return nil, bad
}

// indexKeys compares the attributes of index keys with those that the item's values make.
func (c *checker) indexKeys(t *tableState, e *entityState, want, item table.Item) {
	for _, x := range t.design.Indexes {
		entry := e.design.Entry(x.Name)
		worst, message := Kind(""), ""
		judge := func(k Kind, format string) {
			if worst == "" || k == IndexStale {
				worst, message = k, format
			}
		}
		entered := entry != nil || hasAll(item, x)
		for _, a := range slices.Concat(x.PK, x.SK) {
			if t.inPrimaryKey(a) || fieldAt(e.design, a.Name) {
				continue
			}
			have, should := item[a.Name], want[a.Name]
			switch {
			case have == nil && should != nil:
				judge(IndexMissing, a.Name+" is missing, but should be "+shown(should))
			case have != nil && should == nil && entered:
				judge(IndexUnwanted, a.Name+" is "+shown(have)+", and "+absenceReason(entry))
			case have != nil && should != nil && !same(have, should):
				judge(IndexStale, a.Name+" is "+shown(have)+", but should be "+shown(should))
			}
		}
		if worst != "" {
			c.find(worst, e.design.Name+"."+x.Name, t, item, message)
		}
	}
}

// absenceReason explains why an item has no entry in an index.
func absenceReason(entry *design.Entry) string {
	switch {
	case entry == nil:
		return "the entity has no entry in this index"
	case entry.Name != "":
		return "no condition of an entry in this index holds"
	case entry.Where != nil:
		return "the condition does not hold: " + entry.Where.Text
	default:
		return "a field of the key is absent"
	}
}

// hasAll reports whether an item has all attributes of an index's key, and so is in the index.
func hasAll(item table.Item, x *design.Index) bool {
	for _, a := range slices.Concat(x.PK, x.SK) {
		if item[a.Name] == nil {
			return false
		}
	}
	return true
}

// fieldAt reports whether an attribute is a field of the entity rather than a composed key.
func fieldAt(e *design.Entity, attribute string) bool {
	return slices.ContainsFunc(e.Fields, func(f *design.Field) bool { return !f.Nested() && f.Attribute() == attribute })
}

// inPrimaryKey reports whether an attribute is part of the table's key.
func (t *tableState) inPrimaryKey(a design.KeyAttribute) bool {
	return a.Name == t.table.PK.Name || t.table.SK.Name != "" && a.Name == t.table.SK.Name
}

// maxUndeclared is the maximum number of attribute names counted for an entity: if data maps are spread over attributes, the
// number of names is unbounded.
const maxUndeclared = 100

// countUndeclared counts the attributes that the design does not mention.
func (c *checker) countUndeclared(t *tableState, e *entityState, item table.Item) {
	for name := range item {
		if e.known[name] || t.indexAttribute(name) {
			continue
		}
		if _, counted := e.undeclared[name]; counted || len(e.undeclared) < maxUndeclared {
			e.undeclared[name]++
		}
	}
}

// indexAttribute reports whether an attribute is in the key of an index.
func (t *tableState) indexAttribute(name string) bool {
	is := func(a design.KeyAttribute) bool { return a.Name == name }
	return slices.ContainsFunc(t.design.Indexes, func(x *design.Index) bool {
		return slices.ContainsFunc(x.PK, is) || slices.ContainsFunc(x.SK, is)
	})
}
