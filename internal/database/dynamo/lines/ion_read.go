package lines

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

const (
	// ionDepthMax limits the nesting of Amazon Ion values. Those of items have at most attr.MaxDepth levels.
	ionDepthMax = 100
	// ionMax limits the length of a record of Amazon Ion, including the space between its values. The largest item needs a
	// quarter of it.
	ionMax = 8 << 20
)

// errIonTooLong: a record is longer than ionMax.
var errIonTooLong = fmt.Errorf("the record is longer than %d bytes", ionMax)

// ionReader reads Amazon Ion text: a sequence of structs with the member Item, regardless of line breaks. It is a recursive
// descent parser over bytes. Text that is not Ion ends the file. A valid Ion value without a DynamoDB type is read to its end,
// and is an error of its record.
//
// https://amazon-ion.github.io/ion-docs/docs/spec.html
type ionReader struct {
	in     *bufio.Reader
	offset int64
	limit  int64 // where the record must end
	text   []byte
	// refused is the error of the record being read.
	refused error
}

// NewIon reads a file of items in Amazon Ion.
func NewIon(r io.Reader) Reader { return newIon(r) }

// NewIonPuts reads a file of records in Amazon Ion.
func NewIonPuts(r io.Reader) PutReader { return newIon(r) }

func newIon(r io.Reader) *ionReader {
	const buffer = 64 << 10
	return &ionReader{in: bufio.NewReaderSize(r, buffer)}
}

// Offset implements Reader.
func (r *ionReader) Offset() int64 { return r.offset }

// SkipTo implements Reader. Records do not depend on what precedes them.
func (r *ionReader) SkipTo(offset int64) error {
	n, err := io.CopyN(io.Discard, r.in, offset-r.offset)
	r.offset += n
	if errors.Is(err, io.EOF) { // the file has become shorter
		return nil
	}
	return err
}

// Next implements Reader.
func (r *ionReader) Next() (attr.Item, error) {
	p, err := r.record(false)
	return p.Item, err
}

// NextPut implements PutReader.
func (r *ionReader) NextPut() (Put, error) { return r.record(true) }

// record reads the next record; known rejects members that a Put does not have.
func (r *ionReader) record(known bool) (Put, error) {
	r.refused = nil
	v, err := r.topLevel()
	if err != nil {
		return Put{}, err
	}
	if r.refused != nil {
		return Put{}, &LineError{r.refused}
	}
	p, err := putOf(v, known)
	if err == nil && p.Item.Depth() > attr.MaxDepth {
		err = fmt.Errorf("the item has more than %d levels of lists and structs", attr.MaxDepth)
	}
	if err != nil {
		return Put{}, &LineError{err}
	}
	return p, nil
}

// putOf converts a record to a Put.
func putOf(v attr.Value, known bool) (p Put, err error) {
	wrong := func(name, want string) error { return fmt.Errorf("%s is not a valid %s", name, want) }
	if v.Kind() != attr.KindMap {
		return p, errNoItem
	}
	for _, f := range v.Item() {
		switch name := f.Name; {
		case name == "Item" && f.Value.Kind() != attr.KindMap:
			return p, wrong(name, "struct")
		case name == "Item":
			p.Item = f.Value.Item()
		case !known || f.Value.Kind() == attr.KindNull && isPutMember(name):
		case name == "ConditionExpression" && f.Value.Kind() == attr.KindString:
			p.ConditionExpression = new(f.Value.Text())
		case name == "ConditionExpression":
			return p, wrong(name, "string")
		case name == "ExpressionAttributeNames" && f.Value.Kind() == attr.KindMap:
			p.ExpressionAttributeNames = map[string]string{}
			for _, n := range f.Value.Item() {
				if n.Value.Kind() != attr.KindString {
					return p, wrong(name+"."+n.Name, "string")
				}
				p.ExpressionAttributeNames[n.Name] = n.Value.Text()
			}
		case name == "ExpressionAttributeValues" && f.Value.Kind() == attr.KindMap:
			p.ExpressionAttributeValues = f.Value.Item()
		case isPutMember(name):
			return p, wrong(name, "struct")
		default:
			return p, fmt.Errorf("the record has an unknown member: %s", name)
		}
	}
	if p.Item == nil {
		err = errNoItem
	}
	return p, err
}

