package expr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// surfaces are the directives of the scripts.
var surfaces = map[string]expr.Surface{
	"condition":  expr.Condition,
	"filter":     expr.Filter,
	"key":        expr.KeyCondition,
	"projection": expr.Projection,
	"update":     expr.Update,
}

// Each script gives a text per directive; the answer is its tree, or the sentence with a caret under the
// place that the error points to.
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Helper()
		if strings.Contains(path, "fuzz") {
			return
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			surface, ok := surfaces[d.Cmd]
			if !ok {
				d.Fatalf(t, "no such surface")
			}
			text := expand(d.Input)
			e, err := expr.Parse(surface, text)
			if err != nil {
				return caret(t, text, err)
			}
			return tree(e)
		})
	})
}

// expand repeats: {300:x} is x three hundred times, {3:x|,} is x,x,x.
func expand(input string) string {
	for {
		start := strings.IndexByte(input, '{')
		if start < 0 {
			return input
		}
		end := start + strings.IndexByte(input[start:], '}')
		var n int
		count, unit, _ := strings.Cut(input[start+1:end], ":")
		if _, err := fmt.Sscan(count, &n); err != nil {
			panic(err)
		}
		unit, separator, _ := strings.Cut(unit, "|")
		units := strings.TrimSuffix(strings.Repeat(unit+separator, n), separator)
		input = input[:start] + units + input[end+1:]
	}
}

func caret(t *testing.T, text string, err error) string {
	t.Helper()
	var e *expr.Error
	if !errorsAs(err, &e) {
		t.Fatalf("error of type %T", err)
	}
	sentence := err.Error()
	if len(text) > 100 {
		return sentence + "\n"
	}
	return fmt.Sprintf("%s\n  %s\n  %s^\n", sentence, text, strings.Repeat(" ", e.Pos))
}

func errorsAs(err error, target **expr.Error) bool {
	e, ok := err.(*expr.Error) //nolint:errorlint // the package promises the type itself
	*target = e
	return ok
}

// tree shows an expression as a list in prefix form, its slots numbered.
func tree(e *expr.Expression) string {
	var lines []string
	switch e.Surface {
	case expr.Projection:
		for _, p := range e.Paths {
			lines = append(lines, show(p))
		}
	case expr.Update:
		for _, a := range e.Actions {
			line := a.Verb.String() + " " + show(a.Target)
			if a.Value != nil {
				line += " " + show(a.Value)
			}
			lines = append(lines, line)
		}
	default:
		lines = append(lines, show(e.Root))
	}
	return strings.Join(lines, "\n") + "\n"
}

func show(n expr.Node) string {
	switch n := n.(type) {
	case *expr.And:
		return "(AND" + showAll(n.Terms) + ")"
	case *expr.Or:
		return "(OR" + showAll(n.Terms) + ")"
	case *expr.Not:
		return "(NOT " + show(n.Term) + ")"
	case *expr.Comparison:
		return "(" + string(n.Op) + showAll([]expr.Node{n.Left, n.Right}) + ")"
	case *expr.Arithmetic:
		return "(" + string(n.Op) + showAll([]expr.Node{n.Left, n.Right}) + ")"
	case *expr.Between:
		return "(BETWEEN" + showAll([]expr.Node{n.Operand, n.Low, n.High}) + ")"
	case *expr.In:
		return "(IN " + show(n.Operand) + showAll(n.List) + ")"
	case *expr.Call:
		return "(" + string(n.Function) + showAll(n.Args) + ")"
	case *expr.Placeholder:
		return fmt.Sprintf("%s@%d", n.Name, n.Slot)
	case *expr.Path:
		var b strings.Builder
		for i, s := range n.Steps {
			switch {
			case s.Kind == expr.StepIndex:
				fmt.Fprintf(&b, "[%d]", s.Number)
				continue
			case i > 0:
				b.WriteByte('.')
			}
			b.WriteString(s.Name)
			if s.Kind == expr.StepAlias {
				fmt.Fprintf(&b, "@%d", s.Number)
			}
		}
		return b.String()
	default:
		panic(fmt.Sprintf("node %T", n))
	}
}

func showAll(nodes []expr.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		b.WriteString(" " + show(n))
	}
	return b.String()
}
