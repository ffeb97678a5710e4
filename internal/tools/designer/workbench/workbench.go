package workbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/provision"
)

// Of makes the model of a design with the tables specs, and lists what the format cannot express.
func Of(d *design.Design, specs []provision.Spec, now time.Time) (m Model, left []string, err error) {
	date := now.UTC().Format("Jan 02, 2006, 03:04 PM")
	m = Model{ModelName: d.Name, ModelMetadata: Metadata{
		DateCreated: date, DateLastModified: date, Description: description(d), AWSService: "Amazon DynamoDB", Version: "3.0",
	}}
	program, _ := lower.Lower(d) // the checker reports patterns that cannot be run
	for i, t := range d.Tables {
		w := &writer{design: d, table: t, spec: &specs[i], types: map[string]string{}}
		w.out = Table{TableName: specs[i].Name, NonKeyAttributes: []Attribute{}}
		if len(specs[i].Placeholders) > 0 { // the format does not allow braces
			w.out.TableName = t.Name
		}
		w.keys()
		for j, e := range d.Entities {
			if e.Table != t.Name {
				continue
			}
			if err := w.entity(e, program.Entities[j]); err != nil {
				return Model{}, nil, fmt.Errorf("%s: %w", e.Name, err)
			}
		}
		w.attributes()
		m.DataModel = append(m.DataModel, w.out)
		left = append(left, w.left...)
	}
	return m, left, nil
}

// description describes the design, with the names of its patterns.
func description(d *design.Design) string {
	var out []string
	if d.Doc != "" {
		out = append(out, d.Doc)
	}
	add := func(what string, names []string) {
		if len(names) > 0 {
			out = append(out, what+": "+strings.Join(names, ", ")+".")
		}
	}
	var reads, writes []string
	for _, r := range d.Reads {
		reads = append(reads, r.Name)
	}
	for _, c := range d.Collections {
		reads = append(reads, c.Name)
	}
	for _, w := range d.Writes {
		writes = append(writes, w.Name)
	}
	add("Reads", reads)
	add("Writes", writes)
	return strings.Join(out, " ")
}

// writer writes a table.
type writer struct {
	design *design.Design
	table  *design.Table
	spec   *provision.Spec
	out    Table
	// types are the types of the attributes in the items; names lists them in order of appearance.
	types map[string]string
	names []string
	left  []string
}

func (w *writer) omit(format string, args ...any) {
	w.left = append(w.left, w.table.Name+": "+fmt.Sprintf(format, args...))
}

// attribute is a key attribute.
func (w *writer) attribute(name string) Attribute {
	i := slices.IndexFunc(w.spec.Attributes, func(k design.KeyAttribute) bool { return k.Name == name })
	if i < 0 {
		return Attribute{}
	}
	return Attribute{name, string(w.spec.Attributes[i].Type)}
}

// keys writes the table's key, its indexes, and its billing mode.
func (w *writer) keys() {
	s := w.spec
	w.out.KeyAttributes = KeyAttributes{w.attribute(s.PK), w.attribute(s.SK)}
	for _, x := range s.Indexes {
		switch {
		case x.Local:
			w.omit("the local index %s", x.Name)
			continue
		case len(x.PK) > 1 || len(x.SK) > 1:
			w.omit("the index %s, whose keys have several attributes", x.Name)
			continue
		}
		index := Index{IndexName: x.Name, Projection: Projection{x.Projection, x.Attributes}}
		index.KeyAttributes.PartitionKey = w.attribute(x.PK[0])
		if len(x.SK) > 0 {
			index.KeyAttributes.SortKey = w.attribute(x.SK[0])
		}
		w.out.GlobalSecondaryIndexes = append(w.out.GlobalSecondaryIndexes, index)
	}
	w.out.BillingMode = "PAY_PER_REQUEST"
	if !s.OnDemand {
		w.out.BillingMode = "PROVISIONED"
		w.out.ProvisionedCapacitySettings = &ProvisionedCapacitySettings{Throughput{s.Capacity.Read, s.Capacity.Write}}
	}
	if s.TTLAttr != "" {
		w.omit("that items expire by %s", s.TTLAttr)
	}
}

