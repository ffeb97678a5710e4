package design

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// nodeKind is the sort of a node of the text's tree.
type nodeKind uint8

const (
	scalarNode nodeKind = iota
	listNode
	mapNode
	nullNode
)

func (k nodeKind) String() string {
	return [...]string{"a single value", "a list", "a map", "nothing"}[k]
}

// node is a part of the text without any opinion on types: scalars are the characters that were written, and
// what they mean is decided by what they are for.
type node struct {
	kind    nodeKind
	text    string
	quoted  bool        // the text stood in quotes, or as a block
	entries []nodeEntry // of a map, in the order of the text
	items   []*node     // of a list
	pos     Pos
	end     Pos // of a list or map in brackets, its closing one; zero for others
}

type nodeEntry struct {
	key   string
	pos   Pos
	value *node
}

// decoder fills Go values from a tree, and collects what does not fit: the shapes of file.go from YAML, or the model
// itself from the interchange form.
type decoder struct {
	*faults
	// tag is what names a struct's members: yaml or json.
	tag string
}

// fromNode is implemented by what has another form than its Go type: a short one, or a text that is parsed.
type fromNode interface {
	fromNode(d *decoder, n *node)
}

// value fills v from n.
func (d *decoder) value(n *node, v reflect.Value) {
	if short, ok := reflect.TypeAssert[fromNode](v.Addr()); ok {
		short.fromNode(d, n)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.members(n, v)
	case reflect.Pointer:
		if n.kind == nullNode {
			d.fault(n.pos, "nothing stands where %s is needed", needed(v.Type(), d.tag))
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem())
	case reflect.Slice:
		d.items(n, v)
	case reflect.Map:
		d.entries(n, v)
	default:
		d.scalar(n, v)
	}
}

// members fills a struct from a map. A member of type Pos gets the place.
func (d *decoder) members(n *node, v reflect.Value) {
	if n.kind != mapNode {
		d.fault(n.pos, "%s stands where %s is needed", n.kind, needed(v.Type(), d.tag))
		return
	}
	t := v.Type()
	for i := range t.NumField() {
		if t.Field(i).Type == reflect.TypeFor[Pos]() {
			v.Field(i).Set(reflect.ValueOf(n.pos))
		}
	}
	keys := memberKeys(t, d.tag)
	for _, entry := range n.entries {
		i := slices.Index(keys, entry.key)
		if i < 0 || entry.key == "" {
			hint := cmp.Or(suggestion(entry.key, keys), "known: "+keyList(t, d.tag))
			d.hint(entry.pos, hint, "there is no key %q here", entry.key)
			continue
		}
		d.value(entry.value, v.Field(i))
	}
}

// memberKeys are the keys of a struct's members, "" for those that have none.
func memberKeys(t reflect.Type, tag string) []string {
	keys := make([]string, t.NumField())
	for i := range keys {
		keys[i], _, _ = strings.Cut(t.Field(i).Tag.Get(tag), ",")
		if keys[i] == "-" {
			keys[i] = ""
		}
	}
	return keys
}

func keyList(t reflect.Type, tag string) string {
	return strings.Join(slices.DeleteFunc(memberKeys(t, tag), func(k string) bool { return k == "" }), ", ")
}

// needed says what can be decoded into a type.
func needed(t reflect.Type, tag string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		if keys := keyList(t, tag); keys != "" {
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

// items fills a slice. In YAML a single value stands for a list of one, and nothing for none.
func (d *decoder) items(n *node, v reflect.Value) {
	items := n.items
	switch {
	case n.kind == listNode:
	case d.tag == "json":
		d.fault(n.pos, "%s stands where a list is needed", n.kind)
		return
	case n.kind == nullNode:
		return
	default:
		items = []*node{n}
	}
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, item := range items {
		d.value(item, v.Index(i))
	}
}

// entries fills a map from names to values.
func (d *decoder) entries(n *node, v reflect.Value) {
	if n.kind != mapNode {
		d.fault(n.pos, "%s stands where a map is needed", n.kind)
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, entry := range n.entries {
		value := reflect.New(v.Type().Elem()).Elem()
		d.value(entry.value, value)
		v.SetMapIndex(reflect.ValueOf(entry.key), value)
	}
}

func (d *decoder) scalar(n *node, v reflect.Value) {
	if n.kind != scalarNode {
		d.fault(n.pos, "%s stands where a single value is needed", n.kind)
		return
	}
	if d.tag == "json" && n.quoted != (v.Kind() == reflect.String) {
		what := map[reflect.Kind]string{reflect.String: "a string", reflect.Bool: "true or false"}[v.Kind()]
		d.fault(n.pos, "%q stands where %s is needed", n.text, cmp.Or(what, "a number"))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.text)
		d.places[v.Addr().Convert(reflect.TypeFor[*string]()).Interface().(*string)] = n.pos
	case reflect.Bool:
		if n.text != "true" && n.text != "false" {
			d.fault(n.pos, "%q is neither true nor false", n.text)
		}
		v.SetBool(n.text == "true")
	case reflect.Int:
		i, err := strconv.Atoi(digits(n.text))
		if err != nil || i < 0 || i > math.MaxInt32 {
			d.fault(n.pos, "%q is no whole number from 0 to %d", n.text, math.MaxInt32)
		}
		v.SetInt(int64(i))
	case reflect.Float64:
		f, err := strconv.ParseFloat(digits(n.text), 64)
		if err != nil || f < 0 || f > 1e15 {
			d.fault(n.pos, "%q is no number from 0 to 1e15", n.text)
		}
		v.SetFloat(f)
	default:
		d.fault(n.pos, "%s cannot be read", v.Type())
	}
}

// digits takes the marks out of 200_000, and gives no text that ParseFloat takes for other than digits.
func digits(s string) string {
	if strings.Trim(s, "0123456789_.eE+-") != "" || strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") {
		return ""
	}
	return strings.ReplaceAll(s, "_", "")
}
