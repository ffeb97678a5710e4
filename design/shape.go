package design

import "reflect"

// The forms that shapes are made of beside structs and lists.

// text is a scalar that remembers its place.
type text struct {
	value string
	pos   Pos
}

func (t *text) fromNode(d *decoder, n *node) {
	t.pos = n.pos
	d.scalar(n, reflect.ValueOf(&t.value).Elem())
	if n.kind == scalarNode && n.text == "" {
		d.hint(n.pos, "leave the key out where there is nothing to say", "the value is empty")
	}
}

// given reports whether the text was written.
func (t *text) given() bool { return t.value != "" }

// named is a map from names to shapes, in the order of the text.
type named[T any] []namedEntry[T]

type namedEntry[T any] struct {
	name  string
	pos   Pos
	value T
}

func (m *named[T]) fromNode(d *decoder, n *node) {
	if n.kind == nullNode {
		return
	}
	if n.kind != mapNode {
		d.fault(n.pos, "%s stands where a map from names is needed", n.kind)
		return
	}
	*m = make(named[T], 0, len(n.entries))
	for _, entry := range n.entries {
		e := namedEntry[T]{name: entry.key, pos: entry.pos}
		d.value(entry.value, reflect.ValueOf(&e.value).Elem())
		*m = append(*m, e)
	}
}

// valueType is what the names are mapped to.
func (*named[T]) valueType() reflect.Type { return reflect.TypeFor[T]() }

// namesOf returns what a type of named maps to, nil for other types and for none.
func namesOf(t reflect.Type) reflect.Type {
	if t == nil {
		return nil
	}
	if m, ok := reflect.TypeAssert[interface{ valueType() reflect.Type }](reflect.New(t)); ok {
		return m.valueType()
	}
	return nil
}

// raw is a text that may be empty, which the resolver then has words for.
type raw struct{ text }

func (r *raw) fromNode(d *decoder, n *node) {
	r.pos = n.pos
	if n.kind != nullNode {
		d.scalar(n, reflect.ValueOf(&r.value).Elem())
	}
}

// acceptShape maps the ids of findings to the reasons for which they are accepted.
type acceptShape = named[raw]

// assignShape maps fields to what they are given.
type assignShape struct{ named[raw] }

func (a *assignShape) fromNode(d *decoder, n *node) {
	if n.kind == nullNode {
		d.hint(n.pos, "{ field: value }, or leave the key out", "nothing stands where fields are given values")
		return
	}
	a.named.fromNode(d, n)
}
