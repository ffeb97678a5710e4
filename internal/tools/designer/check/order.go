package check

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/keylang"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// sorting checks ST105 and ST206: how a read relies on the sort key.
func (c *checker) sorting(result plan.Result) {
	r, p := result.Read, result.Plan
	relied := []string{r.Range}
	for _, o := range r.Order {
		relied = append(relied, o.Field)
	}
	relied = slices.DeleteFunc(relied, func(f string) bool { return f == "" || slices.Contains(r.By, f) })
	_, attributes := p.Place.Attributes()
	for i, t := range p.Place.SK {
		if attributes[i].Type == design.KeyNumber {
			continue // DynamoDB sorts numbers as numbers
		}
		for _, part := range t.Parts {
			if slices.Contains(relied, part.Field) {
				c.bytesOrder(r, p.Place, part)
			}
		}
		c.separator(r, p.Place, i, relied)
	}
	c.ties(r, p.Place)
	for _, condition := range p.SK {
		c.openPrefix(r, p, condition)
	}
}

// bytesOrder checks ST105 for one field: its bytes do not sort like its values.
func (c *checker) bytesOrder(r *design.Read, p plan.Place, part design.Part) {
	f := p.Entity.Field(part.Field)
	if f == nil {
		return
	}
	s, err := keylang.Sorts(c.design, f, part.Funcs...)
	if err != nil {
		return
	}
	find := func() *found {
		return c.find("ST105", r.Name, r.Pos, "relies on the order of %s in %s, but its keys do not sort like its values: %s", f.Name, p, s.Reason)
	}
	switch s.Order {
	case keylang.Random, keylang.Unpadded:
		find().report()
	case keylang.Coarse:
		find().as(Info).report()
	default:
	}
}

// numberDigitsMax is the maximum number of digits in a DynamoDB number:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const numberDigitsMax = 38

// room checks ST105 for numbers that can have more digits than |pad or |desc allows, so that a write of such a value is
// rejected.
func (c *checker) room(p plan.Place) {
	for _, t := range slices.Concat(p.PK, p.SK) {
		for _, part := range t.Parts {
			f := p.Entity.Field(part.Field)
			if f == nil {
				continue
			}
			digits, why := declaredDigits(f)
			if n, grows := c.grownDigits(p.Entity, f); n > digits {
				digits, why = n, grows
			}
			for _, fn := range part.Funcs {
				switch fn.Name {
				case "band":
					digits = max(digits+1-len(fn.Arg), 1)
					why = fmt.Sprintf("can have %d digits", digits)
				case "mod", "shard":
					digits = len(strconv.Itoa(max(fn.Int()-1, 0)))
					why = fmt.Sprintf("can have %d digits", digits)
				}
				if fn.Name != "pad" && fn.Name != "desc" || digits <= fn.Int() {
					continue
				}
				finding := c.find("ST105", p.String(), t.Pos, "uses |%s for %s, which %s: a write of a number above %s is rejected", fn, f.Name, why, strings.Repeat("9", fn.Int()))
				if part.Funcs[0] == fn { // applied to the value itself
					finding.witness(fmt.Sprintf("%s = 1%s", f.Name, strings.Repeat("0", fn.Int())))
				}
				finding.fix("|%s(%d)", fn.Name, digits).report()
			}
		}
	}
}

// declaredDigits returns the maximum number of digits that a field declares. A max larger than any number's digits was
// meant as the greatest value.
func declaredDigits(f *design.Field) (digits int, why string) {
	if f.MaxBytes <= numberDigitsMax {
		return f.MaxBytes, fmt.Sprintf("can have %d digits", f.MaxBytes)
	}
	digits = len(strconv.Itoa(f.MaxBytes))
	return digits, fmt.Sprintf("can have %d digits (max: %d is a number of digits, not the greatest value: write max: %d)", digits, f.MaxBytes, digits)
}

// grownDigits returns the number of digits that a number reaches according to the volume, if it counts other items or
// alone identifies an item among those of its parent or entity.
func (c *checker) grownDigits(e *design.Entity, f *design.Field) (digits int, why string) {
	for _, x := range e.Counters {
		if of := c.design.Entity(x.Of); x.Field == f.Name && x.Sum == "" && of != nil && of.Volume.Per == e.Name {
			most := max(of.Volume.Typical, of.Volume.Max)
			return digitsOf(most), fmt.Sprintf("counts up to %.0f %s items", most, of.Name)
		}
	}
	var parent []string
	most, of := e.Volume.Count, e.Name+" items"
	if per := c.design.Entity(e.Volume.Per); per != nil {
		parent, most, of = ownerFields(e, per), max(e.Volume.Typical, e.Volume.Max), e.Name+" items of one "+per.Name
	}
	own := slices.DeleteFunc(slices.Clone(keyOf(e)), func(name string) bool { return slices.Contains(parent, name) })
	if len(own) != 1 || own[0] != f.Name {
		return 0, ""
	}
	return digitsOf(most - 1), fmt.Sprintf("numbers up to %.0f %s", most, of)
}

