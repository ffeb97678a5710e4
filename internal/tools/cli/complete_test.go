package cli

import (
	"io"
	"strings"
	"testing"
)

// TestCompleteValues checks that shells complete the values of a flag that has a few, and file names for others.
func TestCompleteValues(t *testing.T) {
	complete := func(args string) (values []string, directive string) {
		var out strings.Builder
		if Run(t.Context(), strings.Split("__complete "+args+" ", " "), Environment{Program: "monotable", Getenv: func(string) string { return "" }, Stdout: &out, Stderr: io.Discard}) != 0 {
			t.Fatal(out.String())
		}
		lines := strings.Fields(out.String())
		return lines[:len(lines)-1], lines[len(lines)-1]
	}
	if values, directive := complete("provision shop.design.yaml --as"); directive != ":4" || strings.Join(values, " ") != "createtable cloudformation sam terraform iam workbench" {
		t.Error(values, directive)
	}
	if values, directive := complete("serve --data"); directive != ":0" || len(values) > 0 {
		t.Error(values, directive)
	}
}
