package design

import (
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/monotable/monotable/design/internal/syntax"
)

// maxWidth is the maximum length of a line with several values.
const maxWidth = 120

// formatter writes a tree in the canonical layout.
type formatter struct {
	notes syntax.Remarks
	lines []string
}

// layout is the layout in a shape's tag.
type layout uint8

const (
	free   layout = iota // on one line if it fits
	block                // never
	blocks               // nor are its members
)

func layoutOf(shape reflect.Type, key string) layout {
	m, ok := member(shape, key)
	switch {
	case !ok:
		return free
	case m.Tag.Get("layout") == "blocks":
		return blocks
	case m.Tag.Get("layout") == "block":
		return block
	default:
		return free
	}
}

// header reports whether a key is in the first group of the file.
func header(key string) bool {
	return slices.Contains([]string{"design", "name", "doc", "go"}, key)
}

func (f *formatter) document(root *syntax.Node, shape reflect.Type) {
	notes := f.notes.Of(root)
	f.comments(notes.Head, "")
	switch {
	case root.Kind == syntax.MapNode && len(root.Entries) > 0:
		// A separate comment at the top is about the file, not about the first key.
		if first := f.notes.Of(root.Entries[0].Value); first.Blank && len(first.Head) > 0 {
			f.comments(first.Head, "")
			f.blank()
			first.Head, first.Blank = nil, false
		}
		f.entries(root, shape, "", block)
	case root.Kind == syntax.ListNode && len(root.Items) > 0:
		f.items(root, shape, "")
	case root.Kind != syntax.NullNode:
		f.add(f.inline(root, shape, syntax.OnLine), notes)
	}
	if !syntax.Members(root) {
		f.comments(notes.Foot, "")
	}
}

// add writes a line with its trailing comment.
func (f *formatter) add(line string, notes *syntax.Remark) {
	if notes.Trail != "" {
		line += "  " + notes.Trail
	}
	f.lines = append(f.lines, line)
}

// comments writes lines of comments.
func (f *formatter) comments(list []syntax.Comment, indent string) {
	for _, c := range list {
		if c.Blank {
			f.blank()
		}
		f.lines = append(f.lines, indent+c.Text)
	}
}

// blank writes one blank line, except at the start and after another.
func (f *formatter) blank() {
	if n := len(f.lines); n > 0 && f.lines[n-1] != "" {
		f.lines = append(f.lines, "")
	}
}

// entries writes a map over several lines. how is the layout of the map itself.
func (f *formatter) entries(n *syntax.Node, shape reflect.Type, indent string, how layout) {
	for i, e := range inOrder(n.Entries, shape) {
		notes := f.notes.Of(e.Value)
		apart := shape == reflect.TypeFor[fileShape]() && !header(e.Key) || namesOf(shape) == reflect.TypeFor[entityShape]()
		if i > 0 && (apart || notes.Blank && len(notes.Head) == 0) {
			f.blank()
		}
		if i == 0 && len(notes.Head) > 0 {
			notes.Head[0].Blank = false
		}
		f.comments(notes.Head, indent)
		if len(notes.Head) > 0 && notes.Blank {
			f.blank()
		}
		inner := layoutOf(shape, e.Key)
		if how == blocks && inner == free {
			inner = block
		}
		f.entry(e, notes, valueShape(shape, e.Key), indent, inner)
	}
	f.comments(f.notes.Of(n).Foot, indent)
}

// entry writes a key with its value.
func (f *formatter) entry(e syntax.Entry, notes *syntax.Remark, shape reflect.Type, indent string, how layout) {
	line := indent + syntax.Quoted(e.Key, syntax.InList) + ":"
	v := e.Value
	if written, ok := f.fits(v, shape, how, utf8.RuneCountInString(line)+1); ok {
		if written != "" {
			line += " " + written
		}
		f.add(line, notes)
		return
	}
	switch v.Kind {
	case syntax.MapNode:
		f.add(line, notes)
		f.entries(v, shape, indent+"  ", how)
	case syntax.ListNode:
		f.add(line, notes)
		f.items(v, shape, indent+"  ")
	default:
		f.add(line+" |", notes)
		for text := range strings.SplitSeq(v.Text, "\n") {
			if text != "" {
				text = indent + "  " + text
			}
			f.lines = append(f.lines, text)
		}
	}
}

