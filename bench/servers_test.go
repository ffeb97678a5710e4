//go:build unix

package main

import (
	"slices"
	"testing"
)

// TestBuildsAreMeasuredApart: each server of ours runs the build that it is named after.
func TestBuildsAreMeasuredApart(t *testing.T) {
	program, before = "new build", "old build"
	t.Cleanup(func() { program, before = "", "" })
	for name, build := range map[string]string{
		"monotable": program, "monotable-before": before, "monotable-memory": program, "monotable-signed": program,
	} {
		i := slices.IndexFunc(servers(), func(s *server) bool { return s.name == name })
		if got := servers()[i].command(8000, t.TempDir())[0]; got != build {
			t.Errorf("%s runs the %s, want the %s", name, got, build)
		}
	}
}
