package lines

import (
	"cmp"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// CSVOptions describe the format of a CSV file.
type CSVOptions struct {
	Delimiter rune     // an ASCII character; 0 is a comma
	Header    []string // nil: the first line
	// Kinds are the kinds of key attributes; all others are strings.
	Kinds map[string]attr.Kind
}

// csvReader reads records of CSV.
type csvReader struct {
	in      *csv.Reader
	bound   *bound
	options CSVOptions
}

// NewCSV reads a file of items in CSV.
func NewCSV(r io.Reader, o CSVOptions) Reader {
	o.Delimiter = cmp.Or(o.Delimiter, ',')
	b := &bound{in: newBreaks(r, byte(o.Delimiter))}
	c := &csvReader{in: csv.NewReader(b), bound: b, options: o}
	c.in.ReuseRecord = true
	c.in.FieldsPerRecord = -1
	c.in.Comma = o.Delimiter
	return c
}

// bound limits how much is read for one record: an unclosed quote makes the rest of a file one field.
type bound struct {
	in   io.Reader
	left int
}

// Read implements io.Reader.
func (b *bound) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.in.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// Offset implements Reader.
func (c *csvReader) Offset() int64 { return c.in.InputOffset() }

// SkipTo implements Reader.
func (c *csvReader) SkipTo(offset int64) error {
	if offset == 0 {
		return nil
	}
	if err := c.header(); err != nil {
		return err
	}
	for c.Offset() < offset {
		if _, err := c.record(); err != nil && !isLineError(err) {
			if errors.Is(err, io.EOF) { // the file has become shorter
				return nil
			}
			return err
		}
	}
	return nil
}

func isLineError(err error) bool {
	_, is := errors.AsType[*LineError](err)
	return is
}

// record reads one record, which is valid until the next call.
func (c *csvReader) record() ([]string, error) {
	c.bound.left = lineMax
	fields, err := c.in.Read()
	if _, malformed := errors.AsType[*csv.ParseError](err); malformed {
		return nil, &LineError{err}
	}
	for i := range fields {
		fields[i] = strings.ReplaceAll(fields[i], quotedCR+"\n", "\r\n")
	}
	return fields, err
}

// header reads the attribute names, unless the options have them. If the line is malformed the next one must not replace it: its
// values would be taken for names.
func (c *csvReader) header() error {
	if c.options.Header != nil {
		return nil
	}
	fields, err := c.record()
	if bad, ok := errors.AsType[*LineError](err); ok {
		return fmt.Errorf("the header: %w", bad.Err)
	}
	if err == nil {
		c.options.Header = append([]string{}, fields...)
	}
	return err
}

// Next implements Reader.
func (c *csvReader) Next() (attr.Item, error) {
	if err := c.header(); err != nil {
		return nil, err
	}
	fields, err := c.record()
	if err != nil {
		return nil, err
	}
	if len(fields) != len(c.options.Header) {
		return nil, &LineError{fmt.Errorf("the record has %d fields, but the header has %d", len(fields), len(c.options.Header))}
	}
	all := make([]attr.Field, len(fields))
	for i, name := range c.options.Header {
		v, err := c.value(name, fields[i])
		if err != nil {
			return nil, &LineError{err}
		}
		all[i] = attr.Field{Name: name, Value: v}
	}
	item, ok := attr.NewItem(all)
	if !ok {
		return nil, &LineError{errors.New("the header has a duplicate name")}
	}
	return item, nil
}

// value converts a field to a value of its attribute's kind.
func (c *csvReader) value(name, text string) (attr.Value, error) {
	if !utf8.ValidString(text) {
		return attr.Value{}, fmt.Errorf("the value of %q is not UTF-8", name)
	}
	switch c.options.Kinds[name] {
	case attr.KindNumber:
		return attr.ParseNumber(text), nil
	case attr.KindBinary:
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return attr.Value{}, fmt.Errorf("the value of %q is not base64: %w", name, err)
		}
		return attr.Binary(string(raw)), nil
	default:
		return attr.String(text), nil
	}
}
