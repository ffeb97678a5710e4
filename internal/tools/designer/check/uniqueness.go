package check

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// assumedUnique is ST501: one item is read by what no key makes unique.
func (c *checker) assumedUnique(r *design.Read) {
	if r.Many || len(r.Order) > 0 || len(r.By) == 0 {
		return
	}
	p := plan.ForRead(c.design, r).Plan
	if p.Operation == plan.GetItem || p.Operation == plan.BatchGetItem || p.Operation == plan.Query && !p.Place.Global() {
		return
	}
	e := c.design.Entity(r.Entity)
	if c.guardedBy(e, r.By) {
		return
	}
	c.find("ST501", e.Name+"+"+r.Name, r.Pos, "%s reads one %s by %s as if that were unique, and nothing guards it: two that are created at the same time both succeed",
		r.Name, e.Name, strings.Join(r.By, ", ")).
		fix("unique: { %s: { pk: \"…#{%s}\", sk: UNIQUE } }, a marker item that is put in the same transaction if it does not exist",
			title(r.By[0]), strings.Join(r.By, "}#{")).report()
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// duplicate is ST503: fields that repeat another entity's by hand.
func (c *checker) duplicate(e *design.Entity) {
	if e.Duplicates == "" {
		c.likelyDuplicates(e)
		return
	}
	of := c.design.Entity(e.Duplicates)
	var shared []string
	for _, f := range e.Fields {
		if of.Field(f.Name) != nil && !isKey(e, f.Name) && !isKey(of, f.Name) {
			shared = append(shared, f.Name)
		}
	}
	if len(shared) > 0 {
		c.find("ST503", e.Name, e.Pos, "repeats %s of %s by hand: nothing keeps the two equal", strings.Join(shared, ", "), of.Name).
			fix("declare it in %s as copies: { …: { pk: …, sk: …, fields: [%s] } }", of.Name, strings.Join(shared, ", ")).report()
	}
}

// likelyDuplicates is ST503 of single fields, by their names: conductorNombre is the nombre of the Conductor to which
// conductorId leads. Snapshots are meant to differ, and what all writes keep equal is.
func (c *checker) likelyDuplicates(e *design.Entity) {
	for _, f := range e.Fields {
		snapshot := slices.ContainsFunc(e.Snapshots, func(s design.Snapshot) bool { return s.Field == f.Name })
		if snapshot || isKey(e, f.Name) {
			continue
		}
		for _, of := range c.design.Entities {
			rest, named := cutFold(f.Name, of.Name)
			i := slices.IndexFunc(of.Fields, func(g *design.Field) bool { return strings.EqualFold(g.Name, rest) })
			if of == e || !named || i < 0 || isKey(of, of.Fields[i].Name) {
				continue
			}
			leads := refOf(e, of) != "" || slices.ContainsFunc(keyOf(of), func(k string) bool { return k != c.design.Tenant && e.Field(k) != nil })
			if leads && !c.keptEqual(of, of.Fields[i].Name, e, f.Name) {
				c.find("ST503", e.Name, f.Pos, "%s repeats %s of %s: nothing keeps the two equal", f.Name, of.Fields[i].Name, of.Name).as(Warning).
					fix("snapshot: { %s: %s.%s }, if it is to stay as it was; or change both in one write", f.Name, of.Name, of.Fields[i].Name).report()
			}
		}
	}
}

// cutFold cuts a name off the beginning of another, whatever the case of their first letters.
func cutFold(s, prefix string) (string, bool) {
	if len(s) <= len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}

// keptEqual reports whether writes change a field, and each that does changes its duplicate too.
func (c *checker) keptEqual(of *design.Entity, field string, e *design.Entity, duplicate string) bool {
	some := false
	for _, w := range c.design.Writes {
		if changes(w, of.Name, field) {
			if !changes(w, e.Name, duplicate) {
				return false
			}
			some = true
		}
	}
	return some
}
