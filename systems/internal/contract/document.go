package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// document is the part of OpenAPI 3.1 that the systems use.
type document struct {
	Info       struct{ Version string }
	Paths      map[string]map[string]*operation
	Components struct{ Schemas map[string]*schema }
	Problems   []problem `json:"x-problems"`
}

type problem struct {
	Code   string
	Status int
}

type operation struct {
	OperationID string
	Deprecated  bool
	Parameters  []*parameter
	RequestBody *struct {
		Required bool
		Content  map[string]*content
	}
	Responses map[string]*response
	Security  []map[string][]string
}

type parameter struct {
	Name, In string
	Required bool
	Schema   *schema
}

type content struct{ Schema *schema }

type response struct {
	Content map[string]*content
	Headers map[string]struct{}
}

type schema struct {
	Ref              string `json:"$ref"`
	Type             types
	Format, Pattern  string
	Enum             []any
	Properties       map[string]*schema
	Required         []string
	Items            *schema
	Additional       json.RawMessage `json:"additionalProperties"`
	Deprecated       bool
	Minimum          *float64
	ExclusiveMinimum *float64
	Maximum          *float64
	MinLength        *float64
	MaxLength        *float64
	MinItems         *float64
	MaxItems         *float64
	Events           map[string]*schema `json:"x-events"`
}

// types are the types of a value, which may include null.
type types []string

// UnmarshalJSON accepts one type or several.
func (t *types) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = types{one}
		return nil
	}
	var several []string
	err := json.Unmarshal(text, &several)
	*t = several
	return err
}

// nullable reports whether a value may be null.
func (t types) nullable() bool { return slices.Contains(t, "null") }

// name returns the type other than null.
func (t types) name() string {
	for _, name := range t {
		if name != "null" {
			return name
		}
	}
	return "anything"
}

// others returns the schema of unnamed members, or nil if there are none.
func (s *schema) others() *schema {
	var of schema
	if len(s.Additional) == 0 || s.Additional[0] != '{' || json.Unmarshal(s.Additional, &of) != nil {
		return nil
	}
	return &of
}

func read(text []byte) (*document, error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	for path, methods := range d.Paths {
		for method, o := range methods {
			if o == nil {
				return nil, fmt.Errorf("contract: %s %s is null", method, path)
			}
		}
	}
	return &d, nil
}

// resolve follows a reference. The result is empty if the reference has no target.
func (d *document) resolve(s *schema) *schema {
	if s == nil {
		return &schema{}
	}
	if s.Ref == "" {
		return s
	}
	return cmp.Or(d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")], &schema{})
}

// Format writes a document with one operation or type per line, sorted, so that diffs show changes of the API.
func Format(text []byte) ([]byte, error) {
	var d map[string]json.RawMessage
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	var out bytes.Buffer
	if err := lines(&out, d, map[string]int{"paths": 2, "components": 2, "x-problems": 0}, 1); err != nil { //nolint:mnd // steps below
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// lines writes an object with one member per line, down to a given depth.
func lines(out *bytes.Buffer, object map[string]json.RawMessage, deep map[string]int, depth int) error {
	out.WriteString("{\n")
	for n, name := range slices.Sorted(maps.Keys(object)) {
		if n > 0 {
			out.WriteString(",\n")
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return fmt.Errorf("contract: %w", err)
		}
		out.WriteString(strings.Repeat(" ", depth))
		out.Write(quoted)
		out.WriteString(": ")
		var within map[string]json.RawMessage
		if left := deep[name]; left > 0 && json.Unmarshal(object[name], &within) == nil {
			below := map[string]int{}
			for member := range within {
				below[member] = left - 1
			}
			if err := lines(out, within, below, depth+1); err != nil {
				return err
			}
			continue
		}
		if err := json.Compact(out, object[name]); err != nil {
			return fmt.Errorf("contract: %w", err)
		}
	}
	out.WriteString("\n" + strings.Repeat(" ", depth-1) + "}")
	return nil
}
