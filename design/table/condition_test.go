package table

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/monotabletest"
)

// conditionCases are conditions over one item, each with what AWS's page "Condition and filter expressions, operators, and
// functions" says of it.
func conditionCases() (Item, []conditionCase) {
	it := Item{
		"PK": aText("p"), "status": aText("open"), "total": aNumber("100"), "tags": aList(aText("a"), aText("b")), "marks": aTextSet("x", "y"),
		"address": aMap(Item{"city": aText("Lima"), "zip": aNumber("15")}), "deleted": aBool(false), "data": aBinary("abc"), "nothing": aNull(),
	}
	return it, []conditionCase{
		{"#a = :x", "status", Item{":x": aText("open")}, true},
		{"#a = :x", "total", Item{":x": aNumber("1E2")}, true}, // by value
		{"#a = :x", "total", Item{":x": aText("100")}, false},  // of another type
		{"#a <> :x", "absent", Item{":x": aText("open")}, true},
		{"#a <> :x", "status", Item{":x": aText("open")}, false},
		{"#a < :x", "absent", Item{":x": aNumber("1")}, false},
		{"#a < :x", "total", Item{":x": aNumber("100.1")}, true},
		{"#a >= :x", "total", Item{":x": aNumber("101")}, false},
		{"#a BETWEEN :x AND :y", "total", Item{":x": aNumber("100"), ":y": aNumber("100")}, true}, // inclusively
		{"#a BETWEEN :x AND :y", "total", Item{":x": aNumber("99"), ":y": aNumber("99.9")}, false},
		{"#a IN (:x, :y)", "status", Item{":x": aText("sent"), ":y": aText("open")}, true},
		{"NOT #a IN (:x)", "status", Item{":x": aText("open")}, false},
		{"attribute_exists(#a)", "nothing", nil, true},
		{"attribute_exists(#a)", "absent", nil, false},
		{"attribute_not_exists(#a)", "absent", nil, true},
		{"attribute_type(#a, :x)", "marks", Item{":x": aText("SS")}, true},
		{"begins_with(#a, :x)", "status", Item{":x": aText("op")}, true},
		{"begins_with(#a, :x)", "total", Item{":x": aText("1")}, false},
		{"contains(#a, :x)", "status", Item{":x": aText("pe")}, true},
		{"contains(#a, :x)", "tags", Item{":x": aText("b")}, true},
		{"contains(#a, :x)", "marks", Item{":x": aText("z")}, false},
		{"size(#a) = :x", "address", Item{":x": aNumber("2")}, true},
		{"size(#a) > :x", "data", Item{":x": aNumber("3")}, false},
		{"#address.#address_city = :x AND #address.#address_zip > :y", "", Item{":x": aText("Lima"), ":y": aNumber("14")}, true},
		{"#tags[1] = :x", "", Item{":x": aText("b")}, true},
		{"#tags[2] = :x", "", Item{":x": aText("b")}, false},
		{"#a = :x OR #tags[0] = :y AND NOT #a = :y", "status", Item{":x": aText("open"), ":y": aText("z")}, true}, // AND binds closer
		{"(#a = :x OR #tags[0] = :y) AND NOT #a = :x", "status", Item{":x": aText("open"), ":y": aText("a")}, false},
		{"#a = :x", "deleted", Item{":x": aBool(false)}, true},
		{"#a = :x", "address", Item{":x": aMap(Item{"zip": aNumber("15.0"), "city": aText("Lima")})}, true},
	}
}

type conditionCase struct {
	expression string
	a          string // what #a stands for
	values     Item
	want       bool
}

// condition has the case's values as constants, or as params of any type, of which :y is the line's.
func (c conditionCase) condition(params bool) (*Condition, schema.Inputs) {
	out := &Condition{
		Expression: c.expression, Constants: c.values,
		Names: map[string]string{"#address": "address", "#address_city": "city", "#address_zip": "zip", "#tags": "tags"},
	}
	if c.a != "" {
		out.Names["#a"] = c.a
	}
	if !params {
		return out, schema.Inputs{}
	}
	out.Constants = nil
	in := schema.Inputs{Values: Values{}, Line: Values{}}
	for placeholder, v := range c.values {
		p := ConditionParam{Placeholder: placeholder, Input: "given"}
		if placeholder == ":y" {
			p.Input = "line.given"
			in.Line["given"] = v
		} else {
			in.Values["given"] = v
		}
		out.Params = append(out.Params, p)
	}
	return out, in
}

