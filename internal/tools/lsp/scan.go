package lsp

import (
	"strings"

	"github.com/monotable/monotable/design"
)

// maxScanned is the maximum size of a text that is scanned; a design of that size is rejected long before.
const maxScanned = 2 * design.MaxTextBytes

// maxFlow bounds nested brackets.
const maxFlow = 64

// word is a key or a scalar value in the text, without its quotes.
type word struct {
	text     string
	from, to int // bytes of the text
	quoted   bool
}

// node is an entry of a map, an item of a list, or the root.
type node struct {
	parent *node
	key    *word // of an entry of a map
	value  *word // a scalar value; nil for maps, lists and empty values
	nodes  []*node
	slot   slot
}

func (n *node) add(key *word) *node {
	child := &node{parent: n, key: key}
	n.nodes = append(n.nodes, child)
	return child
}

// child is the entry with that key, or nil if there is none.
func (n *node) child(key string) *node {
	if n == nil {
		return nil
	}
	for _, c := range n.nodes {
		if c.key != nil && c.key.text == key {
			return c
		}
	}
	return nil
}

// text is the node's scalar value, "" if there is none.
func (n *node) text() string {
	if n == nil || n.value == nil {
		return ""
	}
	return n.value.text
}

// words are the scalar value, or those of the list.
func (n *node) words() []*word {
	if n == nil {
		return nil
	}
	if n.value != nil {
		return []*word{n.value}
	}
	var out []*word
	for _, c := range n.nodes {
		if c.key == nil && c.value != nil {
			out = append(out, c.value)
		}
	}
	return out
}

func texts(words []*word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}

// walk calls f for the node and all within it.
func (n *node) walk(f func(*node)) {
	f(n)
	for _, c := range n.nodes {
		c.walk(f)
	}
}

// scan parses as much as possible of a text: design.Parse rejects an incomplete text, and a text being typed is seldom
// complete. It accepts every text, in linear time.
func scan(text string) *node {
	root := &node{}
	if len(text) > maxScanned {
		return root
	}
	s := scanner{text: text, frames: []frame{{indent: -1, node: root}}}
	for s.at < len(s.text) {
		s.line()
	}
	root.walk(func(n *node) { n.slot = slotOf(n) })
	return root
}

// frame is a map or list whose entries start in one column.
type frame struct {
	indent int
	node   *node
	list   bool
}

type scanner struct {
	text   string
	at     int
	begin  int // of the line
	indent int // of the line
	frames []frame
	deep   int // open brackets
}

func (s *scanner) top() frame { return s.frames[len(s.frames)-1] }
func (s *scanner) pop()       { s.frames = s.frames[:len(s.frames)-1] }

func (s *scanner) peek(n int) byte {
	if s.at+n >= len(s.text) {
		return '\n'
	}
	return s.text[s.at+n]
}

func (s *scanner) spaces() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t' || s.text[s.at] == '\r') {
		s.at++
	}
}

// rest skips the rest of the line.
func (s *scanner) rest() {
	if i := strings.IndexByte(s.text[s.at:], '\n'); i >= 0 {
		s.at += i + 1
		return
	}
	s.at = len(s.text)
}

// line parses a line, or more if brackets continue.
func (s *scanner) line() {
	s.begin = s.at
	s.spaces()
	s.indent = s.at - s.begin
	defer s.rest()
	if c := s.peek(0); c == '\n' || c == '#' || c == '-' && strings.HasPrefix(s.text[s.at:], "---") {
		return
	}
	for s.top().indent > s.indent {
		s.pop()
	}
	dash := s.dash()
	if t := s.top(); t.indent == s.indent && t.list && !dash {
		s.pop() // the list was in its key's column
	}
	switch t := s.top(); {
	case t.indent < s.indent:
		s.frames = append(s.frames, frame{s.indent, s.last(t.node), dash})
	case dash && !t.list: // a list in its key's column
		s.frames = append(s.frames, frame{s.indent, s.last(t.node), true})
	}
	for s.dash() {
		item := s.top().node.add(nil)
		s.at++
		s.spaces()
		if c := s.peek(0); c == '\n' || c == '#' {
			return
		}
		if len(s.frames) > maxFlow {
			return
		}
		s.frames = append(s.frames, frame{s.at - s.begin, item, s.dash()})
	}
	s.entry(s.top().node)
}

// last is the entry to which the lines indented below it belong.
func (s *scanner) last(n *node) *node {
	if len(n.nodes) == 0 {
		return n
	}
	return n.nodes[len(n.nodes)-1]
}

func (s *scanner) dash() bool {
	next := s.peek(1)
	return s.peek(0) == '-' && (next == ' ' || next == '\n' || next == '\r')
}

