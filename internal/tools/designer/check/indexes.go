package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/expression"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// DynamoDB's quotas for indexes:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
const (
	globalIndexesMax       = 20
	localIndexesMax        = 5
	projectedAttributesMax = 100
	projectedIntoOneMax    = 20
)

// indexes checks the index rules, ST4xx, except ST410, which is checked with the writes.
func (c *checker) indexes() {
	for _, t := range c.design.Tables {
		c.quotas(t)
		for _, x := range t.Indexes {
			c.projection(t, x)
		}
	}
	for _, e := range c.design.Entities {
		for _, p := range plan.Places(c.design, e) {
			switch {
			case p.Undeclared:
				c.undeclared(p)
			case p.Kind == plan.EntryPlace:
				c.scalar(p)
				c.optional(p)
				c.native(p)
			default:
				c.scalar(p)
			}
			if p.Kind == plan.CopyPlace || p.Kind == plan.EntryPlace {
				c.secrets(p)
			}
		}
		c.otherType(e)
		c.exclusive(e)
		c.severalEntries(e)
		c.repeats(e)
	}
}

// quotas checks ST407.
func (c *checker) quotas(t *design.Table) {
	local := len(slices.DeleteFunc(slices.Clone(t.Indexes), func(x *design.Index) bool { return !x.Local }))
	if global := len(t.Indexes) - local; global > globalIndexesMax {
		c.find("ST407", t.Name, t.Pos, "has %d global indexes, and DynamoDB allows %d", global, globalIndexesMax).report()
	}
	if local > localIndexesMax {
		c.find("ST407", t.Name, t.Pos, "has %d local indexes, and DynamoDB allows %d", local, localIndexesMax).report()
	}
	projected := 0
	for _, x := range t.Indexes {
		projected += len(x.Project.Fields)
		if n := len(x.Project.Fields); n > projectedIntoOneMax {
			c.find("ST407", t.Name+"."+x.Name, x.Project.Pos, "projects %d attributes by name, and DynamoDB allows %d per index", n, projectedIntoOneMax).
				fix("project: all, or store many of them in one map").report()
		}
	}
	if projected > projectedAttributesMax {
		c.find("ST407", t.Name, t.Pos, "projects %d attributes into all its indexes together, and DynamoDB allows %d",
			projected, projectedAttributesMax).report()
	}
}

// projection checks ST403 and ST404.
func (c *checker) projection(t *design.Table, x *design.Index) {
	subject := t.Name + "." + x.Name
	for _, name := range x.Project.Fields {
		var of, path []string
		for _, e := range c.design.Entities {
			if f := e.Field(name); f != nil && e.Table == t.Name && f.Nested() {
				of, path = append(of, e.Name), f.Path
			}
		}
		if len(of) > 0 {
			c.find("ST403", subject, x.Project.Pos, "projects %s of %s, which is stored at %s: a projection can only name top-level attributes, "+
				"and DynamoDB silently omits this one", name, strings.Join(of, ", "), strings.Join(path, ".")).
				fix("store %s as an attribute of its own (without at:)", name).report()
		}
	}
	if !x.Project.All {
		return
	}
	var parts []string
	for _, w := range c.design.Writes {
		units := 0.0
		for _, part := range cost.OfWrite(plan.ForWrite(c.design, w)).Parts {
			if part.Place.Index == x {
				units += part.Units
			}
		}
		if units > 0 {
			parts = append(parts, fmt.Sprintf("%s %.4g", w.Name, units))
		}
	}
	if len(parts) > 0 {
		c.find("ST404", subject, x.Pos, "projects everything: every change of an attribute also writes the index (write units: %s)",
			strings.Join(parts, ", ")).fix("project only the fields that its reads return").report()
	}
}

