package design

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sort"
	"strings"
)

// parseJSON reads the interchange form into the same tree as YAML becomes.
func parseJSON(s *Source, data []byte) (*node, error) {
	if err := s.check(data, MaxJSONBytes); err != nil {
		return nil, err
	}
	r := jsonReader{faults: faults{source: s}, data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	r.decoder.UseNumber()
	for i, c := range data {
		if c == '\n' {
			r.ends = append(r.ends, i)
		}
	}
	root := r.value(0)
	if len(r.list) == 0 {
		at := r.next()
		if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
			r.fault(at, "the text goes on after the design")
		}
	}
	return root, r.err()
}

type jsonReader struct {
	faults
	data    []byte
	ends    []int // of the lines
	decoder *json.Decoder
}

// next is where the next token begins.
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

// value reads a value. After a fault there is nothing more to read.
func (r *jsonReader) value(depth int) *node {
	n := &node{kind: nullNode, pos: r.next()}
	t, err := r.decoder.Token()
	if err != nil {
		r.broken(n.pos, err)
		return n
	}
	switch t := t.(type) {
	case json.Delim:
		if depth >= maxDepth {
			r.fault(n.pos, "the nesting is too deep")
			return n
		}
		if t == '{' {
			r.object(n, depth)
		} else {
			r.array(n, depth)
		}
	case string:
		n.kind, n.text, n.quoted = scalarNode, t, true
	case json.Number:
		n.kind, n.text = scalarNode, t.String()
	case bool:
		n.kind, n.text = scalarNode, "false"
		if t {
			n.text = "true"
		}
	}
	return n
}

func (r *jsonReader) object(n *node, depth int) {
	n.kind = mapNode
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
			r.fault(at, "the key %q stands twice: it is on line %d already", key, before.Line)
		}
		first[key] = at
		n.entries = append(n.entries, nodeEntry{key, at, value})
		if len(r.list) > 0 {
			return
		}
	}
	r.close()
}

func (r *jsonReader) array(n *node, depth int) {
	n.kind = listNode
	for r.decoder.More() {
		n.items = append(n.items, r.value(depth+1))
		if len(r.list) > 0 {
			return
		}
	}
	r.close()
}

// close reads the bracket that ends an object or array.
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
		r.fault(at, "the JSON ends too early")
	case errors.As(err, &syntax):
		r.fault(r.pos(max(int(syntax.Offset)-1, 0)), "this is not JSON: %v", err)
	default:
		r.fault(at, "this is not JSON: %v", err)
	}
}
