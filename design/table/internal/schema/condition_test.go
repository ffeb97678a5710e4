package schema_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	. "github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
	"github.com/monotable/monotable/monotabletest"
)

// conditionCases are conditions over one item, each with what AWS's page "Condition and filter expressions, operators, and
// functions" says of it.
func conditionCases() (Item, []conditionCase) {
	it := Item{
		"PK": AText("p"), "status": AText("open"), "total": ANumber("100"), "tags": AList(AText("a"), AText("b")), "marks": ATextSet("x", "y"),
		"address": AMap(Item{"city": AText("Lima"), "zip": ANumber("15")}), "deleted": ABool(false), "data": ABinary("abc"), "nothing": ANull(),
	}
	return it, []conditionCase{
		{"#a = :x", "status", Item{":x": AText("open")}, true},
		{"#a = :x", "total", Item{":x": ANumber("1E2")}, true}, // by value
		{"#a = :x", "total", Item{":x": AText("100")}, false},  // of another type
		{"#a <> :x", "absent", Item{":x": AText("open")}, true},
		{"#a <> :x", "status", Item{":x": AText("open")}, false},
		{"#a < :x", "absent", Item{":x": ANumber("1")}, false},
		{"#a < :x", "total", Item{":x": ANumber("100.1")}, true},
		{"#a >= :x", "total", Item{":x": ANumber("101")}, false},
		{"#a BETWEEN :x AND :y", "total", Item{":x": ANumber("100"), ":y": ANumber("100")}, true}, // inclusively
		{"#a BETWEEN :x AND :y", "total", Item{":x": ANumber("99"), ":y": ANumber("99.9")}, false},
		{"#a IN (:x, :y)", "status", Item{":x": AText("sent"), ":y": AText("open")}, true},
		{"NOT #a IN (:x)", "status", Item{":x": AText("open")}, false},
		{"attribute_exists(#a)", "nothing", nil, true},
		{"attribute_exists(#a)", "absent", nil, false},
		{"attribute_not_exists(#a)", "absent", nil, true},
		{"attribute_type(#a, :x)", "marks", Item{":x": AText("SS")}, true},
		{"begins_with(#a, :x)", "status", Item{":x": AText("op")}, true},
		{"begins_with(#a, :x)", "total", Item{":x": AText("1")}, false},
		{"contains(#a, :x)", "status", Item{":x": AText("pe")}, true},
		{"contains(#a, :x)", "tags", Item{":x": AText("b")}, true},
		{"contains(#a, :x)", "marks", Item{":x": AText("z")}, false},
		{"size(#a) = :x", "address", Item{":x": ANumber("2")}, true},
		{"size(#a) > :x", "data", Item{":x": ANumber("3")}, false},
		{"#address.#address_city = :x AND #address.#address_zip > :y", "", Item{":x": AText("Lima"), ":y": ANumber("14")}, true},
		{"#tags[1] = :x", "", Item{":x": AText("b")}, true},
		{"#tags[2] = :x", "", Item{":x": AText("b")}, false},
		{"#a = :x OR #tags[0] = :y AND NOT #a = :y", "status", Item{":x": AText("open"), ":y": AText("z")}, true}, // AND binds closer
		{"(#a = :x OR #tags[0] = :y) AND NOT #a = :x", "status", Item{":x": AText("open"), ":y": AText("a")}, false},
		{"#a = :x", "deleted", Item{":x": ABool(false)}, true},
		{"#a = :x", "address", Item{":x": AMap(Item{"zip": ANumber("15.0"), "city": AText("Lima")})}, true},
	}
}

type conditionCase struct {
	expression string
	a          string // the attribute of #a
	values     Item
	want       bool
}

// condition has the case's values as constants, or as parameters of any type, of which :y is the line's.
func (c conditionCase) condition(params bool) (*Condition, Inputs) {
	out := &Condition{
		Expression: c.expression, Constants: c.values,
		Names: map[string]string{"#address": "address", "#address_city": "city", "#address_zip": "zip", "#tags": "tags"},
	}
	if c.a != "" {
		out.Names["#a"] = c.a
	}
	if !params {
		return out, Inputs{}
	}
	out.Constants = nil
	in := Inputs{Values: Values{}, Line: Values{}}
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

// TestConditions tests that conditions are evaluated as AWS documents, and that DynamoDB evaluates them in the same way in
// a request.
func TestConditions(t *testing.T) {
	it, cases := conditionCases()
	client := monotabletest.New(t).Client()
	table := &Table{Physical: "conditions", PK: Attribute{Name: "PK", Type: types.ScalarAttributeTypeS}}
	MakeTable(t, client, table)
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table.Physical, Item: it}); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		for _, params := range []bool{false, true} {
			condition, in := c.condition(params)
			holds, err := condition.Holds(it, in)
			if holds != c.want || err != nil {
				t.Errorf("%s of %s, %v: holds %v, %v; want %v", c.expression, c.a, Attributes(c.values), holds, err, c.want)
			}
			// The request's own references include those of the condition, and the ones that would be used next.
			names, values := map[string]string{"#a": "touched", "#c1": "also"}, Item{":x": ANumber("1"), ":c2": ANumber("2")}
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
				t.Errorf("%s of %s, in a request %s with %v and %v: %v; want that it holds: %v", c.expression, c.a, expression, names, Attributes(values), err, c.want)
			}
		}
	}
}

