// Package expr parses, checks and prints DynamoDB's expression languages.
//
// # Vocabulary
//
// A surface is the parameter that contains an expression: ConditionExpression, FilterExpression, KeyConditionExpression,
// ProjectionExpression or UpdateExpression. An alias (#a) stands for an attribute name, a placeholder (:v) for a value; both are
// given with the expression. A document path is a chain of steps into an item: names, aliases and list indexes.
//
// # Model
//
//	text ──lexer──▶ tokens ──parser──▶ Expression ──Print──▶ text
//	                                    Root     condition, filter, key condition
//	                                    Paths    projection
//	                                    Actions  update
//	                                    Aliases, Placeholders
//
// The tree is independent of any request: its aliases and placeholders are numbered slots. So a text is parsed only once (Load
// caches recent ones), and a request only fills a slice for each kind of slot. The grammar is that of AWS's developer guide. One
// token of look-ahead suffices, except that an opening parenthesis in a condition may contain a condition or an operand, which
// the parser only knows at the closing one.
//
// # Invariants
//
//	I1  Parsing needs bounded memory and stack for any text: first the size is checked (MaxTextBytes), then
//	    the nesting of parentheses and calls (maxDepth).
//	I2  Parse(Print(e)) equals e except for positions (FuzzParse).
//	I3  A tree returned by Parse is immutable and safe for concurrent use.
//	I4  Calls in a tree have a known function, allowed in their context, with the right number of operands.
//
// # Errors
//
// All errors in expressions are *Error: facts, from which Error() formats AWS's message using the table in sentences.go. Of
// several errors in a text, the kind determines which is reported: syntax, redundant parentheses, number of operators, functions,
// sections, reserved words, limits of paths; and among errors of the same kind, the first in the text.
//
// Checks that need names and values (types of operands, overlap of aliased paths, evaluation) are in package eval, which uses the
// same table.
package expr

// The limits in AWS's "Expression parameters" quotas.
const (
	// MaxTextBytes applies to the text as sent, before aliases are substituted.
	MaxTextBytes = 4096
	// MaxOperators counts operators and functions of one expression.
	MaxOperators = 300
	// MaxInOperands is the maximum length of an IN list.
	MaxInOperands = 100
	// MaxPathSteps is the maximum depth of a document path.
	MaxPathSteps = 32
	// MaxAliasBytes is the maximum length of an alias or placeholder, including its # or colon.
	MaxAliasBytes = 255
	// MaxSubstitutionBytes is the maximum total size of all names, and of all values, including their keys.
	MaxSubstitutionBytes = 2 << 20
)

// Surface identifies the kind of expression; it determines the grammar and the prefix of error messages.
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

	// Nested are the paths with more than one step, in the order of the text.
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

// Mentions reports whether refs contains name.
func Mentions(refs []Reference, name string) bool {
	for i := range refs {
		if refs[i].Name == name {
			return true
		}
	}
	return false
}

// Parse parses text as an expression of the surface. Errors are *Error.
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
