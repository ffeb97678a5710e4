package design_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
)

// FuzzParse tests that no text makes the package panic; that any YAML text can be formatted, with a stable result; and
// that formatting and the interchange form preserve a design.
func FuzzParse(f *testing.F) {
	for _, text := range drafts(f) {
		f.Add(string(text))
	}
	for _, text := range rest {
		f.Add(complete(text))
	}
	for _, text := range scripts(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := design.Parse("x", []byte(text))
		out, refused := design.Format("x", []byte(text))
		if refused != nil {
			if strings.Contains(refused.Error(), "without changing it") || err == nil {
				t.Fatalf("cannot be formatted: %v", refused)
			}
			return
		}
		again, refused := design.Format("x", out)
		if refused != nil || string(again) != string(out) {
			t.Fatalf("formatting is not idempotent: %v\n%s\n----\n%s", refused, out, again)
		}
		if err != nil {
			return
		}
		j, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		formatted, err := design.Parse("x", out)
		if err != nil {
			t.Fatalf("the output of Format is rejected: %v\n%s", err, out)
		}
		if k, _ := formatted.JSON(); string(k) != string(j) {
			t.Fatalf("formatting changes the design:\n%s\n----\n%s", j, k)
		}
		back, err := design.ParseJSON("x", j)
		if err != nil {
			t.Fatalf("the interchange form is refused: %v\n%s", err, j)
		}
		if k, _ := back.JSON(); string(k) != string(j) {
			t.Fatalf("the interchange form changes:\n%s\n----\n%s", j, k)
		}
	})
}

// FuzzParseJSON tests that no text makes the package panic, and that a design keeps its form.
func FuzzParseJSON(f *testing.F) {
	for name, text := range drafts(f) {
		f.Add(form(f, name, text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := design.ParseJSON("x", []byte(text))
		if err != nil {
			return
		}
		j, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		back, err := design.ParseJSON("x", j)
		if err != nil {
			t.Fatalf("the interchange form is refused: %v\n%s", err, j)
		}
		if k, _ := back.JSON(); string(k) != string(j) {
			t.Fatalf("the interchange form changes:\n%s\n----\n%s", j, k)
		}
	})
}

// FuzzTemplate tests that the parts of a template cover its text.
func FuzzTemplate(f *testing.F) {
	for text := range strings.SplitSeq("METADATA|USER#{userId}|{a|pad(8)}{b}|{{x}}#{at|date(yyyy-MM)}|{id|shard(auto)|lower}", "|") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := design.ParseTemplate(text)
		if err != nil {
			inside(t, text, err)
			return
		}
		var back strings.Builder
		for _, p := range parsed.Parts {
			if p.Field == "" {
				back.WriteString(strings.NewReplacer("{", "{{", "}", "}}").Replace(p.Literal))
				continue
			}
			back.WriteString("{" + p.Field)
			for _, call := range p.Funcs {
				back.WriteString("|" + call.String())
			}
			back.WriteString("}")
		}
		if back.String() != text {
			t.Fatalf("%q has the parts of %q", text, back.String())
		}
	})
}

// FuzzCondition tests that a condition survives JSON, and that DynamoDB's parser accepts it.
func FuzzCondition(f *testing.F) {
	for _, text := range []string{"status = 'PENDING'", "a.b[0].c > -1.5 AND NOT contains(x, :p.q)", "a IN (1, null, true)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := design.ParseCondition(text)
		if err != nil {
			inside(t, text, err)
			return
		}
		var again design.Condition
		roundTrip(t, c, &again)
		if again.Expression != c.Expression || len(again.Names) != len(c.Names) || len(again.Values) != len(c.Values) {
			t.Fatalf("%q becomes %q, and %q from JSON", text, c.Expression, again.Expression)
		}
		aliases := map[string]bool{}
		for _, n := range c.Names {
			if aliases[n.Alias] {
				t.Fatalf("%q: alias %s is used for two names", text, n.Alias)
			}
			aliases[n.Alias] = true
		}
	})
}

// FuzzValue tests that a value survives JSON.
func FuzzValue(f *testing.F) {
	for _, text := range []string{"'x'", "-:line.n + 1", "now()", "sum(lines.total) - count(lines)", "true"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := design.ParseValue(text)
		if err != nil {
			inside(t, text, err)
			return
		}
		var again design.ValueExpr
		roundTrip(t, v, &again)
		if len(again.Terms) != len(v.Terms) {
			t.Fatalf("%q has other terms from JSON", text)
		}
	})
}

// FuzzExpression tests that an expression, or a selection, survives JSON, and that its conditions have the right
// positions.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{
		"count(Order of user where status = 'open') = user.orders", "NOT (a.b = 1 OR :c < -2) AND exists(x)", "unchanged(a.b)", "now()",
		"members where userId <> :userId", ":items", "a.b - 1 + sum(Order.total of user)",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := design.ParseSelection(text); err != nil {
			inside(t, text, err)
		} else {
			roundTrip(t, s, new(design.Selection))
		}
		e, err := design.ParseExpression(text)
		if err != nil {
			inside(t, text, err)
			return
		}
		for _, o := range e.Operands() {
			if o.Start() < 0 || o.Start() >= len(text) {
				t.Fatalf("%q has an operand at %d", text, o.Start())
			}
			if c, is := o.(*design.CallOperand); is && c.Where != nil && !strings.HasPrefix(text[c.WhereAt:], c.Where.Text) {
				t.Fatalf("%q has no %q at %d", text, c.Where.Text, c.WhereAt)
			}
		}
		var again design.Expression
		roundTrip(t, e, &again)
		if len(again.Operands()) != len(e.Operands()) {
			t.Fatalf("%q has other operands from JSON", text)
		}
	})
}

// inside checks that an error's position is inside the text.
func inside(t *testing.T, text string, err error) {
	t.Helper()
	syntax, ok := err.(*design.SyntaxError) //nolint:errorlint // the function promises not to wrap it
	if !ok || syntax.At < 0 || syntax.At > len(text) || syntax.Message == "" {
		t.Fatalf("%q: %v", text, err)
	}
}

// roundTrip converts a value to JSON and back. It skips texts that JSON cannot represent.
func roundTrip(t *testing.T, from, to any) {
	t.Helper()
	j, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(j), "�") || strings.Contains(string(j), `\ufffd`) {
		t.Skip("not UTF-8")
	}
	if err := json.Unmarshal(j, to); err != nil {
		t.Fatalf("%s: %v", j, err)
	}
}

// scripts are the inputs of testdata/script and testdata/format.
func scripts(tb testing.TB) []string {
	tb.Helper()
	var texts []string
	for _, dir := range []string{"testdata/script", "testdata/format"} {
		for _, file := range files(tb, dir) {
			for test := range strings.SplitSeq(file, "\n\n") {
				if _, text, ok := strings.Cut(test, "\n"); ok {
					input, _, _ := strings.Cut(text, "\n----\n")
					texts = append(texts, complete(input))
				}
			}
		}
	}
	return texts
}