// scalar checks ST402. A template renders any scalar as text, but a boolean stored as the key attribute itself stays a
// boolean, which cannot be a key.
func (c *checker) scalar(p plan.Place) {
	pk, sk := p.Attributes()
	attributes := slices.Concat(pk, sk)
	for i, t := range slices.Concat(p.PK, p.SK) {
		for _, name := range t.Fields() {
			f := p.Entity.Field(name)
			if f == nil {
				continue // ST103
			}
			itself := f.Type.Kind == design.KindBool && len(t.Parts) == 1 && !f.Nested() && f.Attribute() == attributes[i].Name
			if !f.Type.Scalar() || itself {
				c.find("ST402", p.String(), t.Pos, "uses %s in a key, but it is %s: a key is a single string, number or binary value",
					f.Name, article(f.Type.String())).fix("write one item per element, with the element in its key").report()
			}
		}
	}
}

// optional checks ST409.
func (c *checker) optional(p plan.Place) {
	reported := map[string]bool{}
	for _, t := range slices.Concat(p.PK, p.SK) {
		for _, name := range t.Fields() {
			f := p.Entity.Field(name)
			if f == nil || !f.Optional || slices.Contains(p.Where.Fields(), name) || reported[name] {
				continue
			}
			reported[name] = true
			c.find("ST409", p.String(), t.Pos, "has %s in its key, which may be absent: items without it are not in the index", name).
				fix("declare it with where: \"attribute_exists(%s)\"; or make the field required", name).report()
		}
	}
}

// native checks ST405: a key composed of whole fields, which could be key attributes themselves. Every item with all
// those attributes would then be in the index, so no other item of the table may have them, and the entry cannot have a
// condition.
func (c *checker) native(p plan.Place) {
	composed, whole := false, p.Where == nil && p.Copy == nil && len(p.Entity.Copies) == 0
	for _, t := range slices.Concat(p.PK, p.SK) {
		fields := t.Fields()
		composed = composed || len(fields) > 1
		whole = whole && len(fields) > 0 && len(fields) <= 4
		for _, part := range t.Parts {
			f := p.Entity.Field(part.Field)
			whole = whole && len(part.Funcs) == 0 && (part.Field == "" || f != nil && !f.Nested() && f.Type.Scalar() && f.Type.Kind != design.KindBool)
		}
	}
	if !composed || !whole {
		return
	}
	fields := slices.Concat(templateFields(p.PK), templateFields(p.SK))
	for _, e := range c.design.Entities {
		all := !slices.ContainsFunc(fields, func(f string) bool { return e.Field(f) == nil })
		uses := slices.ContainsFunc(e.Entries, func(x *design.Entry) bool { return x.Index == p.Index.Name })
		if e != p.Entity && e.Table == p.Entity.Table && (all || uses) {
			return
		}
	}
	c.find("ST405", p.String(), p.Pos, "composes its key from whole fields: a multi-attribute key (up to four fields each) would need no "+
		"extra attribute and no backfill, and would keep the fields' types").
		fix("pk: [%s], sk: [%s]", strings.Join(templateFields(p.PK), ", "), strings.Join(templateFields(p.SK), ", ")).report()
}

func templateFields(list []*design.Template) []string {
	var out []string
	for _, t := range list {
		out = append(out, t.Fields()...)
	}
	return out
}

// secrets checks ST408.
func (c *checker) secrets(p plan.Place) {
	for _, f := range p.Entity.Fields {
		if f.Type.Kind == design.KindSecret && p.Has(f.Name) {
			c.find("ST408", p.String(), p.Pos, "the secret %s is copied there: everyone who may read the list can read it", f.Name).
				fix("store it in an item of its own that is not projected").report()
		}
	}
}

// severalEntries checks ST401: an entity, or an entity and its duplicate, with two entries in the same partition of an
// index. Entries in different partitions form two lists.
func (c *checker) severalEntries(e *design.Entity) {
	const consequence = "a list of n entries has only n/2 records"
	own := c.entries(e)
	for i, x := range own {
		for _, before := range own[:i] {
			if !byTurns(x, before) && canShare(x, before) {
				c.find("ST401", x.String(), x.Pos, "both %s and %s write an entry for one record: %s", itemName(before), itemName(x), consequence).
					fix("index only one of the items").report()
			}
		}
	}
	if e.Duplicates == "" {
		return
	}
	for _, x := range own {
		for _, y := range c.entries(c.design.Entity(e.Duplicates)) {
			if canShare(x, y) {
				c.find("ST401", e.Name+"+"+e.Duplicates, x.Pos, "both %s and %s write an entry for the same record to %s: %s, and the two can disagree",
					e.Duplicates, e.Name, x.Index.Name, consequence).fix("index only one of the two").report()
			}
		}
	}
}

