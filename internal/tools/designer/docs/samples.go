package docs

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
	"github.com/monotable/monotable/internal/tools/designer/plan"
	"github.com/monotable/monotable/internal/tools/designer/render"
)

// row is a sample as stored in a table or index.
type row struct {
	pk, sk []string // the texts of the key attributes
	place  plan.Place
	// attributes are the item's attributes besides the key, as Markdown.
	attributes []string
}

// samples shows the sample items in the partitions of their tables and indexes.
func (p *page) samples() {
	d := p.design
	if len(d.Samples) == 0 {
		return
	}
	p.heading(2, "Sample partitions")
	var faults []string
	for _, t := range d.Tables {
		for _, x := range append([]*design.Index{nil}, t.Indexes...) {
			rows, wrong := p.rowsAt(t, x)
			for _, w := range wrong {
				if !slices.Contains(faults, w) {
					faults = append(faults, w)
				}
			}
			if len(rows) == 0 {
				continue
			}
			title := t.Name
			if x != nil {
				title += ", " + x.Name
			}
			p.heading(3, title)
			p.rows(plan.Place{Table: t, Index: x}, rows)
		}
	}
	if len(faults) > 0 {
		p.paragraph("Omitted, because the key cannot be rendered:")
		p.list(faults)
	}
}

// rowsAt are the samples' items in a table, or entries in an index, ordered by key, and the samples that should have
// one there and have none.
func (p *page) rowsAt(t *design.Table, x *design.Index) (rows []row, faults []string) {
	d := p.design
	for i, s := range d.Samples {
		e := d.Entity(s.Entity)
		if e == nil || e.Table != t.Name {
			continue
		}
		places := plan.Places(d, e)
		if _, err := p.rowOf(s, places[0]); err != nil {
			faults = append(faults, fmt.Sprintf("sample %d, %s: %s", i+1, code(e.Name), text(err.Error())))
			continue // without a key there are no copies, markers and entries
		}
		for _, place := range places {
			if place.Index != x || x != nil && !p.entered(s, place) {
				continue
			}
			r, err := p.rowOf(s, place)
			if err != nil {
				faults = append(faults, fmt.Sprintf("sample %d, %s: %s", i+1, code(place.String()), text(err.Error())))
				continue
			}
			rows = append(rows, r)
		}
	}
	pk, sk := plan.Place{Table: t, Index: x}.Attributes()
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(compareKeys(pk, a.pk, b.pk), compareKeys(sk, a.sk, b.sk))
	})
	return rows, faults
}

