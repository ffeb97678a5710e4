package syntax

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sort"
	"strings"
)

// ParseJSON parses the interchange form to the same kind of tree as YAML.
func ParseJSON(s *Source, data []byte) (*Node, error) {
	if err := s.check(data, MaxJSONBytes); err != nil {
		return nil, err
	}
	r := jsonReader{Faults: Faults{Source: s}, data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	r.decoder.UseNumber()
	for i, c := range data {
		if c == '\n' {
			r.ends = append(r.ends, i)
		}
	}
	root := r.value(0)
	if len(r.List) == 0 {
		at := r.next()
		if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
			r.Fault(at, "unexpected text after the design")
		}
	}
	return root, r.Err()
}

type jsonReader struct {
	Faults
	data    []byte
	ends    []int // of the lines
	decoder *json.Decoder
}

// next is the position of the next token.
func (r *jsonReader) next() Pos {
	at := int(r.decoder.InputOffset())
	for at < len(r.data) && strings.IndexByte(" \t\n,:", r.data[at]) >= 0 {
		at++
	}
	return r.pos(at)
}

func (r *jsonReader) pos(at int) Pos {
	line := sort.SearchInts(r.ends, at)
	if line > 0 {
		at -= r.ends[line-1] + 1
	}
	return Pos{line + 1, at + 1}
}

// value parses a value. After an error it returns nothing.
func (r *jsonReader) value(depth int) *Node {
	n := &Node{Kind: NullNode, Pos: r.next()}
	t, err := r.decoder.Token()
	if err != nil {
		r.broken(n.Pos, err)
		return n
	}
	switch t := t.(type) {
	case json.Delim:
		if depth >= maxDepth {
			r.Fault(n.Pos, "the nesting is too deep")
			return n
		}
		if t == '{' {
			r.object(n, depth)
		} else {
			r.array(n, depth)
		}
	case string:
		n.Kind, n.Text, n.quoted = ScalarNode, t, true
	case json.Number:
		n.Kind, n.Text = ScalarNode, t.String()
	case bool:
		n.Kind, n.Text = ScalarNode, "false"
		if t {
			n.Text = "true"
		}
	}
	return n
}

func (r *jsonReader) object(n *Node, depth int) {
	n.Kind = MapNode
	first := map[string]Pos{}
	for r.decoder.More() {
		at := r.next()
		t, err := r.decoder.Token()
		if err != nil {
			r.broken(at, err)
			return
		}
		key, _ := t.(string)
		value := r.value(depth + 1)
		if before, twice := first[key]; twice {
			r.Fault(at, "duplicate key %q: already on line %d", key, before.Line)
		}
		first[key] = at
		n.Entries = append(n.Entries, Entry{key, at, value})
		if len(r.List) > 0 {
			return
		}
	}
	r.close()
}

func (r *jsonReader) array(n *Node, depth int) {
	n.Kind = ListNode
	for r.decoder.More() {
		n.Items = append(n.Items, r.value(depth+1))
		if len(r.List) > 0 {
			return
		}
	}
	r.close()
}

// close parses the bracket that ends an object or array.
func (r *jsonReader) close() {
	at := r.next()
	if _, err := r.decoder.Token(); err != nil {
		r.broken(at, err)
	}
}

func (r *jsonReader) broken(at Pos, err error) {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		r.Fault(at, "unexpected end of JSON")
	case errors.As(err, &syntax):
		r.Fault(r.pos(max(int(syntax.Offset)-1, 0)), "invalid JSON: %v", err)
	default:
		r.Fault(at, "invalid JSON: %v", err)
	}
}
