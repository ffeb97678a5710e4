package generate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/plural"
	"github.com/monotable/monotable/internal/tools/designer/explain"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// readRemarks are the paragraphs of a read's comment: what it returns, the request, its errors. absent is the language's word
// for no item.
func (m *model) readRemarks(r *readModel, absent string) []string {
	p := explain.Read(m.design, r.Design)
	fails := "It fails with table.ErrNotFound if there is no item"
	if r.Run.Owner != "" {
		fails += " or it has another " + r.Run.Owner
	}
	fails += "."
	switch {
	case r.Design.Count && r.Run.Owner != "":
		fails = "Items of another " + r.Run.Owner + " are not counted."
	case r.Design.Each:
		fails = inOrder(absent, r.Run.Owner)
		if r.Run.MaxKeys > 0 {
			fails += fmt.Sprintf(" It fails with table.ErrLines if there are more than %d inputs.", r.Run.MaxKeys)
		}
	case r.Run.Many && r.Run.Owner != "":
		fails = "Items of another " + r.Run.Owner + " are left out."
	case r.Run.Many:
		fails = ""
	}
	return []string{r.Go + " finds " + p.Summary + ".", r.Design.Doc, requestBlock(p), fails}
}

// inOrder describes the order of the results for several inputs.
func inOrder(absent, owner string) string {
	if owner != "" {
		owner = " or has another " + owner
	}
	return "The results are in the order of the inputs, with " + absent + " for an item that does not exist" + owner + "."
}

func (m *model) collectionRemarks(c *collectionModel) []string {
	p := explain.Collection(m.design, c.Design)
	fails := ""
	if c.Run.Root >= 0 {
		fails = "It fails with table.ErrNotFound if there is no " + c.Design.Root
		if c.Run.Owner != "" {
			fails += " or it has another " + c.Run.Owner
		}
		fails += "."
	}
	return []string{c.Go + " finds " + p.Summary + ".", c.Design.Doc, requestBlock(p), fails}
}

// requestBlock is the request of a pattern with its cost and freshness, as lines of code.
func requestBlock(p explain.Pattern) string {
	var rows [][2]string
	if root := p.Request.First; root != nil {
		rows = append(rows, [2]string{"first " + string(root.Operation), requestText(root)})
	}
	for r := p.Request; r != nil; r = r.Then {
		name := string(r.Operation)
		if r != p.Request {
			name = "then " + name
		}
		rows = append(rows, [2]string{name, requestText(r)})
	}
	costs := units(p.ReadUnits, "read")
	switch {
	case p.UnitsPerKey > 0:
		costs += fmt.Sprintf(" with %s, %g for each", plural.Of(p.Keys, "key"), p.UnitsPerKey)
	case p.WholeUnits > p.ReadUnits:
		costs += fmt.Sprintf(" a page, %g for all", p.WholeUnits)
	}
	rows = append(rows, [2]string{"costs", costs}, [2]string{"fresh", p.Freshness})
	return block(rows)
}

// requestText formats a request in one line.
func requestText(r *plan.Request) string {
	out := r.Table
	if r.Index != "" {
		out += "." + r.Index
	}
	var key []string
	for _, k := range r.Key {
		key = append(key, fmt.Sprintf("%s = %q", k.Name, k.Value))
	}
	if len(key) > 0 {
		out += ": " + strings.Join(key, " AND ")
	}
	if r.KeyCondition != "" {
		out += ": " + filled(r.KeyCondition, r.Values)
	}
	if r.Filter != "" {
		out += "; filter " + filled(r.Filter, r.Values)
	}
	if !r.Forward {
		out += "; descending"
	}
	if r.Over != "" {
		out += "; " + r.Walk()
	}
	if r.Times > 1 {
		out += fmt.Sprintf("; %d times, once per shard, merged", r.Times)
	}
	return out
}

// filled is an expression with placeholders replaced by values.
func filled(expression string, values []plan.KeyValue) string {
	list := slices.SortedFunc(slices.Values(values), func(a, b plan.KeyValue) int { return cmp.Compare(len(b.Name), len(a.Name)) })
	var pairs []string
	for _, v := range list { // the longest first: :pk1 before :pk
		pairs = append(pairs, v.Name, fmt.Sprintf("%q", v.Value))
	}
	return strings.NewReplacer(pairs...).Replace(expression)
}

func units(n float64, what string) string { return plural.Of(n, what+" unit") }

// writeRemarks are the paragraphs of a write's comment: what it does, the items that it affects, its errors.
func (m *model) writeRemarks(w *writeModel) []string {
	p := explain.Write(m.design, w.Design)
	whole := " does, all or nothing: "
	if !p.Transaction {
		whole = " does: "
	}
	if p.Batch {
		whole = " does, each item independently, 25 per request: "
	}
	var rows [][2]string
	for _, i := range p.Items {
		text := []string{i.Place + " " + i.Key}
		if i.Each {
			text[0] += ", each line"
		}
		if i.When != "" {
			text = append(text, "if "+i.When)
		}
		rows = append(rows, [2]string{i.Action, strings.Join(append(text, i.Entries...), "; ")})
	}
	costs := units(p.WriteUnits, "write")
	if p.UnitsPerLine > 0 {
		costs += fmt.Sprintf(" with %s, %g for each", plural.Of(p.Lines, "line"), p.UnitsPerLine)
	}
	rows = append(rows, [2]string{"costs", costs})
	var ends []string
	for _, err := range errorsOf(w) {
		ends = append(ends, m.errorNames[err])
	}
	if slices.ContainsFunc(w.Run.Steps, undeclared) {
		ends = append(ends, "table.ErrRefused")
	}
	if w.Run.Lines {
		ends = append(ends, "table.ErrLines")
	}
	if w.Run.Batch {
		ends = append(ends, "*table.UnfinishedError, which has the lines that may not be done")
	}
	fails := ""
	if len(ends) > 0 {
		fails = "It can fail with " + strings.Join(ends, ", ") + "."
	}
	if w.Run.MaxLines > 0 {
		fails += fmt.Sprintf(" It takes at most %d lines.", w.Run.MaxLines)
	}
	return []string{w.Go + whole + p.Summary + ".", w.Design.Doc, block(rows), fails}
}

// undeclared reports whether a step has a condition that can fail without a declared error.
func undeclared(s table.Step) bool {
	return s.When != nil && (len(s.Else) == 0 || s.Else[len(s.Else)-1].When != nil)
}

// indefinite is a name with its article.
func indefinite(name string) string {
	if strings.ContainsAny(name[:1], "AEIOUaeiou") {
		return "an " + name
	}
	return "a " + name
}
