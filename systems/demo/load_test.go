package demo

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestLoad: every route of the plan was called, and each call is counted once, however long it takes.
func TestLoad(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	r := serve(t, "--data", data)
	const connections, duration = 2, 100 * time.Millisecond
	begun := time.Now()
	status, out, stderr := command(t, "load", "--url", r.web, "--data", data, "--duration", duration.String(), "--connections", strconv.Itoa(connections), "--json")
	took := time.Since(begun)
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
		responses := 0
		for code, n := range x.Responses {
			responses += n
			if code >= 400 {
				t.Errorf("%s: %d responses were %d", x.Route, n, code)
			}
		}
		// The rate excludes the time between calls, so it is not less than the number of calls divided by the total time. Half of
		// the calls took at least the median, so an average call took at least half of it.
		least, most := float64(responses)/took.Seconds(), connections*2/x.P50.Seconds()
		if responses < connections || x.PerSecond < least || x.PerSecond > most || x.P50 <= 0 || x.P99 < x.P50 || x.P99 > took {
			t.Errorf("%+v, of %v in all: want %g to %g a second", x, took, least, most)
		}
	}
	if least := time.Duration(len(results)) * duration; took < least {
		t.Errorf("%d routes took %v, want %v at least", len(results), took, least)
	}
	status, out, stderr = command(t, "load", "--url", r.web, "--data", data, "--duration", "50ms", "--connections", "1")
	if status != 0 || !strings.HasPrefix(out, "system ") || strings.Count(out, "\n") != len(results)+1 {
		t.Errorf("status %d %s:\n%s", status, stderr, out)
	}
	r.end(t)
	for args, want := range map[string]string{
		"--system nobody": "--system nobody: unknown system (want one of notes)", "--data nowhere": "keys",
		"--duration -1s": "--duration -1s: want", "--connections 0": "--connections 0: want 1", "--connections -5": "--connections -5: want 1",
		"--rate -1": "--rate -1: want", "--rate 5 --duration 0": "--rate needs --duration",
		"--url http://127.0.0.1:1": "no demo is running", // nothing listens there
		"--url 127.0.0.1:1":        "--url 127.0.0.1:1: want http://host:port", "--url localhost:1": "--url localhost:1: want http://host:port",
	} {
		status, out, stderr := command(t, append([]string{"load", "--url", r.web, "--data", data}, strings.Fields(args)...)...)
		if status == 0 || out != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("load %s: status %d: %s%s", args, status, out, stderr)
		}
	}
}

// TestLoadOfAnotherDemo: tokens signed with another directory's keys are all rejected, and the error explains why, but not if the
// server that responds is not a demo.
func TestLoadOfAnotherDemo(t *testing.T) {
	t.Parallel()
	other, data := filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "data")
	serve(t, "--data", other).end(t) // creates its keys
	r := serve(t, "--data", data)
	status, _, stderr := command(t, "load", "--url", r.web, "--data", other, "--duration", "0", "--connections", "4")
	if status == 0 || !strings.Contains(stderr, "every token was rejected") || !strings.Contains(stderr, "is "+other) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("%d: %s", status, stderr)
	}
	status, out, stderr := command(t, "load", "--url", r.database, "--data", data)
	if status == 0 || out != "" || !strings.Contains(stderr, "no demo is running at "+r.database) {
		t.Errorf("%d: %s%s", status, out, stderr)
	}
	r.end(t)
}

// TestScriptWithoutBuild: systems/load says what is missing.
func TestScriptWithoutBuild(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../load")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "systems", "load") // there is no bin beside it
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, script, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "bash", path).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "run make build first") {
		t.Errorf("%v: %s", err, out)
	}
}
