package eval_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// Each script is a conversation about one item:
//
//	item                 sets it, as DynamoDB JSON without the outer types' names left out; "none" for none
//	eval [filter]        a condition over it
//	key                  the clauses of a key condition
//	project              a projection of it
//	apply                an update of it, which then is the item; with the parts that the update touches
//	expected, filter, key-conditions, updates, attributes-to-get
//	                     the same for legacy parameters, as JSON
//
// Lines after an expression that start with # or : are the request's names and values.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Helper()
		if strings.Contains(path, "fuzz") {
			return
		}
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			out, err := s.run(t, d)
			if err != nil {
				//nolint:errorlint // the package promises the type itself
				if _, ok := err.(*expr.Error); !ok {
					t.Fatalf("%s: error of type %T: %v", d.Pos, err, err)
				}
				return err.Error() + "\n"
			}
			return out + "\n"
		})
	})
}

type script struct{ item attr.Item }

func (s *script) run(t *testing.T, d *datadriven.TestData) (string, error) {
	t.Helper()
	switch d.Cmd {
	case "item":
		s.item = nil
		if d.Input != "none" {
			s.item = parseItem(t, d.Input)
		}
		return "ok", nil
	case "eval", "key", "project", "apply":
		return s.expression(t, d)
	default:
		return s.legacy(t, d)
	}
}

// expression runs a directive whose input is a text with names and values.
func (s *script) expression(t *testing.T, d *datadriven.TestData) (string, error) {
	t.Helper()
	text, names, values := parseRequest(t, d.Input)
	b, err := eval.NewBinder(names, values)
	if err != nil {
		return "", err
	}
	var response func() (string, error)
	switch d.Cmd {
	case "eval":
		surface := expr.Condition
		if d.HasArg("filter") {
			surface = expr.Filter
		}
		c, err := b.Condition(surface, text)
		if err != nil {
			return "", err
		}
		response = func() (string, error) { return s.holds(c) }
	case "key":
		clauses, err := b.KeyCondition(text)
		if err != nil {
			return "", err
		}
		response = func() (string, error) { return showClauses(clauses), nil }
	case "project":
		p, err := b.Projection(text)
		if err != nil {
			return "", err
		}
		response = func() (string, error) { return s.project(p), nil }
	default:
		u, err := b.Update(text)
		if err != nil {
			return "", err
		}
		response = func() (string, error) { return s.apply(u) }
	}
	if err := b.Done(); err != nil {
		return "", err
	}
	return response()
}

func (s *script) holds(c *eval.Condition) (string, error) {
	ok, err := c.Eval(s.item)
	return fmt.Sprintf("%v, reading %v", ok, c.Attributes()), err
}

func (s *script) project(p *eval.Projection) string {
	names, ok := p.Names()
	how := fmt.Sprintf("names %v", names)
	if !ok {
		how = fmt.Sprintf("paths in %v", p.Attributes())
	}
	return how + "\n" + showItem(p.Apply(s.item))
}

func (s *script) apply(u *eval.Update) (string, error) {
	before := showItem(s.item)
	updated, err := u.Apply(s.item)
	if after := showItem(s.item); after != before {
		return fmt.Sprintf("the old item changed: %s became %s", before, after), nil
	}
	if err != nil {
		return "", err
	}
	out := fmt.Sprintf("%v -> %s\nold %s\nnew %s", u.Targets(), showItem(updated),
		showItem(u.Touched(s.item)), showItem(u.Touched(updated)))
	s.item = updated
	return out, nil
}

func (s *script) legacy(t *testing.T, d *datadriven.TestData) (string, error) {
	t.Helper()
	var operator *string
	if d.HasArg("operator") {
		operator = new(string)
		d.ScanArgs(t, "operator", operator)
	}
	switch d.Cmd {
	case "expected":
		in := map[string]api.ExpectedAttributeValue{}
		for name, raw := range parseMap(t, d.Input) {
			in[name] = parseExpected(t, raw)
		}
		if d.Input == "null" {
			in = nil
		}
		c, err := eval.LowerExpected(in, operator)
		if err != nil {
			return "", err
		}
		return s.holds(c)
	case "filter":
		c, err := eval.LowerFilter("ScanFilter", parseConditions(t, d.Input), operator)
		if err != nil {
			return "", err
		}
		return s.holds(c)
	case "key-conditions":
		clauses, err := eval.LowerKeyConditions(parseConditions(t, d.Input))
		return showClauses(clauses), err
	case "updates":
		in := map[string]api.AttributeValueUpdate{}
		for name, raw := range parseMap(t, d.Input) {
			e := parseExpected(t, raw)
			in[name] = api.AttributeValueUpdate{Value: e.Value, Action: e.ComparisonOperator}
		}
		u, err := eval.LowerUpdates(in)
		if err != nil {
			return "", err
		}
		return s.apply(u)
	case "attributes-to-get":
		p, err := eval.LowerAttributesToGet(strings.Split(d.Input, "\n"))
		if err != nil {
			return "", err
		}
		return s.project(p), nil
	default:
		d.Fatalf(t, "no such directive")
		return "", nil
	}
}

