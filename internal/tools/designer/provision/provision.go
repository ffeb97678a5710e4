// Package provision turns the tables of a design into CreateTable requests, CloudFormation and SAM templates, Terraform, and
// IAM policies for the patterns.
//
// All forms are made from one Spec per table, which describes the table in DynamoDB's terms: attribute names, not fields.
// Apply creates or updates tables with it.
package provision

import (
	"math"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// Spec is a table in DynamoDB's terms.
type Spec struct {
	Name string
	// Placeholders are those of the name, as in "shop-{stage}", for a deployment to fill in.
	Placeholders []string
	Attributes   []design.KeyAttribute // of all keys, each once
	PK, SK       string                // SK is "" for none
	Indexes      []IndexSpec
	OnDemand     bool
	Capacity     Capacity // if it is not on demand
	TTLAttr      string
	Stream       string // a StreamViewType
}

// IndexSpec is an index in DynamoDB's terms.
type IndexSpec struct {
	Name   string
	Local  bool
	PK, SK []string
	// Projection is ALL, KEYS_ONLY or INCLUDE, with Attributes for the last.
	Projection string
	Attributes []string
}

// Creation is the definition with which the table is created.
func (s *Spec) Creation() table.Creation {
	typed := func(name string) table.Attribute {
		for _, a := range s.Attributes {
			if a.Name == name {
				return table.Attribute{Name: name, Type: types.ScalarAttributeType(a.Type)}
			}
		}
		return table.Attribute{}
	}
	keys := func(names []string) []string {
		out := slices.Clone(names)
		for i, name := range names {
			if t := typed(name).Type; t != types.ScalarAttributeTypeS {
				out[i] = name + ":" + string(t)
			}
		}
		return out
	}
	out := table.Creation{
		Name: s.Name, Table: &table.Table{PK: typed(s.PK), SK: typed(s.SK), TTLAttr: s.TTLAttr}, Stream: types.StreamViewType(s.Stream),
	}
	if !s.OnDemand {
		out.Read, out.Write = int64(s.Capacity.Read), int64(s.Capacity.Write)
	}
	for _, x := range s.Indexes {
		out.Indexes = append(out.Indexes, table.Index{Name: x.Name, Local: x.Local, PK: keys(x.PK), SK: keys(x.SK), All: x.Projection == "ALL", Project: x.Attributes})
	}
	return out
}

// Capacity is read and write capacity units.
type Capacity struct{ Read, Write int }

// Specs are the tables of a design, with the placeholders of their names filled in from values as far as possible.
func Specs(d *design.Design, values map[string]string) []Spec {
	var out []Spec
	for _, t := range d.Tables {
		out = append(out, specOf(d, t, values))
	}
	return out
}

func specOf(d *design.Design, t *design.Table, values map[string]string) Spec {
	s := Spec{
		PK: t.PK.Name, OnDemand: t.Billing != design.Provisioned, TTLAttr: t.TTLAttr, Stream: t.Stream, Capacity: capacityOf(d, t),
	}
	s.Name, s.Placeholders = fill(t.Physical, values)
	attribute := func(k design.KeyAttribute) {
		if !slices.ContainsFunc(s.Attributes, func(a design.KeyAttribute) bool { return a.Name == k.Name }) {
			s.Attributes = append(s.Attributes, k)
		}
	}
	attribute(t.PK)
	if t.SK != nil {
		s.SK = t.SK.Name
		attribute(*t.SK)
	}
	for _, x := range t.Indexes {
		index := IndexSpec{Name: x.Name, Local: x.Local, Projection: "INCLUDE"}
		for _, k := range x.PK {
			attribute(k)
			index.PK = append(index.PK, k.Name)
		}
		for _, k := range x.SK {
			attribute(k)
			index.SK = append(index.SK, k.Name)
		}
		switch {
		case x.Project.All:
			index.Projection = "ALL"
		case len(x.Project.Fields) == 0:
			index.Projection = "KEYS_ONLY"
		default:
			index.Attributes = projected(d, t, x)
		}
		s.Indexes = append(s.Indexes, index)
	}
	return s
}

// projected are the attributes of the projected fields of all entities, without key attributes, which are projected anyway.
// The type attribute is included, because an entry would not be recognized without it.
func projected(d *design.Design, t *design.Table, x *design.Index) []string {
	var out []string
	add := func(name string) {
		key := name == t.PK.Name || t.SK != nil && name == t.SK.Name
		for _, k := range slices.Concat(x.PK, x.SK) {
			key = key || k.Name == name
		}
		if !key && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if t.TypeAttr != "" {
		add(t.TypeAttr)
	}
	for _, name := range x.Project.Fields {
		for _, e := range d.Entities {
			if f := e.Field(name); f != nil && e.Table == t.Name && !f.Nested() {
				add(f.Attribute())
			}
		}
	}
	return out
}

// fill replaces the placeholders of a name and returns those that are left.
func fill(name string, values map[string]string) (filled string, left []string) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(name, "{")
		out.WriteString(before)
		if !found {
			return out.String(), left
		}
		key, after, closed := strings.Cut(rest, "}")
		if value, known := values[key]; known && closed {
			out.WriteString(value)
		} else {
			out.WriteString("{" + key + "}")
			left = append(left, key)
		}
		name = after
	}
}

// capacityOf is the capacity per second that a table's patterns need at 70 % utilization, at least 1.
func capacityOf(d *design.Design, t *design.Table) Capacity {
	var reads, writes float64
	for _, r := range d.Reads {
		if result := plan.ForRead(d, r); result.Plan.Place.Table == t {
			reads += cost.OfRead(d, result).Units * r.Rate
		}
	}
	for _, c := range d.Collections {
		if p := plan.ForCollection(d, c); len(p.Members) > 0 && p.Members[0].Table == t {
			reads += cost.OfCollection(d, p).Units * c.Rate
		}
	}
	for _, w := range d.Writes {
		of := cost.OfWrite(plan.ForWrite(d, w))
		for _, part := range of.Parts {
			if part.Place.Table != t || part.Place.Index != nil {
				continue
			}
			times := w.Rate
			if part.Each {
				times *= of.Lines
			}
			writes += part.Units * times
		}
	}
	const use = 0.7
	return Capacity{Read: max(1, int(math.Ceil(reads/use))), Write: max(1, int(math.Ceil(writes/use)))}
}
