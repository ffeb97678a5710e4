package design

import "github.com/monotable/monotable/design/internal/syntax"

// The text of a design, which internal/syntax parses without interpreting it.
type (
	// Source is the text of a design.
	Source = syntax.Source
	// Pos is a position in the text; the zero Pos means none. Lines and columns count from 1, columns in
	// bytes.
	Pos = syntax.Pos
	// Error is one error in a design's text.
	Error = syntax.Error
	// Errors are all errors in a design's text, in its order.
	Errors = syntax.Errors //nolint:errname // several
	// SyntaxError is an error in the text of a template, a condition or a value.
	SyntaxError = syntax.TextError
)

// The limits of a text.
const (
	// MaxTextBytes is the maximum size of a design in YAML, ten times the size of the largest known one.
	MaxTextBytes = syntax.MaxTextBytes
	// MaxJSONBytes is the maximum size of a design in the interchange form.
	MaxJSONBytes = syntax.MaxJSONBytes
)
