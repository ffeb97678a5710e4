package races_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/races"
)

// broken are the violated invariants, by race.
func broken(t *testing.T, d *design.Design, o races.Options) map[string][]string {
	t.Helper()
	report, err := races.Run(t.Context(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, s := range report.Scenarios {
		if s.Bound != "" {
			t.Errorf("%s: %s was reached", s.Name, s.Bound)
		}
		var names []string
		for _, f := range s.Findings {
			names = append(names, f.Invariant)
		}
		out[s.Name] = names
	}
	return out
}

func load(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/designs/" + name)
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

// TestDesigns tests which invariants of the test designs hold, and which do not.
func TestDesigns(t *testing.T) {
	for name, want := range map[string]map[string][]string{
		// A vote is put, the votes are counted, the match is put: matches are found twice, lost, or found too
		// early.
		"trinity.documented.design.yaml": {
			"Strong": {"OneMatch"},
			"Stale":  {"OneMatch", "NoneLost"},
			"Crash":  {"OneMatch", "NoneLost"},
			"Joiner": {"OneMatch", "Unanimous"},
		},
		"trinity.design.yaml":   {"Voters": nil, "Stale": nil, "Joiner": nil, "LateVoter": nil, "Leaver": nil, "VoterLeaves": nil, "LeaverVotes": nil},
		"stock.design.yaml":     {"Condition": nil, "ReadThenPut": {"NoneOversold", "Balanced"}},
		"catfecito.design.yaml": {"TwoBuyers": nil, "Repeated": nil, "CartChanges": nil},
		"limit.design.yaml":     {"Condition": nil, "Look": {"Limit"}, "Counter": nil, "LookAndHire": {"OneDriver"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, broken(t, parse(t, load(t, name)), races.Options{})); diff != "" {
				t.Errorf("what does not hold (- want, + got):\n%s", diff)
			}
		})
	}
}

// TestEachConditionIsNeeded tests that each condition of the corrected Trinity design is needed: without it, a race violates an
// invariant.
func TestEachConditionIsNeeded(t *testing.T) {
	text := load(t, "trinity.design.yaml")
	for _, m := range []struct {
		what, old, new  string
		race, invariant string
	}{
		{"votes that are not seen", `"yes = :seen", else`, "yes >= 0, else", "Voters", "Tally"},
		{"a last vote that makes no match", "memberCount > :next AND ", "", "Leaver", "NoneLost"},
		{"members who have joined since", "memberCount = :next AND version = :version AND ", "", "Joiner", "Unanimous"},
		{"votes that came before leaving", `"version = :seen"`, "version >= 0", "Leaver", "NoneLost"},
		{"leaving with votes", "yes = 0, else", "yes >= 0, else", "LeaverVotes", "OfMembers"},
		{"votes of who is no member", "      - { update: Member, add: { yes: 1 } }\n", "", "LateVoter", "OfMembers"},
		{
			"films that are read stale", "Candidates: { many: Candidate, by: [roomId], page: 100, consistent: true }",
			"Candidates: { many: Candidate, by: [roomId], page: 100 }", "VoterLeaves", "NoneLost",
		},
		{"members who are not counted", "add: { memberCount: 1, version: 1 }", "add: { version: 1 }", "Joiner", "Members"},
	} {
		t.Run(m.what, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(text, m.old) {
				t.Fatalf("the design has no %q", m.old)
			}
			d := parse(t, strings.ReplaceAll(text, m.old, m.new))
			if got := broken(t, d, races.Options{Races: []string{m.race}})[m.race]; !slices.Contains(got, m.invariant) {
				t.Errorf("in race %s %v do not hold, but %s does", m.race, got, m.invariant)
			}
		})
	}
}

// TestReportIsDeterministic tests that the same design gives the same report.
func TestReportIsDeterministic(t *testing.T) {
	for _, name := range []string{"trinity.documented.design.yaml", "stock.design.yaml"} {
		d := parse(t, load(t, name))
		var reports [2][]byte
		for i := range reports {
			r, err := races.Run(t.Context(), d, races.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if reports[i], err = json.Marshal(r); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(reports[0], reports[1]) {
			t.Errorf("%s has two reports:\n%s\n%s", name, reports[0], reports[1])
		}
	}
}

// TestProgress tests that progress is reported.
func TestProgress(t *testing.T) {
	received := map[string]int{}
	o := races.Options{States: 300_000, Progress: func(race string, states, bound int) {
		if bound != 300_000 || states > bound {
			t.Errorf("%d states of %d", states, bound)
		}
		received[race]++
	}}
	if _, err := races.Run(t.Context(), parse(t, load(t, "stock.design.yaml")), o); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"Condition": 1, "ReadThenPut": 1}, received); diff != "" {
		t.Error(diff)
	}
}

// TestReportWithoutRunFails tests that a report fails if none of its races could be run, and says so.
func TestReportWithoutRunFails(t *testing.T) {
	skipped := &races.Scenario{Name: "Show twice", Default: true, Skipped: "image has no value"}
	for _, c := range []struct {
		scenarios []*races.Scenario
		failed    bool
		text      string
	}{
		{nil, true, "not exercised: the design has no writes and no races"},
		{[]*races.Scenario{skipped}, true, "not exercised: none of the races could be run"},
		{[]*races.Scenario{skipped, {Name: "Two"}}, false, "no findings"},
	} {
		report := &races.Report{Design: "Shop", Scenarios: c.scenarios}
		var text strings.Builder
		if err := report.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if report.Failed() != c.failed || !strings.HasSuffix(text.String(), ": "+c.text+"\n") {
			t.Errorf("failed is %v of\n%s", report.Failed(), text.String())
		}
	}
}