// compareKeys orders keys like DynamoDB's sort keys: strings and bytes by their bytes, numbers by value. Partitions
// have no order of their own, and are shown in the same order.
func compareKeys(attributes []design.KeyAttribute, a, b []string) int {
	for i, attribute := range attributes {
		if i >= len(a) || i >= len(b) {
			break
		}
		order := cmp.Compare(a[i], b[i])
		if attribute.Type == design.KeyNumber {
			order = decimal.ParseCanonical(a[i]).Cmp(decimal.ParseCanonical(b[i]))
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// entered reports whether a sample has an entry: its condition holds, and the fields of every key attribute exist.
func (p *page) entered(s *design.Sample, place plan.Place) bool {
	for _, t := range slices.Concat(place.PK, place.SK) {
		for _, name := range t.Fields() {
			f := place.Entity.Field(name)
			if _, given := s.Values[name]; !given && (f == nil || f.Optional) {
				return false
			}
		}
	}
	return judge(place.Where, func(name string) operand {
		f := place.Entity.Field(name)
		if f == nil {
			return operand{}
		}
		v, isGiven := s.Values[name]
		if !isGiven {
			return operand{absent: f.Optional}
		}
		kind := constantKind(f.Type)
		value, err := render.Text(f.Type, v)
		if kind == 0 || err != nil {
			return operand{}
		}
		return operand{known: true, value: design.Constant{Kind: kind, Text: value}}
	}) == yes
}

// rowOf renders a sample at a place.
func (p *page) rowOf(s *design.Sample, place plan.Place) (row, error) {
	r := row{place: place}
	pk, sk := place.Attributes()
	for _, part := range []struct {
		attributes []design.KeyAttribute
		templates  []*design.Template
		to         *[]string
	}{{pk, place.PK, &r.pk}, {sk, place.SK, &r.sk}} {
		for i, t := range part.templates {
			key, err := render.Key(place.Entity, t, part.attributes[i].Type, s.Values)
			if err != nil {
				return row{}, err
			}
			*part.to = append(*part.to, key)
		}
	}
	if t := place.Table; t.TypeAttr != "" && place.Index == nil && place.Kind != plan.MarkerPlace {
		r.attributes = append(r.attributes, code(t.TypeAttr)+" "+code(place.Entity.TypeValue))
	}
	keys := slices.Concat(pk, sk)
	for _, f := range place.Entity.Fields {
		v, isGiven := s.Values[f.Name]
		isKey := slices.ContainsFunc(keys, func(k design.KeyAttribute) bool { return k.Name == f.Attribute() && !f.Nested() })
		if isGiven && place.Has(f.Name) && !isKey {
			r.attributes = append(r.attributes, code(strings.Join(f.Path, "."))+" "+code(p.shown(f.Type, v)))
		}
	}
	if place.Index == nil && place.Kind != plan.MarkerPlace {
		r.attributes = append(r.attributes, p.indexKeys(s, place)...)
	}
	return r, nil
}

// indexKeys are an item's attributes for its index entries, besides its fields.
func (p *page) indexKeys(s *design.Sample, of plan.Place) []string {
	var out []string
	for _, place := range plan.Places(p.design, of.Entity) {
		if place.Kind != plan.EntryPlace || place.Copy != of.Copy || !p.entered(s, place) {
			continue
		}
		pk, sk := place.Attributes()
		for i, t := range slices.Concat(place.PK, place.SK) {
			attribute := slices.Concat(pk, sk)[i]
			own := attribute.Name == of.Table.PK.Name || of.Table.SK != nil && attribute.Name == of.Table.SK.Name ||
				slices.ContainsFunc(of.Entity.Fields, func(f *design.Field) bool { return f.Attribute() == attribute.Name })
			key, err := render.Key(of.Entity, t, attribute.Type, s.Values)
			if err == nil && !own {
				out = append(out, code(attribute.Name)+" "+code(keyShown(attribute, key)))
			}
		}
	}
	return out
}

// rows writes the table of a place, naming each partition once.
func (p *page) rows(at plan.Place, rows []row) {
	pk, sk := at.Attributes()
	t := table{}
	for _, a := range slices.Concat(pk, sk) {
		t.head = append(t.head, code(a.Name))
	}
	t.head = append(t.head, "Item", "Attributes")
	for i, r := range rows {
		var cells []string
		for j, key := range r.pk {
			cell := code(keyShown(pk[j], key))
			if i > 0 && slices.Equal(rows[i-1].pk, r.pk) {
				cell = ""
			}
			cells = append(cells, cell)
		}
		for j := range sk {
			cell := ""
			if j < len(r.sk) {
				cell = code(keyShown(sk[j], r.sk[j]))
			}
			cells = append(cells, cell)
		}
		t.row(append(cells, text(kindOf(r.place)), strings.Join(r.attributes, ", "))...)
	}
	p.table(t)
}

// keyShown formats a key attribute's value: bytes as base64.
func keyShown(a design.KeyAttribute, key string) string {
	if a.Type == design.KeyBinary {
		return base64.StdEncoding.EncodeToString([]byte(key))
	}
	return key
}

// shown formats a sample's value as stored. Secrets are not shown.
func (p *page) shown(t design.Type, v design.Literal) string {
	switch {
	case t.Kind == design.KindSecret:
		return "…"
	case v.Null:
		return "null"
	case v.List != nil:
		items := make([]string, len(v.List))
		for i, item := range v.List {
			items[i] = p.shown(p.within(t, ""), item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case v.Map != nil:
		var members []string
		for _, name := range slices.Sorted(maps.Keys(v.Map)) {
			members = append(members, name+": "+p.shown(p.within(t, name), v.Map[name]))
		}
		return "{" + strings.Join(members, ", ") + "}"
	}
	if stored, err := render.Text(t, v); err == nil && t.Kind != design.KindBytes {
		return stored
	}
	return v.Text
}

// within is the type of a member of a list, map or structure; text if it is not declared.
func (p *page) within(t design.Type, name string) design.Type {
	if t.Elem != nil {
		return *t.Elem
	}
	if s := p.design.Struct(t.Name); t.Kind == design.KindStruct && s != nil {
		for _, f := range s.Fields {
			if f.Name == name {
				return f.Type
			}
		}
	}
	return design.Type{Kind: design.KindText}
}
