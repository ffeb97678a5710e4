package apierr

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// wording is how an operation words an invalid attribute value. AWS is moving operations from the older wording to the newer one,
// one by one; this is the state of us-east-1 in autumn 2026.
type wording uint8

const (
	older     wording = iota // the bare sentence; values of expressions name their key
	bare                     // the newer sentence without the envelope
	enveloped                // the newer sentence in the envelope
)

// wordings is the wording by operation; operations that are not listed use the older one.
var wordings = map[string]wording{
	"PutItem":    enveloped,
	"UpdateItem": enveloped,
	"DeleteItem": enveloped,

	"GetItem":      bare,
	"BatchGetItem": bare,
	"Query":        bare,
}

// sentences are those that do not depend on the value.
var sentences = map[attr.FaultCode]Sentence{
	attr.FaultNoType:          NoType,
	attr.FaultManyTypes:       ManyTypes,
	attr.FaultNull:            invalid + "Null attribute value types must have the value of true",
	attr.FaultNumberPrecision: "Attempting to store more than 38 significant digits in a Number",
	attr.FaultNumberOverflow:  "Number overflow. Attempting to store a number with magnitude larger than supported range",
	attr.FaultNumberUnderflow: "Number underflow. Attempting to store a number with magnitude smaller than supported range",
	attr.FaultTooDeep:         "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
	attr.FaultNoName:          "Empty attribute name",
	attr.FaultLongName:        "Attribute name is too large, must be less than 65536 bytes",
}

// emptySets are the sentences for empty sets, in AWS's own grammar.
var emptySets = map[attr.Kind]Sentence{
	attr.KindStringSet: invalid + "An string set  may not be empty",
	attr.KindNumberSet: invalid + "An number set  may not be empty",
	attr.KindBinarySet: invalid + "Binary sets should not be empty",
}

// InvalidValue returns the error of an operation for an invalid attribute value in an item or key.
func InvalidValue(operation string, f attr.Fault) *Error {
	w := wordings[operation]
	text := w.sentence(f)
	if w == enveloped && f.Code != attr.FaultTooDeep {
		text = envelope + text
	}
	return Validation(text)
}

// InvalidExpressionValue returns the error of an operation for an invalid value in ExpressionAttributeValues; key is the value's
// placeholder, with its colon.
func InvalidExpressionValue(operation, key string, f attr.Fault) *Error {
	if wordings[operation] != older || f.Code == attr.FaultTooDeep {
		return InvalidValue(operation, f)
	}
	return Validation("ExpressionAttributeValues contains invalid value: " + older.sentence(f) + " for key " + key)
}

func (w wording) sentence(f attr.Fault) string {
	switch f.Code {
	case attr.FaultEmptySet:
		return string(emptySets[f.Kind])
	case attr.FaultNumberSyntax:
		if f.Text == "" {
			return "The parameter cannot be converted to a numeric value"
		}
		return "The parameter cannot be converted to a numeric value: " + f.Text
	case attr.FaultNumberOverflow:
		if w == older && exponentWraps(f.Text) {
			return string(sentences[attr.FaultNumberUnderflow])
		}
		return string(sentences[f.Code])
	case attr.FaultDuplicate:
		return w.duplicates(f)
	default:
		return string(sentences[f.Code])
	}
}

// exponentWraps reports whether a number, such as 1e2147483647, is so large that AWS's older layer, which counts its magnitude in
// 32 bits, considers it too small.
func exponentWraps(number string) bool {
	mantissa, exponent, found := strings.Cut(strings.ToLower(number), "e")
	exp, err := strconv.ParseInt(exponent, 10, 32)
	whole, _, _ := strings.Cut(strings.TrimLeft(mantissa, "+-"), ".")
	return found && err == nil && exp+int64(len(whole)) > math.MaxInt32
}

// duplicates lists the members of a set as sent or, in the newer wording, quoted and sorted up to the first duplicate. Number
// sets list none.
func (w wording) duplicates(f attr.Fault) string {
	if f.Kind == attr.KindNumberSet {
		return "Input collection contains duplicates" // without the opening of the others
	}
	texts := make([]string, len(f.Members))
	for i, m := range f.Members {
		texts[i] = m.Text()
		if f.Kind == attr.KindBinarySet {
			texts[i] = base64.StdEncoding.EncodeToString([]byte(m.Text()))
		}
	}
	if w != older {
		texts = quotedToRepeat(texts)
	}
	list := invalid + "Input collection [" + strings.Join(texts, ", ") + "]"
	if f.Kind == attr.KindBinarySet {
		return list + "of type BS contains duplicates."
	}
	return list + " contains duplicates."
}

// quotedToRepeat sorts and quotes texts, and truncates them after the first that equals its predecessor.
func quotedToRepeat(texts []string) []string {
	slices.Sort(texts)
	for i := 1; i < len(texts); i++ {
		if texts[i] == texts[i-1] {
			texts = texts[:i+1]
			break
		}
	}
	for i, text := range texts {
		texts[i] = strconv.Quote(text)
	}
	return texts
}