// items writes a list over several lines.
func (f *formatter) items(n *syntax.Node, shape reflect.Type, indent string) {
	shape = itemShape(shape)
	for i, item := range n.Items {
		notes := f.notes.Of(item)
		if i > 0 && notes.Blank && len(notes.Head) == 0 {
			f.blank()
		}
		if i == 0 && len(notes.Head) > 0 {
			notes.Head[0].Blank = false
		}
		f.comments(notes.Head, indent)
		written, ok := f.fits(item, shape, free, len(indent)+2)
		if ok {
			f.add(strings.TrimRight(indent+"- "+written, " "), notes)
			continue
		}
		// The item is written on its own; then its first line gets the dash. Comments before that line go before the
		// dash.
		inner := formatter{notes: f.notes}
		switch item.Kind {
		case syntax.MapNode:
			inner.entries(item, shape, indent+"  ", free)
		case syntax.ListNode:
			inner.items(item, shape, indent+"  ")
		default:
			inner.lines = []string{indent + "  " + syntax.Quoted(item.Text, syntax.OnLine)}
		}
		// A map or list that does not fit on one line has members, so there is a line that is not a comment.
		first := slices.IndexFunc(inner.lines, func(line string) bool { return line != "" && !strings.HasPrefix(strings.TrimSpace(line), "#") })
		for _, line := range inner.lines[:first] {
			f.lines = append(f.lines, strings.Replace(line, "  ", "", 1))
		}
		if notes.Trail != "" {
			f.lines = append(f.lines, indent+notes.Trail)
		}
		inner.lines[first] = indent + "- " + inner.lines[first][len(indent)+2:]
		f.lines = append(f.lines, inner.lines[first:]...)
	}
	f.comments(f.notes.Of(n).Foot, indent)
}

// fits writes a value on one line if its layout allows it and it fits, after a number of characters.
func (f *formatter) fits(n *syntax.Node, shape reflect.Type, how layout, before int) (string, bool) {
	switch n.Kind {
	case syntax.ScalarNode:
		if syntax.Blockable(n.Text) {
			return "", false
		}
		return syntax.Quoted(n.Text, syntax.OnLine), true
	case syntax.NullNode:
		return "", true
	default:
	}
	empty := len(n.Items) == 0 && len(n.Entries) == 0
	if f.notes.Inside(n) || !empty && (how != free || spread(n, shape)) {
		return "", false
	}
	written := f.inline(n, shape, syntax.OnLine)
	return written, empty || before+utf8.RuneCountInString(written) <= maxWidth
}

// spread reports whether a map or list is easier to read over several lines, even if it is short: a list of maps, and
// a map from names to several maps.
func spread(n *syntax.Node, shape reflect.Type) bool {
	maps := 0
	for _, item := range n.Items {
		if item.Kind == syntax.MapNode {
			return true
		}
	}
	for _, e := range n.Entries {
		if e.Value.Kind == syntax.MapNode {
			maps++
		}
		if syntax.Blockable(e.Value.Text) || spread(e.Value, valueShape(shape, e.Key)) {
			return true
		}
	}
	return maps > 1 && shape != nil && namesOf(shape) != nil
}

// inline writes a value on one line.
func (f *formatter) inline(n *syntax.Node, shape reflect.Type, in syntax.Place) string {
	switch n.Kind {
	case syntax.ScalarNode:
		return syntax.Quoted(n.Text, in)
	case syntax.NullNode:
		return "null"
	case syntax.ListNode:
		items := make([]string, len(n.Items))
		for i, item := range n.Items {
			items[i] = f.inline(item, itemShape(shape), syntax.InList)
		}
		return "[" + strings.Join(items, ", ") + "]"
	default:
		if len(n.Entries) == 0 {
			return "{}"
		}
		var entries []string
		for _, e := range inOrder(n.Entries, shape) {
			entries = append(entries, syntax.Quoted(e.Key, syntax.InList)+": "+f.inline(e.Value, valueShape(shape, e.Key), syntax.InBrace))
		}
		return "{ " + strings.Join(entries, ", ") + " }"
	}
}
