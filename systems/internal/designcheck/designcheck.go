// Package designcheck checks a system's design: it has no errors and no unaccepted warnings, its form is canonical, the generated
// package is up to date, patterns return what they must, and no interleaving in its races breaks an invariant.
//
// It runs the commands that a developer would run in the test's process; their output is the failure message.
package designcheck

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/tools/cli"
)

// Run checks the file of a design and the directory of its generated package.
func Run(t *testing.T, file, generated string) {
	t.Helper()
	for _, args := range [][]string{
		{"check", file, "--fail-on", "warning"},
		{"fmt", file, "--check"},
		{"generate", file, "-o", generated, "--check"},
		{"test", file},
		{"races", file},
	} {
		t.Run(args[0], func(t *testing.T) { Command(t, args...) })
	}
}

// Command runs a monotable command, which must succeed, and returns its output.
func Command(tb testing.TB, args ...string) string {
	tb.Helper()
	var out, complaints bytes.Buffer
	status := cli.Run(tb.Context(), args, cli.Environment{
		Program: "monotable", Getenv: func(string) string { return "" }, Stdout: &out, Stderr: &complaints,
	})
	if status != 0 {
		tb.Fatalf("monotable %q: status %d\n%s%s", args, status, out.String(), complaints.String())
	}
	return out.String()
}

// Breaks fails the test unless the races of a design, with one text replaced by another, find a violated invariant. This shows
// that the replaced text is needed, and that the races detect its absence.
func Breaks(tb testing.TB, file, before, after, race, invariant string) {
	tb.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // a test's own path
	if err != nil {
		tb.Fatal(err)
	}
	changed := strings.ReplaceAll(string(text), before, after)
	if changed == string(text) {
		tb.Fatalf("%s has no %q", file, before)
	}
	mutant := filepath.Join(tb.TempDir(), filepath.Base(file))
	if err := os.WriteFile(mutant, []byte(changed), 0o600); err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	env := cli.Environment{Program: "monotable", Getenv: func(string) string { return "" }, Stdout: &out, Stderr: &out}
	if status := cli.Run(tb.Context(), []string{"races", mutant, race}, env); status == 0 || !strings.Contains(out.String(), ": "+invariant+" does not hold") {
		tb.Errorf("in race %s of the changed design %s holds: status %d\n%s", race, invariant, status, out.String())
	}
}
