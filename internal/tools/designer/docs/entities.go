package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/plural"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// entities writes the diagram of entities, then each with its fields.
func (p *page) entities() {
	d := p.design
	p.heading(2, "Entities")
	p.mermaid(p.relations())
	all := table{head: []string{"Entity", "Description", "Number", "Bytes", "Expires"}}
	for _, e := range d.Entities {
		all.row(code(e.Name), text(e.Doc), p.volume(e), given(float64(e.Volume.Size)), expiry(e))
	}
	p.table(all)
	for _, e := range d.Entities {
		p.heading(3, "Entity "+e.Name)
		p.paragraph(text(e.Doc))
		fields := table{head: []string{"Field", "Type", "Attribute", "Optional", "Description"}}
		for _, f := range e.Fields {
			optional := ""
			if f.Optional {
				optional = "yes"
			}
			fields.row(code(f.Name), code(f.Type.String()), code(strings.Join(f.Path, ".")), optional, p.about(e, f))
		}
		p.table(fields)
	}
	p.types()
}

// types writes the enumerations and structures.
func (p *page) types() {
	d := p.design
	if len(d.Enums)+len(d.Structs) == 0 {
		return
	}
	p.heading(3, "Types")
	all := table{head: []string{"Type", "Values", "Description"}}
	for _, e := range d.Enums {
		all.row(code(e.Name), codes(e.Values), text(e.Doc))
	}
	p.table(all)
	for _, s := range d.Structs {
		fields := table{head: []string{"Field of " + code(s.Name), "Type", "Attribute", "Optional", "Description"}}
		for _, f := range s.Fields {
			optional := ""
			if f.Optional {
				optional = "yes"
			}
			fields.row(code(f.Name), code(f.Type.String()), code(strings.Join(f.Path, ".")), optional, text(f.Doc))
		}
		p.paragraph(text(s.Doc))
		p.table(fields)
	}
}

// volume describes the number of items of an entity.
func (p *page) volume(e *design.Entity) string {
	v := e.Volume
	var parts []string
	switch {
	case v.Per != "":
		if v.Typical > 0 {
			parts = append(parts, number(v.Typical)+" per "+v.Per)
		}
		if v.Max > 0 {
			parts = append(parts, "at most "+number(v.Max))
		}
		if n := cost.Items(p.design, e); n > 0 {
			parts = append(parts, number(n)+" in all")
		}
	case v.Count > 0:
		parts = append(parts, number(v.Count))
		if v.Max > 0 {
			parts = append(parts, "at most "+number(v.Max))
		}
	}
	if v.Hottest > 0 {
		parts = append(parts, fmt.Sprintf("%g %% of the calls go to the busiest", 100*v.Hottest))
	}
	return text(strings.Join(parts, ", "))
}

func expiry(e *design.Entity) string {
	switch {
	case e.TTL == nil:
		return ""
	case e.TTL.After == 0:
		return "at " + code(e.TTL.Field)
	default:
		return age(e.TTL) + " after creation"
	}
}

// age is the lifetime of items, in the largest unit of which it is a whole multiple.
func age(ttl *design.TTL) string {
	seconds := int(ttl.After.Seconds())
	for _, unit := range []struct {
		seconds int
		name    string
	}{{86400, "day"}, {3600, "hour"}, {60, "minute"}} {
		if seconds%unit.seconds == 0 {
			return plural.Of(seconds/unit.seconds, unit.name)
		}
	}
	return plural.Of(seconds, "second")
}

// about describes a field.
func (p *page) about(e *design.Entity, f *design.Field) string {
	var parts []string
	if f.Doc != "" {
		parts = append(parts, text(sentence(f.Doc)))
	}
	if slices.Contains(plan.KeyFields(e), f.Name) {
		parts = append(parts, "In the primary key.")
	}
	var indexes []string
	for _, place := range plan.Places(p.design, e) {
		switch {
		case !inTemplates(place, f.Name):
		case place.Kind == plan.EntryPlace:
			indexes = append(indexes, place.Name)
		case place.Kind == plan.CopyPlace:
			parts = append(parts, "In the key of the copy "+code(place.Name)+".")
		case place.Kind == plan.MarkerPlace:
			parts = append(parts, "In the unique key "+code(place.Name)+".")
		default:
		}
	}
	if len(indexes) > 0 {
		parts = append(parts, "In the key of "+codes(slices.Compact(indexes))+".")
	}
	for _, c := range e.Counters {
		if c.Field == f.Name {
			parts = append(parts, sentence(counts(c)))
		}
	}
	for _, r := range e.Refs {
		if r.Field == f.Name {
			parts = append(parts, "The "+strings.Join(referred(r), " or the ")+".")
		}
	}
	for _, s := range e.Snapshots {
		if s.Field == f.Name {
			parts = append(parts, "Snapshot of "+code(s.Entity+"."+s.From)+" when the item was created.")
		}
	}
	if e.TTL != nil && e.TTL.Field == f.Name {
		parts = append(parts, "The time at which the item expires.")
	}
	if f.Type.Kind == design.KindSecret {
		parts = append(parts, "Secret: never in an index, copy or log.")
	}
	switch {
	case f.MinBytes == 1:
		parts = append(parts, "Never empty.")
	case f.MinBytes > 1:
		parts = append(parts, fmt.Sprintf("At least %s bytes.", number(float64(f.MinBytes))))
	}
	if f.MaxBytes > 0 {
		parts = append(parts, fmt.Sprintf("At most %s bytes.", number(float64(f.MaxBytes))))
	}
	return strings.Join(parts, " ")
}

