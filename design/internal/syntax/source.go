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
	// MaxTextBytes is the size of the largest design in YAML; the largest that is known has a tenth.
	MaxTextBytes = 256 << 10
	// MaxJSONBytes is the size of the largest design in the interchange form.
	MaxJSONBytes = 4 << 20
	// maxDepth bounds the nesting of a text; no design comes near it.
	maxDepth = 32
	// maxErrors is how many errors are told of one text.
	maxErrors = 100
)

// Pos is a place in the text; the zero Pos is nowhere. Lines and columns count from 1, columns in bytes.
type Pos struct {
	Line, Column int
}

// Source is the text of a design.
type Source struct {
	Name  string // of the file, as the user gave it
	Lines []string
}

// NewSource is a text with one kind of line end and no byte order mark.
func NewSource(name string, data []byte) (*Source, []byte) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return &Source{Name: name, Lines: strings.Split(string(data), "\n")}, data
}

// check refuses what is no text, or too large.
func (s *Source) check(data []byte, limit int) error {
	fault := func(p Pos, message, hint string) error {
		return Errors{{Source: s, Pos: p, Message: message, Hint: hint}}
	}
	if len(data) > limit {
		return fault(Pos{}, fmt.Sprintf("the text has %d bytes: the maximum is %d", len(data), limit), "write one design for each table")
	}
	if !utf8.Valid(data) {
		return fault(Pos{}, "the file is not UTF-8 text", "")
	}
	for i, line := range s.Lines {
		at := strings.IndexFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
		if at >= 0 {
			return fault(Pos{i + 1, at + 1}, fmt.Sprintf("the text contains the control character %q", line[at]), "write it as \\x.. in double quotes")
		}
	}
	return nil
}

// line is a line by its number, "" for none.
func (s *Source) line(n int) string {
	if s == nil || n < 1 || n > len(s.Lines) {
		return ""
	}
	return s.Lines[n-1]
}

// Excerpt is the line of a place with a caret under its column; "" for nowhere.
func (s *Source) Excerpt(p Pos) string {
	if s == nil || p.Line < 1 || p.Line > len(s.Lines) {
		return ""
	}
	line := s.line(p.Line)
	at := min(max(p.Column-1, 0), len(line))
	// A tab stands in the caret's line too, so that both lines are as wide; other characters are one column.
	lead := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, line[:at])
	number := fmt.Sprintf("%4d | ", p.Line)
	return number + line + "\n" + strings.Repeat(" ", len(number)) + lead + "^"
}

// Within is the place of a byte of a scalar's value, the scalar being at p; p itself where the text writes the value
// in another way, with escapes or over several lines.
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

// Error is one thing wrong with a design's text.
type Error struct {
	Source *Source
	Pos    Pos
	// Message says what is wrong; Hint, what to do, "" if that is plain.
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

// Excerpt is the line where the error is with a caret under its column; "" for nowhere.
func (e *Error) Excerpt() string { return e.Source.Excerpt(e.Pos) }

// Errors are all that is wrong with a design's text, in its order.
type Errors []*Error

// Error is one line for each.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Faults collects what is wrong with a text, and remembers where its words stand.
type Faults struct {
	Source *Source
	List   Errors
	// Places are those of the texts of a design that have no Pos of their own.
	Places map[*string]Pos
}

// Fault says what is wrong at a place.
func (f *Faults) Fault(p Pos, format string, args ...any) {
	f.Hint(p, "", format, args...)
}

// Hint says what is wrong at a place, and what to do.
func (f *Faults) Hint(p Pos, hint, format string, args ...any) {
	f.List = append(f.List, &Error{Source: f.Source, Pos: p, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// syntax reports what is wrong with the value of the scalar at p.
func (f *Faults) syntax(p Pos, e *TextError) {
	f.Hint(f.Source.Within(p, e.Text, e.At), e.Hint, "%s", e.Message)
}

// Parsed reports what is wrong with the text of a template, condition or value.
func (f *Faults) Parsed(p Pos, err error) bool {
	if syntax, ok := errors.AsType[*TextError](err); ok {
		f.syntax(p, syntax)
	}
	return err == nil
}

// At is where a text of the design stands; otherwise where it has no place.
func (f *Faults) At(s *string, otherwise Pos) Pos {
	if p, known := f.Places[s]; known {
		return p
	}
	return otherwise
}

// Err returns what was collected in the order of the text, nil if that is nothing.
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
