package api

import (
	"regexp"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// identity is the part of an echoed object that AWS chooses freely.
var identity = regexp.MustCompile(`@[0-9a-f]+`)

// TestValidate has one case for each kind of constraint, in both layers.
func TestValidate(t *testing.T) {
	f := func(in any, want string) {
		t.Helper()
		err := Validate(in)
		switch {
		case err == nil && want != "":
			t.Errorf("accepted, want %s", want)
		case err != nil && identity.ReplaceAllString(err.Error(), "@…") != "ValidationException: "+want:
			t.Errorf("got  %v\nwant ValidationException: %s", err, want)
		}
	}
	item := attr.Item{{Name: "a", Value: attr.String("x")}}
	long := strings.Repeat("x", 256)

	// The newer layer: the first fault only, no echo.
	f(&PutItemInput{TableName: new("T01"), Item: item}, "")
	f(&PutItemInput{TableName: new("arn:aws:dynamodb:us-east-1:000000000000:table/T01"), Item: item}, "")
	f(&PutItemInput{TableName: new(""), Item: item, ReturnValues: new("x")},
		"1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1")
	f(&GetItemInput{}, "1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must not be null")
	f(&GetItemInput{TableName: new("T0"), Key: item},
		"1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 3")
	f(&DeleteItemInput{TableName: new(long), Key: item},
		"1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must have length less than or equal to 255")
	f(&QueryInput{TableName: new("a b c")},
		"1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
	f(&PutItemInput{TableName: new("T01")}, "1 validation error detected: Value at 'Item' failed to satisfy constraint: Member must not be null")
	f(&UpdateItemInput{TableName: new("T01"), Key: item, ReturnValues: new("x"), ReturnConsumedCapacity: new("y")},
		"1 validation error detected: Value at 'ReturnValues' failed to satisfy constraint: "+
			"Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]")
	f(&QueryInput{TableName: new("T01"), Limit: new(int64(0))},
		"1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1")
	f(&GetItemInput{TableName: new("T01"), Key: item, AttributesToGet: []string{}},
		"1 validation error detected: Value at 'AttributesToGet' failed to satisfy constraint: Member must have length greater than or equal to 1")
	f(&BatchGetItemInput{RequestItems: map[string]KeysAndAttributes{}},
		"1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1")
	f(&BatchGetItemInput{RequestItems: map[string]KeysAndAttributes{"T01": {Keys: make([]attr.Item, 101)}}},
		"1 validation error detected: Value at 'RequestItems.T01.member.Keys' failed to satisfy constraint: Member must have length less than or equal to 100")

	// Members of these operations that keep the older wording: still the first fault only.
	const enum = "failed to satisfy constraint: Member must satisfy enum value set: "
	f(&PutItemInput{}, "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null")
	f(&UpdateItemInput{TableName: new(long), Key: item},
		"1 validation error detected: Value '"+long+"' at 'tableName' failed to satisfy constraint: Member must have length less than or equal to 255")
	f(&PutItemInput{TableName: new("bad table!@#"), ReturnValues: new("x")},
		"1 validation error detected: Value 'bad table!@#' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
	f(&UpdateItemInput{TableName: new(""), Key: item},
		"1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1")
	for _, in := range []any{
		&GetItemInput{TableName: new("T01"), Key: item, ReturnConsumedCapacity: new("BOGUS")},
		&PutItemInput{TableName: new("T01"), Item: item, ReturnConsumedCapacity: new("BOGUS")},
		&UpdateItemInput{TableName: new("T01"), Key: item, ReturnConsumedCapacity: new("BOGUS")},
		&DeleteItemInput{TableName: new("T01"), Key: item, ReturnConsumedCapacity: new("BOGUS")},
		&QueryInput{TableName: new("T01"), Select: new("x"), ReturnConsumedCapacity: new("BOGUS")},
		&BatchGetItemInput{RequestItems: map[string]KeysAndAttributes{"T01": {Keys: []attr.Item{item}}}, ReturnConsumedCapacity: new("BOGUS")},
		&BatchWriteItemInput{RequestItems: map[string][]WriteRequest{"T01": {{}}}, ReturnConsumedCapacity: new("BOGUS")},
		&TransactGetItemsInput{TransactItems: []TransactGetItem{{Get: &Get{TableName: new("T01"), Key: item}}}, ReturnConsumedCapacity: new("BOGUS")},
	} {
		f(in, "1 validation error detected: Value 'BOGUS' at 'returnConsumedCapacity' "+enum+"[INDEXES, TOTAL, NONE]")
	}
	f(&QueryInput{TableName: new("T01"), Select: new("count")},
		"1 validation error detected: Value 'count' at 'select' "+enum+"[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]")
	f(&QueryInput{TableName: new("T01"), ConditionalOperator: new("XOR")},
		"1 validation error detected: Value 'XOR' at 'conditionalOperator' "+enum+"[OR, AND]")
	const operators = "[IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]"
	f(&QueryInput{TableName: new("T01"), KeyConditions: map[string]Condition{"p": {ComparisonOperator: new("DOG")}}},
		"1 validation error detected: Value 'DOG' at 'keyConditions.p.member.comparisonOperator' "+enum+operators)
	f(&QueryInput{TableName: new("T01"), QueryFilter: map[string]Condition{"i": {ComparisonOperator: new("DOG")}}},
		"1 validation error detected: Value 'DOG' at 'queryFilter.i.member.comparisonOperator' "+enum+operators)
	f(&QueryInput{TableName: new("T01"), KeyConditions: map[string]Condition{"a": {}}},
		"1 validation error detected: Value null at 'keyConditions.a.member.comparisonOperator' failed to satisfy constraint: Member must not be null")

	// The older layer: all faults, with the values.
	f(&ScanInput{TableName: new("T0"), Limit: new(int64(-1)), Select: new("x"), Segment: new(int64(1_000_000))},
		"4 validation errors detected: Value 'T0' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3; "+
			"Value '-1' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1; "+
			"Value 'x' at 'select' failed to satisfy constraint: Member must satisfy enum value set: "+
			"[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]; "+
			"Value '1000000' at 'segment' failed to satisfy constraint: Member must have value less than or equal to 999999")
	f(&ScanInput{TableName: new("T01"), IndexName: new("a;")},
		"2 validation errors detected: Value 'a;' at 'indexName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; "+
			"Value 'a;' at 'indexName' failed to satisfy constraint: Member must have length greater than or equal to 3")
	f(&ScanInput{}, "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null")
	f(&TransactWriteItemsInput{TransactItems: []TransactWriteItem{}, ClientRequestToken: new(strings.Repeat("t", 37)), ReturnConsumedCapacity: new("x")},
		"3 validation errors detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1; "+
			"Value 'ttttttttttttttttttttttttttttttttttttt' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36; "+
			"Value 'x' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]")
	f(&TransactWriteItemsInput{TransactItems: []TransactWriteItem{{}, {Put: &Put{TableName: new("T01")}}, {Update: &Update{Key: item, TableName: new("T01")}}}},
		"2 validation errors detected: Value null at 'transactItems.2.member.put.item' failed to satisfy constraint: Member must not be null; "+
			"Value null at 'transactItems.3.member.update.updateExpression' failed to satisfy constraint: Member must not be null")
	f(&BatchWriteItemInput{RequestItems: map[string][]WriteRequest{"ab": {{PutRequest: &PutRequest{Item: attr.Item{}}}}}},
		"1 validation error detected: Value '{ab=[com.amazonaws.dynamodb.v20120810.WriteRequest@…]}' at 'requestItems' "+
			"failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length less than or equal to 255, "+
			"Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]")
	f(&BatchWriteItemInput{RequestItems: map[string][]WriteRequest{"T01": {}}},
		"1 validation error detected: Value '{T01=[]}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: "+
			"[Member must have length less than or equal to 25, Member must have length greater than or equal to 1]")
	f(&BatchWriteItemInput{RequestItems: map[string][]WriteRequest{"T01": {{DeleteRequest: &DeleteRequest{}}}}},
		"1 validation error detected: Value null at 'requestItems.T01.member.1.member.deleteRequest.key' failed to satisfy constraint: Member must not be null")
	f(&CreateTableInput{TableName: new("T01"), KeySchema: []KeySchemaElement{{AttributeName: new("a"), KeyType: new("x")}}},
		"1 validation error detected: Value 'x' at 'keySchema.1.member.keyType' failed to satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]")
	f(&CreateTableInput{TableName: new("T01"), GlobalSecondaryIndexes: []GlobalSecondaryIndex{{
		IndexName: new("I01"), KeySchema: []KeySchemaElement{}, Projection: &Projection{NonKeyAttributes: []string{""}},
	}}},
		"2 validation errors detected: Value '[]' at 'globalSecondaryIndexes.1.member.keySchema' failed to satisfy constraint: Member must have length greater than or equal to 1; "+
			"Value '[]' at 'globalSecondaryIndexes.1.member.projection.nonKeyAttributes' failed to satisfy constraint: Member must satisfy constraint: "+
			"[Member must have length less than or equal to 255, Member must have length greater than or equal to 1]")

	// Sentences of their own.
	f(&CreateTableInput{}, "The parameter 'TableName' is required but was not present in the request")
	f(&DescribeTableInput{}, "The parameter 'TableName' is required but was not present in the request")
	f(&BatchWriteItemInput{RequestItems: map[string][]WriteRequest{}}, "The requestItems parameter is required for BatchWriteItem")
}

// TestUnsupported: an unsupported member is rejected if it requests something.
func TestUnsupported(t *testing.T) {
	create := func(in CreateTableInput) *CreateTableInput {
		in.TableName = new("T01")
		return &in
	}
	for _, in := range []any{
		create(CreateTableInput{GlobalTableSettingsReplicationMode: new("ENABLED")}),
		&UpdateTableInput{TableName: new("T01"), GlobalTableSettingsReplicationMode: new("ENABLED")},
	} {
		err := Validate(in)
		if err == nil || !strings.Contains(err.Error(), "This server does not support") {
			t.Errorf("%T: %v", in, err)
		}
	}
	for _, in := range []any{
		create(CreateTableInput{Tags: []Tag{}}),
		&UpdateTableInput{TableName: new("T01"), DisassociationProtectionEnabled: new(false)},
	} {
		if err := Validate(in); err != nil {
			t.Errorf("%T: %v", in, err)
		}
	}
}

// TestMayReturn: every operation may return the framework's codes, and the database's codes are listed.
func TestMayReturn(t *testing.T) {
	for _, o := range Operations() {
		for _, code := range []apierr.Code{apierr.ValidationException, apierr.SerializationException, apierr.InternalServerError} {
			if !o.MayReturn(code) {
				t.Errorf("%s may not return %s", o.Name, code)
			}
		}
		if got := o.MayReturn(apierr.TransactionCanceledException); got != strings.Contains(o.Name, "Transact") {
			t.Errorf("%s may return TransactionCanceledException: %v", o.Name, got)
		}
	}
}

// TestValidateAllocations: a valid request costs no allocation.
func TestValidateAllocations(t *testing.T) {
	in := &QueryInput{
		TableName: new("T01"), IndexName: new("I01"), Limit: new(int64(20)), ReturnConsumedCapacity: new("TOTAL"),
		KeyConditionExpression: new("#p = :p"), ExpressionAttributeNames: map[string]string{"#p": "PK"},
	}
	n := testing.AllocsPerRun(100, func() {
		if err := Validate(in); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
