package design_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/monotable/monotable/design"
)

// rest is the design that completes the scripts' fragments: sections missing in a fragment are appended from here.
var rest = map[string]string{
	"design": "design: 1\n",
	"name":   "name: Shop\n",
	"tables": `tables:
  Shop:
    key: { pk: PK, sk: SK }
    type_attr: type
    ttl_attr: expiresAt
    indexes:
      GSI1: { pk: GSI1PK, sk: GSI1SK }
`,
	"types": "types: { Status: { enum: [open, closed] }, Address: { fields: { city: text, zip: text? } } }\n",
	"entities": `entities:
  User:
    key: { pk: "USER#{userId}", sk: PROFILE }
    fields: { userId: id, email: email, address: Address, orders: int, createdAt: time }
  Order:
    key: { pk: "USER#{userId}", sk: "ORDER#{orderId}" }
    fields: { userId: id, orderId: ulid, status: Status, total: money, tags: list<text>, expiresAt: ttl? }
  Line:
    key: { pk: "ORDER#{orderId}", sk: "LINE#{productId}" }
    fields: { orderId: ulid, productId: id, quantity: int, price: money }
  Request:
    key: { pk: "USER#{userId}", sk: "REQUEST#{requestKey}" }
    fields: { userId: id, requestKey: id, request: text }
`,
}

// complete adds the missing sections of a fragment.
func complete(fragment string) string {
	text := fragment
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for _, section := range []string{"design", "name", "tables", "types", "entities"} {
		if !strings.HasPrefix(fragment, section+":") && !strings.Contains(fragment, "\n"+section+":") {
			text += rest[section]
		}
	}
	return text
}

// TestScripts runs testdata/script. Directives:
//
//	parse      a whole design, to "ok" or its errors with the lines they are in; with show=PATH, to that part of its
//	           JSON form; brief leaves the lines out
//	fragment   the same of a design whose other sections are those above
//	markdown   the same of a document
//	json       the same of the interchange form
//	draft      a design of testdata/drafts, to its JSON form
//	template   a template, to its parts
//	condition  a condition, to DynamoDB's form
//	value      a value, to its terms
//	expression an expression, to its operands with parentheses around each
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		t.Helper()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			switch d.Cmd {
			case "parse":
				return outcome(d, design.Parse, d.Input)
			case "fragment":
				return outcome(d, design.Parse, complete(d.Input))
			case "markdown":
				return outcome(d, design.ParseMarkdown, d.Input)
			case "json":
				return outcome(d, design.ParseJSON, d.Input)
			case "draft":
				name := d.CmdArgs[0].Key
				return form(t, name, drafts(t)[name])
			case "template":
				return each(d.Input, showTemplate)
			case "condition":
				return each(d.Input, showCondition)
			case "value":
				return each(d.Input, showValue)
			case "expression":
				return each(d.Input, showExpression)
			default:
				t.Fatalf("unknown directive %s", d.Cmd)
				return ""
			}
		})
	})
}

func outcome(d *datadriven.TestData, parse func(string, []byte) (*design.Design, error), text string) string {
	got, err := parse("x", []byte(text))
	var faults design.Errors
	switch {
	case errors.As(err, &faults):
		var out strings.Builder
		for _, e := range faults {
			fmt.Fprintln(&out, strings.TrimPrefix(e.Error(), "x:"))
			if excerpt := e.Excerpt(); excerpt != "" && !d.HasArg("brief") {
				fmt.Fprintln(&out, excerpt)
			}
		}
		return out.String()
	case err != nil:
		return "not Errors: " + err.Error()
	}
	j, err := got.JSON()
	if err != nil {
		return err.Error()
	}
	if again, err := design.ParseJSON("json", j); err != nil {
		return "the interchange form is refused: " + err.Error()
	} else if k, _ := again.JSON(); string(k) != string(j) {
		return "the interchange form changes"
	}
	show, wanted := d.Arg("show")
	if !wanted {
		return "ok"
	}
	var form any
	if err := json.Unmarshal(j, &form); err != nil {
		return err.Error()
	}
	return lines(part(form, strings.Split(show.Vals[0], ".")))
}

