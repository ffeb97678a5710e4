package infer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/source"
	"github.com/monotable/monotable/internal/tools/designer/workbench"
)

// Facet is a view of a table in a Workbench model: a kind of items.
type Facet struct {
	Name string
	// PK and SK are the model's aliases of the key attributes.
	PK, SK string
	// Attributes are the names of the other attributes.
	Attributes []string
	// Items are the sample items of the facet.
	Items []source.Item
	// Types are the attributes' types, S, N and so on.
	Types map[string]string
}

// ParseWorkbench parses a model exported by NoSQL Workbench for DynamoDB.
func ParseWorkbench(data []byte) (Input, error) {
	var m workbench.Model
	if err := json.Unmarshal(data, &m); err != nil {
		return Input{}, fmt.Errorf("not a NoSQL Workbench model: %w", err)
	}
	if len(m.DataModel) == 0 {
		return Input{}, fmt.Errorf("not a NoSQL Workbench model: it has no DataModel with tables")
	}
	in := Input{Name: pascal(m.ModelName)}
	for _, t := range m.DataModel {
		if t.TableName == "" || t.KeyAttributes.PartitionKey.AttributeName == "" {
			return Input{}, fmt.Errorf("a table of the model has no TableName or no PartitionKey")
		}
		table, err := tableOf(&t)
		if err != nil {
			return Input{}, fmt.Errorf("table %s: %w", t.TableName, err)
		}
		in.Tables = append(in.Tables, table)
	}
	return in, nil
}

func keyOf(a workbench.Attribute) Key {
	if a.AttributeName == "" {
		return Key{}
	}
	return Key{a.AttributeName, cmp.Or(a.AttributeType, "S")}
}

func tableOf(t *workbench.Table) (Table, error) {
	out := Table{
		Name: t.TableName, PK: keyOf(t.KeyAttributes.PartitionKey), SK: keyOf(t.KeyAttributes.SortKey),
		Provisioned: strings.EqualFold(t.BillingMode, "PROVISIONED"),
	}
	for i, x := range slices.Concat(t.GlobalSecondaryIndexes, t.LocalSecondaryIndexes) {
		index := Index{
			Name: x.IndexName, Local: i >= len(t.GlobalSecondaryIndexes), PK: []Key{keyOf(x.KeyAttributes.PartitionKey)},
			Projection: cmp.Or(x.Projection.ProjectionType, "ALL"), Attributes: x.Projection.NonKeyAttributes,
		}
		if k := keyOf(x.KeyAttributes.SortKey); k.Name != "" {
			index.SK = []Key{k}
		}
		out.Indexes = append(out.Indexes, index)
	}
	types := map[string]string{}
	for _, a := range t.NonKeyAttributes {
		types[a.AttributeName] = a.AttributeType
	}
	met := map[string]bool{}
	add := func(list []json.RawMessage) ([]source.Item, error) {
		var items []source.Item
		for _, data := range list {
			item, err := source.ParseItem(data)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
			if key := keyText(item[out.PK.Name]) + "\x00" + keyText(item[out.SK.Name]); !met[key] {
				met[key] = true // an item is repeated in each facet that shows it
				out.Items = append(out.Items, item)
			}
		}
		return items, nil
	}
	for _, f := range t.TableFacets {
		items, err := add(f.TableData)
		if err != nil {
			return Table{}, fmt.Errorf("facet %s: %w", f.FacetName, err)
		}
		out.Facets = append(out.Facets, Facet{
			Name: f.FacetName, PK: f.KeyAttributeAlias.PartitionKeyAlias, SK: f.KeyAttributeAlias.SortKeyAlias,
			Attributes: f.NonKeyAttributes, Items: items, Types: types,
		})
	}
	_, err := add(t.TableData)
	return out, err
}

// nameByFacets names shapes after the facets that show exactly their items.
func (t *tableDraft) nameByFacets() {
	for _, f := range t.Facets {
		in := map[string]bool{}
		for _, item := range f.Items {
			in[keyText(item[t.PK.Name])+"\x00"+keyText(item[t.SK.Name])] = true
		}
		for _, s := range t.shapes {
			all := s.facet == "" && len(s.rows) > 0
			for _, r := range s.rows {
				all = all && in[keyText(r.item[t.PK.Name])+"\x00"+keyText(r.item[t.SK.Name])]
			}
			if all && len(s.rows) == len(in) {
				s.facet = f.Name
				s.pk = t.aliased(s, s.pk, f.PK)
				if s.sk != nil {
					s.sk = t.aliased(s, s.sk, f.SK)
				}
			}
		}
	}
}

