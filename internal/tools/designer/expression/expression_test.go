package expression_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/cockroachdb/datadriven"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/expression"
)

// shop is the design of the tests; samples and invariants are appended to it.
const shop = `design: 1
name: Shop
tables: { shop: { key: { pk: PK, sk: SK } } }
types:
  Address: { fields: { city: text, place: { type: text, at: where.place } } }
entities:
  User:
    key: { pk: "USER#{userId}", sk: PROFILE }
    fields: { userId: id, name: text, orders: int, limit: "int?", vip: bool, home: "Address?", tags: "list<text>?", notes: "map<int>?" }
  Order: { key: { pk: "ORDER#{orderId}", sk: ORDER }, fields: { orderId: id, userId: id, total: money, status: text } }
  Line:
    key: { pk: "ORDER#{orderId}", sk: "LINE#{productId}" }
    fields: { orderId: id, productId: id, quantity: int, home: "Address?" }
  Product: { key: { pk: "PRODUCT#{productId}", sk: PRODUCT }, fields: { productId: id, stock: int } }
`

// TestScripts runs testdata/invariants: samples and invariants, with the result of each invariant for the samples.
// With two documents, the first has the samples before the step that leads to those of the second.
func TestScripts(t *testing.T) {
	datadriven.RunTest(t, "testdata/invariants", func(t *testing.T, d *datadriven.TestData) string {
		t.Helper()
		before, after, stepped := strings.Cut(d.Input, "\nthen\n")
		var was *expression.State
		if stepped {
			was = state(parse(t, before))
		} else {
			after = before
		}
		parsed := parse(t, after)
		list, err := expression.Compile(parsed)
		if err != nil {
			return err.Error()
		}
		var out strings.Builder
		for _, i := range list {
			items, ok, err := i.Broken(was, state(parsed))
			switch {
			case err != nil:
				fmt.Fprintf(&out, "%s: %v\n", i.Name, err)
			case ok:
				fmt.Fprintf(&out, "%s: holds\n", i.Name)
			default:
				fmt.Fprintf(&out, "%s: does not hold%s\n", i.Name, words(" of", items))
				if counted := i.Counted(state(parsed), items); len(counted) > 0 {
					fmt.Fprintf(&out, "  %s\n", words("counted:", counted))
				}
			}
		}
		return out.String()
	})
}

func words(head string, items []*expression.Item) string {
	for _, it := range items {
		head += " " + it.Key
	}
	return head
}

