package trial

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

const (
	// pageBytes is the size at which DynamoDB ends a page.
	pageBytes = 1 << 20
	// largeItems is the minimum number of items in a large partition, and largeBytes the maximum size of each.
	largeItems = 8
	largeBytes = 300 << 10
)

// exceedPage makes one partition of an entity larger than one of DynamoDB's pages: it lengthens a text on which nothing else
// depends, in items that a read of a list returns together. One entity per design is enough.
func (g *generator) exceedPage(records []*record) {
	for _, r := range g.program.Reads {
		f := g.filler(r.Plan.Place.Entity)
		if !r.Design.Many || f == nil || !r.Plan.Place.Has(f.Name) || r.Plan.Operation != plan.Query {
			continue
		}
		a := questionGenerator{truth: newTruth(g.program.Design, r, g.now), generator: g, rng: g.rng}
		for _, one := range records {
			if one.entity.Name == r.Design.Entity && a.enters(one) {
				a.records = append(a.records, one)
			}
		}
		groups := a.groups()
		if len(groups) == 0 || len(groups[0]) < largeItems {
			continue
		}
		each := min(pageBytes*5/4/len(groups[0]), largeBytes)
		for i, one := range groups[0] {
			one.give(f.Name, largeValue(f.Type, each, i))
		}
		return
	}
}

// largeValue is a text of a given size, or a list with one.
func largeValue(t design.Type, bytes, i int) types.AttributeValue {
	text := textValue(strings.Repeat(string(rune('a'+i%26)), bytes))
	if t.Kind == design.KindList {
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{text}}
	}
	return text
}

// filler is a field that can be as long as an item allows, and on which neither keys nor patterns depend; nil if an entity has
// none.
func (g *generator) filler(e *design.Entity) *design.Field {
	d := g.program.Design
	var used []string
	for _, place := range plan.Places(d, e) {
		for _, t := range slices.Concat(place.PK, place.SK) {
			used = append(used, t.Fields()...)
		}
		used = append(used, place.Where.Fields()...)
	}
	for _, r := range d.Reads {
		if r.Entity == e.Name {
			used = append(append(append(used, r.By...), r.Filter.Fields()...), r.Prefix, r.Range, r.Owner)
			for _, o := range r.Order {
				used = append(used, o.Field)
			}
		}
	}
	for _, holder := range d.Entities {
		for _, c := range holder.Counters {
			if c.Of == e.Name {
				used = append(append(used, c.Where.Fields()...), c.Sum)
			}
		}
	}
	i := slices.IndexFunc(e.Fields, func(f *design.Field) bool {
		text := f.Type.Kind == design.KindText || f.Type.Kind == design.KindList && f.Type.Elem.Kind == design.KindText
		return text && f.MaxBytes == 0 && !slices.Contains(used, f.Name)
	})
	if i < 0 {
		return nil
	}
	return e.Fields[i]
}
