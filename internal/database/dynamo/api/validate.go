package api

import (
	"reflect"
	"strconv"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// Validate checks the member constraints (the struct tags) of an operation's input, in AWS's order, and
// returns an *apierr.Error with AWS's sentence. in is a pointer to an input struct. Members that this server
// does not support are rejected last, with a message of our own.
func Validate(in any) error {
	v := reflect.ValueOf(in).Elem()
	s := shapeOf(v.Type())
	c := checker{layer: s.operation.Layer}
	c.structure(s, v)
	if len(c.faults) > 0 {
		return apierr.Validation(c.sentence(s.operation.Name))
	}
	return refuseUnsupported(s, v)
}

// pathMax limits the nesting of inputs, in steps of a path; TestShapes measures it.
const pathMax = 16

// checker walks an input. A step is a member's name, a map's key, or an element's number from 1.
type checker struct {
	layer  Layer
	words  Layer // in which faults of the member at the path are worded
	faults []fault
	path   [pathMax]step
	depth  int
}

type step struct {
	name string
	kind stepKind
	n    int
}

type stepKind uint8

const (
	stepMember  stepKind = iota // name
	stepElement                 // n, then "member"
	stepKey                     // name, then "member"
)

// done reports whether the layer stops here.
func (c *checker) done() bool { return c.layer == Newer && len(c.faults) > 0 }

// structure checks the members of a struct in their order.
func (c *checker) structure(s *shape, v reflect.Value) {
	for i := range s.members {
		m := &s.members[i]
		c.push(step{name: m.name})
		c.member(m, v.Field(m.index))
		c.pop()
		if c.done() {
			return
		}
	}
}

func (c *checker) push(s step) {
	c.path[c.depth] = s
	c.depth++
}

func (c *checker) pop() { c.depth-- }

func (c *checker) member(m *member, v reflect.Value) {
	c.words = c.layer.wordsOf(m, v)
	if v.IsNil() {
		if m.required {
			c.fail(v, notNull)
		}
		return
	}
	switch m.form {
	case formString:
		c.text(m, v)
	case formNumber:
		n := v.Elem().Int()
		for _, k := range m.self {
			if !k.acceptsNumber(n) {
				c.fail(v, k.sentence())
			}
		}
	case formStruct:
		c.inside(m, v.Elem())
	case formList:
		c.length(m, v)
		c.list(m, v)
	case formMap, formMapOfList:
		c.length(m, v)
		c.keysOf(m, v)
		c.valuesOf(m, v)
	case formOther:
	}
}

func (c *checker) text(m *member, v reflect.Value) {
	s := v.Elem().String()
	failed := false
	for _, k := range m.self {
		if !k.acceptsText(s) {
			c.fail(v, k.sentence())
			failed = true
		}
	}
	if !m.tableName || failed || isARN(s) {
		return
	}
	for _, k := range tableName {
		if !k.acceptsText(s) {
			c.fail(v, k.sentence())
		}
	}
}

func (c *checker) length(m *member, v reflect.Value) {
	for _, k := range m.self {
		if !k.acceptsLength(v.Len()) {
			c.fail(v, k.sentence())
		}
	}
}

func (c *checker) list(m *member, v reflect.Value) {
	if len(m.parts) > 0 && !everyText(v, m.parts) {
		c.fail(v, "Member must satisfy constraint: "+bracketed(m.parts))
	}
	for i := 0; m.inner != nil && i < v.Len() && !c.done(); i++ {
		c.push(step{kind: stepElement, n: i + 1})
		c.inside(m, v.Index(i))
		c.pop()
	}
}

func (c *checker) keysOf(m *member, v reflect.Value) {
	if len(m.keys) == 0 {
		return
	}
	bad := ""
	for keys := v.MapRange(); keys.Next() && bad == ""; {
		bad = m.faultOfKey(keys.Key().String())
	}
	if bad != "" {
		c.fail(v, "Map keys must satisfy constraint: "+bad)
	}
}

// faultOfKey returns the constraints that a map's key violates, or "".
func (m *member) faultOfKey(key string) string {
	if !acceptsAll(m.keys, key) {
		return bracketed(m.keys)
	}
	if m.keyNames && !isARN(key) && !acceptsAll(tableName, key) {
		return bracketed(tableName)
	}
	return ""
}

func acceptsAll(cs []constraint, s string) bool {
	for _, k := range cs {
		if !k.acceptsText(s) {
			return false
		}
	}
	return true
}

// valuesOf checks the values of a map in the order of their keys.
func (c *checker) valuesOf(m *member, v reflect.Value) {
	if len(m.parts) > 0 && !everyValue(m, v) {
		c.fail(v, "Map value must satisfy constraint: "+bracketed(m.parts))
	}
	if m.inner == nil {
		return
	}
	for _, key := range sortedKeys(v) {
		if c.done() {
			return
		}
		c.push(step{kind: stepKey, name: key.String()})
		value := v.MapIndex(key)
		if m.form == formMap {
			c.inside(m, value)
		} else {
			c.list(&member{inner: m.inner}, value)
		}
		c.pop()
	}
}

// inside checks the struct in a member.
func (c *checker) inside(m *member, v reflect.Value) {
	if m.inner != nil {
		c.structure(m.inner, v)
	}
}

func everyText(list reflect.Value, cs []constraint) bool {
	for i := range list.Len() {
		if !acceptsAll(cs, list.Index(i).String()) {
			return false
		}
	}
	return true
}

func everyValue(m *member, v reflect.Value) bool {
	if texts, ok := reflect.TypeAssert[map[string]string](v); ok {
		for _, text := range texts {
			if !acceptsAll(m.parts, text) {
				return false
			}
		}
		return true
	}
	for values := v.MapRange(); values.Next(); {
		value := values.Value()
		for _, k := range m.parts {
			if !k.acceptsLength(value.Len()) {
				return false
			}
		}
	}
	return true
}

// fail records that the member at the path does not satisfy a constraint.
func (c *checker) fail(v reflect.Value, constraint string) {
	if c.done() {
		return
	}
	f := fault{words: c.words, path: c.where(), constraint: constraint}
	if c.words == Older {
		f.value = quoted(v)
	}
	c.faults = append(c.faults, f)
}

// where writes the path: requestItems.T.member.1.member.putRequest.item.
func (c *checker) where() string {
	var path []byte
	for i, s := range c.path[:c.depth] {
		if i > 0 {
			path = append(path, '.')
		}
		switch s.kind {
		case stepMember:
			path = append(path, c.words.member(s.name)...)
		case stepElement:
			path = strconv.AppendInt(path, int64(s.n), 10)
			path = append(path, ".member"...)
		case stepKey:
			path = append(path, s.name...)
			path = append(path, ".member"...)
		}
	}
	return string(path)
}

// sentence returns the message for the faults found.
func (c *checker) sentence(operation string) string {
	if len(c.faults) == 1 {
		f := c.faults[0]
		for key, text := range special {
			if key[0] == operation && f.words.member(key[1]) == f.path && key[2] == f.constraint {
				return text
			}
		}
	}
	return c.faults[0].words.sentence(c.faults)
}

// refuseUnsupported rejects the first member that requests an unsupported feature. A member that requests
// nothing, such as an empty list or false, is accepted.
func refuseUnsupported(s *shape, v reflect.Value) error {
	for i := range s.members {
		m := &s.members[i]
		if m.unsupported == "" {
			continue
		}
		f := v.Field(m.index)
		if f.IsNil() || f.Kind() == reflect.Slice && f.Len() == 0 ||
			f.Kind() == reflect.Pointer && f.Elem().Kind() == reflect.Bool && !f.Elem().Bool() {
			continue
		}
		return apierr.Unsupported.With(m.unsupported, m.name)
	}
	return nil
}
