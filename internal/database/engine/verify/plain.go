package verify

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// item is a whole stored item: its attributes by name.
type item map[string]value

// value is one attribute value. Values are equal with == exactly if their stored bytes are equal.
type value struct {
	kind    string // as in a request: S, N, B, BOOL, NULL, L, M, SS, NS or BS
	text    string // of an S, N or B
	encoded string // as stored
	size    int    // by DynamoDB's accounting
}

// Tags of stored values, see package itemenc. False and true have separate tags.
var kinds = map[byte]string{
	1: "S", 2: "N", 3: "B", 4: "BOOL", 5: "BOOL", 6: "NULL", 7: "L", 8: "M", 9: "SS", 10: "NS", 11: "BS",
}

var errEnds = errors.New("it ends too early")

const (
	itemForm = 1  // the version of an item's stored form
	depthMax = 64 // of nested lists and maps; DynamoDB allows 31
)

// decodeItem decodes a stored item and returns it with its size. It accepts only the canonical form: names sorted and unique,
// numbers in normal form, strings in UTF-8, sets without duplicates, correct lengths, counts and sizes, and no trailing bytes.
func decodeItem(stored []byte) (it item, size int, err error) {
	r := &reader{rest: string(stored)}
	form, storedSize, count := r.byte(), r.uint32(), r.uint32()
	if r.err == nil && form != itemForm {
		return nil, 0, fmt.Errorf("it has form %d, which is unknown", form)
	}
	it = item{}
	size = r.fields(count, 0, func(name string, v value) { it[name] = v })
	switch {
	case r.err != nil:
		return nil, 0, r.err
	case r.rest != "":
		return nil, 0, fmt.Errorf("%d bytes follow its last attribute", len(r.rest))
	case size != storedSize:
		return nil, 0, fmt.Errorf("its size is %d and it says %d", size, storedSize)
	}
	return it, size, nil
}

// reader reads the parts of an encoding. After an error it returns zeros.
type reader struct {
	rest string
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.rest = ""
}

func (r *reader) bytes(n int) string {
	if n < 0 || n > len(r.rest) {
		r.fail("%w", errEnds)
		return ""
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.bytes(1); b != "" {
		return b[0]
	}
	return 0
}

func (r *reader) uint32() int {
	if b := r.bytes(4); b != "" {
		return int(binary.BigEndian.Uint32([]byte(b)))
	}
	return 0
}

// varint reads a length or count, seven bits a byte, the lowest first.
func (r *reader) varint() int {
	n := 0
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			if b == 0 && shift > 0 {
				r.fail("a length has more bytes than it needs")
			}
			return n
		}
	}
	r.fail("a length has too many bytes")
	return 0
}

// fields reads the attributes of an item or a map and returns their size.
func (r *reader) fields(count, depth int, field func(name string, v value)) (size int) {
	last := ""
	for i := range count {
		name := r.bytes(r.varint())
		if i > 0 && name <= last {
			r.fail("attribute %q is stored after %q", name, last)
		}
		last = name
		v := r.value(depth)
		if r.err != nil {
			r.err = fmt.Errorf("attribute %q: %w", name, r.err)
			return 0
		}
		field(name, v)
		size += len(name) + v.size
	}
	return size
}

func (r *reader) value(depth int) value {
	before := r.rest
	tag := r.byte()
	v := value{kind: kinds[tag]}
	switch v.kind {
	case "S", "N", "B":
		v.text = r.bytes(r.varint())
		v.size = r.scalar(v.kind, v.text)
	case "BOOL", "NULL":
		v.size = 1
	case "L", "M", "SS", "NS", "BS":
		v.size = r.collection(v.kind, depth)
	default:
		r.fail("there is no value with tag %d", tag)
	}
	if r.err == nil {
		v.encoded = before[:len(before)-len(r.rest)]
	}
	return v
}

// scalar checks a text and returns its size.
func (r *reader) scalar(kind, text string) (size int) {
	switch kind {
	case "S":
		if !utf8.ValidString(text) {
			r.fail("string %q is not UTF-8", text)
		}
	case "N":
		n, ok := parseNumber(text)
		if !ok {
			r.fail("number %q is not in normal form", text)
		}
		return n.size()
	}
	return len(text)
}

// collection reads a document or set and returns its size.
func (r *reader) collection(kind string, depth int) (size int) {
	if depth == depthMax {
		r.fail("more than %d documents stand inside each other", depthMax)
		return 0
	}
	whole := reader{rest: r.bytes(r.uint32()), err: r.err}
	count := whole.varint()
	switch kind {
	case "M":
		size = 3 + count + whole.fields(count, depth+1, func(string, value) {})
	case "L":
		size = 3 + count
		for range count {
			if whole.err != nil {
				break
			}
			size += whole.value(depth + 1).size
		}
	default:
		size = whole.set(kind[:1], count)
	}
	if whole.err == nil && whole.rest != "" {
		whole.fail("%d bytes follow the last element of a %s", len(whole.rest), kind)
	}
	r.err = whole.err
	if r.err != nil {
		r.rest = ""
	}
	return size
}

func (r *reader) set(kind string, count int) (size int) {
	if count == 0 {
		r.fail("a set is empty")
	}
	seen := map[string]bool{}
	for range count {
		member := r.bytes(r.varint())
		size += r.scalar(kind, member)
		if seen[member] {
			r.fail("a set has the member %q twice", member)
		}
		if r.err != nil {
			return 0
		}
		seen[member] = true
	}
	return size
}
