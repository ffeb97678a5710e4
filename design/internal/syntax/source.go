// Package syntax parses the text of designs without interpreting it: strict YAML and the JSON interchange format as one
// tree, code blocks in Markdown, comments, tokens of conditions and values, and quoting. It also decodes trees into Go
// values.
//
// # Model
//
//	YAML ──ParseYAML──▶ Node, comments ──Decoder──▶ structs, by their tags
//	JSON ──ParseJSON────╯      ╰──Remarks──▶ which part a comment is about
//
// A Node has its position, and the position of a decoded string is found by its address (Faults.At). All errors are
// collected as Errors, in the order of the text.
//
// # Invariants
//
//	I1  No text makes this package panic or exceed its limits.
//	I2  Every error has a position in the given text, even if the YAML library reports none.
//
// A Faults, and everything created with it, may be used by one goroutine only.
package syntax

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits of a text.
const (
	// MaxTextBytes is the maximum size of a design in YAML, ten times the size of the largest known one.
	MaxTextBytes = 256 << 10
	// MaxJSONBytes is the maximum size of a design in the interchange form.
	MaxJSONBytes = 4 << 20
	// maxDepth bounds the nesting of a text; no realistic design comes near it.
	maxDepth = 32
	// maxErrors is the maximum number of errors reported for one text.
	maxErrors = 100
)

// Pos is a position in the text; the zero Pos means none. Lines and columns count from 1, columns in bytes.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Source is the text of a design.
type Source struct {
	Name  string // of the file, as the user passed it
	Lines []string
}

// NewSource normalizes line ends and removes the byte order mark.
func NewSource(name string, data []byte) (*Source, []byte) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return &Source{Name: name, Lines: strings.Split(string(data), "\n")}, data
}

// check rejects binary and oversized input.
func (s *Source) check(data []byte, limit int) error {
	fault := func(p Pos, message, hint string) error {
		return Errors{{Source: s, Pos: p, Message: message, Hint: hint}}
	}
	if len(data) > limit {
		return fault(Pos{}, fmt.Sprintf("the text has %d bytes: the maximum is %d", len(data), limit), "write one design for each table")
	}
	for i, line := range s.Lines {
		if !utf8.ValidString(line) {
			valid := 0
			for r, n := utf8.DecodeRuneInString(line); r != utf8.RuneError || n > 1; r, n = utf8.DecodeRuneInString(line[valid:]) {
				valid += n
			}
			return fault(Pos{i + 1, valid + 1}, fmt.Sprintf("the byte %#x is not UTF-8 text", line[valid]), "save the file as UTF-8")
		}
		at := strings.IndexFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
		if at >= 0 {
			return fault(Pos{i + 1, at + 1}, fmt.Sprintf("the text contains the control character %q", line[at]), "write it as \\x.. in double quotes")
		}
	}
	return nil
}

// line is a line by its number, "" if there is none.
func (s *Source) line(n int) string {
	if s == nil || n < 1 || n > len(s.Lines) {
		return ""
	}
	return s.Lines[n-1]
}

// Excerpt is the line at a position with a caret under its column; "" for no position.
func (s *Source) Excerpt(p Pos) string {
	if s == nil || p.Line < 1 || p.Line > len(s.Lines) {
		return ""
	}
	line := s.line(p.Line)
	at := min(max(p.Column-1, 0), len(line))
	// A tab is copied to the caret's line, so that both lines have the same width; other characters are one column.
	lead := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, line[:at])
	number := fmt.Sprintf("%4d | ", p.Line)
	return number + line + "\n" + strings.Repeat(" ", len(number)) + lead + "^"
}

// Within is the position of a byte in the value of the scalar at p; p itself if the text writes the value differently,
// with escapes or over several lines.
func (s *Source) Within(p Pos, value string, at int) Pos {
	line := s.line(p.Line)
	if p.Column < 1 || p.Column > len(line) {
		return p
	}
	written := line[p.Column-1:]
	if written[0] == '"' || written[0] == '\'' {
		written = written[1:]
		p.Column++
	}
	if at <= len(value) && strings.HasPrefix(written, value[:at]) && !strings.Contains(value[:at], "''") {
		p.Column += at
	}
	return p
}

// Error is one error in a design's text.
type Error struct {
	Source *Source
	Pos    Pos
	// Message says what is wrong; Hint what to do, "" if that is obvious.
	Message, Hint string
}

// Error is file:line:column: message, with the hint.
func (e *Error) Error() string {
	text := e.Message
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	name := "design"
	if e.Source != nil {
		name = e.Source.Name
	}
	if e.Pos == (Pos{}) {
		return name + ": " + text
	}
	return fmt.Sprintf("%s:%d:%d: %s", name, e.Pos.Line, e.Pos.Column, text)
}

// Excerpt is the line of the error with a caret under its column; "" for no position.
func (e *Error) Excerpt() string { return e.Source.Excerpt(e.Pos) }

// Errors are all errors in a design's text, in its order.
type Errors []*Error

// Error has one line per error.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Faults collects the errors in a text, and remembers the positions of its strings.
type Faults struct {
	Source *Source
	List   Errors
	// Places are the positions of the strings of a design that have no Pos of their own.
	Places map[*string]Pos
}

// Fault reports an error at a position.
func (f *Faults) Fault(p Pos, format string, args ...any) {
	f.Hint(p, "", format, args...)
}

// Hint reports an error at a position, with advice.
func (f *Faults) Hint(p Pos, hint, format string, args ...any) {
	f.List = append(f.List, &Error{Source: f.Source, Pos: p, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// syntax reports an error in the value of the scalar at p.
func (f *Faults) syntax(p Pos, e *TextError) {
	f.Hint(f.Source.Within(p, e.Text, e.At), e.Hint, "%s", e.Message)
}

// Parsed reports an error in the text of a template, condition or value.
func (f *Faults) Parsed(p Pos, err error) bool {
	if syntax, ok := errors.AsType[*TextError](err); ok {
		f.syntax(p, syntax)
	}
	return err == nil
}

// At is the position of a string of the design; otherwise if it is unknown.
func (f *Faults) At(s *string, otherwise Pos) Pos {
	if p, known := f.Places[s]; known {
		return p
	}
	return otherwise
}

// Err returns the collected errors in the order of the text, nil if there are none.
func (f *Faults) Err() error {
	if len(f.List) == 0 {
		return nil
	}
	slices.SortStableFunc(f.List, func(a, b *Error) int {
		return cmp.Or(a.Pos.Line-b.Pos.Line, a.Pos.Column-b.Pos.Column)
	})
	if more := len(f.List) - maxErrors; more > 0 {
		last := f.List[maxErrors]
		f.List = append(f.List[:maxErrors:maxErrors], &Error{
			Source: f.Source, Pos: last.Pos, Message: fmt.Sprintf("%d more errors follow", more),
		})
	}
	return f.List
}