// TestConditions: a condition is evaluated as AWS says, and DynamoDB evaluates it so in a request that it is bound to.
func TestConditions(t *testing.T) {
	it, cases := conditionCases()
	client := monotabletest.New(t).Client()
	table := &Table{Physical: "conditions", PK: Attribute{Name: "PK", Type: types.ScalarAttributeTypeS}}
	makeTable(t, client, table)
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table.Physical, Item: it}); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		for _, params := range []bool{false, true} {
			condition, in := c.condition(params)
			holds, err := condition.Holds(it, in)
			if holds != c.want || err != nil {
				t.Errorf("%s of %s, %v: holds %v, %v; want %v", c.expression, c.a, schema.Attributes(c.values), holds, err, c.want)
			}
			// The request's own references are those of the condition, and those that would be the next.
			names, values := map[string]string{"#a": "touched", "#c1": "also"}, Item{":x": aNumber("1"), ":c2": aNumber("2")}
			expression, err := condition.Bind(in, names, values)
			if err != nil {
				t.Errorf("%s of %s: %v", c.expression, c.a, err)
				continue
			}
			_, err = client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: &table.Physical, Key: Item{"PK": it["PK"]}, UpdateExpression: aws.String("SET #a = :x, #c1 = :c2"),
				ConditionExpression: &expression, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			})
			_, refused := errors.AsType[*types.ConditionalCheckFailedException](err)
			if err != nil && !refused || refused == c.want {
				t.Errorf("%s of %s, in a request %s with %v and %v: %v; want that it holds: %v", c.expression, c.a, expression, names, schema.Attributes(values), err, c.want)
			}
		}
	}
}

// TestTwoConditions: conditions that are bound to one request keep their own values, and share names.
func TestTwoConditions(t *testing.T) {
	open := &Condition{
		Expression: "#s = :p0 OR #s = :p0", Names: map[string]string{"#s": "status", "#unused": "unused"},
		Constants: Item{":p0": aText("open"), ":p1": aText("unused")},
	}
	sent := &Condition{Expression: "#s = :p0", Names: map[string]string{"#s": "status"}, Constants: Item{":p0": aText("sent")}}
	names, values := map[string]string{}, Item{}
	first, err := open.Bind(schema.Inputs{}, names, values)
	if err != nil {
		t.Fatal(err)
	}
	second, err := sent.Bind(schema.Inputs{}, names, values)
	if err != nil {
		t.Fatal(err)
	}
	if first != "#c0 = :c0 OR #c0 = :c0" || second != "#c0 = :c1" {
		t.Errorf("the conditions are %q and %q", first, second)
	}
	if want := map[string]string{"#c0": "status"}; !maps.Equal(names, want) {
		t.Errorf("the names are %v; want %v", names, want)
	}
	if want := (Item{":c0": aText("open"), ":c1": aText("sent")}); !sameItem(values, want) {
		t.Errorf("the values are %v; want %v", schema.Attributes(values), schema.Attributes(want))
	}
}

