package check

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/plural"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// DynamoDB's limits for transactions:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
const (
	transactionActionsMax = 100
	transactionBytesMax   = 4 << 20
	itemBytesMax          = 400 << 10
)

// transactionSize checks ST504 and ST505. Batches are exempt: they use as many requests as they need.
func (c *checker) transactionSize(w *design.Write, p plan.WritePlan) {
	if w.Batch {
		return
	}
	fixed, perLine := p.Actions()
	lines := 0
	if w.Lines != nil {
		lines = w.Lines.Max
	}
	bound := 0
	if perLine > 0 {
		bound = max(transactionActionsMax-fixed, 0) / perLine
	}
	tooMany := func(format string, args ...any) {
		f := c.find("ST504", w.Name, w.Pos, format, args...)
		if bound > 0 {
			f.fix("lines: { max: %d }", bound)
		} else {
			f.fix("split it into writes that are valid on their own")
		}
		f.report()
	}
	switch {
	case perLine > 0 && lines == 0:
		tooMany("has %s plus %d per line, and the lines have no bound: %d lines exceed the limit of %d actions", plural.Of(fixed, "action"), perLine, bound+1, transactionActionsMax)
		return
	case fixed+perLine*lines > transactionActionsMax:
		tooMany("has %s plus %d for each of %d lines, %d in total; DynamoDB allows %d", plural.Of(fixed, "action"), perLine, lines, fixed+perLine*lines, transactionActionsMax)
		return
	}
	bytes := 0
	for _, i := range p.Items {
		n := cost.SizeAt(i.Place)
		if i.Place.Kind == plan.KeyPlace || i.Place.Kind == plan.CopyPlace && i.Place.Copy.All {
			n = max(n, i.Place.Entity.Volume.MaxSize)
		}
		if i.Each {
			n *= lines
		}
		bytes += n
	}
	if bytes > transactionBytesMax {
		c.find("ST505", w.Name, w.Pos, "can be %d KB, and a transaction can be at most 4 MB", bytes>>10).
			fix("allow fewer lines, or write the large part in separate items beforehand").report()
	}
}

// sameItemTwice checks ST506: two steps on one entity whose items no line or parameter distinguishes. Counters are merged
// into the step on their item.
func (c *checker) sameItemTwice(w *design.Write, p plan.WritePlan) {
	var seen []plan.ItemWrite
	reported := map[string]bool{}
	for _, i := range p.Items {
		key := i.Place.String()
		twice := slices.ContainsFunc(seen, func(before plan.ItemWrite) bool {
			return before.Place.String() == key && before.Step != i.Step && !before.Counter() && !i.Counter() && !distinct(i.Place.Entity, before.Step, i.Step)
		})
		seen = append(seen, i)
		if !twice || reported[i.Place.Entity.Name] {
			continue
		}
		reported[i.Place.Entity.Name] = true
		at := w.Pos
		if i.Step != nil {
			at = i.Step.Pos
		}
		c.find("ST506", w.Name, at, "has two steps on %s, which may be the same item: DynamoDB rejects two actions on one item", key).
			fix("merge the two steps, or set the key fields of one from a parameter of its own").report()
	}
}

// sameItemInLines checks ST506 for a repeated step whose item is the same for all lines, because no part of its key comes from
// the line. A field that a step of the whole write needs, too, is passed once.
func (c *checker) sameItemInLines(w *design.Write) {
	if w.Lines == nil || w.Lines.Max == 1 {
		return
	}
	lines := lower.LineInputs(c.design, w)
	for _, s := range w.Steps {
		key := keyOf(c.design.Entity(s.Entity))
		varies := slices.ContainsFunc(key, func(field string) bool {
			v := given(s, field)
			if v == nil {
				return slices.ContainsFunc(lines, func(in lower.Input) bool { return in.Name == field })
			}
			return slices.ContainsFunc(v.Terms, func(t design.Term) bool { return t.Kind == design.NewIDTerm || strings.HasPrefix(t.Name, "line.") })
		})
		if !s.Each || varies {
			continue
		}
		f := c.find("ST506", w.Name, s.Pos, "repeats a step on %s for each line, and nothing in its key comes from the line: with two lines, there are two actions on one item", article(s.Entity))
		if n := len(key); n > 0 {
			f.fix("take what differs of %s from the line: by: { %s: \":line.%s\" }", strings.Join(key, ", "), key[n-1], key[n-1])
		} else {
			f.fix("a step without each, in which sum(lines.…) and count(lines) are values")
		}
		f.report()
	}
}

// distinct reports whether two steps are certainly on different items of an entity: they set a key field to different
// values, or only one of them runs per line. A step that does not set a key field uses the parameter of the same name.
func distinct(e *design.Entity, a, b *design.Step) bool {
	if a == nil || b == nil {
		return false
	}
	value := func(s *design.Step, field string) string {
		if v := given(s, field); v != nil {
			return strings.ReplaceAll(v.Text, " ", "")
		}
		return ":" + field
	}
	return a.Each != b.Each || slices.ContainsFunc(keyOf(e), func(f string) bool { return value(a, f) != value(b, f) })
}

// batch checks ST511: a list too long for a transaction, of unconditional puts and deletes as BatchWriteItem does them,
// that is not declared as a batch.
func (c *checker) batch(w *design.Write) {
	whole := !slices.ContainsFunc(w.Steps, func(s *design.Step) bool {
		return !s.Each || s.When != nil || s.Action != design.Put && s.Action != design.Delete
	})
	if w.Batch || w.Lines == nil || !whole || w.Lines.Max > 0 && w.Lines.Max*len(w.Steps) <= transactionActionsMax {
		return
	}
	for _, s := range w.Steps {
		e := c.design.Entity(s.Entity)
		consequence := "some may remain unprocessed (UnprocessedItems)"
		if s.Action == design.Put {
			consequence += ", and existing items are overwritten"
		}
		said := "batch: true, if that is intended; "
		if len(e.Counters) > 0 || slices.ContainsFunc(c.design.Entities, func(of *design.Entity) bool {
			return slices.ContainsFunc(of.Counters, func(x *design.Counter) bool { return x.Of == e.Name })
		}) {
			said = "" // a batch does not maintain counters
		}
		if len(e.Copies) > 0 || len(e.Unique) > 0 {
			said = ""
			consequence += "; copies and markers are separate requests, which can fail on their own"
		}
		c.find("ST511", w.Name, s.Pos, "can only be a BatchWriteItem, which has no conditions and is not atomic: of the %s items, %s", e.Name, consequence).
			fix("%sa write of one %s with a condition, called for each; or lines: { max: %d } and create", said, e.Name, transactionActionsMax/len(w.Steps)).report()
	}
}
