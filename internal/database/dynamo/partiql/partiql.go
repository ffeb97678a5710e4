// Package partiql parses and prints the statements of DynamoDB's PartiQL.
//
// # Vocabulary
//
// A statement is one SELECT, INSERT, UPDATE, DELETE or EXISTS. A parameter is a `?`, whose value the request provides with the
// statement. A path goes into an item by names and list indexes.
//
// # Model
//
//	text ──lexer──▶ tokens ──parser──▶ Statement ──Print──▶ text
//
// The grammar and the error messages are those of the open-source PartiQL parser that AWS uses, for the constructs that DynamoDB
// supports; all others are errors. Precedence, from loose to tight:
//
//	OR   AND   NOT   = <> IS IN   < <= > >= BETWEEN   + -   terms
//
// The package does not know the meaning of a statement: neither tables nor the types of values. Package engine lowers a tree to
// the expressions of package expr.
//
// # Invariants
//
//	I1  Parsing needs bounded stack for any text: nesting is at most maxDepth, and a statement has at most maxOperators
//	    operators. The length of a statement is a constraint of the API's model.
//	I2  Parse(Print(s)) equals s except for positions (FuzzParse).
//	I3  A tree returned by Parse is immutable.
//
// # Errors
//
// All errors are *Error.
package partiql

import "fmt"

// Parse parses a statement. Errors are *Error.
func Parse(text string) (*Statement, error) {
	p := parser{text: text, tokens: tokens(text)}
	s, err := p.statement()
	if err != nil {
		return nil, err
	}
	s.Parameters = p.parameters
	return s, nil
}

// Error is an error in a statement's text.
type Error struct {
	Detail Detail
	// Subject is the clause, token, function or operator that is unsupported; the kind of token, for ExpectedToken; the index, for
	// IndexOutOfRange; the type and place of a name or value, for TupleKey and UnsupportedData.
	Subject string
	Pos     Position
}

// Position is a token's position in a statement: line and column count characters from 1.
type Position struct{ Line, Column, Length int }

// String returns the position in AWS's format: line, column, length.
func (p Position) String() string { return fmt.Sprintf("%d:%d:%d", p.Line, p.Column, p.Length) }

// Error returns the complete message of the ValidationException.
func (e *Error) Error() string {
	switch e.Detail {
	case UnsupportedClause, UnsupportedAggregate, IndexOutOfRange, TupleKey, UnsupportedData:
		return fmt.Sprintf(string(e.Detail), e.Subject, e.Pos)
	case UnexpectedPathComponent:
		return fmt.Sprintf(string(e.Detail), e.Pos)
	case UnsupportedToken, UnrecognizedFunction, ConditionOperator, UpdateOperator:
		return fmt.Sprintf(string(e.Detail), e.Subject)
	case UnsupportedGroupBy, ManySources, Aliasing, ProjectionOfValue, UnexpectedSource, EmptyName, MissingAsValue, HierarchyChanged,
		ReturningPart, ReturningTwice:
		return string(e.Detail)
	case ExpectedToken:
		return Malformed + fmt.Sprintf(string(e.Detail), e.Subject)
	default:
		return Malformed + string(e.Detail)
	}
}

// Malformed begins the messages about syntax.
const Malformed = "Statement wasn't well formed, can't be processed: "

// Detail is the kind of error.
type Detail string

// The details in the words of AWS's parser, which follow "Statement wasn't well formed, can't be processed: ".
const (
	ExpectedManipulation  Detail = "Expected data manipulation"
	ExpectedSimplePath    Detail = "Expected identifier for simple path"
	InvalidDot            Detail = "Invalid path dot component"
	InvalidIndex          Detail = "Invalid path component for simple path"
	ExpectedFrom          Detail = "Expected FROM after SELECT list"
	ExpectedDeleteFrom    Detail = "Expected FROM after DELETE"
	ExpectedAssignment    Detail = "Expected '='"
	ExpectedReturning     Detail = "Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element."
	ExpectedType          Detail = "Expected type name"
	ExpectedToken         Detail = "Expected %s"
	MissingRightSide      Detail = "Missing right-hand side expression of infix operator"
	EmptyGroup            Detail = "Expression group cannot be empty"
	StarNotAlone          Detail = "Other expressions may not be present in the select list when '*' is used without dot notation."
	UnexpectedKeyword     Detail = "Unexpected keyword"
	UnexpectedOperator    Detail = "Unexpected operator"
	UnexpectedTerm        Detail = "Unexpected term"
	UnexpectedAfterEnd    Detail = "Unexpected token after expression"
	UnexpectedAfterSecond Detail = "Unexpected token after semicolon. (Only one query is allowed.)"

	// These limits are ours.
	TooDeep          Detail = "The statement is nested too deeply"
	TooManyOperators Detail = "The statement has too many operators"
)

// The details that are complete messages. They are about PartiQL that DynamoDB does not support.
const (
	UnsupportedClause       Detail = "Unsupported clause: %s at %s"
	UnsupportedGroupBy      Detail = "Unsupported clause: GROUP BY"
	UnsupportedToken        Detail = "Unsupported token in expression: %s"
	UnsupportedAggregate    Detail = "Unsupported token in expression: %s at %s"
	UnrecognizedFunction    Detail = "Unrecognized function: %s"
	ConditionOperator       Detail = "Unsupported operator in Condition Expression. Operator: %s"
	UpdateOperator          Detail = "Unsupported operator in Update Expression. Operator: %s"
	UnexpectedPathComponent Detail = "Unexpected path component at %s"
	EmptyName               Detail = "Path component cannot be an empty string"
	UnexpectedSource        Detail = "Unexpected from source"
	ManySources             Detail = "Only select from a single table or index is supported."
	Aliasing                Detail = "Aliasing is not supported"
	ProjectionOfValue       Detail = "Select projection doesn't support value or pivot keywords"
	HierarchyChanged        Detail = "Changing item's hierarchy while reading isn't supported"
	IndexOutOfRange         Detail = "List index is not within the allowable range; index: [%s] at %s"
	MissingAsValue          Detail = "MISSING must be compared using IS operator"
	UnsupportedData         Detail = "Unsupported data type: %s at %s"
	TupleKey                Detail = "Tuple keys must be of type String. Actual type: %s at %s"
	ReturningPart           Detail = "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause"
	ReturningTwice          Detail = "Invalid syntax with multiple returning elements in RETURNING clause"
)
