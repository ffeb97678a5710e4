package conform

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// title says what a kind of finding is.
func (k Kind) title() string {
	switch k {
	case Unknown:
		return "no entity has such items"
	case WrongValue:
		return "a value is missing or not of its field's type"
	case WrongKey:
		return "the key is not what the fields make"
	case IndexMissing:
		return "an index key is missing"
	case IndexStale:
		return "an index key is not what the fields make"
	case IndexUnwanted:
		return "an index key is there and should not be"
	case CopyMissing:
		return "items without their copy"
	case CopyOrphan:
		return "copies without their item"
	case CopyDiverged:
		return "copies that differ from their item"
	case MarkerMissing:
		return "items without their marker"
	case MarkerOrphan:
		return "markers that no item makes"
	case MarkerForeign:
		return "markers that are another item's"
	case WrongCount:
		return "a counter does not count"
	case PersonLeft:
		return "items name a person who was erased"
	default:
		return string(k)
	}
}

// WriteText writes a report for people.
func WriteText(w io.Writer, r *Report) error {
	var out strings.Builder
	for _, t := range r.Tables {
		fmt.Fprintf(&out, "%s: %s", t.Table, counted(t.Items))
		if t.Expired > 0 {
			fmt.Fprintf(&out, ", %d of them expired", t.Expired)
		}
		out.WriteString("\n")
		rows := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		for _, p := range t.Places {
			fmt.Fprintf(rows, "  %s\t%s\t%d\n", p.Entity, p.Place, p.Items)
		}
		_ = rows.Flush() // to a builder
		for _, b := range t.Beside {
			fmt.Fprintf(&out, "  %s has the attribute %s beside the design, in %s\n", b.Entity, b.Attribute, counted(b.Items))
		}
		out.WriteString("\n")
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&out, "%s %s: %s, %s\n", f.Kind, f.Subject, f.Kind.title(), counted(f.Items))
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
		fmt.Fprintf(&out, "kept %s: %s, %s\n", kept.Entity, counted(kept.Items), why)
	}
	if len(r.Findings) == 0 {
		out.WriteString("everything is as the design says\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// counted is a number of items.
func counted(n int64) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}
