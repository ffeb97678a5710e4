// Package guide proves that docs/design.md is true: it does what the page says.
package guide_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// TestGuide does what docs/design.md tells a newcomer to do, and compares what the commands print. A line "…" on the page
// stands for any lines.
func TestGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.Symlink(root, filepath.Join(home, "monotable")); err != nil {
		t.Fatal(err)
	}
	g := &guide{dir: home, path: filepath.Dir(serverproc.Build(t))}
	for _, f := range fences(string(page)) {
		switch kind, name, _ := strings.Cut(f.info, " "); {
		case name != "":
			if err := os.WriteFile(filepath.Join(g.dir, name), []byte(f.text), 0o600); err != nil {
				t.Fatal(err)
			}
		case kind == "sh":
			g.run(t, f.text)
		}
	}
	if g.commands < 8 {
		t.Errorf("the page has %d commands: are its fences still read?", g.commands)
	}
}

// fence is a block of a page.
type fence struct{ info, text string }

func fences(page string) []fence {
	var out []fence
	for i, part := range strings.Split(page, "\n```") {
		if i%2 == 1 {
			info, text, _ := strings.Cut(part, "\n")
			out = append(out, fence{info, text + "\n"})
		}
	}
	return out
}

// guide is a reader of the page at work.
type guide struct {
	dir, path string
	commands  int
}

// run runs the commands of a block, which begin with "$ ", and compares their outputs.
func (g *guide) run(t *testing.T, block string) {
	t.Helper()
	for _, step := range strings.Split("\n"+block, "\n$ ")[1:] {
		line, want, _ := strings.Cut(step, "\n")
		g.commands++
		command := exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-c", line+" && pwd >&3") //nolint:gosec // the page's own
		command.Dir = g.dir
		command.Env = append(os.Environ(), "PATH="+g.path+string(os.PathListSeparator)+os.Getenv("PATH"))
		at, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		command.ExtraFiles = []*os.File{at}
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("$ %s: %v\n%s", line, err, out)
		}
		if where, err := os.ReadFile(at.Name()); err == nil {
			g.dir = strings.TrimSpace(string(where)) // cd
		}
		_ = at.Close()
		if diff := cmp.Diff(strings.TrimSpace(want), elide(strings.TrimSpace(string(out)), strings.TrimSpace(want))); diff != "" {
			t.Errorf("$ %s (- the page, + the command)\n%s", line, diff)
		}
	}
}

// elide puts a "…" where the page has one, for the lines that it stands for: the page's other lines are the beginning.
func elide(out, want string) string {
	head, elided := strings.CutSuffix(want, "…")
	if !elided || !strings.HasPrefix(out, head) {
		return out
	}
	return want
}
