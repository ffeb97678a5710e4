package policy

import "fmt"

// Error describes an error in a document and its position. IAM calls it MalformedPolicyDocument.
type Error struct {
	Fault   Fault
	Subject string // the invalid name or value, or ""
	// Line and Column count from 1; a column is a character.
	Line, Column int
}

func (e *Error) Error() string {
	text := sentences[e.Fault]
	if e.Fault.hasSubject() {
		text = fmt.Sprintf(text, e.Subject)
	}
	return fmt.Sprintf("%s At line %d, column %d.", text, e.Line, e.Column)
}

// Fault is a kind of error.
type Fault uint8

// The faults.
const (
	NoJSON Fault = iota
	FieldRepeated
	FieldUnknown
	FieldMissing   // of a statement: Effect, Action, Resource, Principal
	FieldAmbiguous // for example Action together with NotAction
	FieldProhibited
	NotText  // for Id and Sid
	NotTexts // for Action and Resource
	VersionInvalid
	StatementInvalid
	StatementMissing
	EffectInvalid
	SidRepeated
	SidInvalid
	ActionInvalid
	ResourceInvalid
	PrincipalInvalid
	ConditionInvalid
	OperatorInvalid
	KeyInvalid
	ValueInvalid
	VariableInvalid
)

// sentences are IAM's messages, as far as known: "Syntax errors in policy." is confirmed, the others are not. IAM does not report
// the position.
var sentences = [...]string{
	NoJSON:           "Syntax errors in policy.",
	FieldRepeated:    "Syntax errors in policy. Duplicate field %s.",
	FieldUnknown:     "Syntax errors in policy. Unknown field %s.",
	FieldMissing:     "Missing required field %s.",
	FieldAmbiguous:   "Syntax errors in policy. A statement must have either %[1]s or Not%[1]s.",
	FieldProhibited:  "Has prohibited field %s.",
	NotText:          "Syntax errors in policy. %s must be a string.",
	NotTexts:         "Syntax errors in policy. %s must be a string or a list of strings.",
	VersionInvalid:   "The policy must contain a valid version string.",
	StatementInvalid: "Syntax errors in policy. Statement must be an object or a list of objects.",
	StatementMissing: "Syntax errors in policy. Statement is empty.",
	EffectInvalid:    "Invalid effect: %s.",
	SidRepeated:      "Statement IDs (SID) in a single policy must be unique.",
	SidInvalid:       "Statement IDs (SID) must be alpha-numeric. Check that your input satisfies the regular expression [0-9A-Za-z]*.",
	ActionInvalid:    "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc. Found: %s.",
	ResourceInvalid:  `Resource %s must be in ARN format or "*".`,
	PrincipalInvalid: "Invalid principal in policy: %s.",
	ConditionInvalid: "Syntax errors in policy. Condition must be an object of objects.",
	OperatorInvalid:  "Invalid Condition type : %s.",
	KeyInvalid:       "Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc. Found: %s.",
	ValueInvalid:     "Syntax errors in policy. Invalid value of a condition: %s.",
	VariableInvalid:  "Syntax errors in policy. Invalid policy variable: %s.",
}

func (f Fault) hasSubject() bool {
	switch f {
	case NoJSON, VersionInvalid, StatementInvalid, StatementMissing, SidRepeated, SidInvalid, ConditionInvalid:
		return false
	default:
		return true
	}
}
