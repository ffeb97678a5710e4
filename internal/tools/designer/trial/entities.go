package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// collision is a pair of items of different records with the same primary key.
type collision struct {
	first, second *record
	key           string
	places        [2]string
}

// storable are the records that can be stored together: without those that share a key with an earlier one.
func (t *Trial) storable(all []*record) (out []*record, collided []collision) {
	type taken struct {
		by    *record
		place string
	}
	keys := map[string]taken{}
	for _, r := range all {
		items, err := r.items()
		if err != nil {
			continue // a generated record is storable; an overflowing counter is not
		}
		places := placeNames(r.entity)
		var clash *collision
		for i, it := range items {
			if known, is := keys[keyOf(r.run.Table, it)]; is && known.by != r {
				clash = &collision{known.by, r, tableKey(r.run.Table, it), [2]string{known.place, places[i]}}
			}
		}
		if clash != nil {
			if !t.repeatsID(clash.first, r) {
				collided = append(collided, *clash)
			}
			continue
		}
		for i, it := range items {
			keys[keyOf(r.run.Table, it)] = taken{r, places[i]}
		}
		out = append(out, r)
	}
	count(t.program, out)
	return out, collided
}

// repeatsID reports whether two items have the same value of an identifier that is generated for each item, so that both cannot
// exist.
func (t *Trial) repeatsID(a, b *record) bool {
	return a.entity == b.entity && slices.ContainsFunc(plan.KeyFields(a.entity), func(name string) bool {
		f := a.entity.Field(name)
		return f != nil && plan.Own(t.design, a.entity, f) && equal(a.values[name], b.values[name])
	})
}

// placeNames are the places of an entity in its table, in the order in which table.Items has their items.
func placeNames(e *design.Entity) []string {
	out := []string{e.Name}
	for _, c := range e.Copies {
		out = append(out, e.Name+"."+c.Name)
	}
	for _, m := range e.Unique {
		out = append(out, e.Name+"."+m.Name)
	}
	return out
}

// tableKey is an item's primary key as readable text.
func tableKey(t *table.Table, it table.Item) string {
	out := t.PK.Name + "=" + show(it[t.PK.Name])
	if t.SK.Name != "" {
		out += " " + t.SK.Name + "=" + show(it[t.SK.Name])
	}
	return out
}

// entity tests what all patterns rely on: that items of an entity can be stored, that no two have the same key, and that
// each is recognized as an item of its entity.
func (t *Trial) entity(name string, out *Result) {
	for _, r := range t.none {
		if r.entity.Name == name {
			out.fail(Failure{Pattern: name, Kind: Failed, Got: r.Error(), Want: "items"})
		}
	}
	met := map[[2]string]bool{}
	for _, c := range t.collided {
		if c.second.entity.Name != name {
			continue
		}
		out.Cases++
		out.Failed++
		if met[c.places] {
			continue
		}
		met[c.places] = true
		out.Failures = append(out.Failures, Failure{
			Pattern: name, Kind: Collision, Got: fmt.Sprintf("%s and %s have the same key, %s", c.places[0], c.places[1], c.key),
			Want: "distinct keys", Items: append(c.first.lines(nil, nil), c.second.lines(nil, nil)...),
		})
	}
	for _, r := range t.records {
		if r.entity.Name == name {
			t.recognised(r, out)
		}
	}
}

// recognised checks which entity each item of a record is recognized as.
func (t *Trial) recognised(r *record, out *Result) {
	items, err := r.items()
	if err != nil {
		return // it was stored, so there is no error
	}
	places := placeNames(r.entity)
	for i, it := range items {
		out.Cases++
		var of []*table.Entity
		for _, e := range t.program.Entities {
			if e.Table == r.run.Table {
				of = append(of, e)
			}
		}
		e, place, _ := table.Recognize(of, it)
		taken := "nothing"
		if e != nil {
			taken = strings.TrimSuffix(e.Name+"."+place.Copy+place.Marker, ".")
		}
		if taken == places[i] {
			continue
		}
		out.Failed++
		if len(out.Failures) == 0 {
			out.Failures = append(out.Failures, Failure{
				Pattern: r.entity.Name, Kind: Mistaken, Got: fmt.Sprintf("%s mistaken for %s: %s", places[i], taken, tableKey(r.run.Table, it)),
				Want: "recognised correctly", Items: r.lines(templateFields(t.design, r.entity), nil),
			})
		}
	}
}

// lines describes a record with some of its fields besides those of its key, and its keys: those at a place of its own, or
// otherwise those of all of its items.
func (r *record) lines(names []string, at *plan.Place) []string {
	items, err := r.items()
	if err != nil {
		return []string{r.entity.Name + " " + err.Error()}
	}
	out := []string{r.entity.Name + " " + showFields(r.values, distinct(append(plan.KeyFields(r.entity), names...)))}
	for i, it := range items {
		place := placeNames(r.entity)[i]
		if at != nil && at.Entity == r.entity && i != placeNumber(*at) {
			continue
		}
		text := "  " + tableKey(r.run.Table, it)
		if i > 0 {
			text = "  " + place + " " + tableKey(r.run.Table, it)
		}
		for _, p := range r.entity.Entries {
			if place != strings.TrimSuffix(r.entity.Name+"."+p.Of, ".") || at != nil && (at.Index == nil || at.Index.Name != p.Index) {
				continue
			}
			if first := r.entity.Several(p.Index, p.Of); first != nil && first[0] != p {
				continue // the attributes are equal
			}
			index := r.home.Index(p.Index)
			for _, k := range slices.Concat(index.PK, index.SK) {
				if v := it[k.Name]; v != nil {
					text += " " + k.Name + "=" + show(v)
				}
			}
		}
		out = append(out, text)
	}
	return out
}

// placeNumber is the position of a place's item in the result of table.Items.
func placeNumber(p plan.Place) int {
	switch {
	case p.Kind == plan.MarkerPlace:
		return 1 + len(p.Entity.Copies) + slices.IndexFunc(p.Entity.Unique, func(m *design.Marker) bool { return m.Name == p.Name })
	case p.Copy != nil:
		return 1 + slices.Index(p.Entity.Copies, p.Copy)
	default:
		return 0
	}
}

// templateFields are the fields that an entity's keys contain.
func templateFields(d *design.Design, e *design.Entity) []string {
	var out []string
	for _, p := range plan.Places(d, e) {
		for _, t := range slices.Concat(p.PK, p.SK) {
			out = append(out, t.Fields()...)
		}
	}
	return out
}
