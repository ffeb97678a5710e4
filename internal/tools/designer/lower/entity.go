package lower

import (
	"cmp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/expression"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

func (l *lowerer) table(t *design.Table) {
	out := &table.Table{Name: t.Name, Physical: cmp.Or(t.Physical, t.Name), PK: attribute(t.PK), TypeAttr: t.TypeAttr, TTLAttr: t.TTLAttr}
	if t.SK != nil {
		out.SK = attribute(*t.SK)
	}
	l.tables[t.Name] = out
	l.program.Tables = append(l.program.Tables, out)
}

func attribute(k design.KeyAttribute) table.Attribute {
	return table.Attribute{Name: k.Name, Type: types.ScalarAttributeType(k.Type)}
}

func (l *lowerer) entity(e *design.Entity) {
	d := l.program.Design
	t := d.TableOf(e)
	out := l.entities[e.Name]
	out.Table, out.TypeValue, out.Fields = l.tables[t.Name], e.TypeValue, l.fields(e.Fields)
	for i, f := range e.Fields {
		out.Fields[i].Counter = slices.ContainsFunc(e.Counters, func(c *design.Counter) bool { return c.Field == f.Name })
	}
	out.Key = l.key(e, t, e.Key)
	for _, c := range e.Copies {
		copied := table.Copy{Name: c.Name, Key: l.key(e, t, c.Key), Entries: l.entries(e, t, c.Name)}
		if !c.All {
			copied.Fields = c.Fields
			if copied.Fields == nil {
				copied.Fields = []string{}
			}
		}
		out.Copies = append(out.Copies, copied)
	}
	out.Entries = l.entries(e, t, "")
	for _, m := range e.Unique {
		out.Markers = append(out.Markers, table.Marker{Name: m.Name, Key: l.key(e, t, m.Key)})
	}
	if e.TTL != nil {
		out.TTL = &table.TTL{Field: e.TTL.Field, After: e.TTL.After}
	}
	for _, holder := range d.Entities {
		for _, c := range holder.Counters {
			if c.Of == e.Name {
				out.Counts = append(out.Counts, table.Count{
					Entity: l.entities[holder.Name], Field: c.Field, Sum: c.Sum, By: renamed(design.Owner(e, holder, c.By)), Where: l.condition(e, c.Where, nil),
				})
			}
		}
	}
}

// renamed maps the fields of an owner's key to the item's fields with other names; nil if there are none.
func renamed(joins []design.Join) map[string]string {
	var out map[string]string
	for _, j := range joins {
		if j.A != j.B {
			if out == nil {
				out = map[string]string{}
			}
			out[j.B] = j.A
		}
	}
	return out
}

func (l *lowerer) key(e *design.Entity, t *design.Table, k design.Key) []table.KeyAttribute {
	out := []table.KeyAttribute{keyAttribute(e, t.PK, k.PK)}
	if t.SK != nil && k.SK != nil {
		out = append(out, keyAttribute(e, *t.SK, k.SK))
	}
	return out
}

func (l *lowerer) entries(e *design.Entity, t *design.Table, of string) []table.Entry {
	var out []table.Entry
	for _, x := range e.Entries {
		if x.Of != of {
			continue
		}
		out = append(out, l.entry(e, t.Index(x.Index), x.Name, x.PK, x.SK, x.Where))
	}
	for _, p := range l.asked {
		if p.Entity == e && (p.Copy == nil && of == "" || p.Copy != nil && p.Copy.Name == of) {
			out = append(out, l.entry(e, p.Index, p.Entry, p.PK, p.SK, p.Where))
		}
	}
	return out
}

// exclusive rejects two entries in one index that can both apply: the item would need the keys of both.
func (l *lowerer) exclusive(e *design.Entity) {
	for i, x := range e.Entries {
		for _, y := range e.Entries[:i] {
			if x.Index != y.Index || x.Of != y.Of {
				continue
			}
			if item, decided := expression.Overlap(l.program.Design, e, y.Where, x.Where); item != "" {
				l.fault(e.Name, x.Pos, "has the entries %s and %s, whose conditions both hold for %s", y.Place(), x.Place(), item)
			} else if !decided {
				l.fault(e.Name, x.Pos, "has the entries %s and %s, whose conditions may both hold: only comparisons of scalar fields with constants can be decided", y.Place(), x.Place())
			}
		}
	}
}

func (l *lowerer) entry(e *design.Entity, x *design.Index, name string, pk, sk []*design.Template, where *design.Condition) table.Entry {
	return table.Entry{Index: x.Name, Name: name, PK: keyAttributes(e, x.PK, pk), SK: keyAttributes(e, x.SK, sk), Where: l.condition(e, where, nil)}
}

// undeclared finds the entries that reads use although the design does not declare them. They need descriptors; other
// undeclared entries do not, because their attributes are written for other reasons.
func (l *lowerer) undeclared() {
	ask := func(p plan.Place) {
		known := slices.ContainsFunc(l.asked, func(q plan.Place) bool { return q.Entity == p.Entity && q.Index == p.Index && q.Copy == p.Copy })
		if p.Undeclared && !known {
			l.asked = append(l.asked, p)
		}
	}
	for _, r := range l.program.Design.Reads {
		ask(plan.ForRead(l.program.Design, r).Plan.Place)
	}
	plan.ForPerson(l.program.Design).Each(func(part *plan.PersonPart) {
		if part.Plan != nil {
			ask(part.Plan.Place)
		}
	})
	for _, c := range l.program.Design.Collections {
		for _, member := range plan.ForCollection(l.program.Design, c).Members {
			ask(member)
		}
	}
}

func keyAttributes(e *design.Entity, attributes []design.KeyAttribute, templates []*design.Template) []table.KeyAttribute {
	var out []table.KeyAttribute
	for i, t := range templates {
		out = append(out, keyAttribute(e, attributes[i], t))
	}
	return out
}

func keyAttribute(e *design.Entity, k design.KeyAttribute, t *design.Template) table.KeyAttribute {
	out := table.KeyAttribute{Attribute: attribute(k), Template: template(t)}
	if len(t.Parts) == 1 && len(t.Parts[0].Funcs) == 0 {
		if f := e.Field(t.Parts[0].Field); f != nil && !f.Nested() && f.Attribute() == k.Name {
			out.Field = f.Name
		}
	}
	return out
}

func template(t *design.Template) table.Template { return parts(t.Parts) }

func parts(list []design.Part) table.Template {
	out := make(table.Template, len(list))
	for i, p := range list {
		out[i] = part(p)
	}
	return out
}

func part(p design.Part) table.Part {
	out := table.Part{Literal: p.Literal, Field: p.Field}
	for _, f := range p.Funcs {
		out.Funcs = append(out.Funcs, table.Func{Name: f.Name, Arg: f.Arg})
	}
	return out
}

func (l *lowerer) fields(list []*design.Field) []table.Field {
	out := make([]table.Field, len(list))
	for i, f := range list {
		out[i] = table.Field{Name: f.Name, Path: f.Path, Type: l.typeOf(f.Type), Optional: f.Optional, MaxBytes: f.MaxBytes, MinBytes: f.MinBytes}
	}
	return out
}

func (l *lowerer) typeOf(t design.Type) table.Type {
	out := table.Type{Kind: table.Kind(t.Kind)}
	switch t.Kind {
	case design.KindEnum:
		out.Enum = l.program.Design.Enum(t.Name).Values
	case design.KindStruct:
		fields, known := l.structs[t.Name]
		if !known {
			fields = new([]table.Field)
			l.structs[t.Name] = fields // before its fields, because the structure may contain itself
			*fields = l.fields(l.program.Design.Struct(t.Name).Fields)
		}
		out.Fields = fields
	default:
	}
	if t.Elem != nil {
		elem := l.typeOf(*t.Elem)
		out.Elem = &elem
	}
	return out
}
