package syntax

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Kind is the kind of a node in the tree.
type Kind uint8

// The kinds.
const (
	ScalarNode Kind = iota
	ListNode
	MapNode
	NullNode
)

func (k Kind) String() string {
	return [...]string{"a single value", "a list", "a map", "nothing"}[k]
}

// Node is a part of the text without types: scalars are their characters, and their use decides their
// meaning.
type Node struct {
	Kind    Kind
	Text    string
	quoted  bool    // the text was quoted, or a block
	Entries []Entry // of a map, in the order of the text
	Items   []*Node // of a list
	Pos     Pos
	end     Pos // of a list or map in brackets, its closing bracket; zero for others
}

// Entry is a key of a map with its value.
type Entry struct {
	Key   string
	Pos   Pos
	Value *Node
}

// Decoder decodes a tree to Go values, and collects errors.
type Decoder struct {
	*Faults
	// Tag is the struct tag that names members: yaml or json.
	Tag string
	// Own decodes types with their own form, given a pointer, and reports whether it did.
	Own func(d *Decoder, n *Node, to any) bool
}

// Value decodes n to v.
func (d *Decoder) Value(n *Node, v reflect.Value) {
	if d.Own(d, n, v.Addr().Interface()) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.Members(n, v)
	case reflect.Pointer:
		if n.Kind == NullNode {
			d.Fault(n.Pos, "expected %s, found nothing", needed(v.Type(), d.Tag))
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		d.Value(n, v.Elem())
	case reflect.Slice:
		d.items(n, v)
	case reflect.Map:
		d.entries(n, v)
	default:
		d.Scalar(n, v)
	}
}

// Members decodes a map to a struct. A member of type Pos is set to the position.
func (d *Decoder) Members(n *Node, v reflect.Value) {
	if n.Kind != MapNode {
		d.Fault(n.Pos, "expected %[2]s, found %[1]s", n.Kind, needed(v.Type(), d.Tag))
		return
	}
	t := v.Type()
	for i := range t.NumField() {
		if t.Field(i).Type == reflect.TypeFor[Pos]() {
			v.Field(i).Set(reflect.ValueOf(n.Pos))
		}
	}
	keys := MemberKeys(t, d.Tag)
	for _, entry := range n.Entries {
		i := slices.Index(keys, entry.Key)
		if i < 0 || entry.Key == "" {
			hint := cmp.Or(Suggestion(entry.Key, keys), "known: "+KeyList(t, d.Tag))
			d.Hint(entry.Pos, hint, "unknown key %q", entry.Key)
			continue
		}
		d.Value(entry.Value, v.Field(i))
	}
}

// MemberKeys are the keys of a struct's members, "" for those without one.
func MemberKeys(t reflect.Type, tag string) []string {
	keys := make([]string, t.NumField())
	for i := range keys {
		keys[i], _, _ = strings.Cut(t.Field(i).Tag.Get(tag), ",")
		if keys[i] == "-" {
			keys[i] = ""
		}
	}
	return keys
}

// KeyList are the keys of a struct's members as text.
func KeyList(t reflect.Type, tag string) string {
	return strings.Join(slices.DeleteFunc(MemberKeys(t, tag), func(k string) bool { return k == "" }), ", ")
}

// needed describes what can be decoded to a type.
func needed(t reflect.Type, tag string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		if keys := KeyList(t, tag); keys != "" {
			return "a map with " + keys
		}
		return "a text"
	case reflect.Slice:
		return "a list"
	case reflect.Map:
		return "a map"
	default:
		return "a single value"
	}
}

// items decodes a list to a slice. In YAML a scalar counts as a list of one, and null as an empty one.
func (d *Decoder) items(n *Node, v reflect.Value) {
	items := n.Items
	switch {
	case n.Kind == ListNode:
	case d.Tag == "json":
		d.Fault(n.Pos, "expected a list, found %s", n.Kind)
		return
	case n.Kind == NullNode:
		return
	default:
		items = []*Node{n}
	}
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, item := range items {
		d.Value(item, v.Index(i))
	}
}

// entries decodes a map from names to values.
func (d *Decoder) entries(n *Node, v reflect.Value) {
	if n.Kind != MapNode {
		d.Fault(n.Pos, "expected a map, found %s", n.Kind)
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, entry := range n.Entries {
		value := reflect.New(v.Type().Elem()).Elem()
		d.Value(entry.Value, value)
		v.SetMapIndex(reflect.ValueOf(entry.Key), value)
	}
}

// Scalar decodes a string, a number or a bool, and records the position of a string.
func (d *Decoder) Scalar(n *Node, v reflect.Value) {
	if n.Kind != ScalarNode {
		d.Fault(n.Pos, "expected a single value, found %s", n.Kind)
		return
	}
	if d.Tag == "json" && n.quoted != (v.Kind() == reflect.String) {
		what := map[reflect.Kind]string{reflect.String: "a string", reflect.Bool: "true or false"}[v.Kind()]
		d.Fault(n.Pos, "expected %[2]s, found %[1]q", n.Text, cmp.Or(what, "a number"))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Text)
		d.Places[v.Addr().Convert(reflect.TypeFor[*string]()).Interface().(*string)] = n.Pos
	case reflect.Bool:
		if n.Text != "true" && n.Text != "false" {
			d.Fault(n.Pos, "expected true or false, found %q", n.Text)
		}
		v.SetBool(n.Text == "true")
	case reflect.Int:
		i, err := strconv.Atoi(Digits(n.Text))
		if err != nil || i < 0 || i > math.MaxInt32 {
			d.Fault(n.Pos, "%q is not a whole number from 0 to %d", n.Text, math.MaxInt32)
		}
		v.SetInt(int64(i))
	case reflect.Float64:
		f, err := strconv.ParseFloat(Digits(n.Text), 64)
		if err != nil || f < 0 || f > 1e15 {
			d.Fault(n.Pos, "%q is not a number from 0 to 1e15", n.Text)
		}
		v.SetFloat(f)
	default:
		d.Fault(n.Pos, "%s cannot be read", v.Type())
	}
}

// Digits removes the underscores from 200_000, and rejects other notations that ParseFloat accepts.
func Digits(s string) string {
	if strings.Trim(s, "0123456789_.eE+-") != "" || strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") {
		return ""
	}
	return strings.ReplaceAll(s, "_", "")
}
