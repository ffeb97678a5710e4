package policy

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// maxDepth is the maximum nesting of a document; meaningful documents have at most five levels.
const maxDepth = 8

// node is a JSON value with its position in the document.
type node struct {
	offset  int
	kind    nodeKind
	text    string // of a string, a number or a boolean
	members []member
	elems   []node
}

type nodeKind uint8

const (
	nullNode nodeKind = iota
	textNode
	numberNode
	boolNode
	objectNode
	listNode
)

type member struct {
	offset int
	name   string
	value  node
}

// reader reads a document token by token, because only tokens have positions.
type reader struct {
	document string
	decoder  *json.Decoder
}

// read returns the document's only value, an object.
func read(document string) (node, *Error) {
	r := reader{document: document, decoder: json.NewDecoder(strings.NewReader(document))}
	if !utf8.ValidString(document) {
		return node{}, r.fault(NoJSON, 0, "")
	}
	r.decoder.UseNumber()
	root, err := r.value(0)
	if err != nil {
		return node{}, err
	}
	if root.kind != objectNode {
		return node{}, r.fault(NoJSON, root.offset, "")
	}
	end := r.next()
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return node{}, r.fault(NoJSON, end, "")
	}
	return root, nil
}

func (r *reader) value(depth int) (node, *Error) {
	n := node{offset: r.next()}
	token, err := r.decoder.Token()
	if err != nil || depth > maxDepth {
		return n, r.fault(NoJSON, n.offset, "")
	}
	switch token := token.(type) {
	case string:
		n.kind, n.text = textNode, token
	case json.Number:
		n.kind, n.text = numberNode, token.String()
	case bool:
		n.kind, n.text = boolNode, "false"
		if token {
			n.text = "true"
		}
	case json.Delim:
		switch token {
		case '{':
			return r.object(n, depth)
		case '[':
			return r.list(n, depth)
		default:
			return n, r.fault(NoJSON, n.offset, "")
		}
	default:
	}
	return n, nil
}

func (r *reader) object(n node, depth int) (node, *Error) {
	n.kind = objectNode
	for r.decoder.More() {
		m := member{offset: r.next()}
		token, err := r.decoder.Token()
		name, isName := token.(string)
		if err != nil || !isName {
			return n, r.fault(NoJSON, m.offset, "")
		}
		if _, twice := n.member(name); twice {
			return n, r.fault(FieldRepeated, m.offset, name)
		}
		var fault *Error
		if m.value, fault = r.value(depth + 1); fault != nil {
			return n, fault
		}
		m.name = name
		n.members = append(n.members, m)
	}
	return n, r.close()
}

func (r *reader) list(n node, depth int) (node, *Error) {
	n.kind = listNode
	for r.decoder.More() {
		e, err := r.value(depth + 1)
		if err != nil {
			return n, err
		}
		n.elems = append(n.elems, e)
	}
	return n, r.close()
}

// close reads the bracket that ends an object or a list.
func (r *reader) close() *Error {
	offset := r.next()
	if _, err := r.decoder.Token(); err != nil {
		return r.fault(NoJSON, offset, "")
	}
	return nil
}

// next returns where the next token begins.
func (r *reader) next() int {
	offset := int(r.decoder.InputOffset())
	for offset < len(r.document) && strings.IndexByte(" \t\r\n,:", r.document[offset]) >= 0 {
		offset++
	}
	return offset
}

// fault returns an error at a position of the document.
func (r *reader) fault(f Fault, offset int, subject string) *Error {
	offset = min(offset, len(r.document))
	before := r.document[:offset]
	return &Error{
		Fault: f, Subject: subject,
		Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
	}
}

// member returns a member of an object. A linear search suffices: documents have few members at a level, except for conditions,
// and the length of documents is limited.
func (n *node) member(name string) (m member, ok bool) {
	for i := range n.members {
		if n.members[i].name == name {
			return n.members[i], true
		}
	}
	return member{}, false
}

// oneOrMany returns the elements of a list, or the value itself, which may stand for a list of one.
func (n *node) oneOrMany() []node {
	if n.kind == listNode {
		return n.elems
	}
	return []node{*n}
}
