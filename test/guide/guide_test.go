// Package guide follows the instructions in the documentation for newcomers: docs/design.md, the pages of docs/start, and the
// site's landing page.
package guide_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// TestPages follows the instructions for newcomers on the pages, and compares the output of the commands. A line "…" on a page
// matches any number of lines. Each page of docs/start has its own server.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	binary := serverproc.Build(t)
	for _, page := range []struct {
		name     string
		commands int // minimum number
		prepare  func(*testing.T, *guide)
	}{
		{"design.md", 8, nil},
		{"start/cli.md", 4, older},
		{"start/docker.md", 6, container},
		{"start/go.md", 3, workspace},
		{"start/javascript.md", 1, packages},
		{"start/python.md", 1, nil},
	} {
		t.Run(page.name, func(t *testing.T) {
			t.Parallel()
			g := open(t, binary)
			if strings.HasPrefix(page.name, "start/") && page.name != "start/docker.md" {
				g.env = append(serverproc.Start(t, binary, "--memory").Env(), "NODE_NO_WARNINGS=1")
			}
			if page.prepare != nil {
				page.prepare(t, g)
			}
			if g.follow(t, page.name); g.commands < page.commands {
				t.Errorf("the page has %d commands: are its fences still read?", g.commands)
			}
		})
	}
	t.Run("glance", func(t *testing.T) {
		t.Parallel()
		checkLandingPage(t, open(t, binary))
	})
}

// checkLandingPage checks the design on the site's landing page, and compares the findings with those shown there.
func checkLandingPage(t *testing.T, g *guide) {
	t.Helper()
	g.dir = filepath.Join(g.root, "docs", "glance")
	want, err := os.ReadFile(filepath.Join(g.dir, "check.txt"))
	if err != nil {
		t.Fatal(err)
	}
	g.run(t, "$ monotable check shop.design.yaml || test $? = 1\n"+string(want))
}

// older configures the endpoint for Debian's AWS CLI, which does not know the environment variable that later versions use.
func older(t *testing.T, g *guide) {
	t.Helper()
	g.command(t, "aws", `exec /usr/bin/aws --endpoint-url "$AWS_ENDPOINT_URL_DYNAMODB" "$@"`)
}

// container replaces Docker, which tests cannot rely on: "docker run … IMAGE ARGS" starts the server with the page's arguments,
// but on a free port, and with the volume's directory. The image itself is tested by make dist-test.
func container(t *testing.T, g *guide) {
	t.Helper()
	g.env = append(g.env, "STATE="+t.TempDir(), "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=monotable", "AWS_SECRET_ACCESS_KEY=monotable")
	g.command(t, "aws", `exec /usr/bin/aws --endpoint-url "$(cat "$STATE/endpoint")" "$@"`)
	g.command(t, "docker", `set -euo pipefail
stop() { kill "$(cat "$STATE/pid")" && tail --pid="$(cat "$STATE/pid")" -f /dev/null; }
case $1 in
run)
	arguments=$(sed 's|.* ghcr.io/monotable/monotable ||; s|--addr :8000|--addr 127.0.0.1:0|' <<<"$*")
	: >"$STATE/log" # here, because the server's own redirection may come after the first look for its address
	MONOTABLE_DATA=$STATE/volume setsid monotable $arguments >>"$STATE/log" 2>&1 </dev/null &
	echo $! >"$STATE/pid"
	until endpoint=$(grep -o 'http://[0-9.:]*' "$STATE/log"); do kill -0 $! || { cat "$STATE/log"; exit 1; }; sleep 0.1; done
	head -n 1 <<<"$endpoint" >"$STATE/endpoint"
	cat "$STATE/pid" ;;
exec) shift 2 && exec "$@" ;;
rm) stop && echo monotable ;;
stop) ! test -e "$STATE/pid" || stop ;;
esac`)
	t.Cleanup(func() { g.run(t, "$ docker stop monotable\n") })
}

// workspace makes the page's module use this repository instead of a published version.
func workspace(t *testing.T, g *guide) {
	t.Helper()
	g.run(t, "$ go mod init example.com/start 2>/dev/null\n$ go work init . monotable\n")
}

// packages provides the packages that "npm install @aws-sdk/client-dynamodb @aws-sdk/lib-dynamodb" installs.
func packages(t *testing.T, g *guide) {
	t.Helper()
	installed := filepath.Join(g.root, "test", "seeds", "js", "node_modules")
	if _, err := os.Stat(filepath.Join(installed, "@aws-sdk", "lib-dynamodb")); err != nil {
		t.Skip("the JavaScript SDK is not installed: make setup")
	}
	if err := os.Symlink(installed, filepath.Join(g.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
}

// fence is a fenced block of a page.
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

// guide follows a page, in a directory with a clone of the repository.
type guide struct {
	root, dir string
	path      []string // searched for commands before PATH
	env       []string
	commands  int
}

func open(t *testing.T, binary string) *guide {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.Symlink(root, filepath.Join(home, "monotable")); err != nil {
		t.Fatal(err)
	}
	g := &guide{root: root, dir: home, path: []string{t.TempDir(), filepath.Dir(binary)}}
	g.command(t, "python3", `exec /usr/bin/python3 "$@"`) // this one has boto3
	return g
}

// command creates a command from a line of bash.
func (g *guide) command(t *testing.T, name, line string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(g.path[0], name), []byte("#!/bin/bash\n"+line+"\n"), 0o700); err != nil { //nolint:gosec // it is executed
		t.Fatal(err)
	}
}

// follow writes the files of a page of docs and runs its commands.
func (g *guide) follow(t *testing.T, page string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.root, "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fences(string(text)) {
		switch kind, name, _ := strings.Cut(f.info, " "); {
		case name != "":
			file := filepath.Join(g.dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(f.text), 0o600); err != nil {
				t.Fatal(err)
			}
		case kind == "sh":
			g.run(t, f.text)
		}
	}
}

// run runs the commands of a block, which begin with "$ ", and compares their output.
func (g *guide) run(t *testing.T, block string) {
	t.Helper()
	for _, step := range strings.Split("\n"+block, "\n$ ")[1:] {
		line, want, _ := strings.Cut(step, "\n")
		g.commands++
		command := exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-c", line+" && pwd >&3") //nolint:gosec // a command of the page
		command.Dir = g.dir
		command.Env = append(append(os.Environ(), g.env...), "PATH="+strings.Join(append(slices.Clone(g.path), os.Getenv("PATH")), string(os.PathListSeparator)))
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
			g.dir = strings.TrimSpace(string(where)) // the directory after cd
		}
		_ = at.Close()
		if diff := cmp.Diff(strings.TrimSpace(want), elide(strings.TrimSpace(string(out)), strings.TrimSpace(want))); diff != "" {
			t.Errorf("$ %s (- the page, + the command)\n%s", line, diff)
		}
	}
}

// elide returns the page's text if it ends with "…" and the rest of it is a prefix of the output.
func elide(out, want string) string {
	head, elided := strings.CutSuffix(want, "…")
	if !elided || !strings.HasPrefix(out, head) {
		return out
	}
	return want
}

// TestSidebar: the site's sidebar links to every page of docs.
func TestSidebar(t *testing.T) {
	sidebar, err := os.ReadFile(filepath.Join("..", "..", "site", ".vitepress", "sidebar.mts"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages: ", err)
	}
	for _, page := range pages {
		if name := strings.TrimSuffix(filepath.Base(page), ".md"); name != "index" && !strings.Contains(string(sidebar), `"/`+name+`"`) {
			t.Errorf("site/.vitepress/sidebar.mts lacks %s", name)
		}
	}
}
