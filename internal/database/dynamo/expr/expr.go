// Package expr is DynamoDB's expression languages as text: it reads, checks and prints them.
//
// # Vocabulary
//
// A surface is the parameter that an expression came in: ConditionExpression, FilterExpression,
// KeyConditionExpression, ProjectionExpression or UpdateExpression. An alias (#a) stands for an attribute
// name, a placeholder (:v) for a value; both are given beside the expression. A document path is a chain of
// steps into an item: names, aliases and list indexes.
//
// # Model
//
//	text ──lexer──▶ tokens ──parser──▶ Expression ──Print──▶ text
//	                                    Root     condition, filter, key condition
//	                                    Paths    projection
//	                                    Actions  update
//	                                    Aliases, Placeholders
//
// The tree is independent of any request: aliases and placeholders in it are numbered slots. So a tree is
// parsed once per text (Load keeps the most recent ones), and a request only fills a slice per kind of slot.
// The grammar is the one of AWS's developer guide; one token of look-ahead decides everything, except that
// an opening parenthesis in a condition may hold a condition or an operand, which the parser learns at the
// closing one.
//
// # Invariants
//
//	I1  Parsing needs bounded memory and stack for any text: the size is checked first (MaxTextBytes), then
//	    the nesting of parentheses and calls (maxDepth).
//	I2  Parse(Print(e)) is e but for positions (FuzzParse).
//	I3  A tree never changes once Parse returned it; any number of goroutines may share it.
//	I4  Calls in a tree have a known function, allowed where it stands, with the right number of operands.
//
// # Errors
//
// Everything wrong with an expression is an *Error: facts, from which Error() makes AWS's sentence by the one
// table in sentences.go. Of several faults in one text the kind decides which is reported: syntax, redundant
// parentheses, number of operators, functions, sections, reserved words, limits of paths; within one kind the
// first in the text.
//
// What needs names and values (types of operands, overlap of aliased paths, evaluation) is package eval's;
// it builds its errors from the same table.
package expr

// The limits of AWS's "Expression parameters" quotas.
const (
	// MaxTextBytes is measured on the text as sent, before aliases are substituted.
	MaxTextBytes = 4096
	// MaxOperators counts operators and functions of one expression.
	MaxOperators = 300
	// MaxInOperands is the length of the list of an IN.
	MaxInOperands = 100
	// MaxPathSteps is the depth of a document path.
	MaxPathSteps = 32
	// MaxAliasBytes is the length of an alias or placeholder with its # or colon.
	MaxAliasBytes = 255
	// MaxSubstitutionBytes is the size of all names, and of all values, with their keys.
	MaxSubstitutionBytes = 2 << 20
)

// Surface says which expression a text is; it decides the grammar and the prefix of error sentences.
type Surface uint8

// The six surfaces.
const (
	Condition Surface = iota
	Filter
	KeyCondition
	Projection
	Update
	SearchCondition
)

// String is the name of the request parameter.
func (s Surface) String() string {
	switch s {
	case Condition:
		return "ConditionExpression"
	case Filter:
		return "FilterExpression"
	case KeyCondition:
		return "KeyConditionExpression"
	case Projection:
		return "ProjectionExpression"
	case SearchCondition:
		return "SearchConditionExpression"
	default:
		return "UpdateExpression"
	}
}

// Expression is a parsed text. Which of Root, Paths and Actions is set depends on the surface.
type Expression struct {
	Surface Surface
	Root    Node     // condition, filter, key condition, search condition
	Paths   []*Path  // projection, in the order of the text
	Actions []Action // update, in the order of the text

	// Nested are the paths of more than one step, in the order of the text.
	Nested []*Path

	// Aliases and Placeholders are the distinct ones, each at its slot, in the order of the text.
	Aliases      []Reference
	Placeholders []Reference
}

// Reference is the first mention of an alias or placeholder.
type Reference struct {
	Name string // with its # or colon
	Pos  int    // byte offset in the text
}

// Mentions reports whether refs has name.
func Mentions(refs []Reference, name string) bool {
	for i := range refs {
		if refs[i].Name == name {
			return true
		}
	}
	return false
}

// Parse reads text as an expression of the surface. Errors are *Error.
func Parse(s Surface, text string) (*Expression, error) {
	if text == "" {
		return nil, &Error{Surface: s, Kind: KindEmpty}
	}
	if len(text) > MaxTextBytes {
		return nil, &Error{Surface: s, Kind: KindTooLong, Count: len(text)}
	}
	p := newParser(s, text)
	if err := p.parse(); err != nil {
		return nil, err
	}
	return p.out, nil
}
