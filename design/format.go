package design

import (
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"

	"github.com/monotable/monotable/design/internal/syntax"
)

// Format returns a design's text in its canonical form. It preserves comments and the meaning: the text parses to the
// same design as before, or has the same errors. In a document whose name ends in .md, the fences are formatted.
//
//   - Keys of the language are in the order of its page; names stay in the order of the text.
//   - Indentation is 2. A map or list is on one line if it has no comment and that line has at most 120 characters;
//     sections, tables, entities, writes and lists of maps never are, nor are maps of names to several maps.
//   - Quotes are used only where they are needed, double ones where possible.
//   - There is a blank line between sections and between entities; elsewhere one is kept if there was one or more.
//
// Formatting is idempotent. A text that is not YAML of the strict profile is rejected with Errors.
func Format(name string, data []byte) ([]byte, error) {
	source, data := syntax.NewSource(name, data)
	if ext := strings.ToLower(filepath.Ext(name)); ext != ".md" && ext != ".markdown" {
		return format(source, data)
	}
	found, err := syntax.Fences(source)
	if err != nil {
		return nil, err
	}
	var out []string
	at := 0
	for _, f := range found {
		// The preceding lines keep their positions, for errors.
		text := strings.Repeat("\n", f.From) + strings.Join(source.Lines[f.From:f.To], "\n") + "\n"
		formatted, err := format(source, []byte(text))
		if err != nil {
			return nil, err
		}
		out = append(out, source.Lines[at:f.From]...)
		if len(formatted) > 0 {
			out = append(out, strings.TrimSuffix(string(formatted), "\n"))
		}
		at = f.To
	}
	return []byte(strings.Join(append(out, source.Lines[at:]...), "\n")), nil
}

// format formats YAML that is part of the source.
func format(source *Source, data []byte) ([]byte, error) {
	root, comments, err := syntax.ParseYAML(source, data)
	if err != nil {
		return nil, err
	}
	out := written(source, root, comments)
	// A formatter must not change the meaning, so it checks its own result. If a comment is moved out of a list, the
	// list may fit on one line, so formatting is repeated until nothing changes.
	const rounds = 3
	for range rounds {
		again, _ := syntax.NewSource(source.Name, out)
		tree, after, err := syntax.ParseYAML(again, out)
		if err != nil || !sameTree(root, tree, reflect.TypeFor[fileShape]()) || !sameComments(comments, after) {
			break
		}
		next := written(again, tree, after)
		if bytes.Equal(next, out) {
			return out, nil
		}
		out = next
	}
	return nil, Errors{{Source: source, Pos: Pos{Line: 1, Column: 1}, Message: "this text cannot be formatted without changing it", Hint: "please report it"}}
}

// written is a tree in the canonical layout.
func written(source *Source, root *syntax.Node, comments []*token.Token) []byte {
	f := formatter{notes: syntax.RemarksOn(source, root, comments)}
	f.document(root, reflect.TypeFor[fileShape]())
	out := []byte(strings.Join(f.lines, "\n"))
	if len(out) > 0 {
		out = append(out, '\n')
	}
	return out
}

// sameTree reports whether two trees are equal, ignoring the order of the keys of known maps.
func sameTree(a, b *syntax.Node, shape reflect.Type) bool {
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Items) != len(b.Items) || len(a.Entries) != len(b.Entries) {
		return false
	}
	for i := range a.Items {
		if !sameTree(a.Items[i], b.Items[i], itemShape(shape)) {
			return false
		}
	}
	x, y := inOrder(a.Entries, shape), inOrder(b.Entries, shape)
	for i := range x {
		if x[i].Key != y[i].Key || !sameTree(x[i].Value, y[i].Value, valueShape(shape, x[i].Key)) {
			return false
		}
	}
	return true
}

func sameComments(a, b []*token.Token) bool {
	texts := func(list []*token.Token) []string {
		var out []string
		for _, t := range list {
			out = append(out, strings.TrimSpace(t.Value))
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(texts(a), texts(b))
}

// inOrder returns the entries of a map in the order in which they are written: known keys in the order of the
// shape, then the others in that of the text.
func inOrder(entries []syntax.Entry, shape reflect.Type) []syntax.Entry {
	known := knownKeys(shape)
	rank := func(e syntax.Entry) int {
		if i := slices.Index(known, e.Key); i >= 0 {
			return i
		}
		return len(known)
	}
	out := slices.Clone(entries)
	slices.SortStableFunc(out, func(a, b syntax.Entry) int { return rank(a) - rank(b) })
	return out
}

// knownKeys are the keys of a shape that is a struct; nil for other shapes and for none.
func knownKeys(shape reflect.Type) []string {
	if shape = structOf(shape); shape == nil {
		return nil
	}
	return syntax.MemberKeys(shape, "yaml")
}

// structOf returns the struct of a shape, through pointers and slices; nil if there is none.
func structOf(shape reflect.Type) reflect.Type {
	for shape != nil && namesOf(shape) == nil && (shape.Kind() == reflect.Pointer || shape.Kind() == reflect.Slice) {
		shape = shape.Elem()
	}
	if shape == nil || shape.Kind() != reflect.Struct || syntax.KeyList(shape, "yaml") == "" {
		return nil
	}
	return shape
}

// itemShape is the shape of a list's items.
func itemShape(shape reflect.Type) reflect.Type {
	if shape != nil && shape.Kind() == reflect.Slice && namesOf(shape) == nil {
		return shape.Elem()
	}
	return nil
}

// valueShape is the shape of a key's value, nil if it has none.
func valueShape(shape reflect.Type, key string) reflect.Type {
	if shape == nil {
		return nil
	}
	if value := namesOf(shape); value != nil {
		return value
	}
	if m, ok := member(shape, key); ok {
		return m.Type
	}
	if item := itemShape(shape); item != nil {
		return valueShape(item, key) // a scalar in place of a list with one item
	}
	return nil
}

// member is the member of a struct that a key is for.
func member(shape reflect.Type, key string) (reflect.StructField, bool) {
	t := structOf(shape)
	if t == nil || key == "" {
		return reflect.StructField{}, false
	}
	i := slices.Index(syntax.MemberKeys(t, "yaml"), key)
	if i < 0 {
		return reflect.StructField{}, false
	}
	return t.Field(i), true
}
