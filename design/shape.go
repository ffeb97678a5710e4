package design

import (
	"reflect"

	"github.com/monotable/monotable/design/internal/syntax"
)

// The building blocks of shapes besides structs and lists.

// fromNode is implemented by types with a form other than their Go type: a short form, or a parsed text.
type fromNode interface {
	fromNode(d *syntax.Decoder, n *syntax.Node)
}

// decoder decodes YAML to the shapes of file.go, or the interchange form to the model itself.
func decoder(f *syntax.Faults, tag string) *syntax.Decoder {
	return &syntax.Decoder{Faults: f, Tag: tag, Own: func(d *syntax.Decoder, n *syntax.Node, to any) bool {
		short, ok := to.(fromNode)
		if ok {
			short.fromNode(d, n)
		}
		return ok
	}}
}

// text is a scalar that remembers its position.
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

// valueType is the type of the map's values.
func (*named[T]) valueType() reflect.Type { return reflect.TypeFor[T]() }

// namesOf returns the value type of an instance of named, nil for other types and for none.
func namesOf(t reflect.Type) reflect.Type {
	if t == nil {
		return nil
	}
	if m, ok := reflect.TypeAssert[interface{ valueType() reflect.Type }](reflect.New(t)); ok {
		return m.valueType()
	}
	return nil
}

// raw is a text that may be empty, which the resolver reports.
type raw struct{ text }

func (r *raw) fromNode(d *syntax.Decoder, n *syntax.Node) {
	r.pos = n.Pos
	if n.Kind != syntax.NullNode {
		d.Scalar(n, reflect.ValueOf(&r.value).Elem())
	}
}

// acceptShape maps the IDs of findings to the reasons for accepting them.
type acceptShape = named[raw]

// assignShape maps fields to their assigned values.
type assignShape struct{ named[raw] }

func (a *assignShape) fromNode(d *syntax.Decoder, n *syntax.Node) {
	if n.Kind == syntax.NullNode {
		d.Hint(n.Pos, "write { field: value }, or remove the key", "expected a map of fields to values, found nothing")
		return
	}
	a.named.fromNode(d, n)
}
