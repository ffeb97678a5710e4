package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// TestDecode reads request bodies: the script's answer is the input written again, and the faulty values in
// its item, or the error's body.
func TestDecode(t *testing.T) {
	datadriven.Walk(t, "testdata/decode", func(t *testing.T, path string) {
		t.Helper()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			for _, o := range api.Operations() {
				if o.Name == d.Cmd {
					return decoded(t, o.Input(), d.Input)
				}
			}
			t.Fatalf("no operation %s", d.Cmd)
			return ""
		})
	})
}

func decoded(t *testing.T, in any, body string) string {
	t.Helper()
	if err := Decode([]byte(body), in); err != nil {
		return string(AppendError(nil, clientError(t, err))) + "\n"
	}
	out, err := Append(nil, in)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{string(out)}
	if put, ok := in.(*api.PutItemInput); ok {
		for _, f := range put.Item {
			if fault, faulty := f.Value.Fault(); faulty {
				lines = append(lines, fmt.Sprintf("%s: %s", f.Name, apierr.InvalidValue("Scan", fault).Message))
			}
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func clientError(t *testing.T, err error) *apierr.Error {
	t.Helper()
	e, ok := errors.AsType[*apierr.Error](err)
	if !ok {
		t.Fatalf("not an error for a client: %v", err)
	}
	return e
}

// TestDecodeKnown: a member that the shape does not have is an error that names it, in nested structures too. Names within maps
// and types within attribute values are no members. All else is as with Decode.
func TestDecodeKnown(t *testing.T) {
	unknown := func(name string) string {
		return "ValidationException: One or more parameter values were invalid: The record has an unknown member: " + name
	}
	for body, want := range map[string]string{
		`{"TableName":"T","Item":{"a":{"S":"x"}}}`: "",
		`{}`:                                "",
		`{"TableName":"T","Tablename":"T"}`: unknown("Tablename"),
		`{"X":1}`:                           unknown("X"),
		`{"X":null}`:                        unknown("X"),
		`{"":{}}`:                           unknown(""),
		`{"Item":{"X":{"S":"x"}},"ExpressionAttributeNames":{"X":"x"}}`:                  "",
		`{"Item":{"a":{"M":{"X":{"S":"x"}}},"b":{"L":[{"S":"x","X":1}]}}}`:               "",
		`{"Expected":{"X":{"Exists":false}}}`:                                            "",
		`{"Expected":{"a":{"Exists":false,"X":1}}}`:                                      unknown("X"),
		`{"Expected":{"a":{"Value":{"S":"x"},"AttributeValueList":[{"S":"x"}],"Y":{}}}}`: unknown("Y"),
		`{"TableName":1,"X":1}`:                                                          "SerializationException: NUMBER_VALUE cannot be converted to String",
		`{"X":1,"TableName":1}`:                                                          unknown("X"),
		`{"TableName":"T"} x`:                                                            "SerializationException: ",
		`{"TableName":"T","X":tru}`:                                                      unknown("X"),
		`[]`:                                                                             "SerializationException: Unrecognized collection type class com.amazonaws.dynamodb.v20120810.PutItemInput",
		"{\"\xff\":1}":                                                                   "SerializationException: ",
	} {
		got := ""
		if err := DecodeKnown([]byte(body), new(api.PutItemInput)); err != nil {
			e := clientError(t, err)
			got = string(e.Code) + ": " + e.Message
		}
		if got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
		if err := Decode([]byte(`{"X":{"Y":[1]},"Expected":{"a":{"X":1}}}`), new(api.PutItemInput)); err != nil {
			t.Errorf("Decode after %q: %v", body, err)
		}
	}
}

// TestDecodeDeep sends documents that are deeper than any stack should be.
func TestDecodeDeep(t *testing.T) {
	const depth = 200_000
	bodies := map[string]string{
		"lists":         strings.Repeat("[", depth),
		"objects":       strings.Repeat(`{"a":`, depth),
		"in a member":   `{"TableName":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`,
		"unknown":       `{"X":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`,
		"in a value":    `{"Item":{"a":` + strings.Repeat(`{"L":[`, depth) + strings.Repeat(`]}`, depth) + `}}`,
		"maps in value": `{"Item":{"a":` + strings.Repeat(`{"M":{"a":`, depth) + `{"NULL":true}` + strings.Repeat(`}}`, depth) + `}}`,
	}
	for name, body := range bodies {
		err := Decode([]byte(body), new(api.PutItemInput))
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if e := clientError(t, err); e.Code != apierr.SerializationException {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// TestDecodeNesting finds the bound on documents inside each other: 31 stand, the 32nd is a fault.
func TestDecodeNesting(t *testing.T) {
	for _, document := range [][2]string{{`{"M":{"a":`, `}}`}, {`{"L":[`, `]}`}} {
		for depth, want := range map[int]attr.FaultCode{31: 0, 32: attr.FaultTooDeep, 500: attr.FaultTooDeep} {
			var in api.PutItemInput
			body := `{"Item":{"k":` + strings.Repeat(document[0], depth) + `{"S":"x"}` + strings.Repeat(document[1], depth) + `}}`
			if err := Decode([]byte(body), &in); err != nil {
				t.Fatal(err)
			}
			_, fault, _ := in.Item.Fault()
			if fault.Code != want {
				t.Errorf("%d times %s: fault %d, want %d", depth, document[0], fault.Code, want)
			}
		}
	}
}

// TestDecodeDoesNotAlias overwrites the body after it was read.
func TestDecodeDoesNotAlias(t *testing.T) {
	body := []byte(`{"TableName":"T","Item":{"a":{"S":"text"},"b":{"B":"AQID"},"n":{"N":"12"}}}`)
	var in api.PutItemInput
	if err := Decode(body, &in); err != nil {
		t.Fatal(err)
	}
	for i := range body {
		body[i] = '#'
	}
	want := `{"TableName":"T","Item":{"a":{"S":"text"},"b":{"B":"AQID"},"n":{"N":"12"}}}`
	got, err := Append(nil, &in)
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestStoredItem checks that an item reads the same whether it is written from memory or from its stored
// form, and that both are what encoding/json takes for the same document.
func TestStoredItem(t *testing.T) {
	const text = `{"bin":{"B":"AP8="},"bool":{"BOOL":true},"bs":{"BS":["","AA=="]},"e\"s\\c":{"S":"a\u0001\n\r\t\"\\/ü😀\u2028"},` +
		`"list":{"L":[{"S":""},{"L":[]},{"M":{}},{"NULL":true},{"BOOL":false}]},"map":{"M":{"x":{"N":"-1.5"}}},` +
		`"ns":{"NS":["1","2.5"]},"num":{"N":"0"},"ss":{"SS":["","ß"]}}`
	var in api.PutItemInput
	if err := Decode([]byte(`{"Item":`+text+`}`), &in); err != nil {
		t.Fatal(err)
	}
	memory := AppendAttributes(nil, in.Item)
	stored, err := AppendItem(nil, itemenc.Encode(nil, in.Item))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(memory), string(stored)); diff != "" {
		t.Errorf("memory and stored differ (-memory +stored):\n%s", diff)
	}
	var want, got any
	if err := errors.Join(json.Unmarshal([]byte(text), &want), json.Unmarshal(memory, &got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAppend(t *testing.T) {
	item := itemenc.Encode(nil, attr.Item{{Name: "k", Value: attr.String("v")}})
	empty := itemenc.Encode(nil, attr.Item{})
	for _, c := range []struct {
		out  any
		want string
	}{
		{&api.GetItemOutput{}, `{}`},
		{&api.GetItemOutput{Item: empty}, `{"Item":{}}`},
		{&api.GetItemOutput{Item: item}, `{"Item":{"k":{"S":"v"}}}`},
		{&api.QueryOutput{Items: []itemenc.Item{}, Count: new(int64(0)), ScannedCount: new(int64(7))}, `{"Items":[],"Count":0,"ScannedCount":7}`},
		{&api.QueryOutput{Items: []itemenc.Item{item, item}}, `{"Items":[{"k":{"S":"v"}},{"k":{"S":"v"}}]}`},
		{
			&api.QueryOutput{LastEvaluatedKey: attr.Item{{Name: "k", Value: attr.Number("1")}}},
			`{"LastEvaluatedKey":{"k":{"N":"1"}}}`,
		},
		{
			&api.PutItemOutput{ConsumedCapacity: &api.ConsumedCapacity{
				TableName: new("T"), CapacityUnits: new(1.0), Table: &api.Capacity{CapacityUnits: new(0.5)},
				GlobalSecondaryIndexes: map[string]api.Capacity{"b": {CapacityUnits: new(2.5)}, "a": {}},
			}},
			`{"ConsumedCapacity":{"TableName":"T","CapacityUnits":1.0,"Table":{"CapacityUnits":0.5},` +
				`"GlobalSecondaryIndexes":{"a":{},"b":{"CapacityUnits":2.5}}}}`,
		},
		{
			&api.BatchGetItemOutput{
				Responses: map[string][]itemenc.Item{"b": {}, "a": {item}}, UnprocessedKeys: map[string]api.KeysAndAttributes{},
			},
			`{"Responses":{"a":[{"k":{"S":"v"}}],"b":[]},"UnprocessedKeys":{}}`,
		},
		{&api.TransactGetItemsOutput{Responses: []api.ItemResponse{{}, {Item: item}}}, `{"Responses":[{},{"Item":{"k":{"S":"v"}}}]}`},
		{
			&api.DescribeTableOutput{Table: &api.TableDescription{
				CreationDateTime: new(api.Timestamp(1763660000.125)), DeletionProtectionEnabled: new(false), ItemCount: new(int64(3)),
			}},
			`{"Table":{"CreationDateTime":1763660000.125,"ItemCount":3,"DeletionProtectionEnabled":false}}`,
		},
	} {
		got, err := Append(nil, c.out)
		if err != nil || string(got) != c.want {
			t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
		}
	}
	if _, err := Append(nil, &api.GetItemOutput{Item: item[:len(item)-1]}); err == nil {
		t.Error("a corrupt item was written")
	}
}

func TestAppendError(t *testing.T) {
	item := itemenc.Encode(nil, attr.Item{{Name: "k", Value: attr.String("v")}})
	for _, c := range []struct {
		err  *apierr.Error
		want string
	}{
		{apierr.Validation(`x "y"`), `{"__type":"com.amazon.coral.validate#ValidationException","message":"x \"y\""}`},
		{apierr.Malformed(), `{"__type":"com.amazon.coral.service#SerializationException"}`},
		{
			apierr.ConditionalCheckFailed(&api.ConditionalCheckFailedDetails{Item: item}),
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",` +
				`"message":"The conditional request failed","Item":{"k":{"S":"v"}}}`,
		},
		{
			apierr.ConditionalCheckFailed(api.ConditionalCheckFailedDetails{}),
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed"}`,
		},
		{
			&apierr.Error{Code: apierr.TransactionCanceledException, Message: "m", Details: api.TransactionCanceledDetails{
				CancellationReasons: []api.CancellationReason{{Code: new("None")}, {Code: new("X"), Message: new("y"), Item: item}},
			}},
			`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"m",` +
				`"CancellationReasons":[{"Code":"None"},{"Item":{"k":{"S":"v"}},"Code":"X","Message":"y"}]}`,
		},
	} {
		if got := AppendError(nil, c.err); string(got) != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestAppendAllocations: a stored item is written without allocating.
func TestAppendAllocations(t *testing.T) {
	out := &api.GetItemOutput{Item: kilobyte()}
	dst := make([]byte, 0, 8<<10)
	n := testing.AllocsPerRun(100, func() {
		if _, err := Append(dst, out); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestWholeNumber(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "-1": -1, "34.9": 34, "1e3": 1000, "9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64,
	} {
		if n, ok := wholeNumber(text); !ok || n != want {
			t.Errorf("%s: %d, %v", text, n, ok)
		}
	}
	for _, text := range []string{"9223372036854775808", "1e30", "-1e30", "1e999"} {
		if n, ok := wholeNumber(text); ok {
			t.Errorf("%s: %d", text, n)
		}
	}
}

// kilobyte returns a stored item of about 1 KB.
func kilobyte() itemenc.Item {
	var in api.PutItemInput
	if err := Decode(putKilobyte(), &in); err != nil {
		panic(err)
	}
	return itemenc.Encode(nil, in.Item)
}

func putKilobyte() []byte {
	var b bytes.Buffer
	b.WriteString(`{"TableName":"bench","Item":{"PK":{"S":"USER#0000001"},"SK":{"S":"ORDER#0000001"},"GSI1PK":{"S":"STATUS#open"},`)
	b.WriteString(`"GSI1SK":{"S":"2026-11-20T12:00:00Z"},"n":{"N":"12345"},"ok":{"BOOL":true},"tags":{"SS":["a","b","c"]},`)
	b.WriteString(`"doc":{"M":{"a":{"N":"1"},"b":{"L":[{"S":"x"},{"S":"y"}]}}},"data":{"S":"`)
	b.WriteString(strings.Repeat("lorem ipsum ", 60))
	b.WriteString(`"}}}`)
	return b.Bytes()
}

// TestAppendText puts every byte of ASCII at every place of a word, beside text that needs no escape.
func TestAppendText(t *testing.T) {
	for c := range 128 {
		for at := range 20 {
			text := strings.Repeat("é", at/2) + strings.Repeat("x", at%2) + string(rune(c)) + "~~~~~~~~~ü"
			var back string
			if err := json.Unmarshal(appendText(nil, []byte(text)), &back); err != nil || back != text {
				t.Fatalf("%q is decoded as %q, %v", text, back, err)
			}
		}
	}
}

// TestDecodeInvalidUTF8: text that is no UTF-8 is refused wherever it stands.
func TestDecodeInvalidUTF8(t *testing.T) {
	for _, body := range []string{
		"{\"TableName\":\"\xff\"}", "{\"Item\":{\"\xc3\":{\"S\":\"x\"}}}", "{\"Item\":{\"a\":{\"S\":\"\xed\xa0\x80\"}}}", "{\"\xfe\":1}",
	} {
		if err := Decode([]byte(body), new(api.PutItemInput)); clientError(t, err).Error() != "SerializationException: " {
			t.Errorf("%q: %v", body, err)
		}
	}
}
