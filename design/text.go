package design

import "github.com/monotable/monotable/design/internal/syntax"

// The text of a design, of which internal/syntax knows no meaning.
type (
	// Source is the text of a design.
	Source = syntax.Source
	// Pos is a place in the text; the zero Pos is nowhere. Lines and columns count from 1, columns in bytes.
	Pos = syntax.Pos
	// Error is one thing wrong with a design's text.
	Error = syntax.Error
	// Errors are all that is wrong with a design's text, in its order.
	Errors = syntax.Errors //nolint:errname // several
	// SyntaxError is what is wrong with the text of a template, a condition or a value.
	SyntaxError = syntax.TextError
)

// The limits of a text.
const (
	// MaxTextBytes is the size of the largest design in YAML; the largest that is known has a tenth.
	MaxTextBytes = syntax.MaxTextBytes
	// MaxJSONBytes is the size of the largest design in the interchange form.
	MaxJSONBytes = syntax.MaxJSONBytes
)
