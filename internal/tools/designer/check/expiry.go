package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// expiry checks the TTL rules, ST7xx.
func (c *checker) expiry() {
	for _, e := range c.design.Entities {
		if e.TTL == nil {
			continue
		}
		f := e.Field(e.TTL.Field)
		if f != nil && f.Type.Kind != design.KindTTL {
			c.find("ST701", e.Name, e.TTL.Pos, "expires by %s, which is %s: DynamoDB only removes items whose TTL attribute is a number of "+
				"seconds since the epoch", f.Name, article(f.Type.String())).fix("fields: { %s: ttl }", f.Name).report()
		}
		c.checkDependents(e)
	}
	for _, e := range c.design.Entities {
		for _, counter := range e.Counters {
			if of := c.design.Entity(counter.Of); of != nil && of.TTL != nil {
				c.find("ST704", e.Name, counter.Pos, "%s counts %s, whose items expire: the counter is not decremented when TTL removes them", counter.Field, of.Name).
					fix("decrement it from the table's stream, or do not count items that expire").report()
			}
		}
	}
	for _, r := range c.design.Reads {
		c.readsExpired(r)
	}
	for _, w := range c.design.Writes {
		c.blocked(w)
	}
}

// checkDependents checks ST703: dependents of an expiring item that stay or expire at another time, and copies without the TTL
// field.
func (c *checker) checkDependents(e *design.Entity) {
	for _, x := range e.Copies {
		if !x.All && !slices.Contains(x.Fields, e.TTL.Field) {
			c.find("ST703", e.Name+"."+x.Name, x.Pos, "is a copy of %s, which expires, but has no %s: it stays forever", e.Name, e.TTL.Field).
				fix("fields: [… %s]", e.TTL.Field).report()
		}
	}
	for _, child := range c.design.Entities {
		if child.Volume.Per != e.Name {
			continue
		}
		find := func(format string, args ...any) {
			c.find("ST703", child.Name, child.Pos, "belongs to %s, which expires, but %s", e.Name, fmt.Sprintf(format, args...)).
				fix("give it the same ttl, starting at the same time").report()
		}
		switch {
		case child.TTL == nil:
			find("does not expire itself: it stays forever")
		case child.TTL.After > 0 && e.TTL.After > 0 && child.TTL.After > e.TTL.After:
			find("expires later, after %s instead of %s", period(child.TTL.After), period(e.TTL.After))
		case child.TTL.After > 0 && e.TTL.After > 0 && child.TTL.After < e.TTL.After:
			find("expires earlier, after %s instead of %s", period(child.TTL.After), period(e.TTL.After))
		}
	}
}

// period formats a duration as a design writes it.
func period(d time.Duration) string {
	if days := d / (24 * time.Hour); d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", days)
	}
	text := d.String() // 12h0m0s
	for _, zero := range []struct{ unit, part string }{{"m", "0s"}, {"h", "0m"}} {
		if strings.HasSuffix(text, zero.unit+zero.part) {
			text = strings.TrimSuffix(text, zero.part)
		}
	}
	return text
}

// readsExpired checks ST702: TTL takes up to a few days to remove an item, so a read of one item can return an expired
// one. Lists are exempt, where expired items are mostly harmless, and so are items that belong to an expiring one, which
// is read first.
func (c *checker) readsExpired(r *design.Read) {
	e := c.design.Entity(r.Entity)
	of := c.design.Entity(e.Volume.Per)
	if e.TTL == nil || r.Many || slices.Contains(r.Filter.Fields(), e.TTL.Field) || of != nil && of.TTL != nil {
		return
	}
	live := e.TTL.Field + " > :now"
	if e.Field(e.TTL.Field).Optional { // an item without it never expires
		live = "attribute_not_exists(" + e.TTL.Field + ") OR " + live
	}
	found := c.find("ST702", r.Name, r.Pos, "can return %s that has expired: TTL removes items within days, not at once", article(e.Name))
	if r.Each {
		found.fix("compare %s with the current time in the program: a read of many keys has no filter", e.TTL.Field).report()
		return
	}
	found.fix("filter: %q", live).report()
}

// blocked checks ST705: an item is created under a key that is used again and again, as a lock's is, so an expired item
// that has not been removed yet may have the key. The runtime of generated code replaces it; other code has to do so itself. A
// key with a new identifier or a time is never reused.
func (c *checker) blocked(w *design.Write) {
	fresh := c.freshFields(w)
	for _, s := range w.Steps {
		e := c.design.Entity(s.Entity)
		if s.Action != design.Create || e.TTL == nil || w.Idempotent != nil && w.Idempotent.With == e.Name {
			continue
		}
		again := !slices.ContainsFunc(keyOf(e), func(name string) bool {
			f := e.Field(name)
			named := e.Volume.Per != "" && strings.EqualFold(name, e.Name+"Id") // one of many for each parent
			return slices.Contains(fresh, name) || f == nil || named || f.Type.Kind == design.KindTime || f.Type.Kind == design.KindDate ||
				plan.Own(c.design, e, f) || c.ofExpiring(e, name)
		})
		if !again {
			continue
		}
		of := c.design.Entity(e.Volume.Per)
		if of != nil && of.TTL != nil {
			continue // the key contains one that expires with it
		}
		c.find("ST705", w.Name, s.Pos, "creates %s, which expires, under a key that is used again: the generated code replaces one that has expired, "+
			"but other code that requires attribute_not_exists has to wait until TTL removes it, up to days later", article(e.Name)).
			witness(fmt.Sprintf("the %s %s has expired but has not been removed yet", e.Name, quoted(texts(plan.Places(c.design, e)[0])))).
			fix("in other code, the condition \"attribute_not_exists(%s) OR %s < :now\"", keyOf(e)[0], e.TTL.Field).report()
	}
}

// ofExpiring reports whether a field is the identifier of another entity whose items expire, so that it is never reused.
func (c *checker) ofExpiring(e *design.Entity, field string) bool {
	return slices.ContainsFunc(c.design.Entities, func(of *design.Entity) bool {
		return of != e && of.TTL != nil && of.Field(field) != nil && plan.Own(c.design, of, of.Field(field))
	})
}
