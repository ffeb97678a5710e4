package check

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/plural"
)

// maxShown is the maximum number of findings of a rule that WriteText writes: one mistake in a key can collide with every other
// entity's.
const maxShown = 20

// WriteText writes findings as text: each with its line of the design and a caret, and a count at the end. Accepted
// findings are listed in short form, and only if all is set; without it, only the first findings of each rule are written.
func WriteText(w io.Writer, d *design.Design, findings Findings, all bool) error {
	out := &errWriter{w: w}
	counts, shown := map[Severity]int{}, map[string]int{}
	accepted := 0
	for _, f := range findings {
		if f.Accepted != "" {
			accepted++
			if all {
				out.printf("%saccepted %s %s: %s\n  because: %s\n\n", place(d, f.Pos), f.Rule, f.Subject, f.Message, f.Accepted)
			}
			continue
		}
		counts[f.Severity]++
		if shown[f.Rule]++; shown[f.Rule] > maxShown && !all {
			continue
		}
		out.printf("%s%s %s %s: %s\n", place(d, f.Pos), f.Severity, f.Rule, f.Subject, f.Message)
		if excerpt := d.Source.Excerpt(f.Pos); excerpt != "" {
			out.printf("%s\n", excerpt)
		}
		if f.Witness != "" {
			out.printf("  counterexample: %s\n", f.Witness)
		}
		if f.Fix != "" {
			out.printf("  fix: %s\n", f.Fix)
		}
		out.printf("\n")
	}
	for _, rule := range slices.Sorted(maps.Keys(shown)) {
		if more := shown[rule] - maxShown; more > 0 && !all {
			out.printf("and %d more of %s: --all shows them\n\n", more, rule)
		}
	}
	out.printf("%s: %s\n", d.Name, tally(counts, accepted))
	return out.err
}

func place(d *design.Design, p design.Pos) string {
	if d.Source == nil || p == (design.Pos{}) {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d: ", d.Source.Name, p.Line, p.Column)
}

func tally(counts map[Severity]int, accepted int) string {
	var parts []string
	for _, s := range []Severity{Error, Warning, Info} {
		switch n := counts[s]; {
		case n > 0 && s == Info:
			parts = append(parts, fmt.Sprintf("%d info", n))
		case n > 0:
			parts = append(parts, plural.Of(n, string(s)))
		}
	}
	if accepted > 0 {
		parts = append(parts, fmt.Sprintf("%d accepted", accepted))
	}
	if len(parts) == 0 {
		return "no findings"
	}
	return strings.Join(parts, ", ")
}

// errWriter remembers the first error of a series of writes.
type errWriter struct {
	w   io.Writer
	err error
}

func (e *errWriter) printf(format string, args ...any) {
	if e.err == nil {
		_, e.err = fmt.Fprintf(e.w, format, args...)
	}
}
