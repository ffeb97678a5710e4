package lsp

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/monotable/monotable/design"
)

// schema is the part of JSON Schema that design.Schema uses: the language's keys, their descriptions, and their values.
type schema struct {
	Ref         string             `json:"$ref"`
	Description string             `json:"description"`
	Properties  map[string]*schema `json:"properties"`
	Names       json.RawMessage    `json:"additionalProperties"`
	AnyOf       []*schema          `json:"anyOf"`
	Items       *schema            `json:"items"`
	Enum        []any              `json:"enum"`
	Type        json.RawMessage    `json:"type"`
	Defs        map[string]*schema `json:"$defs"`

	names *schema // of the values, if the author chooses the keys
}

// language is the parsed schema.
var language = sync.OnceValue(func() *schema { //nolint:gochecknoglobals // computed once
	var s schema
	if err := json.Unmarshal(design.Schema(), &s); err != nil {
		return &schema{}
	}
	s.prepare()
	for _, d := range s.Defs {
		d.prepare()
	}
	return &s
})

func (s *schema) prepare() {
	if len(s.Names) > 0 && s.Names[0] == '{' {
		s.names = &schema{}
		if json.Unmarshal(s.Names, s.names) == nil {
			s.names.prepare()
		}
	}
	for _, p := range s.Properties {
		p.prepare()
	}
	for _, a := range s.AnyOf {
		a.prepare()
	}
	if s.Items != nil {
		s.Items.prepare()
	}
}

// slot is the purpose of a node.
type slot struct {
	// name is shape.key of the language's key to which the node belongs, such as read.by; a trailing "/" is for what the
	// author names within it: file.reads/ is a read, entity.fields/ a field. An item of a list has the name of the list.
	name string
	// key is the node's own key, if it is one of the language's.
	key *schema
	// takes are the schemas of the node's value.
	takes []*schema
}

// variants are the schemas that a schema represents, with references resolved.
func (s *schema) variants() []*schema {
	switch {
	case s == nil:
		return nil
	case s.AnyOf != nil:
		var out []*schema
		for _, a := range s.AnyOf {
			out = append(out, a.variants()...)
		}
		return out
	case s.Ref != "":
		return []*schema{language().Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]}
	default:
		return []*schema{s}
	}
}

// shapeOf is the name of a schema that has keys.
func shapeOf(s *schema) string {
	for name, d := range language().Defs {
		if d == s {
			return name
		}
	}
	return "file"
}

// slotOf is the slot of a node whose parent has its own.
func slotOf(n *node) slot {
	if n.parent == nil {
		return slot{takes: []*schema{language()}}
	}
	up := n.parent.slot
	if n.key == nil {
		out := slot{name: up.name}
		for _, t := range up.takes {
			if t.Items != nil {
				out.takes = append(out.takes, t.Items.variants()...)
			}
		}
		return out
	}
	for _, t := range up.takes {
		if p := t.Properties[n.key.text]; p != nil {
			return slot{name: shapeOf(t) + "." + n.key.text, key: p, takes: p.variants()}
		}
	}
	for _, t := range up.takes {
		if t.names != nil {
			return slot{name: up.name + "/", takes: t.names.variants()}
		}
	}
	return slot{}
}

// up is the nearest node around n, or n itself, whose slot has that name.
func up(n *node, name string) *node {
	for ; n != nil && n.parent != nil; n = n.parent {
		if n.key != nil && n.slot.name == name {
			return n
		}
	}
	return nil
}
