package lsp

import (
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/monotable/monotable/design"
)

// text is an immutable version of a document.
type text struct {
	uri, name string
	version   int
	content   string
	lines     []int // offsets of their starts

	scanned func() scanned
}

// scanned is the result of scanning a text, whether complete or not.
type scanned struct {
	root    *node
	symbols []symbol
}

func newText(uri string, version int, content string) *text {
	t := &text{uri: uri, name: fileOf(uri), version: version, content: content, lines: []int{0}}
	for i := range len(content) {
		if content[i] == '\n' {
			t.lines = append(t.lines, i+1)
		}
	}
	t.scanned = sync.OnceValue(func() scanned {
		root := scan(content)
		return scanned{root, symbolsOf(root)}
	})
	return t
}

// fileOf is the path of a file: URI; other URIs are kept as names.
func fileOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return uri
	}
	path := u.Path
	if len(path) > 2 && path[2] == ':' { // /C:/designs
		path = path[1:]
	}
	return filepath.FromSlash(path)
}

// line is the text of a line without its line ending.
func (t *text) line(n int) string {
	end := len(t.content)
	if n+1 < len(t.lines) {
		end = t.lines[n+1] - 1
	}
	return strings.TrimSuffix(t.content[t.lines[n]:end], "\r")
}

// offset is the byte offset of a position; a position after the end of a line or the text is clamped.
func (t *text) offset(p position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.lines) {
		return len(t.content)
	}
	line, units, at := t.line(p.Line), 0, 0
	for at < len(line) && units < p.Character {
		r, n := utf8.DecodeRuneInString(line[at:])
		units += unitsOf(r)
		at += n
	}
	return t.lines[p.Line] + at
}

// position is the position of a byte.
func (t *text) position(offset int) position {
	offset = min(max(offset, 0), len(t.content))
	low, high := 0, len(t.lines) // the line is in [low, high)
	for high-low > 1 {
		if middle := (low + high) / 2; t.lines[middle] <= offset {
			low = middle
		} else {
			high = middle
		}
	}
	units := 0
	for _, r := range t.content[t.lines[low]:offset] {
		units += unitsOf(r)
	}
	return position{low, units}
}

// unitsOf is the number of UTF-16 code units of a character.
func unitsOf(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

func (t *text) rangeOf(from, to int) textRange {
	return textRange{t.position(from), t.position(to)}
}

// place is the byte offset of a position in package design.
func (t *text) place(p design.Pos) int {
	if p.Line < 1 {
		return 0
	}
	n := min(p.Line, len(t.lines)) - 1
	return t.lines[n] + min(max(p.Column-1, 0), len(t.line(n)))
}

// wordRange is the range of the word at a position in package design, or the rest of its line.
func (t *text) wordRange(p design.Pos) textRange {
	from := t.place(p)
	for _, w := range t.words() {
		if w.from <= from+1 && from < w.to {
			return t.rangeOf(w.from, w.to)
		}
	}
	line := t.line(t.position(from).Line)
	return t.rangeOf(from, t.lines[t.position(from).Line]+len(strings.TrimRight(line, " ")))
}

// words are all keys and single values.
func (t *text) words() []*word {
	var out []*word
	t.scanned().root.walk(func(n *node) {
		if n.key != nil {
			out = append(out, n.key)
		}
		if n.value != nil {
			out = append(out, n.value)
		}
	})
	return out
}

// edit is the text after a change.
func (t *text) edit(r *textRange, with string) string {
	if r == nil {
		return with
	}
	from := t.offset(r.Start)
	to := max(from, t.offset(r.End))
	return t.content[:from] + with + t.content[to:]
}

// document is a document open in an editor.
type document struct {
	text *text
	// good is the last complete design, for requests while the text is incomplete; nil if there was none
	// yet.
	good *design.Design
	// running means that the text is being checked; again, that it has changed since.
	running, again, closed bool
}