func showItem(it attr.Item) string {
	if it == nil {
		return "nothing"
	}
	return it.String()
}

func showClauses(clauses []eval.KeyPredicate) string {
	operators := []string{"=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"}
	lines := make([]string, len(clauses))
	for i, c := range clauses {
		lines[i] = fmt.Sprintf("%s %s %v", c.Name, operators[c.Op], c.Values)
	}
	return strings.Join(lines, "\n")
}

// parseRequest splits the input of a directive into the expression and what is beside it.
func parseRequest(t *testing.T, input string) (text string, names map[string]string, values attr.Item) {
	t.Helper()
	lines := strings.Split(input, "\n")
	for i, line := range slices.Backward(lines) {
		key, content, ok := strings.Cut(line, "=")
		switch {
		case i == 0 || !ok || strings.ContainsAny(key, " ("):
			return strings.Join(lines[:i+1], "\n"), names, values
		case key[0] == ':':
			values = values.With(key, parseValue(t, json.RawMessage(content)))
		default:
			if names == nil {
				names = map[string]string{}
			}
			names[key] = content
		}
	}
	return "", names, values
}

func parseConditions(t *testing.T, input string) map[string]api.Condition {
	t.Helper()
	if input == "null" {
		return nil
	}
	out := map[string]api.Condition{}
	for name, raw := range parseMap(t, input) {
		e := parseExpected(t, raw)
		out[name] = api.Condition{AttributeValueList: e.AttributeValueList, ComparisonOperator: e.ComparisonOperator}
	}
	return out
}

// parseExpected reads the members that legacy parameters have between them.
func parseExpected(t *testing.T, raw json.RawMessage) api.ExpectedAttributeValue {
	t.Helper()
	var in struct {
		Value              json.RawMessage
		Exists             *bool
		ComparisonOperator *string
		Action             *string
		AttributeValueList *[]json.RawMessage
	}
	unmarshal(t, raw, &in)
	out := api.ExpectedAttributeValue{Exists: in.Exists, ComparisonOperator: in.ComparisonOperator}
	if in.Action != nil {
		out.ComparisonOperator = in.Action
	}
	if in.Value != nil {
		v := parseValue(t, in.Value)
		out.Value = &v
	}
	if in.AttributeValueList != nil {
		out.AttributeValueList = []attr.Value{}
		for _, raw := range *in.AttributeValueList {
			out.AttributeValueList = append(out.AttributeValueList, parseValue(t, raw))
		}
	}
	return out
}

func unmarshal(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

func parseMap(t *testing.T, text string) map[string]json.RawMessage {
	t.Helper()
	var out map[string]json.RawMessage
	unmarshal(t, []byte(text), &out)
	return out
}

func parseItem(t *testing.T, text string) attr.Item {
	t.Helper()
	it := attr.Item{}
	for name, raw := range parseMap(t, text) {
		it = it.With(name, parseValue(t, raw))
	}
	return it
}

func parseValue(t *testing.T, raw json.RawMessage) attr.Value {
	t.Helper()
	in := parseMap(t, string(raw))
	for name, content := range in {
		switch kind := attr.KindOf(name); kind {
		case attr.KindMap:
			return attr.Map(parseItem(t, string(content)))
		case attr.KindList:
			var elems []json.RawMessage
			unmarshal(t, content, &elems)
			out := make([]attr.Value, len(elems))
			for i, e := range elems {
				out[i] = parseValue(t, e)
			}
			return attr.List(out)
		case attr.KindBool:
			return attr.Bool(string(content) == "true")
		case attr.KindNull:
			return attr.Null()
		case attr.KindStringSet, attr.KindNumberSet, attr.KindBinarySet:
			var texts []string
			unmarshal(t, content, &texts)
			members := make([]attr.Value, len(texts))
			for i, text := range texts {
				members[i] = parseScalar(t, kind.Member(), text)
			}
			return attr.NewSet(kind, members)
		case attr.KindString, attr.KindNumber, attr.KindBinary:
			var text string
			unmarshal(t, content, &text)
			return parseScalar(t, kind, text)
		default:
		}
	}
	return attr.Faulty(attr.Fault{Code: attr.FaultNoType})
}

func parseScalar(t *testing.T, kind attr.Kind, text string) attr.Value {
	t.Helper()
	switch kind {
	case attr.KindNumber:
		return attr.ParseNumber(text)
	case attr.KindBinary:
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return attr.Binary(string(raw))
	default:
		return attr.String(text)
	}
}
