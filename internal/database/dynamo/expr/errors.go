package expr

import (
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// Error is what is wrong with an expression, with the names and values beside it, or with a legacy parameter
// lowered to one. The fields are facts for a program; Error makes AWS's sentence from them.
type Error struct {
	Surface Surface
	Kind    Kind
	Pos     int // byte offset in the text; 0 where the kind has none

	// Subject is what is at fault: token, name, placeholder, function, operator, key, attribute.
	Subject string
	// Near is the text around a token.
	Near string
	// Operand and Other are the operands, paths, types or bounds of which the sentence speaks.
	Operand, Other string
	// Count is the size or number that passes a limit.
	Count int
	// Fault is what is wrong with a value (KindFaultyValue, KindFaultyArgument). Its sentence
	// depends on the operation: package apierr makes it. Near is that of the older layer.
	Fault attr.Fault
}

// Error returns AWS's whole sentence, prefix included, as it stands in a ValidationException of the
// operations that use AWS's present layer of validation.
func (e *Error) Error() string { return e.sentence(sentences[e.Kind].text) }

// Older returns the sentence of the operations on AWS's older layer (Scan, BatchWriteItem), which differs for
// few kinds.
func (e *Error) Older() string {
	if older := sentences[e.Kind].older; older != "" {
		return e.sentence(older)
	}
	return e.Error()
}

func (e *Error) sentence(template string) string {
	text := strings.NewReplacer(
		"{subject}", e.Subject,
		"{near}", e.Near,
		"{operand}", e.Operand,
		"{other}", e.Other,
		"{count}", strconv.Itoa(e.Count),
	).Replace(template)
	switch sentences[e.Kind].opening {
	case openExpression:
		return "Invalid " + e.Surface.String() + ": " + text
	case openParameter:
		return "One or more parameter values were invalid: " + text
	default:
		return text
	}
}