// TestConditionInputs: inputs are of their types, and now is the time of the call if nothing else is given.
func TestConditionInputs(t *testing.T) {
	now := time.Date(2024, 1, 15, 10, 0, 0, 123456789, time.UTC)
	param := func(name string, kind Kind) *Condition {
		return &Condition{
			Expression: "#v = :v", Names: map[string]string{"#v": "v"},
			Params: []ConditionParam{{Placeholder: ":w", Input: "w"}, {Placeholder: ":v", Input: name, Type: Type{Kind: kind}}},
		}
	}
	given, line := Values{"now": aText("2000-01-01T00:00:00.000Z"), "id": aText("a"), "nil": nil}, Values{"id": aText("b")}
	for name, c := range map[string]struct {
		of            *Condition
		in            schema.Inputs
		v             types.AttributeValue
		field, reason string
	}{
		"an input":       {param("id", schema.KindID), schema.Inputs{Values: given, Line: line}, aText("a"), "", ""},
		"of the line":    {param("line.id", schema.KindID), schema.Inputs{Values: given, Line: line}, aText("b"), "", ""},
		"not given":      {param("id", schema.KindID), schema.Inputs{}, nil, "id", "is missing"},
		"nothing":        {param("nil", schema.KindID), schema.Inputs{Values: given}, nil, "nil", "is missing"},
		"none of a line": {param("line.id", schema.KindID), schema.Inputs{Values: given}, nil, "line.id", "is missing"},
		"of no type":     {param("id", schema.KindInt), schema.Inputs{Values: given}, nil, "id", "not a whole number"},
		"a time":         {param("now", schema.KindTime), schema.Inputs{Now: now}, aText("2024-01-15T10:00:00.123Z"), "", ""},
		"seconds":        {param("now", schema.KindTTL), schema.Inputs{Now: now}, aNumber("1705312800"), "", ""},
		"a date":         {param("now", schema.KindDate), schema.Inputs{Now: now}, aText("2024-01-15"), "", ""},
		"another's now":  {param("now", schema.KindTime), schema.Inputs{Values: given, Now: now}, aText("2000-01-01T00:00:00.000Z"), "", ""},
		"no time":        {param("now", schema.KindTime), schema.Inputs{}, nil, "now", "is missing"},
		"a time of bool": {param("now", schema.KindBool), schema.Inputs{Now: now}, nil, "now", "is missing"},
	} {
		values := Item{}
		_, err := c.of.Bind(c.in, map[string]string{}, values)
		wantValueError(t, err, c.field, c.reason, name)
		if c.v != nil && !sameItem(values, Item{":c0": c.v}) {
			t.Errorf("%s: the values are %v; want %s", name, schema.Attributes(values), printed(c.v))
		}
		holds, err := c.of.Holds(Item{"v": c.v}, c.in)
		wantValueError(t, err, c.field, c.reason, name)
		if holds != (c.field == "") {
			t.Errorf("%s: holds %v of the value itself", name, holds)
		}
	}
}

// TestConditionFaults: a descriptor that is wrong is an error, not a condition that does not hold.
func TestConditionFaults(t *testing.T) {
	for expression, want := range map[string]string{
		"#b = :v": "#b", "#v = :w": ":w", "#v = ": "#v = ", "begins_with(#v, :v)": "begins_with",
	} {
		c := &Condition{Expression: expression, Names: map[string]string{"#v": "v"}, Constants: Item{":v": aNumber("1")}}
		if holds, err := c.Holds(Item{"v": aNumber("1")}, schema.Inputs{}); holds || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q holds %v, %v; want an error with %q", expression, holds, err, want)
		}
	}
	if _, err := (&Condition{Expression: "#b = :v"}).Bind(schema.Inputs{}, map[string]string{}, Item{}); err == nil {
		t.Error("a condition is bound without its alias")
	}
}

func TestHoldsOfNoItem(t *testing.T) {
	absent := &Condition{Expression: "attribute_not_exists(#a)", Names: map[string]string{"#a": "a"}}
	if holds, err := absent.Holds(nil, schema.Inputs{}); !holds || err != nil {
		t.Errorf("nothing exists of no item, but %v, %v", holds, err)
	}
	var none *Condition
	if holds, err := none.Holds(nil, schema.Inputs{}); !holds || err != nil {
		t.Errorf("no condition always holds, but %v, %v", holds, err)
	}
	if text, err := none.Bind(schema.Inputs{}, nil, nil); text != "" || err != nil {
		t.Errorf("no condition has no text, but %q, %v", text, err)
	}
}

// makeTable makes a table.
func makeTable(t *testing.T, client *dynamodb.Client, table *Table) {
	t.Helper()
	in := &dynamodb.CreateTableInput{TableName: &table.Physical, BillingMode: types.BillingModePayPerRequest}
	for i, a := range []Attribute{table.PK, table.SK} {
		if a.Name != "" {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(a.Name), AttributeType: a.Type})
			in.KeySchema = append(in.KeySchema, types.KeySchemaElement{AttributeName: aws.String(a.Name), KeyType: []types.KeyType{"HASH", "RANGE"}[i]})
		}
	}
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}
