package check

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

const (
	largeItemBytes = 8 << 10
	largePageBytes = 64 << 10
	oftenRate      = 1.0 // a second
	// A change is small if it is at most 1/smallShare of the item.
	smallShare = 4
)

// sizes checks the rules on sizes, ST6xx.
func (c *checker) sizes() {
	for _, e := range c.design.Entities {
		c.tooLarge(e)
		c.unbounded(e, e.Fields, nil)
	}
	for _, r := range c.design.Reads {
		c.largeRead(r)
	}
	for _, w := range c.design.Writes {
		for _, i := range plan.ForWrite(c.design, w).Items {
			c.largeWrite(w, i)
		}
	}
}

// tooLarge checks ST601, by the declared volume or by the bounds of the fields.
func (c *checker) tooLarge(e *design.Entity) {
	bytes, pos := max(e.Volume.MaxSize, e.Volume.Size), e.Volume.Pos
	fields := 0
	for _, f := range e.Fields {
		fields += len(f.Attribute()) + f.MaxBytes
	}
	if fields > bytes && e.Volume.MaxSize == 0 {
		bytes, pos = fields, e.Pos
	}
	if bytes > itemBytesMax {
		c.find("ST601", e.Name, pos, "can be %d KB, and an item can be at most 400 KB", bytes>>10).
			fix("move the large part to items of its own, or to S3 and store its key here").report()
	}
}

// unbounded checks ST603 for the fields of an entity or, at a path, of a structure.
func (c *checker) unbounded(e *design.Entity, fields []*design.Field, path []string) {
	if len(path) > 4 {
		return
	}
	for _, f := range fields {
		t := f.Type
		in := slices.Concat(path, []string{f.Name})
		switch t.Kind {
		case design.KindList, design.KindMap, design.KindSet:
			if f.MaxBytes == 0 {
				c.find("ST603", e.Name, f.Pos, "%s is %s without a bound: the item grows with it, and every change writes the whole item", strings.Join(in, "."), article(t.String())).
					fix("{ type: \"%s\", max: BYTES }, or one item per element", t).report()
			}
		case design.KindStruct:
			if s := c.design.Struct(t.Name); s != nil {
				c.unbounded(e, s.Fields, in)
			}
		default:
		}
	}
}

// largeRead checks ST602 for reads: a large item or page that is read often.
func (c *checker) largeRead(r *design.Read) {
	result := plan.ForRead(c.design, r)
	if r.Rate < oftenRate || result.Plan.Unserved() {
		return
	}
	size, n := cost.SizeAt(result.Plan.Place), cost.OfRead(c.design, result)
	if r.Many && float64(size)*n.Items > largePageBytes {
		c.find("ST602", r.Name, r.Pos, "reads pages of %d KB %g times a second: %g read units each", int(float64(size)*n.Items)>>10, r.Rate, n.Units).
			fix("project only the fields that a list shows").report()
	}
	if !r.Many && size > largeItemBytes {
		c.find("ST602", r.Name, r.Pos, "reads %s, %d bytes, %g times a second: %g read units each", result.Plan.Place, size, r.Rate, n.Units).
			fix("move the large part to items of its own").report()
	}
}

// largeWrite checks ST602 and ST604: a large item that is written often, possibly for a small part of it.
func (c *checker) largeWrite(w *design.Write, i plan.ItemWrite) {
	size := cost.SizeAt(i.Place)
	if w.Rate < oftenRate || i.Step == nil {
		return
	}
	units := (size + 1023) / 1024
	changed := 0
	for _, name := range i.Changed {
		changed += cost.FieldSize(i.Place.Entity.Field(name))
	}
	switch {
	case len(i.Changed) > 0 && changed*smallShare <= size && units > 1:
		own := (changed + 1023) / 1024
		c.find("ST604", w.Name, i.Step.Pos, "changes %s of %s, about %d bytes, but pays for the whole item of %d: %.0f write units a day more than in an item of their own",
			strings.Join(i.Changed, ", "), i.Place.Entity.Name, changed, size, float64(units-own)*w.Rate*86400).
			fix("move them to a separate item with the same partition key").report()
	case size > largeItemBytes:
		c.find("ST602", w.Name, i.Step.Pos, "writes %s, %d bytes, %g times a second: %d write units each", i.Place, size, w.Rate, units).
			fix("move the large part to items of its own").report()
	}
}
