package design

import (
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxWidth is the longest line that holds more than one value.
const maxWidth = 120

// formatter writes a tree in the canonical layout.
type formatter struct {
	notes remarks
	lines []string
}

// layout is what a shape's tag says of a value's form.
type layout uint8

const (
	free   layout = iota // on one line where it fits
	block                // never
	blocks               // nor its members
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

// header are the keys at the top that stand together.
func header(key string) bool {
	return slices.Contains([]string{"design", "name", "doc", "go"}, key)
}

func (f *formatter) document(root *node, shape reflect.Type) {
	notes := f.notes.of(root)
	f.comments(notes.head, "")
	switch {
	case root.kind == mapNode && len(root.entries) > 0:
		// What stands above all, apart, is about the file and not about the key that happens to be first.
		if first := f.notes.of(root.entries[0].value); first.blank && len(first.head) > 0 {
			f.comments(first.head, "")
			f.blank()
			first.head, first.blank = nil, false
		}
		f.entries(root, shape, "", block)
	case root.kind == listNode && len(root.items) > 0:
		f.items(root, shape, "")
	case root.kind != nullNode:
		f.add(f.inline(root, shape, onLine), notes)
	}
	if !members(root) {
		f.comments(notes.foot, "")
	}
}

// add writes a line with the comment that stands behind it.
func (f *formatter) add(line string, notes *remark) {
	if notes.trail != "" {
		line += "  " + notes.trail
	}
	f.lines = append(f.lines, line)
}

// comments writes lines of comments.
func (f *formatter) comments(list []comment, indent string) {
	for _, c := range list {
		if c.blank {
			f.blank()
		}
		f.lines = append(f.lines, indent+c.text)
	}
}

// blank writes one blank line, but not at the beginning and not after another.
func (f *formatter) blank() {
	if n := len(f.lines); n > 0 && f.lines[n-1] != "" {
		f.lines = append(f.lines, "")
	}
}

// entries writes a map over several lines. how is the layout of the map itself.
func (f *formatter) entries(n *node, shape reflect.Type, indent string, how layout) {
	for i, e := range inOrder(n.entries, shape) {
		notes := f.notes.of(e.value)
		apart := shape == reflect.TypeFor[fileShape]() && !header(e.key) || namesOf(shape) == reflect.TypeFor[entityShape]()
		if i > 0 && (apart || notes.blank && len(notes.head) == 0) {
			f.blank()
		}
		if i == 0 && len(notes.head) > 0 {
			notes.head[0].blank = false
		}
		f.comments(notes.head, indent)
		if len(notes.head) > 0 && notes.blank {
			f.blank()
		}
		inner := layoutOf(shape, e.key)
		if how == blocks && inner == free {
			inner = block
		}
		f.entry(e, notes, valueShape(shape, e.key), indent, inner)
	}
	f.comments(f.notes.of(n).foot, indent)
}

// entry writes a key with its value.
func (f *formatter) entry(e nodeEntry, notes *remark, shape reflect.Type, indent string, how layout) {
	line := indent + quoted(e.key, inList) + ":"
	v := e.value
	if written, ok := f.fits(v, shape, how, utf8.RuneCountInString(line)+1); ok {
		if written != "" {
			line += " " + written
		}
		f.add(line, notes)
		return
	}
	switch v.kind {
	case mapNode:
		f.add(line, notes)
		f.entries(v, shape, indent+"  ", how)
	case listNode:
		f.add(line, notes)
		f.items(v, shape, indent+"  ")
	default:
		f.add(line+" |", notes)
		for text := range strings.SplitSeq(v.text, "\n") {
			if text != "" {
				text = indent + "  " + text
			}
			f.lines = append(f.lines, text)
		}
	}
}

// items writes a list over several lines.
func (f *formatter) items(n *node, shape reflect.Type, indent string) {
	shape = itemShape(shape)
	for i, item := range n.items {
		notes := f.notes.of(item)
		if i > 0 && notes.blank && len(notes.head) == 0 {
			f.blank()
		}
		if i == 0 && len(notes.head) > 0 {
			notes.head[0].blank = false
		}
		f.comments(notes.head, indent)
		written, ok := f.fits(item, shape, free, len(indent)+2)
		if ok {
			f.add(strings.TrimRight(indent+"- "+written, " "), notes)
			continue
		}
		// The item is written as if it stood alone; then its first line gets the dash. What is commented before
		// that line goes before the dash.
		inner := formatter{notes: f.notes}
		switch item.kind {
		case mapNode:
			inner.entries(item, shape, indent+"  ", free)
		case listNode:
			inner.items(item, shape, indent+"  ")
		default:
			inner.lines = []string{indent + "  " + quoted(item.text, onLine)}
		}
		// A map or list that does not fit has members, and so a line that is no comment.
		first := slices.IndexFunc(inner.lines, func(line string) bool { return line != "" && !strings.HasPrefix(strings.TrimSpace(line), "#") })
		for _, line := range inner.lines[:first] {
			f.lines = append(f.lines, strings.Replace(line, "  ", "", 1))
		}
		if notes.trail != "" {
			f.lines = append(f.lines, indent+notes.trail)
		}
		inner.lines[first] = indent + "- " + inner.lines[first][len(indent)+2:]
		f.lines = append(f.lines, inner.lines[first:]...)
	}
	f.comments(f.notes.of(n).foot, indent)
}

// fits writes a value on one line if it may and can stand there, after so many characters.
func (f *formatter) fits(n *node, shape reflect.Type, how layout, before int) (string, bool) {
	switch n.kind {
	case scalarNode:
		if blockable(n.text) {
			return "", false
		}
		return quoted(n.text, onLine), true
	case nullNode:
		return "", true
	default:
	}
	empty := len(n.items) == 0 && len(n.entries) == 0
	if f.notes.inside(n) || !empty && (how != free || spread(n, shape)) {
		return "", false
	}
	written := f.inline(n, shape, onLine)
	return written, empty || before+utf8.RuneCountInString(written) <= maxWidth
}

// spread reports whether a map or list is easier to read over several lines, however short: a list of maps, and a map
// from names to several maps.
func spread(n *node, shape reflect.Type) bool {
	maps := 0
	for _, item := range n.items {
		if item.kind == mapNode {
			return true
		}
	}
	for _, e := range n.entries {
		if e.value.kind == mapNode {
			maps++
		}
		if blockable(e.value.text) || spread(e.value, valueShape(shape, e.key)) {
			return true
		}
	}
	return maps > 1 && shape != nil && namesOf(shape) != nil
}

// inline writes a value on one line.
func (f *formatter) inline(n *node, shape reflect.Type, in place) string {
	switch n.kind {
	case scalarNode:
		return quoted(n.text, in)
	case nullNode:
		return "null"
	case listNode:
		items := make([]string, len(n.items))
		for i, item := range n.items {
			items[i] = f.inline(item, itemShape(shape), inList)
		}
		return "[" + strings.Join(items, ", ") + "]"
	default:
		if len(n.entries) == 0 {
			return "{}"
		}
		var entries []string
		for _, e := range inOrder(n.entries, shape) {
			entries = append(entries, quoted(e.key, inList)+": "+f.inline(e.value, valueShape(shape, e.key), inBrace))
		}
		return "{ " + strings.Join(entries, ", ") + " }"
	}
}
