// Package contract compares two OpenAPI documents of one API and reports which changes affect clients of the older one.
//
// # Model
//
//	older, newer ──Compare──▶ changes, each breaking or not, with advice
//
// Requests may only become more permissive, and responses may only gain: a request may lose limits and a response may gain
// fields. Types are compared where they are used, because the same type can be used in requests and responses.
//
// # Invariants
//
//	C1  A client that follows the rules of systems/README.md (it ignores unknown fields and accepts unknown enum values)
//	    continues to work if no change is breaking.
//	C2  Anything that was deprecated in the older document may be removed.
//
// The package is safe for concurrent use.
package contract

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Change is a difference that clients can notice.
type Change struct {
	// Where is the operation and its part: "GET /orders: 200: items[].total".
	Where string
	// What describes the change.
	What string
	// Breaks means that clients may stop working; Instead is what to do.
	Breaks  bool
	Instead string
}

// String formats the change as a line for people.
func (c Change) String() string {
	text := c.Where + ": " + c.What
	if c.Breaks {
		text += ". " + c.Instead
	}
	return text
}

// Advice for breaking changes.
const (
	keepOperation = "Keep it: add the new operation, mark this one as deprecated, and remove it when it is no longer called"
	keepField     = "Keep it, and add the new one under a different name"
	keepOpen      = "Accept earlier requests: make it optional, or add a new operation that requires it"
	keepWide      = "Accept earlier values: reject them only in a new operation or field"
	keepCode      = "Keep code and status: programs branch on them"
)

// Compare returns the changes between two documents, in order of operations.
func Compare(older, newer []byte) ([]Change, error) {
	a, err := read(older)
	if err != nil {
		return nil, err
	}
	b, err := read(newer)
	if err != nil {
		return nil, err
	}
	c := &comparison{older: a, newer: b, seen: map[seen]bool{}}
	c.operations()
	c.problems()
	return c.changes, nil
}

// Major returns a document's major version.
func Major(text []byte) (string, error) {
	d, err := read(text)
	if err != nil {
		return "", err
	}
	major, _, _ := strings.Cut(d.Info.Version, ".")
	return major, nil
}

// direction is where a type is used.
type direction bool

const (
	sent       direction = false
	inResponse direction = true
)

// seen is a pair of types being compared, which ends the recursion for recursive types.
type seen struct {
	older, newer *schema
	to           direction
}

type comparison struct {
	older, newer *document
	seen         map[seen]bool
	changes      []Change
}

func (c *comparison) breaks(where, instead, what string, args ...any) {
	c.changes = append(c.changes, Change{where, fmt.Sprintf(what, args...), true, instead})
}

func (c *comparison) adds(where, what string, args ...any) {
	c.changes = append(c.changes, Change{Where: where, What: fmt.Sprintf(what, args...)})
}

func (c *comparison) operations() {
	for _, path := range both(c.older.Paths, c.newer.Paths) {
		for _, method := range both(c.older.Paths[path], c.newer.Paths[path]) {
			before, after := c.older.Paths[path][method], c.newer.Paths[path][method]
			where := strings.ToUpper(method) + " " + path
			switch {
			case before == nil:
				c.adds(where, "is new")
			case after == nil && before.Deprecated:
				c.adds(where, "was deprecated and has been removed")
			case after == nil:
				c.breaks(where, keepOperation, "has been removed")
			default:
				c.operation(where, before, after)
			}
		}
	}
}

func (c *comparison) operation(where string, before, after *operation) {
	if before.OperationID != after.OperationID {
		c.breaks(where, "Keep the name: generated clients use it", "is called %s instead of %s", after.OperationID, before.OperationID)
	}
	if open(before) && !open(after) {
		c.breaks(where, keepOpen, "needs a token")
	}
	if after.Deprecated && !before.Deprecated {
		c.adds(where, "is deprecated")
	}
	c.parameters(where, before.Parameters, after.Parameters)
	c.body(where, before, after)
	c.responses(where, before.Responses, after.Responses)
}

// open reports whether an operation needs no token.
func open(o *operation) bool {
	return len(o.Security) == 0 || slices.ContainsFunc(o.Security, func(s map[string][]string) bool { return len(s) == 0 })
}

func (c *comparison) parameters(where string, before, after []*parameter) {
	byName := func(all []*parameter) map[string]*parameter {
		named := map[string]*parameter{}
		for _, p := range all {
			named[p.In+"."+p.Name] = p
		}
		return named
	}
	old, now := byName(before), byName(after)
	for _, name := range both(old, now) {
		at := where + ": " + name
		switch a, b := old[name], now[name]; {
		case a == nil && b.Required:
			c.breaks(at, keepOpen, "is new and required")
		case a == nil:
			c.adds(at, "is new")
		case b == nil:
			c.breaks(at, keepField, "has been removed")
		default:
			if b.Required && !a.Required {
				c.breaks(at, keepOpen, "is required now")
			}
			c.schema(at, a.Schema, b.Schema, sent)
		}
	}
}

func (c *comparison) body(where string, before, after *operation) {
	at := where + ": body"
	switch a, b := before.RequestBody, after.RequestBody; {
	case a == nil && b == nil:
	case a == nil && b.Required:
		c.breaks(at, keepOpen, "is required now")
	case a == nil:
		c.adds(at, "is new")
	case b == nil:
		c.adds(at, "is ignored now")
	default:
		if b.Required && !a.Required {
			c.breaks(at, keepOpen, "is required now")
		}
		for _, kind := range slices.Sorted(maps.Keys(a.Content)) {
			if b.Content[kind] == nil {
				c.breaks(at, keepWide, "%s is no longer accepted", kind)
				continue
			}
			c.schema(at, a.Content[kind].Schema, b.Content[kind].Schema, sent)
		}
	}
}

