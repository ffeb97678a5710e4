package design

import (
	"slices"
	"strings"
)

// Write is an atomic change, unless it is a batch.
type Write struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	// Params are the inputs in addition to the fields of the items.
	Params []*Field `json:"params,omitempty"`
	// Lines makes the write take a list; steps with Each run once per line.
	Lines *Lines `json:"lines,omitempty"`
	// Batch writes each item independently: any number of lines, of which some may remain unprocessed.
	Batch      bool         `json:"batch,omitempty"`
	Idempotent *Idempotent  `json:"idempotent,omitempty"`
	Steps      []*Step      `json:"steps"`
	Rate       float64      `json:"rate,omitempty"` // per second
	Accept     []Acceptance `json:"accept,omitempty"`
	Pos        Pos          `json:"-"`
}

// Lines bounds the list of a write; Max is 0 if the design does not bound it.
type Lines struct {
	Max     int     `json:"max,omitempty"`
	Typical float64 `json:"typical,omitempty"`
	Pos     Pos     `json:"-"`
}

// Idempotent declares how retries are recognised.
type Idempotent struct {
	// With is the entity of the records.
	With string `json:"with"`
	// Request are the params and fields whose values must be the same in a retry; empty if none are compared.
	Request []string `json:"request,omitempty"`
	// Replay is the read or collection whose result a retry returns.
	Replay string `json:"replay,omitempty"`
	Pos    Pos    `json:"-"`
}

// Action is the kind of a step.
type Action string

// The actions.
const (
	Create Action = "create" // put an item that must not exist
	Put    Action = "put"    // put an item, replacing any existing one
	Update Action = "update" // change an item that must exist
	Upsert Action = "upsert" // change an item, or create it
	Delete Action = "delete"
	Check  Action = "check" // only check the condition
)

// Step is an action on one item, or on one item per line.
type Step struct {
	Action Action `json:"action"`
	Entity string `json:"entity"`
	Each   bool   `json:"each,omitempty"`
	// Name is the step's name in results and errors; the entity's name by default.
	Name string `json:"name,omitempty"`
	// By identifies the item, for key fields that are not the write's or the line's values with the same names.
	By []*Assignment `json:"by,omitempty"`
	// Set assigns, Add adds to a number or a set, Init assigns if the field is absent.
	Set  []*Assignment `json:"set,omitempty"`
	Add  []*Assignment `json:"add,omitempty"`
	Init []*Assignment `json:"init,omitempty"`
	// Drop removes members from a set; Append and Prepend add elements to the end and start of a list.
	Drop    []*Assignment `json:"drop,omitempty"`
	Append  []*Assignment `json:"append,omitempty"`
	Prepend []*Assignment `json:"prepend,omitempty"`
	// Patch are fields of which the caller may pass any subset: the others do not change.
	Patch []string `json:"patch,omitempty"`
	// Remove are the paths of optional values to remove.
	Remove []string `json:"remove,omitempty"`
	// When must hold, or the whole write fails.
	When *Condition `json:"when,omitempty"`
	// Else names the errors of a failed condition: the first whose own condition holds for the existing item. The last
	// may have no condition.
	Else []*Refusal `json:"else,omitempty"`
	Pos  Pos        `json:"-"`
}

// Assignments are the assignments of the step, except those that identify its item.
func (s *Step) Assignments() []*Assignment {
	return slices.Concat(s.Set, s.Add, s.Init, s.Drop, s.Append, s.Prepend)
}

// Changed returns the fields that the step changes, without duplicates, in the order of the step.
func (s *Step) Changed() []string {
	var out []string
	add := func(path string) {
		if root := Root(path); !slices.Contains(out, root) {
			out = append(out, root)
		}
	}
	for _, a := range s.Assignments() {
		add(a.Field)
	}
	for _, path := range slices.Concat(s.Patch, s.Remove) {
		add(path)
	}
	return out
}

// Root returns the field at the start of a path.
func Root(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}

// PathSteps splits a path: lines[0].quantity into lines, [0] and quantity; reactions.:line.kind into reactions and
// :line.kind.
func PathSteps(path string) []string {
	list := strings.Split(strings.ReplaceAll(path, "[", ".["), ".")
	out := list[:1]
	for _, step := range list[1:] {
		if last := len(out) - 1; out[last] == ":line" {
			out[last] += "." + step
			continue
		}
		out = append(out, step)
	}
	return out
}

// MapKeys are the parameters used as map keys in paths of the step: kind in reactions.:kind.
func (s *Step) MapKeys() []string {
	paths := slices.Clone(s.Remove)
	for _, a := range s.Assignments() {
		paths = append(paths, a.Field)
	}
	var out []string
	for _, path := range paths {
		for _, step := range PathSteps(path) {
			if name, given := strings.CutPrefix(step, ":"); given && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// Assignment gives a field a value.
type Assignment struct {
	Field string     `json:"field"`
	Value *ValueExpr `json:"value"`
	Pos   Pos        `json:"-"`
}

// Refusal is a declared error of a step.
type Refusal struct {
	Error string     `json:"error"`
	When  *Condition `json:"when,omitempty"` // nil means always
	Pos   Pos        `json:"-"`
}