// TestTwoConditions tests that conditions in one request have separate values, and share names.
func TestTwoConditions(t *testing.T) {
	open := &Condition{
		Expression: "#s = :p0 OR #s = :p0", Names: map[string]string{"#s": "status", "#unused": "unused"},
		Constants: Item{":p0": AText("open"), ":p1": AText("unused")},
	}
	sent := &Condition{Expression: "#s = :p0", Names: map[string]string{"#s": "status"}, Constants: Item{":p0": AText("sent")}}
	names, values := map[string]string{}, Item{}
	first, err := open.Bind(Inputs{}, names, values)
	if err != nil {
		t.Fatal(err)
	}
	second, err := sent.Bind(Inputs{}, names, values)
	if err != nil {
		t.Fatal(err)
	}
	if first != "#c0 = :c0 OR #c0 = :c0" || second != "#c0 = :c1" {
		t.Errorf("the conditions are %q and %q", first, second)
	}
	if want := map[string]string{"#c0": "status"}; !maps.Equal(names, want) {
		t.Errorf("the names are %v; want %v", names, want)
	}
	if want := (Item{":c0": AText("open"), ":c1": AText("sent")}); !SameItem(values, want) {
		t.Errorf("the values are %v; want %v", Attributes(values), Attributes(want))
	}
}

// TestConditionInputs tests that inputs are checked by type, and that now is the time of the call by default.
func TestConditionInputs(t *testing.T) {
	now := time.Date(2024, 1, 15, 10, 0, 0, 123456789, time.UTC)
	param := func(name string, kind Kind) *Condition {
		return &Condition{
			Expression: "#v = :v", Names: map[string]string{"#v": "v"},
			Params: []ConditionParam{{Placeholder: ":w", Input: "w"}, {Placeholder: ":v", Input: name, Type: Type{Kind: kind}}},
		}
	}
	given, line := Values{"now": AText("2000-01-01T00:00:00.000Z"), "id": AText("a"), "nil": nil}, Values{"id": AText("b")}
	for name, c := range map[string]struct {
		of            *Condition
		in            Inputs
		v             types.AttributeValue
		field, reason string
	}{
		"an input":       {param("id", KindID), Inputs{Values: given, Line: line}, AText("a"), "", ""},
		"of the line":    {param("line.id", KindID), Inputs{Values: given, Line: line}, AText("b"), "", ""},
		"not given":      {param("id", KindID), Inputs{}, nil, "id", "is missing"},
		"nothing":        {param("nil", KindID), Inputs{Values: given}, nil, "nil", "is missing"},
		"none of a line": {param("line.id", KindID), Inputs{Values: given}, nil, "line.id", "is missing"},
		"of no type":     {param("id", KindInt), Inputs{Values: given}, nil, "id", "not a whole number"},
		"a time":         {param("now", KindTime), Inputs{Now: now}, AText("2024-01-15T10:00:00.123Z"), "", ""},
		"seconds":        {param("now", KindTTL), Inputs{Now: now}, ANumber("1705312800"), "", ""},
		"a date":         {param("now", KindDate), Inputs{Now: now}, AText("2024-01-15"), "", ""},
		"another's now":  {param("now", KindTime), Inputs{Values: given, Now: now}, AText("2000-01-01T00:00:00.000Z"), "", ""},
		"no time":        {param("now", KindTime), Inputs{}, nil, "now", "is missing"},
		"a time of bool": {param("now", KindBool), Inputs{Now: now}, nil, "now", "is missing"},
	} {
		values := Item{}
		_, err := c.of.Bind(c.in, map[string]string{}, values)
		WantValueError(t, err, c.field, c.reason, name)
		if c.v != nil && !SameItem(values, Item{":c0": c.v}) {
			t.Errorf("%s: the values are %v; want %s", name, Attributes(values), Printed(c.v))
		}
		holds, err := c.of.Holds(Item{"v": c.v}, c.in)
		WantValueError(t, err, c.field, c.reason, name)
		if holds != (c.field == "") {
			t.Errorf("%s: holds %v of the value itself", name, holds)
		}
	}
}

// TestConditionFaults tests that an invalid descriptor is an error rather than a false condition.
func TestConditionFaults(t *testing.T) {
	for expression, want := range map[string]string{
		"#b = :v": "#b", "#v = :w": ":w", "#v = ": "#v = ", "begins_with(#v, :v)": "begins_with",
	} {
		c := &Condition{Expression: expression, Names: map[string]string{"#v": "v"}, Constants: Item{":v": ANumber("1")}}
		if holds, err := c.Holds(Item{"v": ANumber("1")}, Inputs{}); holds || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q holds %v, %v; want an error with %q", expression, holds, err, want)
		}
	}
	if _, err := (&Condition{Expression: "#b = :v"}).Bind(Inputs{}, map[string]string{}, Item{}); err == nil {
		t.Error("a condition is bound without its alias")
	}
}

func TestConditionsOnMissingItem(t *testing.T) {
	absent := &Condition{Expression: "attribute_not_exists(#a)", Names: map[string]string{"#a": "a"}}
	if holds, err := absent.Holds(nil, Inputs{}); !holds || err != nil {
		t.Errorf("attribute_exists holds without an item: %v, %v", holds, err)
	}
	var none *Condition
	if holds, err := none.Holds(nil, Inputs{}); !holds || err != nil {
		t.Errorf("an empty condition does not hold: %v, %v", holds, err)
	}
	if text, err := none.Bind(Inputs{}, nil, nil); text != "" || err != nil {
		t.Errorf("the text of an empty condition is %q, %v", text, err)
	}
}
