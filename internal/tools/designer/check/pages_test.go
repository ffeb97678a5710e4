package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
)

const pages = "../../../../docs/rules/"

var fence = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// page returns the text of a page in docs/rules and the designs on it.
func page(t *testing.T, name string) (text string, fragments []string) {
	t.Helper()
	data, err := os.ReadFile(pages + name + ".md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fence.FindAllStringSubmatch(string(data), -1) {
		fragments = append(fragments, m[1])
	}
	return string(data), fragments
}

// complete adds the sections from README.md that a fragment does not have itself.
func complete(t *testing.T, fragment string) string {
	t.Helper()
	_, head := page(t, "README")
	out := strings.TrimSuffix(fragment, "\n") + "\n"
	for _, section := range regexp.MustCompile(`(?m)^\w+:.*\n(?:[ ].*\n)*`).FindAllString(head[0], -1) {
		name, _, _ := strings.Cut(section, ":")
		if !regexp.MustCompile(`(?m)^` + name + `:`).MatchString(fragment) {
			out += section
		}
	}
	return out
}

func find(t *testing.T, rule, fragment string) check.Findings {
	t.Helper()
	d, err := design.Parse(rule, []byte(complete(t, fragment)))
	if err != nil {
		t.Fatalf("%s: %v", rule, err)
	}
	return slices.DeleteFunc(check.Check(d), func(f check.Finding) bool { return f.Rule != rule })
}

// TestEveryRuleHasAPageWithDefectAndFix checks that the first design on a rule's page has the defect and the second does
// not.
func TestEveryRuleHasAPageWithDefectAndFix(t *testing.T) {
	for _, r := range check.Rules() {
		text, fragments := page(t, r.ID)
		head := fmt.Sprintf("# %s: %s\n\nSeverity: %s\n", r.ID, r.Title, r.Severity)
		if !strings.HasPrefix(text, head) || !strings.Contains(text, "\n## Accepting it\n") {
			t.Errorf("%s: the page does not begin with %q, or does not say how to accept", r.ID, head)
		}
		if r.Refused != strings.Contains(text, "It cannot be accepted: DynamoDB rejects") {
			t.Errorf("%s: the page disagrees with the catalogue on whether it can be accepted", r.ID)
		}
		if n := strings.Count(text, "\n"); n > 50 {
			t.Errorf("%s: %d lines", r.ID, n)
		}
		if r.Command != "" {
			if !strings.Contains(text, "`monotable "+r.Command+"`") {
				t.Errorf("%s: the page does not say that monotable %s reports it", r.ID, r.Command)
			}
			continue
		}
		if len(fragments) != 2 {
			t.Errorf("%s: %d designs, want one with the defect and one without", r.ID, len(fragments))
			continue
		}
		if all := find(t, r.ID, fragments[0]); len(all) == 0 {
			t.Errorf("%s: no finding in the first design", r.ID)
		} else if !slices.ContainsFunc(all, func(f check.Finding) bool { return f.Severity == r.Severity }) && !notes[r.ID] {
			t.Errorf("%s: the finding in the first design is only %s", r.ID, all[0].Severity)
		}
		if all := find(t, r.ID, fragments[1]); len(all) > 0 {
			t.Errorf("%s: also found in the fixed design:\n%s", r.ID, show(all))
		}
	}
}

// notes are the rules that a small design only violates in their mildest form.
var notes = map[string]bool{"ST110": true, "ST211": true, "ST301": true}

// TestPagesAndListMatchTheCatalogue checks that there are no pages or lines in the list for other rules.
func TestPagesAndListMatchTheCatalogue(t *testing.T) {
	var want []string
	list, _ := page(t, "README")
	for _, r := range check.Rules() {
		want = append(want, pages+r.ID+".md")
		if !strings.Contains(list, fmt.Sprintf("\n| [%s](%s.md) | %s | %s |\n", r.ID, r.ID, r.Severity, r.Title)) {
			t.Errorf("README.md does not list %s as in the catalogue", r.ID)
		}
	}
	got, err := filepath.Glob(pages + "ST*.md")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("pages %v, want %v", got, want)
	}
	if n := strings.Count(list, "\n| ["); n != len(want) {
		t.Errorf("README.md lists %d rules, want %d", n, len(want))
	}
}

// TestEveryRuleIsReported checks that every rule of the catalogue is found in some design here, or reported by another
// command.
func TestEveryRuleIsReported(t *testing.T) {
	found := map[string]bool{}
	collect := func(all check.Findings) {
		for _, f := range all {
			found[f.Rule] = true
		}
	}
	for _, file := range designs(t) {
		collect(check.Check(load(t, file)))
	}
	for _, r := range check.Rules() {
		if _, fragments := page(t, r.ID); r.Command == "" {
			collect(find(t, r.ID, fragments[0]))
		}
	}
	for _, r := range check.Rules() {
		if found[r.ID] == (r.Command != "") {
			t.Errorf("%s: reported here %v, and the command that reports it is %q", r.ID, found[r.ID], r.Command)
		}
	}
}