func parse(t *testing.T, text string) *design.Design {
	t.Helper()
	d, err := design.Parse("x", []byte(shop+text+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// state is the state with the samples of a design.
func state(d *design.Design) *expression.State {
	var items []*expression.Item
	for _, s := range d.Samples {
		e := d.Entity(s.Entity)
		it := &expression.Item{Entity: e, Key: e.Name, Values: expression.Values{}}
		for _, f := range e.Fields {
			l, given := s.Values[f.Name]
			if !given {
				continue
			}
			it.Values[f.Name] = value(d, f.Type, l)
			for _, name := range append(e.Key.PK.Fields(), e.Key.SK.Fields()...) {
				if name == f.Name {
					it.Key += "-" + l.Text
				}
			}
		}
		items = append(items, it)
	}
	return expression.NewState(items)
}

func value(d *design.Design, t design.Type, l design.Literal) types.AttributeValue {
	switch {
	case t.Kind == design.KindList:
		var out []types.AttributeValue
		for _, elem := range l.List {
			out = append(out, value(d, *t.Elem, elem))
		}
		return &types.AttributeValueMemberL{Value: out}
	case t.Kind == design.KindMap:
		out := map[string]types.AttributeValue{}
		for name, elem := range l.Map {
			out[name] = value(d, *t.Elem, elem)
		}
		return &types.AttributeValueMemberM{Value: out}
	case t.Kind == design.KindStruct: // Address
		out := map[string]types.AttributeValue{}
		if city, given := l.Map["city"]; given {
			out["city"] = &types.AttributeValueMemberS{Value: city.Text}
		}
		if place, given := l.Map["place"]; given {
			out["where"] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"place": &types.AttributeValueMemberS{Value: place.Text}}}
		}
		return &types.AttributeValueMemberM{Value: out}
	case t.Numeric():
		return &types.AttributeValueMemberN{Value: l.Text}
	case t.Kind == design.KindBool:
		return &types.AttributeValueMemberBOOL{Value: l.Text == "true"}
	default:
		return &types.AttributeValueMemberS{Value: l.Text}
	}
}

// given is a scope of names and parameters.
type given map[string]types.AttributeValue

func (g given) Name(path string) (types.AttributeValue, error)  { return g[path], nil }
func (g given) Param(name string) (types.AttributeValue, error) { return g[":"+name], nil }
func (g given) Call(c *design.CallOperand) (types.AttributeValue, error) {
	return nil, fmt.Errorf("%s is missing", c.Function)
}

// TestEval tests the evaluation of values, including absent ones.
func TestEval(t *testing.T) {
	scope := given{
		"a.n": expression.Number(3), ":n": expression.Number(4), "a.s": &types.AttributeValueMemberS{Value: "x"}, "a.yes": expression.Bool(true),
		"a.big": &types.AttributeValueMemberN{Value: "9e125"},
	}
	for text, want := range map[string]string{
		"a.n + :n":              "7",
		"a.n - :n - 1":          "-2",
		"0.1 + 0.2":             "0.3",
		"a.n + a.none":          "absent",
		"a.s":                   "x",
		"'it''s'":               "it's",
		"a.n = 3.0":             "true",
		"a.n < :n AND a.yes":    "true",
		"a.s >= 'w'":            "true",
		"a.none = a.none":       "false",
		"a.none <> a.none":      "true",
		"a.none < 1":            "false",
		"NOT a.none":            "true",
		"a.none OR a.yes":       "true",
		"a.yes = (a.n = 3)":     "true",
		"a.yes <> true":         "false",
		"a.yes = (a.n > 3)":     "false",
		"a.n = 3 OR count(a)":   "true", // the right operand is not evaluated
		"a.n = 4 AND exists(a)": "false",
		"a.n = 3 AND exists(a)": `"a.n = 3 AND exists(a)": exists is missing`,
		"a.big + 1 - a.big":     `"a.big + 1 - a.big": `,
	} {
		e, err := design.ParseExpression(text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := expression.Eval(e, scope)
		got := "absent"
		switch v := v.(type) {
		case *types.AttributeValueMemberN:
			got = v.Value
		case *types.AttributeValueMemberS:
			got = v.Value
		case *types.AttributeValueMemberBOOL:
			got = fmt.Sprint(v.Value)
		}
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.HasPrefix(got, want)) {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// TestBind tests conditions on fields and nested fields, with parameters.
func TestBind(t *testing.T) {
	d := parse(t, "samples: { User: [{ userId: u, orders: 3, vip: true, home: { city: Lima, place: Centro }, tags: [a, b], notes: { x: 1 } }] }")
	user := d.Entity("User")
	it := state(d).Of(user)[0].Values
	for text, want := range map[string]bool{
		"orders = 3":                              true,
		"orders = :n":                             true,
		"orders > :n":                             false,
		"attribute_exists(limit)":                 false,
		"limit = 3 OR vip = true":                 true,
		"home.city = 'Lima'":                      true,
		"home.place = 'Centro'":                   true,
		"home.place = 'Sur' OR home.city = 'Rio'": false,
		"tags[1] = 'b' AND size(tags) = 2":        true,
		"notes.x = 1":                             true,
		"NOT begins_with(userId, 'u')":            false,
		"orders BETWEEN 1 AND 3":                  true,
		"userId IN ('a', 'u')":                    true,
	} {
		c, err := design.ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := expression.Bind(d, user, c, func(string) (types.AttributeValue, error) { return expression.Number(3), nil })
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := bound.Holds(it); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	c, _ := design.ParseCondition("orders = :n")
	if _, err := expression.Bind(d, user, c, func(string) (types.AttributeValue, error) { return nil, nil }); err == nil {
		t.Error("a param that is absent is taken")
	}
	if bound, err := expression.Bind(d, user, nil, nil); bound != nil || err != nil {
		t.Errorf("no condition is %v, %v", bound, err)
	}
}
