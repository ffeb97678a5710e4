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
	// smallShare is the part of an item below which a change of it is small.
	smallShare = 4
)

// sizes are the rules on sizes, ST6xx.
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

// tooLarge is ST601: by the volume that is declared, or by the bounds of the fields.
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
		c.find("ST601", e.Name, pos, "can be %d KB, and an item is 400 KB at most", bytes>>10).
			fix("put the large part into items of its own, or into S3 with its key here").report()
	}
}

// unbounded is ST603, of the fields of an entity or, with the path to it, of a structure.
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
				c.find("ST603", e.Name, f.Pos, "%s is %s without a bound: the item grows with it, and each change writes all of it", strings.Join(in, "."), article(t.String())).
					fix("{ type: \"%s\", max: BYTES }, or an item for each element", t).report()
			}
		case design.KindStruct:
			if s := c.design.Struct(t.Name); s != nil {
				c.unbounded(e, s.Fields, in)
			}
		default:
		}
	}
}

// largeRead is ST602 of reads: an item or a page that is large, and read often.
func (c *checker) largeRead(r *design.Read) {
	result := plan.ForRead(c.design, r)
	if r.Rate < oftenRate || result.Plan.Unserved() {
		return
	}
	size, n := cost.SizeAt(result.Plan.Place), cost.OfRead(c.design, result)
	if r.Many && float64(size)*n.Items > largePageBytes {
		c.find("ST602", r.Name, r.Pos, "reads pages of %d KB %g times a second: %g read units each", int(float64(size)*n.Items)>>10, r.Rate, n.Units).
			fix("an index entry with the fields that a list shows").report()
	}
	if !r.Many && size > largeItemBytes {
		c.find("ST602", r.Name, r.Pos, "reads %s of %d bytes %g times a second: %g read units each", result.Plan.Place, size, r.Rate, n.Units).
			fix("the large part in items of its own").report()
	}
}

// largeWrite is ST602 and ST604: a large item that is written often, above all for a small part of it.
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
		c.find("ST604", w.Name, i.Step.Pos, "changes %s of %s, some %d bytes, and pays for all of its %d: %.0f write units a day more than in an item of their own",
			strings.Join(i.Changed, ", "), i.Place.Entity.Name, changed, size, float64(units-own)*w.Rate*86400).
			fix("move them into an item of its own under the same partition key").report()
	case size > largeItemBytes:
		c.find("ST602", w.Name, i.Step.Pos, "writes %s of %d bytes %g times a second: %d write units each", i.Place, size, w.Rate, units).
			fix("the large part in items of its own").report()
	}
}
