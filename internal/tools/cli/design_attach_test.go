package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDesignAttach tests that each attaching and detaching is a version, and that a table without a design is
// reported.
func TestDesignAttach(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "shop.design.yaml")
	if err := os.WriteFile(file, []byte(shopForModels), 0o600); err != nil {
		t.Fatal(err)
	}
	url := serveForModels(t, file)
	for _, step := range []struct {
		args   string
		status int
		says   string
	}{
		{"list", 0, "No table has a design attached"},
		{"list --json", 0, "[]"},
		{"attach " + file, 0, "Attached shop.design.yaml to Shop, version 1."},
		{"attach " + file + " --table other", 0, "to other, version 1."},
		{"attach " + file, 0, "version 2."},
		{"detach Shop", 0, "from Shop, version 3."},
		{"detach Shop", 1, "no design is attached to Shop"},
		{"list", 0, "other  1"},
		{"list --all --json", 0, `"version":3`},
	} {
		var said strings.Builder
		status := Run(t.Context(), append(append([]string{"design"}, strings.Fields(step.args)...), "--endpoint", url), Environment{
			Program: "monotable", Getenv: func(string) string { return "" }, Stdout: &said, Stderr: io.MultiWriter(&said, t.Output()),
		})
		if text := strings.Join(strings.Fields(said.String()), " "); status != step.status || !strings.Contains(text, strings.Join(strings.Fields(step.says), " ")) {
			t.Errorf("design %s: %d %q", step.args, status, said.String())
		}
	}
}