// aliased is the template in an alias, as in models made from designs, if it produces the key of all items; otherwise the
// template found in the items.
func (t *tableDraft) aliased(s *shape, found *template, alias string) *template {
	parsed, err := design.ParseTemplate(alias)
	if err != nil || len(parsed.Fields()) == 0 {
		return found
	}
	out := &template{attribute: found.attribute}
	for _, p := range parsed.Parts {
		if p.Field == "" {
			out.literal(p.Literal)
			continue
		}
		path := ""
		for _, known := range t.pathsIn(s.rows) {
			if letters(known) == letters(p.Field) {
				path = known
			}
		}
		out.parts = append(out.parts, part{path: path, funcs: p.Funcs})
	}
	for _, r := range s.rows {
		var key strings.Builder
		for i := range out.parts {
			p := &out.parts[i]
			if p.isLiteral() {
				key.WriteString(p.literal)
				continue
			}
			text, err := apply(p.funcs, r.leaves[p.path].text)
			if err != nil {
				return found
			}
			p.texts = append(p.texts, text)
			key.WriteString(text)
		}
		if key.String() != keyText(r.item[found.attribute]) {
			return found
		}
	}
	return out
}

// facets adds entities for the facets without items.
func (t *tableDraft) facets() {
	for _, f := range t.Facets {
		if len(f.Items) > 0 {
			continue
		}
		e := &entity{
			name:  unique(&t.draft.entities, cmp.Or(pascal(f.Name), "Facet")),
			main:  &shape{},
			notes: []string{"guess: the facet " + clean(f.Name) + " of the model has no items; its keys and types are guessed by name"},
		}
		e.kind = strings.ToUpper(snake(e.name))
		var paths []string
		e.main.pk, paths = t.aliasTemplate(t.PK, f.PK, paths)
		if t.SK.Name != "" {
			e.main.sk, paths = t.aliasTemplate(t.SK, f.SK, paths)
		}
		e.fields = t.aliasFields(f, paths)
		t.entities = append(t.entities, e)
	}
}

// aliasTemplate parses a facet's alias of a key attribute: USER#<userId>, USER#{userId}, or just a name.
func (t *tableDraft) aliasTemplate(k Key, alias string, paths []string) (*template, []string) {
	out := &template{attribute: k.Name}
	field := func(name string) {
		name = cmp.Or(camel(name), "id")
		if t.snake {
			name = snake(name)
		}
		out.parts = append(out.parts, part{path: name})
		if !slices.Contains(paths, name) {
			paths = append(paths, name)
		}
	}
	switch {
	case alias == "" || alias == k.Name:
		out.asIs = true
		out.parts = append(out.parts, part{path: k.Name})
		if !slices.Contains(paths, k.Name) {
			paths = append(paths, k.Name)
		}
		return out, paths
	case !strings.ContainsAny(alias, "<{#"):
		field(alias)
		return out, paths
	}
	for alias != "" {
		i := strings.IndexAny(alias, "<{")
		if i < 0 {
			out.literal(alias)
			break
		}
		out.literal(alias[:i])
		end := strings.IndexAny(alias[i:], ">}")
		if end < 0 {
			out.literal(alias[i:])
			break
		}
		field(alias[i+1 : i+end])
		alias = alias[i+end+1:]
	}
	return out, paths
}

// aliasFields are a facet's fields: those of its key, then its attributes.
func (t *tableDraft) aliasFields(f Facet, paths []string) []*field {
	var out []*field
	for _, path := range paths {
		name := t.fieldName(path)
		of := "id"
		if k := t.keyNamed(path); k.Type == "N" {
			of = "int"
		} else if k.Type == "B" {
			of = "bytes"
		}
		out = append(out, &field{name: name, path: path, typ: of, note: "guess: of the key"})
	}
	for _, attribute := range f.Attributes {
		if slices.Contains(paths, attribute) || attribute == t.typeAttr || attribute == t.PK.Name || attribute == t.SK.Name {
			continue
		}
		of := map[string]string{
			"N": "decimal", "B": "bytes", "BOOL": "bool", "SS": "set<text>", "NS": "set<decimal>", "BS": "set<bytes>", "L": "list<text>", "M": "map<text>",
		}[f.Types[attribute]]
		out = append(out, &field{name: t.fieldName(attribute), path: attribute, typ: cmp.Or(of, "text"), optional: true, note: "guess: of the model"})
	}
	return out
}

// keyNamed is the table's key attribute with a name.
func (t *tableDraft) keyNamed(name string) Key {
	for _, k := range []Key{t.PK, t.SK} {
		if k.Name == name {
			return k
		}
	}
	return Key{}
}
