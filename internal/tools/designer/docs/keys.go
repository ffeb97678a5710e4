package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// placesOf are the places of all entities in a table (index nil) or in one of its indexes.
func (p *page) placesOf(t *design.Table, x *design.Index) []plan.Place {
	var out []plan.Place
	for _, e := range p.design.Entities {
		if e.Table != t.Name {
			continue
		}
		for _, place := range plan.Places(p.design, e) {
			if place.Index == x {
				out = append(out, place)
			}
		}
	}
	return out
}

// kindOf names the kind of items at a place.
func kindOf(place plan.Place) string {
	switch place.Kind {
	case plan.CopyPlace:
		return place.Entity.Name + ", copy " + place.Name
	case plan.MarkerPlace:
		return place.Entity.Name + ", unique " + place.Name
	case plan.EntryPlace:
		if place.Copy != nil {
			return place.Entity.Name + ", copy " + place.Copy.Name
		}
		if place.Marker != nil {
			return place.Entity.Name + ", unique " + place.Marker.Name
		}
		if place.Entry != "" {
			return place.Entity.Name + ", entry " + place.Entry
		}
	default:
	}
	return place.Entity.Name
}

// partition is a set of places in one table or index with equivalent partition keys.
type partition struct {
	key    string
	places []plan.Place
}

// partitions groups places by the shape of their partition key: its literals, functions and types of fields.
func partitions(places []plan.Place) []partition {
	var out []partition
	var shapes []string
	for _, place := range places {
		shape := shapeOf(place)
		i := slices.Index(shapes, shape)
		if i < 0 {
			i = len(out)
			shapes = append(shapes, shape)
			out = append(out, partition{key: joined(place.PK)})
		}
		out[i].places = append(out[i].places, place)
	}
	return out
}

func shapeOf(place plan.Place) string {
	var out strings.Builder
	for _, t := range place.PK {
		for _, part := range t.Parts {
			if part.Field == "" {
				fmt.Fprintf(&out, "%q", part.Literal)
				continue
			}
			kind := "" // of a missing field, which check reports
			if f := place.Entity.Field(part.Field); f != nil {
				kind = f.Type.String()
			}
			fmt.Fprintf(&out, "{%s%v}", kind, part.Funcs)
		}
		out.WriteString("/")
	}
	return out.String()
}

// joined are the texts of templates, one for each key attribute.
func joined(list []*design.Template) string {
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = t.Text
	}
	return strings.Join(texts, " / ")
}

// itemCollections draws which items share a partition.
func (p *page) itemCollections() {
	p.heading(2, "Item collections")
	p.paragraph("Items in one box share a form of partition key: those with equal fields in it are in one partition, in sort key order, and one Query can return them.")
	lines := []string{"flowchart LR"}
	boxes, nodes := 0, 0
	box := func(title string, places []plan.Place) {
		if len(places) == 0 {
			return
		}
		boxes++
		lines = append(lines, fmt.Sprintf("    subgraph t%d[%s]", boxes, quoted(title)))
		for _, group := range partitions(places) {
			boxes++
			lines = append(lines, fmt.Sprintf("        subgraph p%d[%s]", boxes, quoted(group.key)))
			for _, place := range group.places {
				nodes++
				title := label(kindOf(place))
				if sk := joined(place.SK); sk != "" {
					title += "<br/>" + label(sk)
				}
				lines = append(lines, fmt.Sprintf("            n%d[\"%s\"]", nodes, title))
			}
			lines = append(lines, "        end")
		}
		lines = append(lines, "    end")
	}
	for _, t := range p.design.Tables {
		box(t.Name, p.placesOf(t, nil))
		for _, x := range t.Indexes {
			box(t.Name+", "+x.Name, p.placesOf(t, x))
		}
	}
	p.mermaid(lines)
}

// keys writes the key tables of tables and indexes.
func (p *page) keys() {
	p.heading(2, "Keys")
	for _, t := range p.design.Tables {
		p.heading(3, "Table "+t.Name)
		p.paragraph(keyAttributes("Primary key", plan.Place{Table: t}) + tableNotes(t))
		p.keyTable(p.placesOf(t, nil), t.TypeAttr)
		for _, x := range t.Indexes {
			kind := "Global"
			if x.Local {
				kind = "Local"
			}
			p.heading(3, "Index "+x.Name+" of "+t.Name)
			places := p.placesOf(t, x)
			p.paragraph(keyAttributes(kind+" index. Key", plan.Place{Table: t, Index: x}) + " " + projection(p.design, t, x))
			if len(places) == 0 {
				p.paragraph("No entity has an entry in it.")
			}
			p.keyTable(places, "")
		}
	}
}

func tableNotes(t *design.Table) string {
	var out string
	if t.TypeAttr != "" {
		out += " " + code(t.TypeAttr) + " is the entity of an item."
	}
	if t.TTLAttr != "" {
		out += " DynamoDB removes an item some time after its " + code(t.TTLAttr) + "."
	}
	return out
}

func keyAttributes(what string, place plan.Place) string {
	pk, sk := place.Attributes()
	names := func(list []design.KeyAttribute) string {
		out := make([]string, len(list))
		for i, a := range list {
			out[i] = code(a.Name) + " (" + string(a.Type) + ")"
		}
		return strings.Join(out, ", ")
	}
	out := what + ": partition " + names(pk)
	if len(sk) > 0 {
		out += ", sort " + names(sk)
	}
	return out + "."
}

func projection(d *design.Design, t *design.Table, x *design.Index) string {
	switch {
	case x.Project.All:
		return "Projection: ALL."
	case len(x.Project.Fields) == 0:
		return "Projection: KEYS_ONLY."
	}
	var attributes []string
	for _, name := range x.Project.Fields {
		for _, e := range d.Entities {
			if f := e.Field(name); e.Table == t.Name && f != nil && !slices.Contains(attributes, f.Attribute()) {
				attributes = append(attributes, f.Attribute())
			}
		}
	}
	return "Projection: INCLUDE " + codes(attributes) + "."
}

// keyTable writes places with their key templates, one column for each key attribute.
func (p *page) keyTable(places []plan.Place, typeAttr string) {
	if len(places) == 0 {
		return
	}
	pk, sk := places[0].Attributes()
	t := table{head: []string{"Item"}}
	for _, a := range slices.Concat(pk, sk) {
		t.head = append(t.head, code(a.Name))
	}
	t.head = append(t.head, "Only where", "Has", code(typeAttr))
	for _, place := range places {
		cells := []string{text(kindOf(place))}
		for i := range pk {
			cells = append(cells, templateAt(place.PK, i))
		}
		for i := range sk {
			cells = append(cells, templateAt(place.SK, i))
		}
		where, typeValue := "", ""
		if place.Where != nil {
			where = code(place.Where.Text)
		}
		if typeAttr != "" && place.Kind != plan.MarkerPlace {
			typeValue = code(place.Entity.TypeValue)
		}
		t.row(append(cells, where, held(place), typeValue)...)
	}
	p.table(t)
}

func templateAt(list []*design.Template, i int) string {
	if i >= len(list) {
		return ""
	}
	return code(list[i].Text)
}

// held describes which of the entity's fields an item at the place has.
func held(place plan.Place) string {
	var names []string
	for _, f := range place.Entity.Fields {
		if place.Has(f.Name) {
			names = append(names, f.Name)
		}
	}
	switch {
	case len(names) == len(place.Entity.Fields):
		return "all fields"
	case len(names) == 0:
		return "keys only"
	default:
		return codes(names)
	}
}