// digitsOf returns the number of digits of the greatest value; 0 if there is none.
func digitsOf(most float64) int {
	if most < 1 {
		return 0
	}
	return len(strconv.FormatFloat(math.Floor(most), 'f', 0, 64))
}

// separator checks ST105 for the literal after a value: "cafe premium#2" sorts before "cafe#1".
func (c *checker) separator(r *design.Read, p plan.Place, i int, relied []string) {
	k, ok := c.languagesOf(p)
	if !ok {
		return
	}
	d, found := k.sk[i].OutOfOrder()
	if !found || !d.Certain {
		return
	}
	field := ""
	for _, part := range k.sk[i].Parts() {
		if part.Name == d.Name {
			field = part.Field
		}
	}
	if slices.Contains(relied, field) {
		c.find("ST105", r.Name, r.Pos, "relies on the order of %s in %s, where the byte after the value sorts after some bytes that the value can contain", field, p).
			witness(fmt.Sprintf("%q comes before %q, but their keys sort the other way round", d.Shorter, d.Longer)).as(Info).report()
	}
}

// ties checks ST105 for indexes: items with the same key are in no particular order. The item's key fields, or an
// identifier of its own, would break the tie.
func (c *checker) ties(r *design.Read, p plan.Place) {
	if p.Index == nil || len(r.Order) == 0 {
		return
	}
	var there []string
	for _, t := range slices.Concat(p.PK, p.SK) {
		for _, part := range t.Parts {
			f := p.Entity.Field(part.Field)
			if f == nil || len(part.Funcs) > 0 && slices.Contains([]string{"shard", "band", "mod"}, part.Funcs[0].Name) {
				continue
			}
			there = append(there, f.Name)
		}
	}
	for _, name := range there {
		if plan.Own(c.design, p.Entity, p.Entity.Field(name)) {
			return
		}
	}
	var missing []string // of the item's key
	for _, name := range keyOf(p.Entity) {
		if !slices.Contains(there, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return
	}
	f := c.find("ST105", r.Name, r.Pos, "relies on the order of %s, where several items can have the same key: among those there is no order", p).as(Info)
	if _, sk := p.Attributes(); len(sk) > 0 && sk[len(sk)-1].Type == design.KeyString {
		f.fix("end the sort key with #{%s}", strings.Join(missing, "}#{"))
	}
	f.report()
}

// openPrefix checks ST206: a prefix condition on the sort key that also matches other values, because it ends with a
// value that others start with, or with a literal that a preceding value may contain.
func (c *checker) openPrefix(r *design.Read, p *plan.Plan, s plan.SortCondition) {
	if s.Comparison == plan.SortEqual || s.Parts == 0 {
		return
	}
	beginning, ok := c.beginning(p, s)
	if !ok {
		return
	}
	x, free := beginning.PrefixFree()
	if free {
		return
	}
	fields := strings.Join(fieldsIn(s.Template.Parts[:s.Parts]), ", ")
	find := func(format string, args ...any) *found {
		return c.find("ST206", r.Name, r.Pos, format, args...).witness(strconv.Quote(x.Shorter) + " also matches " + strconv.Quote(x.Longer))
	}
	last := s.Template.Parts[s.Parts-1]
	switch {
	case last.Field != "" && s.Comparison == plan.SortBeginsWith && s.Prefix == "":
		find("uses a prefix that ends with the value of %s: it also matches longer values", last.Field).
			fix("add a literal after {%s} in the template", last.Field).report()
	case last.Field == "":
		find("uses a prefix of %s and %q, but a value may contain %[2]q itself: it also matches other values", fields, last.Literal).as(Warning).unless(x.Certain).
			fix("give it a type that cannot contain %q, such as slug, uuid or an enum; or move it to the partition key", last.Literal).report()
	}
}

// beginning returns the language of the known prefix of a sort key condition. Fields that are also in the partition key
// have the same value in all items read.
func (c *checker) beginning(p *plan.Plan, s plan.SortCondition) (keylang.Language, bool) {
	same := templateFields(p.Place.PK)
	known := &design.Template{Text: s.Template.Text}
	for _, part := range s.Template.Parts[:s.Parts] {
		f := p.Place.Entity.Field(part.Field)
		if f != nil && slices.Contains(same, part.Field) {
			l, err := keylang.OfField(c.design, f, part.Funcs...)
			if err != nil {
				return l, false
			}
			one, _ := keylang.Intersect(l, l)
			part = design.Part{Literal: one.Text}
		}
		known.Parts = append(known.Parts, part)
	}
	t, err := keylang.OfTemplate(c.design, p.Place.Entity, known, design.KeyString)
	if err != nil {
		return keylang.Language{}, false
	}
	return t.Language(), true
}

func fieldsIn(parts []design.Part) []string {
	var out []string
	for _, part := range parts {
		if part.Field != "" {
			out = append(out, part.Field)
		}
	}
	return out
}
