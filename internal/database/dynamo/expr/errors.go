package expr

import (
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// Error is an error in an expression, in the names and values given with it, or in a legacy parameter lowered to one. The fields
// are facts for programs; Error formats AWS's message from them.
type Error struct {
	Surface Surface
	Kind    Kind
	Pos     int // byte offset in the text; 0 if the kind has none

	// Subject is the cause: token, name, placeholder, function, operator, key, attribute.
	Subject string
	// Near is the text around a token.
	Near string
	// Operand and Other are the operands, paths, types or bounds in the message.
	Operand, Other string
	// Count is the size or number that exceeds a limit.
	Count int
	// Fault is the fault of a value (KindFaultyValue, KindFaultyArgument). Its message depends on the operation and is in package
	// apierr. Near is that of the older layer.
	Fault attr.Fault
}

// Error returns AWS's complete message, including the prefix, as in a ValidationException of operations with AWS's current
// validation layer.
func (e *Error) Error() string { return e.sentence(sentences[e.Kind].text) }

// Older returns the message of operations with AWS's older layer (Scan, BatchWriteItem), which differs for a few kinds.
func (e *Error) Older() string {
	if older := sentences[e.Kind].older; older != "" {
		return e.sentence(older)
	}
	return e.Error()
}

// OfStatement returns the message of PartiQL statements, whose text is not called an expression.
func (e *Error) OfStatement() string {
	if s := sentences[e.Kind]; s.opening == openExpression {
		return e.fill(s.text)
	}
	return e.Error()
}

func (e *Error) fill(template string) string {
	return strings.NewReplacer(
		"{subject}", e.Subject,
		"{near}", e.Near,
		"{operand}", e.Operand,
		"{other}", e.Other,
		"{count}", strconv.Itoa(e.Count),
	).Replace(template)
}

func (e *Error) sentence(template string) string {
	text := e.fill(template)
	switch sentences[e.Kind].opening {
	case openExpression:
		return "Invalid " + e.Surface.String() + ": " + text
	case openParameter:
		return "One or more parameter values were invalid: " + text
	default:
		return text
	}
}
