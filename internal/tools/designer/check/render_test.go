package check_test

import (
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
)

// TestTextIsShort tests that only the first 20 findings of a rule are written, but all are counted, and all are written on request.
func TestTextIsShort(t *testing.T) {
	d := &design.Design{Name: "Shop"}
	var findings check.Findings
	for range 25 {
		findings = append(findings, check.Finding{Rule: "ST101", Severity: check.Error, Subject: "A+B", Message: "collide"})
	}
	findings = append(findings, check.Finding{Rule: "ST404", Severity: check.Info, Subject: "A", Message: "projects everything"})
	for all, want := range map[bool]int{false: 20, true: 25} {
		var out strings.Builder
		if err := check.WriteText(&out, d, findings, all); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if got := strings.Count(text, "collide"); got != want || !strings.Contains(text, "ST404 A: projects everything") || !strings.HasSuffix(text, "Shop: 25 errors, 1 info\n") {
			t.Errorf("all %v: %d findings of ST101, want %d, in\n%s", all, got, want, text)
		}
		if strings.Contains(text, "and 5 more of ST101: --all shows them\n") == all {
			t.Errorf("all %v: %s", all, text)
		}
	}
}
