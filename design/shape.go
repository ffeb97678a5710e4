package design

import (
	"reflect"

	"github.com/monotable/monotable/design/internal/syntax"
)

// The forms that shapes are made of beside structs and lists.

// fromNode is implemented by what has another form than its Go type: a short one, or a text that is parsed.
type fromNode interface {
	fromNode(d *syntax.Decoder, n *syntax.Node)
}

// decoder fills the shapes of file.go from YAML, or the model itself from the interchange form.
func decoder(f *syntax.Faults, tag string) *syntax.Decoder {
	return &syntax.Decoder{Faults: f, Tag: tag, Own: func(d *syntax.Decoder, n *syntax.Node, to any) bool {
		short, ok := to.(fromNode)
		if ok {
			short.fromNode(d, n)
		}
		return ok
	}}
}

// text is a scalar that remembers its place.
type text struct {
	value string
	pos   Pos
}

func (t *text) fromNode(d *syntax.Decoder, n *syntax.Node) {
	t.pos = n.Pos
	d.Scalar(n, reflect.ValueOf(&t.value).Elem())
	if n.Kind == syntax.ScalarNode && n.Text == "" {
		d.Hint(n.Pos, "remove the key", "the value is empty")
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

func (m *named[T]) fromNode(d *syntax.Decoder, n *syntax.Node) {
	if n.Kind == syntax.NullNode {
		return
	}
	if n.Kind != syntax.MapNode {
		d.Fault(n.Pos, "expected a map with names as keys, found %s", n.Kind)
		return
	}
	*m = make(named[T], 0, len(n.Entries))
	for _, entry := range n.Entries {
		e := namedEntry[T]{name: entry.Key, pos: entry.Pos}
		d.Value(entry.Value, reflect.ValueOf(&e.value).Elem())
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

func (r *raw) fromNode(d *syntax.Decoder, n *syntax.Node) {
	r.pos = n.Pos
	if n.Kind != syntax.NullNode {
		d.Scalar(n, reflect.ValueOf(&r.value).Elem())
	}
}

// acceptShape maps the ids of findings to the reasons for which they are accepted.
type acceptShape = named[raw]

// assignShape maps fields to what they are given.
type assignShape struct{ named[raw] }

func (a *assignShape) fromNode(d *syntax.Decoder, n *syntax.Node) {
	if n.Kind == syntax.NullNode {
		d.Hint(n.Pos, "write { field: value }, or remove the key", "expected a map of fields to values, found nothing")
		return
	}
	a.named.fromNode(d, n)
}
