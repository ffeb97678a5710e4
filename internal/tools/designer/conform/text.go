package conform

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/monotable/monotable/internal/plural"
)

// title describes a kind of finding.
func (k Kind) title() string {
	switch k {
	case Unknown:
		return "items match no entity"
	case WrongValue:
		return "a value is missing or has the wrong type"
	case WrongKey:
		return "the key does not match the fields"
	case IndexMissing:
		return "an index key is missing"
	case IndexStale:
		return "an index key does not match the fields"
	case IndexUnwanted:
		return "an index key should not be present"
	case CopyMissing:
		return "items without their copy"
	case CopyOrphan:
		return "copies without their item"
	case CopyDiverged:
		return "copies that differ from their item"
	case MarkerMissing:
		return "items without their marker"
	case MarkerOrphan:
		return "markers without their item"
	case MarkerForeign:
		return "markers that belong to another item"
	case WrongCount:
		return "a counter is wrong"
	case PersonLeft:
		return "items identify a person who was erased"
	default:
		return string(k)
	}
}

// WriteText writes a report as text.
func WriteText(w io.Writer, r *Report) error {
	var out strings.Builder
	for _, t := range r.Tables {
		fmt.Fprintf(&out, "%s: %s", t.Table, plural.Of(t.Items, "item"))
		if t.Expired > 0 {
			fmt.Fprintf(&out, ", %d of them expired", t.Expired)
		}
		out.WriteString("\n")
		rows := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		for _, p := range t.Places {
			fmt.Fprintf(rows, "  %s\t%s\t%d\n", p.Entity, p.Place, p.Items)
		}
		_ = rows.Flush() // writes to a builder
		for _, b := range t.Undeclared {
			fmt.Fprintf(&out, "  %s has the attribute %s, which the design does not declare, in %s\n", b.Entity, b.Attribute, plural.Of(b.Items, "item"))
		}
		out.WriteString("\n")
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&out, "%s %s: %s, %s\n", f.Kind, f.Subject, f.Kind.title(), plural.Of(f.Items, "item"))
		for _, e := range f.Examples {
			fmt.Fprintf(&out, "  %s\n    %s\n", e.Key, e.Message)
		}
		if more := f.Items - int64(len(f.Examples)); more > 0 && len(f.Examples) > 0 {
			fmt.Fprintf(&out, "  and %d more\n", more)
		}
	}
	for _, kept := range r.Kept {
		why := "they expire"
		if kept.Reason != "" {
			why = kept.Reason
		}
		fmt.Fprintf(&out, "kept %s: %s, %s\n", kept.Entity, plural.Of(kept.Items, "item"), why)
	}
	if r.Unsettled > 0 {
		fmt.Fprintf(&out, "%d copies, markers or counters could not be compared, because they changed between all %d passes: check again when there are fewer writes\n",
			r.Unsettled, mostPasses)
	}
	switch {
	case len(r.Findings) > 0:
	case r.Unsettled > 0:
		out.WriteString("everything else matches the design\n")
	default:
		out.WriteString("everything matches the design\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}
