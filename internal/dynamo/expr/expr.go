// Package expr is DynamoDB's expression languages as text: lexer, parser, syntax tree, printer, limits,
// reserved words, document paths.
package expr

// Surface says which expression a text is; it decides the grammar and the prefix of error sentences.
type Surface uint8

// The five surfaces.
const (
	Condition Surface = iota
	Filter
	KeyCondition
	Projection
	Update
)

// Error is what is wrong with an expression: facts for a program, and AWS's sentence from Error().
type Error struct {
	Surface Surface
	Pos     int // byte offset in the text, -1 where none
	// Kind, Token, Near, Operator … (the owner of this package completes the facts)
	Message string // AWS's sentence without the "Invalid …Expression: " prefix where the prefix applies
}

// Error returns AWS's whole sentence, prefix included, as it stands in a ValidationException.
func (e *Error) Error() string { panic("skeleton") }