func isPutMember(name string) bool {
	return name == "ConditionExpression" || name == "ExpressionAttributeNames" || name == "ExpressionAttributeValues"
}

// topLevel reads the next value that is not a version marker; io.EOF is the end of the file.
func (r *ionReader) topLevel() (attr.Value, error) {
	for {
		c, err := r.token()
		if err != nil {
			return attr.Value{}, err
		}
		r.limit = r.offset + ionMax
		if c != '$' {
			return r.value(0)
		}
		name, err := r.identifier()
		if err != nil {
			return attr.Value{}, err
		}
		if name == "$ion_1_0" {
			if c, err := r.peek(); errors.Is(err, io.EOF) || err == nil && !isIdentifierPart(c) && c != ':' {
				continue
			}
		}
		return r.symbolValue(name, 0)
	}
}

// fault returns an error in the text at the reader's position.
func (r *ionReader) fault(format string, args ...any) error {
	return fmt.Errorf("byte %d: %s", r.offset, fmt.Sprintf(format, args...))
}

// refuse records an error of the record, which is still read to its end.
func (r *ionReader) refuse(format string, args ...any) {
	if r.refused == nil {
		r.refused = r.fault(format, args...)
	}
}

// peek returns the next byte, or io.EOF.
func (r *ionReader) peek() (byte, error) {
	b, err := r.in.Peek(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// read consumes the next byte, which is available.
func (r *ionReader) read() (byte, error) {
	if r.offset >= r.limit {
		return 0, errIonTooLong
	}
	c, err := r.in.ReadByte()
	if errors.Is(err, io.EOF) {
		return 0, r.fault("unexpected end of the text")
	}
	if err == nil {
		r.offset++
	}
	return c, err
}

// expect consumes the next byte, which must have a certain value.
func (r *ionReader) expect(want byte) error {
	c, err := r.read()
	if err == nil && c != want {
		r.offset--
		err = r.fault("found %q, want %q", c, want)
	}
	return err
}

// take consumes the next bytes if they match.
func (r *ionReader) take(text string) bool {
	b, err := r.in.Peek(len(text))
	if err != nil || string(b) != text {
		return false
	}
	_, err = r.in.Discard(len(text))
	r.offset += int64(len(text))
	return err == nil
}

// within returns the error for a premature end of the file.
func (r *ionReader) within(err error) error {
	if errors.Is(err, io.EOF) {
		return r.fault("unexpected end of the text")
	}
	return err
}

// token skips white space and comments of any length, and returns the next byte.
func (r *ionReader) token() (byte, error) {
	for {
		c, err := r.peek()
		if err != nil {
			return 0, err
		}
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			r.take(string(c))
		case r.take("//"):
			for err == nil && c != '\n' {
				if c, err = r.in.ReadByte(); err == nil {
					r.offset++
				}
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return 0, err
			}
		case r.take("/*"):
			for !r.take("*/") {
				if _, err := r.in.ReadByte(); err != nil {
					return 0, r.within(err)
				}
				r.offset++
			}
		default:
			return c, nil
		}
	}
}

// value reads a value, whose first byte is next.
func (r *ionReader) value(depth int) (attr.Value, error) {
	if depth > ionDepthMax {
		return attr.Value{}, r.fault("values are nested too deeply")
	}
	c, err := r.peek()
	if err != nil {
		return attr.Value{}, r.within(err)
	}
	switch {
	case c == '"':
		text, err := r.quoted()
		return attr.String(text), err
	case r.take("'''"):
		text, err := r.long()
		return attr.String(text), err
	case c == '\'':
		name, err := r.quoted()
		if err != nil {
			return attr.Value{}, err
		}
		return r.annotated(name, depth)
	case r.take("{{"):
		return r.lob()
	case c == '{':
		return r.structure(depth)
	case c == '[':
		elems, err := r.sequence(depth, ']')
		return attr.List(elems), err
	case c == '(':
		r.refuse("an Ion sexp has no DynamoDB type")
		_, err := r.sequence(depth, ')')
		return attr.Value{}, err
	case isDigit(c) || c == '-' || c == '+':
		return r.number()
	case isIdentifierPart(c):
		name, err := r.identifier()
		if err != nil {
			return attr.Value{}, err
		}
		return r.symbolValue(name, depth)
	default:
		return attr.Value{}, r.fault("unexpected %q: want a value", c)
	}
}

// symbolValue reads what an identifier starts: a keyword, an annotated value, or a symbol.
func (r *ionReader) symbolValue(name string, depth int) (attr.Value, error) {
	switch name {
	case "true", "false":
		return attr.Bool(name == "true"), nil
	case "null":
		if r.take(".") {
			kind, err := r.identifier()
			if kind != "null" {
				r.refuse("null.%s has no DynamoDB type: write null", kind)
			}
			return attr.Null(), err
		}
		return attr.Null(), nil
	case "nan":
		r.refuse("an Ion float has no DynamoDB type: write a decimal")
		return attr.Value{}, nil
	default:
		return r.annotated(name, depth)
	}
}

// annotated reads the value after an annotation; without one the name is a symbol.
func (r *ionReader) annotated(name string, depth int) (attr.Value, error) {
	if _, err := r.token(); err != nil && !errors.Is(err, io.EOF) {
		return attr.Value{}, err
	}
	if !r.take("::") {
		r.refuse("the Ion symbol %.100s has no DynamoDB type: write a string", name)
		return attr.Value{}, nil
	}
	if _, err := r.token(); err != nil {
		return attr.Value{}, r.within(err)
	}
	v, err := r.value(depth + 1)
	if err != nil {
		return v, err
	}
	for kind, annotation := range annotations {
		if name == annotation && v.Kind() == attr.KindList {
			return r.set(kind, v.Elems()), nil
		}
	}
	r.refuse("the annotation %.100s has no meaning in DynamoDB", name)
	return attr.Value{}, nil
}

// set converts a list to a set of a kind.
func (r *ionReader) set(kind attr.Kind, members []attr.Value) attr.Value {
	for i := range members {
		if _, faulty := members[i].Fault(); !faulty && members[i].Kind() != kind.Member() {
			r.refuse("a member of a %v is not a %v", kind, kind.Member())
			return attr.Value{}
		}
	}
	return attr.NewSet(kind, members)
}

// sequence reads the values of a list, or of a sexp, which has no commas.
func (r *ionReader) sequence(depth int, end byte) (elems []attr.Value, err error) {
	if _, err := r.read(); err != nil {
		return nil, err
	}
	for {
		c, err := r.token()
		if err != nil {
			return nil, r.within(err)
		}
		if c == end {
			return elems, r.expect(end)
		}
		if end == ')' && isOperator(c) {
			if _, err := r.read(); err != nil {
				return nil, err
			}
			continue
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		elems = append(elems, v)
		if err := r.comma(end); err != nil {
			return nil, err
		}
	}
}

// comma consumes the comma after a value, unless the end follows.
func (r *ionReader) comma(end byte) error {
	c, err := r.token()
	if err != nil {
		return r.within(err)
	}
	if c == end || end == ')' {
		return nil
	}
	return r.expect(',')
}

// structure reads a struct.
func (r *ionReader) structure(depth int) (attr.Value, error) {
	var fields []attr.Field
	if err := r.expect('{'); err != nil {
		return attr.Value{}, err
	}
	for {
		c, err := r.token()
		if err != nil {
			return attr.Value{}, r.within(err)
		}
		if c == '}' {
			break
		}
		name, err := r.fieldName(c)
		if err != nil {
			return attr.Value{}, err
		}
		if _, err := r.token(); err != nil {
			return attr.Value{}, r.within(err)
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return attr.Value{}, err
		}
		fields = append(fields, attr.Field{Name: name, Value: v})
		if err := r.comma('}'); err != nil {
			return attr.Value{}, err
		}
	}
	m, ok := attr.NewItem(fields)
	if !ok {
		r.refuse("a struct has a duplicate field")
	}
	return attr.Map(m), r.expect('}')
}

// fieldName reads the name of a field and the colon.
func (r *ionReader) fieldName(c byte) (name string, err error) {
	switch {
	case r.take("'''"):
		name, err = r.long()
	case c == '"' || c == '\'':
		name, err = r.quoted()
	case isIdentifierPart(c) && !isDigit(c):
		if name, err = r.identifier(); err == nil && isSymbolID(name) {
			r.refuse("the symbol %.100s has no text: symbol tables are not supported", name)
		}
	default:
		return "", r.fault("unexpected %q: want a field name", c)
	}
	if err == nil {
		if _, err = r.token(); err == nil {
			err = r.expect(':')
		}
	}
	return name, r.within(err)
}