// byTurns reports whether two places are alternatives in one index, of which an item has one at a time: see exclusive.
func byTurns(x, y keyed) bool {
	return x.Entry != "" && y.Entry != "" && x.Index == y.Index && x.SameItem(y.Place)
}

// exclusive checks ST412: at most one of an item's alternative entries in an index may apply.
func (c *checker) exclusive(e *design.Entity) {
	for i, x := range e.Entries {
		for _, before := range e.Entries[:i] {
			if x.Index != before.Index || x.Of != before.Of || x.Where == nil || before.Where == nil {
				continue
			}
			const fix = "use conditions that compare fields with constants and exclude each other: status = 'open', status = 'done'"
			switch item, decided := expression.Overlap(c.design, e, before.Where, x.Where); {
			case item != "":
				c.find("ST412", e.Name+"."+x.Place(), x.Pos, "can apply together with %s, but an item has only one key in an index", before.Place()).
					witness(item + " satisfies both \"" + before.Where.Text + "\" and \"" + x.Where.Text + "\"").fix(fix).report()
			case !decided:
				c.find("ST412", e.Name+"."+x.Place(), x.Pos, "may apply together with %s: this cannot be decided, since its condition does more than compare scalar fields with constants", before.Place()).
					fix(fix).report()
			}
		}
	}
}

// entries returns the places of an entity in indexes.
func (c *checker) entries(e *design.Entity) []keyed {
	return slices.DeleteFunc(slices.Clone(c.languages()), func(k keyed) bool { return k.Entity != e || k.Kind != plan.EntryPlace })
}

func itemName(k keyed) string {
	if k.Copy == nil {
		return k.Entity.Name
	}
	return "its copy " + k.Copy.Name
}

func sameTemplates(a, b []*design.Template) bool {
	return slices.EqualFunc(a, b, func(x, y *design.Template) bool { return x.Text == y.Text })
}

// repeats checks ST406: an index with the partition key of the table, or of another index, for the same entity, while
// nothing needs the order of the other.
func (c *checker) repeats(e *design.Entity) {
	places := slices.DeleteFunc(plan.Places(c.design, e), func(p plan.Place) bool { return p.Kind == plan.MarkerPlace })
	for i, p := range places {
		if p.Kind != plan.EntryPlace || p.Index.Local || p.Where != nil || p.Undeclared || c.gathered(p) {
			continue
		}
		for _, other := range places[:i] {
			if !sameTemplates(p.PK, other.PK) || other.Where != nil || !sameTemplates(p.SK, other.SK) && (c.needs(other) || c.gathered(other)) {
				continue
			}
			c.find("ST406", p.String(), p.Pos, "has the same partition key as %s: the entry only adds another order", other).
				fix("give %s the sort key that the reads need, and remove the entry", other).report()
			break
		}
	}
}

// needs reports whether a read relies on a place's sort key: it reads a single item, selects by more than the partition,
// or uses its order.
func (c *checker) needs(p plan.Place) bool {
	return slices.ContainsFunc(c.design.Reads, func(r *design.Read) bool {
		if r.Entity != p.Entity.Name {
			return false
		}
		used := plan.ForRead(c.design, r).Plan
		if used.Place.String() != p.String() || used.Unserved() {
			return false
		}
		fields := templateFields(p.PK)
		more := slices.ContainsFunc(r.By, func(f string) bool { return !slices.Contains(fields, f) })
		return !r.Many || more || r.Prefix != "" || r.Range != "" || len(r.Order) > 0
	})
}

// gathered reports whether a collection reads a place, whose items are there to be next to those of other entities.
func (c *checker) gathered(p plan.Place) bool {
	return slices.ContainsFunc(c.design.Collections, func(x *design.Collection) bool {
		return slices.ContainsFunc(plan.ForCollection(c.design, x).Members, func(m plan.Place) bool { return m.String() == p.String() })
	})
}

// article puts a or an before a word.
func article(word string) string {
	if strings.ContainsRune("aeioAEIO", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}