func skFields(k design.Key) []string {
	if k.SK == nil {
		return nil
	}
	return k.SK.Fields()
}

func inTemplates(place plan.Place, field string) bool {
	return slices.ContainsFunc(slices.Concat(place.PK, place.SK), func(t *design.Template) bool {
		return slices.Contains(t.Fields(), field)
	})
}

// counts describes a counter.
func counts(c *design.Counter) string {
	what := "how many " + code(c.Of) + " items there are"
	if c.Sum != "" {
		what = "the sum of " + code(c.Of+"."+c.Sum)
	}
	if c.By != "" {
		what += " with this item as their " + code(c.By)
	}
	if c.Where != nil {
		what += " where " + code(c.Where.Text)
	}
	return what
}

// referred are the keys to which a reference can refer: "postId of a Post".
func referred(r design.Ref) []string {
	var out []string
	for _, t := range r.To {
		out = append(out, code(t.Field)+" of "+code(t.Entity))
	}
	return out
}

// relations are the lines of the entity diagram.
func (p *page) relations() []string {
	d := p.design
	lines := []string{"erDiagram"}
	for _, e := range d.Entities {
		lines = append(lines, "    "+quoted(e.Name)+" {")
		for _, f := range e.Fields {
			lines = append(lines, "        "+p.attribute(e, f))
		}
		lines = append(lines, "    }")
	}
	relate := func(from, how, to, why string) {
		lines = append(lines, "    "+quoted(from)+" "+how+" "+quoted(to)+" : "+quoted(why))
	}
	for _, e := range d.Entities {
		if v := e.Volume; v.Per != "" {
			how := "||--o{"
			if v.Max == 1 {
				how = "||--o|"
			}
			relate(v.Per, how, e.Name, strings.Trim(given(v.Typical)+" to "+given(v.Max), " to"))
		}
		for _, c := range e.Copies {
			relate(e.Name, "||--||", e.Name+"."+c.Name, "copy")
		}
		for _, m := range e.Unique {
			relate(e.Name, "||--||", e.Name+"."+m.Name, "unique")
		}
		for _, c := range e.Counters {
			relate(e.Name, "||..o{", c.Of, c.Field+" counts")
		}
		for _, r := range e.Refs {
			for _, t := range r.To {
				how := "||--o{"
				if len(r.To) > 1 || e.Field(r.Field).Optional {
					how = "|o--o{"
				}
				relate(t.Entity, how, e.Name, r.Field)
			}
		}
		var from []string
		for _, s := range e.Snapshots {
			if slices.Contains(from, s.Entity) {
				continue
			}
			from = append(from, s.Entity)
			var fields []string
			for _, other := range e.Snapshots {
				if other.Entity == s.Entity {
					fields = append(fields, other.From)
				}
			}
			relate(s.Entity, "||..o{", e.Name, "snapshot of "+strings.Join(fields, ", "))
		}
		if e.Duplicates != "" {
			relate(e.Duplicates, "||..o{", e.Name, "duplicated without sync")
		}
	}
	return lines
}

// attribute is a field in the entity diagram, whose types must not contain angle brackets.
func (p *page) attribute(e *design.Entity, f *design.Field) string {
	var keys []string
	if slices.Contains(plan.KeyFields(e), f.Name) {
		keys = append(keys, "PK")
	}
	parent := p.design.Entity(e.Volume.Per)
	if parent != nil && parent != e && slices.ContainsFunc(design.Belongs(e, parent), func(j design.Join) bool { return j.A == f.Name }) ||
		slices.ContainsFunc(e.Refs, func(r design.Ref) bool { return r.Field == f.Name }) {
		keys = append(keys, "FK")
	}
	for _, m := range e.Unique {
		if slices.Contains(append(m.Key.PK.Fields(), skFields(m.Key)...), f.Name) && !slices.Contains(keys, "UK") {
			keys = append(keys, "UK")
		}
	}
	out := attributeWord(strings.NewReplacer("<", "[", ">", "]").Replace(f.Type.String())) + " " + attributeWord(f.Name)
	if len(keys) > 0 {
		out += " " + strings.Join(keys, ", ")
	}
	if f.Optional {
		out += ` "optional"`
	}
	return out
}

// attributeWord is a word of an attribute in the entity diagram, where PK, FK and UK in any case are markers of keys, and another
// place for them ends the whole diagram with a syntax error.
func attributeWord(name string) string {
	if slices.Contains([]string{"PK", "FK", "UK"}, strings.ToUpper(name)) {
		return "_" + name
	}
	return name
}
