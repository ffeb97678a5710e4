package lines

import (
	"bufio"
	"bytes"
	"io"
)

// breaks passes on a file of CSV so that line breaks within quotes survive package csv, which reads "\r\n" as "\n" everywhere: it
// replaces their "\r" by quotedCR, so that all offsets remain. It follows the quotes as package csv does, also in malformed lines.
type breaks struct {
	in        *bufio.Reader
	delimiter byte
	state     csvState
}

// quotedCR is no part of UTF-8, and wrongUTF8 replaces it where the file has it: values with either are rejected.
const (
	quotedCR  = "\xff"
	wrongUTF8 = 0xfe
)

// csvState is where in a record the next byte is.
type csvState uint8

const (
	atField csvState = iota // at the start of a field
	inPlain
	inQuotes
	afterQuote // which ends the field, or escapes a second one
	malformed  // until the end of the line
)

// newBreaks skips the byte order mark that spreadsheets write: it would become part of the first name.
func newBreaks(r io.Reader, delimiter byte) *breaks {
	in := bufio.NewReader(r)
	if mark, err := in.Peek(3); err == nil && bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = in.Discard(len(mark))
	}
	return &breaks{in: in, delimiter: delimiter}
}

// Read implements io.Reader.
func (b *breaks) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	p = p[:n]
	for i, c := range p {
		endsLine := c == '\n'
		if c == '\r' {
			rest := p[i+1:]
			if len(rest) == 0 {
				rest, _ = b.in.Peek(1)
			}
			endsLine = len(rest) > 0 && rest[0] == '\n'
		}
		switch {
		case c == quotedCR[0]:
			p[i] = wrongUTF8
		case c == '\r' && endsLine && b.state == inQuotes:
			p[i] = quotedCR[0]
		}
		b.state = b.next(c, endsLine)
	}
	return n, err
}

func (b *breaks) next(c byte, endsLine bool) csvState {
	switch {
	case b.state == inQuotes && c == '"':
		return afterQuote
	case b.state == inQuotes, b.state == afterQuote && c == '"':
		return inQuotes
	case endsLine && c == '\r':
		return b.state
	case endsLine, b.state != malformed && c == b.delimiter:
		return atField
	case b.state == atField && c == '"':
		return inQuotes
	case b.state == malformed, b.state == afterQuote, c == '"':
		return malformed
	default:
		return inPlain
	}
}