// lines is a JSON value with one line per member.
func lines(v any) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	members := []any{v}
	switch v := v.(type) {
	case []any:
		members = v
	case map[string]any:
		members = nil
		for _, key := range slices.Sorted(maps.Keys(v)) {
			members = append(members, map[string]any{key: v[key]})
		}
	}
	for _, member := range members {
		if err := e.Encode(member); err != nil {
			return err.Error()
		}
	}
	return out.String()
}

// part looks up a part of a JSON value: in an object by key, in a list by its members' names or by index.
func part(v any, path []string) any {
	for _, step := range path {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			v = nil
			for i, member := range in {
				if object, ok := member.(map[string]any); ok && object["name"] == step || strconv.Itoa(i) == step {
					v = member
					break
				}
			}
		default:
			return nil
		}
	}
	return v
}

func showTemplate(s string) (string, error) {
	t, err := design.ParseTemplate(s)
	if err != nil {
		return "", err
	}
	var out []string
	for _, p := range t.Parts {
		if p.Field == "" {
			out = append(out, strconv.Quote(p.Literal))
			continue
		}
		words := []string{p.Field}
		for _, f := range p.Funcs {
			words = append(words, f.String())
		}
		out = append(out, strings.Join(words, " | "))
	}
	return "= " + strings.Join(out, ", "), nil
}

func showCondition(s string) (string, error) {
	c, err := design.ParseCondition(s)
	if err != nil {
		return "", err
	}
	out := "= " + c.Expression
	for _, n := range c.Names {
		out += fmt.Sprintf("; %s is %s", n.Alias, n.Field)
	}
	for _, v := range c.Values {
		if v.Param != "" {
			out += fmt.Sprintf("; %s is param %s", v.Placeholder, v.Param)
		} else {
			out += fmt.Sprintf("; %s is %s %q", v.Placeholder, []string{"", "text", "number", "bool", "null"}[v.Literal.Kind], v.Literal.Text)
		}
	}
	return out, nil
}

func showValue(s string) (string, error) {
	v, err := design.ParseValue(s)
	if err != nil {
		return "", err
	}
	var out []string
	for _, t := range v.Terms {
		kind := []string{"", "constant", "param", "field", "now", "newID", "sum", "count"}[t.Kind]
		if t.Kind == design.ConstantTerm {
			kind = []string{"", "text", "number", "bool", "null"}[t.Constant.Kind]
		}
		if t.Negative {
			kind = "minus " + kind
		}
		if text := t.Name + t.Constant.Text; text != "" {
			kind += " " + strconv.Quote(text)
		}
		out = append(out, kind)
	}
	return "= " + strings.Join(out, ", "), nil
}

func showExpression(s string) (string, error) {
	e, err := design.ParseExpression(s)
	if err != nil {
		return "", err
	}
	return "= " + showOperand(e.Root), nil
}

func showOperand(o design.Operand) string {
	switch o := o.(type) {
	case *design.Operation:
		return fmt.Sprintf("(%s %s %s)", showOperand(o.Left), o.Operator, showOperand(o.Right))
	case *design.Negation:
		return fmt.Sprintf("(NOT %s)", showOperand(o.Operand))
	case *design.ConstantOperand:
		return fmt.Sprintf("%s %q", []string{"", "text", "number", "bool"}[o.Constant.Kind], o.Constant.Text)
	case *design.ParamOperand:
		return "param " + o.Name
	case *design.CallOperand:
		out := string(o.Function) + "(" + o.Of
		if o.Per != "" {
			out += " of " + o.Per
		}
		if o.Where != nil {
			out += fmt.Sprintf(" where %q at %d", o.Where.Text, o.WhereAt)
		}
		return out + ")"
	case *design.NameOperand:
		return "name " + o.Path
	default:
		return "?"
	}
}

func each(input string, show func(string) (string, error)) string {
	var out strings.Builder
	for line := range strings.SplitSeq(input, "\n") {
		got, err := show(line)
		var syntax *design.SyntaxError
		switch {
		case errors.As(err, &syntax):
			got = strings.Repeat(" ", syntax.At) + "^ " + syntax.Message
			if syntax.Hint != "" {
				got += " (" + syntax.Hint + ")"
			}
		case err != nil:
			got = "not a SyntaxError: " + err.Error()
		}
		fmt.Fprintf(&out, "%s\n%s\n", line, got)
	}
	return out.String()
}