// entry parses key: value, or a lone value, which becomes the container's if that is still empty.
func (s *scanner) entry(container *node) {
	if s.bracket(container) {
		return
	}
	w := s.scalar(false)
	s.spaces()
	if s.peek(0) != ':' {
		if container.parent != nil && len(container.nodes) == 0 && container.value == nil {
			container.value = w
		} else {
			container.add(w)
		}
		return
	}
	s.at++
	n := container.add(w)
	s.spaces()
	switch c := s.peek(0); {
	case c == '\n' || c == '#':
	case c == '|' || c == '>':
		s.block(n)
	case !s.bracket(n):
		n.value = s.scalar(false)
	}
}

// block parses the text below
//
// or >.
func (s *scanner) block(n *node) {
	own := s.top().indent
	s.rest()
	from := s.at
	for s.at < len(s.text) {
		end := s.at
		for end < len(s.text) && (s.text[end] == ' ' || s.text[end] == '\r') {
			end++
		}
		if end < len(s.text) && s.text[end] != '\n' && end-s.at <= own {
			break
		}
		s.rest()
	}
	n.value = &word{text: s.text[from:s.at], from: from, to: s.at, quoted: true}
	s.at = max(s.at-1, from-1) // line skips the end of the last one
}

// bracket parses a map or list in brackets, if one starts here.
func (s *scanner) bracket(n *node) bool {
	c := s.peek(0)
	if c != '{' && c != '[' || s.deep > maxFlow {
		return false
	}
	s.at++
	s.deep++
	s.flow(n, c == '{')
	s.deep--
	return true
}

func (s *scanner) flow(n *node, isMap bool) {
	for s.between() {
		switch s.peek(0) {
		case '}', ']':
			s.at++
			return
		case ',', ':':
			s.at++
		case '{', '[':
			if !s.bracket(n.add(nil)) {
				return // too deep
			}
		default:
			w := s.scalar(true)
			if !isMap {
				n.add(nil).value = w
				continue
			}
			e := n.add(w)
			s.spaces()
			if s.peek(0) != ':' {
				continue
			}
			s.at++
			if !s.between() {
				return
			}
			if c := s.peek(0); c != ',' && c != '}' && c != ']' && !s.bracket(e) {
				e.value = s.scalar(true)
			}
		}
	}
}

// between skips white space, comments and line ends in brackets. It returns false if they end without being closed: at the
// end of the text, or at a line that is not indented more than the one they started in.
func (s *scanner) between() bool {
	for {
		s.spaces()
		switch {
		case s.at >= len(s.text):
			return false
		case s.text[s.at] == '#':
			s.rest()
			s.at--
			if s.text[s.at] != '\n' {
				s.at = len(s.text)
				return false
			}
		case s.text[s.at] != '\n':
			return true
		default:
			end := s.at + 1
			for end < len(s.text) && (s.text[end] == ' ' || s.text[end] == '\r') {
				end++
			}
			if end < len(s.text) && end-s.at-1 <= s.indent && strings.IndexByte("}]\n#", s.text[end]) < 0 {
				return false
			}
			s.at++
		}
	}
}

// scalar parses a scalar value or key. It always advances by at least one byte.
func (s *scanner) scalar(flow bool) *word {
	from := s.at
	if q := s.peek(0); q == '"' || q == '\'' {
		return s.quoted(q)
	}
	for s.at < len(s.text) {
		c := s.text[s.at]
		next := s.peek(1)
		if c == '\n' || flow && strings.IndexByte(",[]{}", c) >= 0 && s.at > from ||
			c == ':' && s.at > from && (next == ' ' || next == '\n' || next == '\r' || flow && strings.IndexByte(",]}", next) >= 0) ||
			c == '#' && s.at > from && s.text[s.at-1] == ' ' {
			break
		}
		s.at++
	}
	s.at = max(s.at, min(from+1, len(s.text)))
	text := strings.TrimRight(s.text[from:s.at], " \t\r\n")
	return &word{text: text, from: from, to: from + len(text)}
}

// quoted parses a quoted text, which ends with the line if the quote is not closed.
func (s *scanner) quoted(q byte) *word {
	s.at++
	from := s.at
	for s.at < len(s.text) && s.text[s.at] != '\n' {
		c := s.text[s.at]
		if escaped := q == '"' && c == '\\' && s.peek(1) != '\n' || q == '\'' && c == q && s.peek(1) == q; escaped {
			s.at += 2
			continue
		}
		s.at++
		if c == q {
			return &word{text: s.text[from : s.at-1], from: from, to: s.at - 1, quoted: true}
		}
	}
	s.at = min(s.at, len(s.text))
	return &word{text: s.text[from:s.at], from: from, to: s.at, quoted: true}
}
