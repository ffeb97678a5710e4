package design

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

// Schema returns the JSON Schema (draft 2020-12) of a design's text, with which editors complete and explain it. It is
// derived from the Go types that Parse fills, so it has the same keys; references, templates and conditions are only
// checked by Parse.
func Schema() []byte {
	s := schemas{}
	root := s.object(reflect.TypeFor[fileShape]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = fmt.Sprintf("A single-table design for DynamoDB, version %d of the language", Version)
	root["$defs"] = s
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil // maps of strings always encode
	}
	return append(out, '\n')
}

// schema is a JSON Schema.
type schema = map[string]any

// schemas are the schemas of the shapes that have keys, by name.
type schemas map[string]schema

// of is the schema of a shape, with the words in its tag.
func (s schemas) of(t reflect.Type, words string) schema {
	switch {
	case t == reflect.TypeFor[Literal]():
		return schema{}
	case t == reflect.TypeFor[projectShape]():
		return s.of(reflect.TypeFor[[]text](), "all keys …")
	case t == reflect.TypeFor[elseShape]():
		return schema{"anyOf": []schema{scalar(""), s.of(reflect.TypeFor[named[text]](), "")}}
	case t == reflect.TypeFor[text](), t == reflect.TypeFor[raw]():
		return scalar(words)
	case namesOf(t) != nil:
		return schema{"type": "object", "additionalProperties": s.of(namesOf(t), "")}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem(), words)
	case reflect.Slice:
		item := s.of(t.Elem(), words)
		return schema{"anyOf": []schema{{"type": "array", "items": item}, item}}
	case reflect.Struct:
		return s.keyed(t)
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int:
		return schema{"type": "integer", "minimum": 0}
	case reflect.Float64:
		return schema{"type": "number", "minimum": 0}
	default:
		return scalar(words)
	}
}

// keyed refers to the schema of a struct, which may have a short form: a scalar for its first string.
func (s schemas) keyed(t reflect.Type) schema {
	name := shapeName(t)
	if _, known := s[name]; !known {
		s[name] = nil // a shape may contain itself
		s[name] = s.object(t)
	}
	ref := schema{"$ref": "#/$defs/" + name}
	if _, short := reflect.TypeAssert[fromNode](reflect.New(t)); !short {
		return ref
	}
	for f := range t.Fields() {
		if f.Type == reflect.TypeFor[text]() {
			return schema{"anyOf": []schema{scalar(f.Tag.Get("words")), ref}}
		}
	}
	return ref
}

// object is the schema of a struct.
func (s schemas) object(t reflect.Type) schema {
	properties := schema{}
	var required []string
	for i, key := range syntax.MemberKeys(t, "yaml") {
		if key == "" {
			continue
		}
		f := t.Field(i)
		p := s.of(f.Type, f.Tag.Get("words"))
		if words := descriptions[shapeName(t)+"."+key]; words != "" {
			p["description"] = words
		}
		properties[key] = p
		if f.Tag.Get("need") != "" {
			required = append(required, key)
		}
	}
	out := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		out["required"] = required
	}
	return out
}

// scalar is the schema of a string, which other YAML readers may parse as a number or a boolean.
func scalar(words string) schema {
	known := strings.Fields(words)
	others, open := schema{"type": []string{"string", "number", "boolean"}}, false
	if n := len(known); n > 0 && known[n-1] == "…" {
		known, open = known[:n-1], true
	}
	values := make([]any, 0, len(known))
	for _, k := range known {
		values = append(values, k)
		if syntax.Digits(k) != "" {
			values = append(values, json.Number(k))
		}
	}
	switch {
	case len(known) == 0:
		return others
	case open:
		return schema{"anyOf": []schema{{"enum": values}, others}}
	default:
		return schema{"enum": values}
	}
}

// shapeName is the name of a shape in the schema: table for tableShape.
func shapeName(t reflect.Type) string { return strings.TrimSuffix(t.Name(), "Shape") }