// responses compares successful responses. Any operation may be rejected for a new reason.
func (c *comparison) responses(where string, before, after map[string]*response) {
	for _, status := range both(before, after) {
		at, a, b := where+": "+status, before[status], after[status]
		switch {
		case status >= "400":
		case a == nil:
			c.adds(at, "is new")
		case b == nil:
			c.breaks(at, keepField, "is no longer a response")
		default:
			for _, kind := range slices.Sorted(maps.Keys(a.Content)) {
				if b.Content[kind] == nil {
					c.breaks(at, keepField, "%s has been removed", kind)
					continue
				}
				c.schema(at, a.Content[kind].Schema, b.Content[kind].Schema, inResponse)
			}
			for _, header := range slices.Sorted(maps.Keys(a.Headers)) {
				if _, ok := b.Headers[header]; !ok {
					c.breaks(at+": "+header, keepField, "has been removed")
				}
			}
		}
	}
}

// problems compares the codes that the system's rules declare.
func (c *comparison) problems() {
	for _, p := range c.older.Problems {
		if !slices.Contains(c.newer.Problems, p) {
			c.breaks("code "+p.Code, keepCode, "has been removed, or its status is no longer %d", p.Status)
		}
	}
	for _, p := range c.newer.Problems {
		if !slices.Contains(c.older.Problems, p) {
			c.adds("code "+p.Code, "is new, with status %d", p.Status)
		}
	}
}

func (c *comparison) schema(at string, before, after *schema, to direction) {
	a, b := c.older.resolve(before), c.newer.resolve(after)
	pair := seen{a, b, to}
	if c.seen[pair] {
		return
	}
	c.seen[pair] = true
	if a.Type.name() != b.Type.name() || a.Format != b.Format {
		c.breaks(at, keepField, "is %s instead of %s", called(b), called(a))
		return
	}
	if to == inResponse && b.Type.nullable() && !a.Type.nullable() {
		c.breaks(at, keepField, "may be null now")
	}
	if to == sent && a.Type.nullable() && !b.Type.nullable() {
		c.breaks(at, keepWide, "can no longer be null")
	}
	c.values(at, a, b, to)
	c.properties(at, a, b, to)
	if a.Items != nil || b.Items != nil {
		c.schema(at+"[]", a.Items, b.Items, to)
	}
	if other, now := a.others(), b.others(); other != nil && now != nil {
		c.schema(at+".*", other, now, to)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Events)) {
		if b.Events[name] == nil {
			c.breaks(at+": event "+name, keepField, "has been removed")
			continue
		}
		c.schema(at+": event "+name, a.Events[name], b.Events[name], inResponse)
	}
}

func called(s *schema) string {
	return strings.TrimSpace(s.Type.name() + " " + s.Format)
}

// values compares enum values, only in requests, because clients must accept unknown values in responses.
func (c *comparison) values(at string, a, b *schema, to direction) {
	if to == inResponse {
		for _, value := range b.Enum {
			if len(a.Enum) > 0 && !has(a.Enum, value) {
				c.adds(at, "can also be %v", value)
			}
		}
		return
	}
	for _, value := range a.Enum {
		if len(b.Enum) > 0 && !has(b.Enum, value) {
			c.breaks(at, keepWide, "can no longer be %v", value)
		}
	}
	if len(a.Enum) == 0 && len(b.Enum) > 0 {
		c.breaks(at, keepWide, "may only be one of %v now", b.Enum)
	}
	if b.Pattern != a.Pattern && b.Pattern != "" {
		c.breaks(at, keepWide, "must match %s now", b.Pattern)
	}
	for _, bound := range []struct {
		name   string
		a, b   *float64
		lowest bool
	}{
		{"minimum", a.Minimum, b.Minimum, true},
		{"exclusiveMinimum", a.ExclusiveMinimum, b.ExclusiveMinimum, true},
		{"maximum", a.Maximum, b.Maximum, false},
		{"minLength", a.MinLength, b.MinLength, true},
		{"maxLength", a.MaxLength, b.MaxLength, false},
		{"minItems", a.MinItems, b.MinItems, true},
		{"maxItems", a.MaxItems, b.MaxItems, false},
	} {
		switch {
		case bound.b == nil:
		case bound.a == nil, bound.lowest && *bound.b > *bound.a, !bound.lowest && *bound.b < *bound.a:
			c.breaks(at, keepWide, "has the %s %v now", bound.name, *bound.b)
		}
	}
}

func has(list []any, value any) bool {
	return slices.ContainsFunc(list, func(v any) bool { return reflect.DeepEqual(v, value) })
}

func (c *comparison) properties(at string, a, b *schema, to direction) {
	for _, name := range both(a.Properties, b.Properties) {
		before, after, field := a.Properties[name], b.Properties[name], at+"."+name
		must, had := slices.Contains(b.Required, name), slices.Contains(a.Required, name)
		switch {
		case before == nil && to == sent && must:
			c.breaks(field, keepOpen, "is new and required")
		case before == nil:
			c.adds(field, "is new")
		case after == nil && (before.Deprecated || c.older.resolve(before).Deprecated):
			c.adds(field, "was deprecated and has been removed")
		case after == nil:
			c.breaks(field, keepField, "has been removed")
		default:
			if to == sent && must && !had {
				c.breaks(field, keepOpen, "is required now")
			}
			if to == inResponse && had && !must {
				c.breaks(field, keepField, "may be missing now")
			}
			c.schema(field, before, after, to)
		}
	}
}

// both returns the keys of two maps, sorted.
func both[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
