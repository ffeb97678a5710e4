package check

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// assumedUnique checks ST501: a read of one item by fields that no key makes unique.
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
	c.find("ST501", e.Name+"+"+r.Name, r.Pos, "%s reads one %s by %s as if it were unique, but nothing enforces that: two concurrent creates both succeed",
		r.Name, e.Name, strings.Join(r.By, ", ")).
		fix("unique: { %s: { pk: \"…#{%s}\", sk: UNIQUE } }, a marker item created in the same transaction",
			title(r.By[0]), strings.Join(r.By, "}#{")).report()
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// duplicate checks ST503: fields that repeat another entity's without a declaration.
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
		c.find("ST503", e.Name, e.Pos, "repeats %s of %s: nothing keeps the two in sync", strings.Join(shared, ", "), of.Name).
			fix("declare it in %s as copies: { …: { pk: …, sk: …, fields: [%s] } }", of.Name, strings.Join(shared, ", ")).report()
	}
}

// likelyDuplicates checks ST503 for single fields, by name: conductorNombre is the nombre of the Conductor that
// conductorId refers to. Snapshots may differ, and fields that all writes change together are fine.
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
				c.find("ST503", e.Name, f.Pos, "%s repeats %s of %s: nothing keeps the two in sync", f.Name, of.Fields[i].Name, of.Name).as(Warning).
					fix("snapshot: { %s: %s.%s } if it should stay as it was; or change both in one write", f.Name, of.Name, of.Fields[i].Name).report()
			}
		}
	}
}

// cutFold cuts a name off the start of another, ignoring case.
func cutFold(s, prefix string) (string, bool) {
	if len(s) <= len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}

// keptEqual reports whether some write changes a field, and every one that does also changes its duplicate.
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
