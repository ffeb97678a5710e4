package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// TestPlans runs testdata: scripts of a design and what is planned for it. Directives:
//
//	load FILE      take the design of a file
//	design         take this design
//	reads          the plan of each read: operation, place, what is asked of the sort key, what it lacks
//	near READ      the places that were not chosen, and why
//	collections    the plan of each collection
//	writes         the items that each write touches, with what becomes of their entries
//	request NAME   the request of a read or collection
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Helper()
		var d *design.Design
		datadriven.RunTest(t, path, func(t *testing.T, data *datadriven.TestData) string {
			t.Helper()
			var out strings.Builder
			switch data.Cmd {
			case "load":
				d = parse(t, read(t, data.CmdArgs[0].Key))
			case "design":
				d = parse(t, data.Input)
			case "reads":
				for _, r := range d.Reads {
					fmt.Fprintln(&out, r.Name+":", showPlan(plan.ForRead(d, r)))
				}
			case "near":
				result := plan.ForRead(d, d.Read(data.CmdArgs[0].Key))
				for _, miss := range result.Others {
					fmt.Fprintln(&out, miss.Place.String()+":", showMiss(miss))
				}
			case "collections":
				for _, c := range d.Collections {
					fmt.Fprintln(&out, c.Name+":", showCollection(plan.ForCollection(d, c)))
				}
			case "writes":
				for _, w := range d.Writes {
					showWrite(&out, plan.ForWrite(d, w))
				}
			case "request":
				showRequest(&out, request(d, data.CmdArgs[0].Key))
			default:
				t.Fatalf("unknown directive %s", data.Cmd)
			}
			return out.String()
		})
	})
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parse(t *testing.T, text string) *design.Design {
	t.Helper()
	d, err := design.Parse("design", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func request(d *design.Design, name string) plan.Request {
	if r := d.Read(name); r != nil {
		return plan.ForRead(d, r).Plan.Request()
	}
	return plan.ForCollection(d, d.Collection(name)).Request()
}

func showPlan(r plan.Result) string {
	p := r.Plan
	out := string(p.Operation)
	if p.Operation != plan.Scan {
		out += " " + p.Place.String() + showSort(p.SK)
	}
	if p.Fanout > 1 {
		out += fmt.Sprintf(" x%d", p.Fanout)
	}
	for _, option := range []struct {
		on   bool
		name string
	}{{p.Reverse, "reverse"}, {p.Consistent, "consistent"}, {p.OwnerField != "" && !p.OwnerInKey, "then owner " + p.OwnerField}} {
		if option.on {
			out += ", " + option.name
		}
	}
	for _, l := range r.Lacks {
		out += "\n  but " + l.String()
	}
	return out
}

func showSort(conditions []plan.SortCondition) string {
	out := ""
	for _, c := range conditions {
		out += " " + []string{"=", "begins with", "between"}[c.Comparison] + " " + c.Template.Text[:known(c)]
		if c.Prefix+c.Range != "" {
			out += "{" + c.Prefix + c.Range + "…}"
		}
	}
	return out
}

// known is the number of known parts of a condition's template, in bytes of its text.
func known(c plan.SortCondition) int {
	if c.Parts == len(c.Template.Parts) {
		return len(c.Template.Text)
	}
	return c.Template.Parts[c.Parts].At
}

func showMiss(m plan.Miss) string {
	var lacks []string
	for _, l := range m.Lacks {
		lacks = append(lacks, l.String())
	}
	switch {
	case len(lacks) == 0:
		return "would serve"
	case m.Plan != nil:
		return "could serve; " + strings.Join(lacks, "; ")
	default:
		return strings.Join(lacks, "; ")
	}
}

func showCollection(p plan.CollectionPlan) string {
	if len(p.Members) == 0 {
		out := "no partition holds it"
		for _, miss := range p.Misses {
			where := "the table"
			if miss.Index != nil {
				where = miss.Index.Name
			}
			out += fmt.Sprintf("\n  %s: without %v, apart %v", where, miss.Without, miss.Apart)
		}
		return out
	}
	var members []string
	for _, m := range p.Members {
		members = append(members, m.String())
	}
	out := strings.Join(members, " + ")
	if request := p.Request(); p.SK != nil {
		_, bound, _ := strings.Cut(request.KeyCondition, " AND ")
		for _, v := range request.Values {
			bound = strings.ReplaceAll(bound, v.Name, v.Value)
		}
		out += " where " + bound
	}
	if p.Reverse {
		out += ", reverse"
	}
	if p.OwnerInKey {
		out += ", owner in key"
	}
	return out
}

func showWrite(out *strings.Builder, p plan.WritePlan) {
	fixed, perLine := p.Actions()
	kind := "request"
	if p.Transaction() {
		kind = "transaction"
	}
	fmt.Fprintf(out, "%s: %s of %d + %d a line\n", p.Write.Name, kind, fixed, perLine)
	for _, i := range p.Items {
		fmt.Fprintf(out, "  %s %s", i.Action, i.Place)
		if i.Each {
			out.WriteString(" each")
		}
		if len(i.Changed) > 0 {
			fmt.Fprintf(out, " %v", i.Changed)
		}
		for _, e := range i.Entries {
			fmt.Fprintf(out, ", %s %s", e.Place.Name, e.Effect)
		}
		out.WriteString("\n")
	}
}

func showRequest(out *strings.Builder, r plan.Request) {
	fmt.Fprintf(out, "%s %s %s\n", r.Operation, r.Table, r.Index)
	for _, k := range r.Key {
		fmt.Fprintf(out, "  %s = %s\n", k.Name, k.Value)
	}
	if r.KeyCondition != "" {
		fmt.Fprintf(out, "  KeyConditionExpression %s\n", r.KeyCondition)
	}
	if r.Filter != "" {
		fmt.Fprintf(out, "  FilterExpression %s\n", r.Filter)
	}
	for _, v := range r.Values {
		fmt.Fprintf(out, "  %s = %s\n", v.Name, v.Value)
	}
	fmt.Fprintf(out, "  forward %t, limit %d, consistent %t, %d times\n", r.Forward, r.Limit, r.Consistent, r.Times)
	if r.Then != nil {
		out.WriteString("then ")
		showRequest(out, *r.Then)
	}
}
