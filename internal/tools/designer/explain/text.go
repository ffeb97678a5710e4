package explain

import (
	"fmt"
	"io"
	"strings"

	"github.com/monotable/monotable/internal/plural"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// WriteText writes an explanation for people.
func WriteText(w io.Writer, p Pattern) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s\n", p.Name, p.Summary)
	if p.Doc != "" {
		fmt.Fprintf(&out, "  %s\n", p.Doc)
	}
	if p.Kind == "write" {
		writeItems(&out, p)
	} else {
		writeRead(&out, p)
	}
	out.WriteString("\n")
	_, err := io.WriteString(w, out.String())
	return err
}

func writeRead(out *strings.Builder, p Pattern) {
	if p.Request == nil {
		out.WriteString("  no request can serve it\n")
	} else {
		fmt.Fprintf(out, "  %s\n", strings.ReplaceAll(requestText(p.Request), "\n", "\n  "))
		fmt.Fprintf(out, "  reads    %s\n  costs    %s%s\n", p.Place, units(p.ReadUnits, "read"), more(p)+bounds(p.ReadUnits, p))
		fmt.Fprintf(out, "  fresh    %s\n", p.Freshness)
	}
	for _, l := range p.Lacks {
		fmt.Fprintf(out, "  but      %s\n", l)
	}
	for _, n := range p.Near {
		switch {
		case n.Serves:
			fmt.Fprintf(out, "  or       %s, at %s\n", n.Place, units(n.ReadUnits, "read"))
		case n.ReadUnits > 0:
			fmt.Fprintf(out, "  could    %s, at %s: %s\n", n.Place, units(n.ReadUnits, "read"), strings.Join(n.Lacks, "; "))
		default:
			fmt.Fprintf(out, "  not      %s: %s\n", n.Place, strings.Join(n.Lacks, "; "))
		}
	}
}

// more explains the units of a call: what they consist of, or a part.
func more(p Pattern) string {
	switch {
	case p.UnitsPerKey > 0:
		return fmt.Sprintf(" with %s (%g for each)", plural.Of(p.Keys, "key"), p.UnitsPerKey)
	case p.WholeUnits > p.ReadUnits:
		return fmt.Sprintf(" a page; %g for all", p.WholeUnits)
	default:
		return ""
	}
}

// bounds are the minimum and maximum cost of a call, if they are known and differ from the typical
// cost.
func bounds(typical float64, p Pattern) string {
	var out string
	if p.LeastUnits < typical {
		out = fmt.Sprintf("; at least %g", p.LeastUnits)
	}
	if p.MostUnits > typical {
		out += fmt.Sprintf("; at most %g", p.MostUnits)
	}
	return out
}

func units(n float64, what string) string {
	if n != 1 {
		what += " units"
	} else {
		what += " unit"
	}
	return fmt.Sprintf("%g %s", n, what)
}

// requestText is a request in the notation of AWS's documentation.
func requestText(r *plan.Request) string {
	var out strings.Builder
	if r.First != nil {
		fmt.Fprintf(&out, "first %s\nthen ", requestText(r.First))
	}
	fmt.Fprintf(&out, "%s %s", r.Operation, r.Table)
	if r.Index != "" {
		out.WriteString(" " + r.Index)
	}
	if r.Times > 1 {
		fmt.Fprintf(&out, ", %d times (once per shard), merged", r.Times)
	}
	if r.Over != "" {
		out.WriteString(", " + r.Walk())
	}
	if r.Segments > 1 {
		fmt.Fprintf(&out, ", in %d segments at once", r.Segments)
	}
	if r.Operation == plan.BatchGetItem {
		out.WriteString(", 100 keys at a time")
	}
	for _, k := range r.Key {
		fmt.Fprintf(&out, "\n  %s = %q", k.Name, k.Value)
	}
	if r.KeyCondition != "" {
		fmt.Fprintf(&out, "\n  KeyCondition %s", r.KeyCondition)
	}
	if r.Filter != "" {
		fmt.Fprintf(&out, "\n  Filter %s", r.Filter)
	}
	for _, v := range r.Values {
		fmt.Fprintf(&out, "\n    %s = %q", v.Name, v.Value)
	}
	var options []string
	if !r.Forward {
		options = append(options, "ScanIndexForward false")
	}
	if r.Select != "" {
		options = append(options, "Select "+r.Select)
	}
	if r.Limit > 0 {
		options = append(options, fmt.Sprintf("Limit %d", r.Limit))
	}
	if r.Consistent {
		options = append(options, "ConsistentRead")
	}
	if len(options) > 0 {
		fmt.Fprintf(&out, "\n  %s", strings.Join(options, ", "))
	}
	if r.Then != nil {
		fmt.Fprintf(&out, "\nthen %s", requestText(r.Then))
	}
	return out.String()
}

func writeItems(out *strings.Builder, p Pattern) {
	request := "one request"
	if p.Transaction {
		request = "one TransactWriteItems"
	}
	if p.Batch {
		request = "one BatchWriteItem for each 25 items"
	}
	fmt.Fprintf(out, "  %s", request)
	fmt.Fprintf(out, ", %s", units(p.WriteUnits, "write"))
	if p.UnitsPerLine > 0 {
		fmt.Fprintf(out, " with %s (%g for each)", plural.Of(p.Lines, "line"), p.UnitsPerLine)
	}
	out.WriteString(bounds(p.WriteUnits, p))
	out.WriteString("\n")
	for _, i := range p.Items {
		each := ""
		if i.Each {
			each = ", each line"
		}
		fmt.Fprintf(out, "  %-8s %s%s: %s (%g)", i.Action, i.Place, each, i.Key, i.Units)
		if i.When != "" {
			fmt.Fprintf(out, "\n           if %s", i.When)
		}
		if len(i.Entries) > 0 {
			fmt.Fprintf(out, "\n           entries: %s", strings.Join(i.Entries, ", "))
		}
		out.WriteString("\n")
	}
}
