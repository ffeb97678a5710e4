package design

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("design.json", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("design.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON is YAML as an editor's validator sees it.
func asJSON(t *testing.T, text []byte) any {
	t.Helper()
	j, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(j))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSchemaAcceptsDrafts tests that the schema accepts every draft, also formatted.
func TestSchemaAcceptsDrafts(t *testing.T) {
	s := compiled(t)
	names, _ := filepath.Glob("testdata/drafts/*.yaml")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		formatted, err := Format(name, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{text, formatted} {
			if err := s.Validate(asJSON(t, text)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	s := compiled(t)
	const start = "design: 1\nname: Shop\ntables: { Shop: { key: { pk: PK } } }\n"
	if err := s.Validate(asJSON(t, []byte(start))); err != nil {
		t.Errorf("the least design: %v", err)
	}
	for _, text := range []string{
		"name: Shop\ntables: { Shop: { key: { pk: PK } } }",
		"design: 2\nname: Shop\ntables: { Shop: { key: { pk: PK } } }",
		"design: 1\nname: Shop\ntables: { Shop: {} }",
		"design: 1\nname: Shop\ntables: { Shop: { key: { pk: PK }, billing: free } }",
		start + "reeds: {}",
		start + "reads: { A: { many: B, pages: 3 } }",
		start + "reads: { A: { many: B, page: some } }",
		start + "entities: { A: { fields: { a: { typo: text } } } }",
		start + "writes: { A: { do: [{ create: [A] }] } }",
	} {
		if err := s.Validate(asJSON(t, []byte(text))); err == nil {
			t.Errorf("the schema takes %q", text)
		}
	}
}

// TestDescriptions tests that every key has a description, and that there are no others.
func TestDescriptions(t *testing.T) {
	var form struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &form); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for key := range form.Properties {
		keys = append(keys, "file."+key)
	}
	for shape, def := range form.Defs {
		for key := range def.Properties {
			keys = append(keys, shape+"."+key)
		}
	}
	slices.Sort(keys)
	if diff := cmp.Diff(keys, slices.Sorted(maps.Keys(descriptions))); diff != "" {
		t.Errorf("keys (-) and descriptions (+) differ:\n%s", diff)
	}
	for key, words := range descriptions {
		if !strings.HasSuffix(words, ".") {
			t.Errorf("%s: %q is no sentence", key, words)
		}
	}
}
