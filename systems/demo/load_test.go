package demo

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLoad: every route of the plan was called, each call counted once, by whoever it takes.
func TestLoad(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	r := serve(t, "--data", data)
	status, out, stderr := command(t, "load", "--url", r.web, "--data", data, "--duration", "100ms", "--connections", "2", "--json")
	if status != 0 {
		t.Fatal(stderr)
	}
	var results []systemLoad
	if err := json.Unmarshal([]byte(out), &results); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if want := len(systems()[0].Load.Routes); len(results) != want {
		t.Errorf("%d routes, want %d", len(results), want)
	}
	for _, x := range results {
		answers := 0
		for code, n := range x.Answers {
			answers += n
			if code >= 400 {
				t.Errorf("%s: %d answers were %d", x.Route, n, code)
			}
		}
		// At least a tenth of a second passed, so no more were counted than the rate says.
		if answers == 0 || x.PerSecond <= 0 || float64(answers) < x.PerSecond*0.1*0.99 || x.P50 <= 0 || x.P99 < x.P50 || x.P99 > time.Minute {
			t.Errorf("%+v", x)
		}
	}
	status, out, stderr = command(t, "load", "--url", r.web, "--data", data, "--duration", "50ms", "--connections", "1")
	if status != 0 || !strings.HasPrefix(out, "system ") || strings.Count(out, "\n") != len(results)+1 {
		t.Errorf("status %d %s:\n%s", status, stderr, out)
	}
	r.end(t)
	for args, want := range map[string]string{"--system nobody": "no such system", "--data nowhere": "keys"} {
		if status, _, stderr := command(t, append([]string{"load", "--url", r.web, "--data", data}, strings.Fields(args)...)...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("load %s: status %d: %s", args, status, stderr)
		}
	}
}
