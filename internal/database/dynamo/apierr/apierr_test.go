package apierr

import (
	"net/http"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

func TestCatalogue(t *testing.T) {
	for _, c := range []struct {
		code   Code
		typ    string
		status int
		member string
	}{
		{ValidationException, "com.amazon.coral.validate#ValidationException", http.StatusBadRequest, "message"},
		{SerializationException, "com.amazon.coral.service#SerializationException", http.StatusBadRequest, "message"},
		{ThrottlingException, "com.amazon.coral.availability#ThrottlingException", http.StatusBadRequest, "message"},
		{ResourceNotFoundException, "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException", http.StatusBadRequest, "message"},
		{InternalServerError, "com.amazonaws.dynamodb.v20120810#InternalServerError", http.StatusInternalServerError, "message"},
		{TransactionCanceledException, "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", http.StatusBadRequest, "Message"},
		{IdempotentParameterMismatchException, "com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException", http.StatusBadRequest, "Message"},
	} {
		e := New(c.code, "m")
		if e.Type() != c.typ || e.Status() != c.status || e.MessageMember() != c.member {
			t.Errorf("%s: %s, %d, %s", c.code, e.Type(), e.Status(), e.MessageMember())
		}
	}
}

// TestSentence: facts stand for verbs, and the table has the codes.
func TestSentence(t *testing.T) {
	for _, c := range []struct {
		got  *Error
		code Code
		want string
	}{
		{KeyMissing.With("50%s"), ValidationException, "One or more parameter values were invalid: Missing the key 50%s in the item"},
		{NotFound.With(), ResourceNotFoundException, "Requested resource not found"},
		{StartKeyFault.With(KeyMismatch), ValidationException, "The provided starting key is invalid: The provided key element does not match the schema"},
		{KeyOfOtherType.With("id", attr.KindString, attr.KindNumber), ValidationException, "One or more parameter values were invalid: Type mismatch for key id expected: S actual: N"},
		{TooManyTables.With(2500), LimitExceededException, "Subscriber limit exceeded: There is a limit of 2500 tables per subscriber"},
	} {
		if c.got.Code != c.code || c.got.Message != c.want {
			t.Errorf("got  %v\nwant %s: %s", c.got, c.code, c.want)
		}
	}
}

// TestInvalidValue: one value is worded differently by operation.
func TestInvalidValue(t *testing.T) {
	set := attr.Fault{Code: attr.FaultEmptySet, Kind: attr.KindStringSet}
	repeat := attr.Fault{
		Code: attr.FaultDuplicate, Kind: attr.KindStringSet,
		Members: []attr.Value{attr.String("c"), attr.String("b"), attr.String("a"), attr.String("b")},
	}
	number := attr.Fault{Code: attr.FaultNumberSyntax, Kind: attr.KindNumber, Text: "x"}
	deep := attr.Fault{Code: attr.FaultTooDeep, Kind: attr.KindMap}
	for _, c := range []struct {
		operation string
		fault     attr.Fault
		want      string
	}{
		{"PutItem", set, "1 validation error detected: One or more parameter values were invalid: An string set  may not be empty"},
		{"GetItem", set, "One or more parameter values were invalid: An string set  may not be empty"},
		{"BatchWriteItem", set, "One or more parameter values were invalid: An string set  may not be empty"},
		{"UpdateItem", number, "1 validation error detected: The parameter cannot be converted to a numeric value: x"},
		{"Query", number, "The parameter cannot be converted to a numeric value: x"},
		{"PutItem", repeat, `1 validation error detected: One or more parameter values were invalid: Input collection ["a", "b", "b"] contains duplicates.`},
		{"Scan", repeat, "One or more parameter values were invalid: Input collection [c, b, a, b] contains duplicates."},
		{"PutItem", deep, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"},
	} {
		if got := InvalidValue(c.operation, c.fault).Message; got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.operation, got, c.want)
		}
	}
	for operation, want := range map[string]string{
		"Scan":    "ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value: x for key :v",
		"Query":   "The parameter cannot be converted to a numeric value: x",
		"PutItem": "1 validation error detected: The parameter cannot be converted to a numeric value: x",
	} {
		if got := InvalidExpressionValue(operation, ":v", number).Message; got != want {
			t.Errorf("%s\ngot  %s\nwant %s", operation, got, want)
		}
	}
}