// entity writes a facet for the entity's own items, for each of its copies, and for each of its markers.
func (w *writer) entity(e *design.Entity, run *table.Entity) error {
	facets := []Facet{facetOf(e.Name, e.Key)}
	for _, c := range e.Copies {
		facets = append(facets, facetOf(e.Name+" "+c.Name, c.Key))
	}
	for _, m := range e.Unique {
		facets = append(facets, facetOf(e.Name+" "+m.Name, m.Key))
	}
	var samples []table.Values
	for _, s := range w.design.Samples {
		if s.Entity != e.Name {
			continue
		}
		v, err := w.values(e, s.Values)
		if err == nil {
			_, err = table.Items(run, v)
		}
		if err != nil {
			w.omit("a sample of %s: %s", e.Name, sampleFault(s, err))
			continue
		}
		samples = append(samples, v)
	}
	for n := 1; len(samples) < minSamples; n++ {
		v, err := w.values(e, w.sample(e, n))
		if err != nil {
			return err
		}
		samples = append(samples, v)
	}
	for _, v := range samples {
		items, err := table.Items(run, v)
		if err != nil {
			return err
		}
		for i, item := range items {
			if err := w.item(&facets[i], item); err != nil {
				return err
			}
		}
	}
	w.out.TableFacets = append(w.out.TableFacets, facets...)
	return nil
}

func facetOf(name string, key design.Key) Facet {
	f := Facet{FacetName: name, NonKeyAttributes: []string{}}
	f.KeyAttributeAlias.PartitionKeyAlias = key.PK.Text
	if key.SK != nil {
		f.KeyAttributeAlias.SortKeyAlias = key.SK.Text
	}
	return f
}

// values are a sample's values in stored form.
func (w *writer) values(e *design.Entity, given map[string]design.Literal) (table.Values, error) {
	out := table.Values{}
	for _, name := range slices.Sorted(maps.Keys(given)) { // the first fault is reported
		v, err := lower.Value(w.design, e.Field(name).Type, given[name])
		if err != nil {
			return nil, fmt.Errorf("%s %w", name, err)
		}
		if v != nil {
			out[name] = v
		}
	}
	return out, nil
}

// sampleFault is an error of a sample, with the value that it is about: errors of generated code leave it out.
func sampleFault(s *design.Sample, err error) string {
	wrong, is := errors.AsType[*table.ValueError](err)
	if l, given := s.Values[valueField(wrong)]; is && given && l.Text != "" {
		return fmt.Sprintf("%s, %q, %s", wrong.Field, l.Text, wrong.Reason)
	}
	return err.Error()
}

// valueField is the field of an error; "" if there is no error.
func valueField(err *table.ValueError) string {
	if err == nil {
		return ""
	}
	return err.Field
}

// item adds an item to a facet.
func (w *writer) item(f *Facet, item table.Item) error {
	members := map[string]any{}
	for _, name := range sortedNames(item) {
		typ, value := wire(item[name])
		members[name] = map[string]any{typ: value}
		if name == w.spec.PK || name == w.spec.SK {
			continue
		}
		if !slices.Contains(w.names, name) {
			w.names = append(w.names, name)
			w.types[name] = typ
		}
		if !slices.Contains(f.NonKeyAttributes, name) {
			f.NonKeyAttributes = append(f.NonKeyAttributes, name)
		}
	}
	data, err := json.Marshal(members)
	f.TableData = append(f.TableData, data)
	return err
}

// attributes lists the non-key attributes of the items and indexes.
func (w *writer) attributes() {
	for _, k := range w.spec.Attributes { // an index without items has attributes, too
		if k.Name != w.spec.PK && k.Name != w.spec.SK && !slices.Contains(w.names, k.Name) {
			w.names = append(w.names, k.Name)
			w.types[k.Name] = string(k.Type)
		}
	}
	for _, name := range w.names {
		w.out.NonKeyAttributes = append(w.out.NonKeyAttributes, Attribute{name, w.types[name]})
	}
}

func sortedNames(item table.Item) []string {
	var out []string
	for name := range item {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// wire is a value in DynamoDB's JSON: its type and content.
func wire(v types.AttributeValue) (typ string, value any) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return "S", v.Value
	case *types.AttributeValueMemberN:
		return "N", v.Value
	case *types.AttributeValueMemberB:
		return "B", v.Value
	case *types.AttributeValueMemberBOOL:
		return "BOOL", v.Value
	case *types.AttributeValueMemberSS:
		return "SS", v.Value
	case *types.AttributeValueMemberNS:
		return "NS", v.Value
	case *types.AttributeValueMemberBS:
		return "BS", v.Value
	case *types.AttributeValueMemberL:
		list := []any{}
		for _, elem := range v.Value {
			typ, value := wire(elem)
			list = append(list, map[string]any{typ: value})
		}
		return "L", list
	case *types.AttributeValueMemberM:
		members := map[string]any{}
		for name, member := range v.Value {
			typ, value := wire(member)
			members[name] = map[string]any{typ: value}
		}
		return "M", members
	default:
		return "NULL", true
	}
}
