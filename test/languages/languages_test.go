// Package languages checks the TypeScript and Python code written by monotable generate: both type-check under strict
// options, and behave like the Go code of the same design, with the AWS SDKs for JavaScript and Python over a socket.
//
// A driver for each language runs the generated code with a common line protocol (driver.mjs, driver.py). The random
// trials of package trial drive both languages in parallel, each with its own database: results, errors and stored items
// must be equal.
package languages

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/generate"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/trial"
)

var (
	everything = flag.Bool("everything", false, "try all designs with more items and transactions, which takes an hour; without it those that differ most")
	only       = flag.String("only", "", "generate and try only the designs whose file names match, while one works on them")
)

// tried reports whether a design's random trials run without -everything.
func tried(file string) bool {
	return regexp.MustCompile(`/generated/|/testdata/forge\.|trinity`).MatchString(file)
}

// designs are the designs to generate and try.
func designs(t *testing.T) []string {
	t.Helper()
	var out []string
	const trials = "../../internal/tools/designer/trial/testdata/"
	for _, pattern := range []string{"../../systems/*/*.design.yaml", "../generated/designs/*.design.yaml", trials + "*.design.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no designs match %s: %v", pattern, err)
		}
		out = append(out, files...)
	}
	return slices.DeleteFunc(out, func(file string) bool { return !regexp.MustCompile(*only).MatchString(filepath.Base(file)) })
}

// installed skips the test if the npm packages are missing.
func installed(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("node_modules/typescript"); errors.Is(err, os.ErrNotExist) {
		t.Skip("the packages of test/languages are not installed: make setup")
	}
}

// language is one that is generated.
type language struct {
	name     string
	generate func(*lower.Program) ([]generate.File, error)
	driver   []string // a command, for the directory of the code
}

// The languages under test. Python is Debian's own, which has boto3: PATH may have another one first.
var (
	typescript = language{"TypeScript", generate.TypeScript, []string{"node", "driver.mjs"}}
	python     = language{"Python", generate.Python, []string{"/usr/bin/python3", "driver.py"}}
)

// inEach runs a test of a design's code in each language. The code is in dir.
func inEach(t *testing.T, file string, test func(t *testing.T, l language, d *design.Design, dir string)) {
	t.Helper()
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	t.Run("TypeScript", func(t *testing.T) {
		installed(t)
		dir := t.TempDir()
		d := generated(t, typescript, file, filepath.Join(dir, name))
		compiled(t, dir)
		test(t, typescript, d, filepath.Join(dir, "out", name))
	})
	t.Run("Python", func(t *testing.T) {
		hasBoto3(t)
		dir := filepath.Join(t.TempDir(), name)
		test(t, python, generated(t, python, file, dir), dir)
	})
}

// generated writes the code of a design into a directory.
func generated(t *testing.T, l language, file, dir string) *design.Design {
	t.Helper()
	d, err := design.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := lower.Lower(d)
	if err != nil {
		t.Fatal(err)
	}
	files, err := l.generate(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := generate.Write(dir, files); err != nil {
		t.Fatal(err)
	}
	return d
}

// compiled type-checks and compiles everything below a directory.
func compiled(t *testing.T, dir string) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for name, link := range map[string]string{"node_modules": "node_modules", "base.json": "tsconfig.json"} {
		if err := os.Symlink(filepath.Join(here, link), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"package.json":  `{ "type": "module" }`,
		"tsconfig.json": `{ "extends": "./base.json", "compilerOptions": { "outDir": "out", "rootDir": "." }, "include": ["**/*.ts"], "exclude": ["out"] }`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), "node_modules/.bin/tsc", "--project", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("the generated code is no TypeScript: %v\n%s", err, bytes.ReplaceAll(out, []byte(dir), nil))
	}
}

// TestTypeScript tests that the generated code of every design type-checks, and that the random trials find no
// difference from Go.
func TestTypeScript(t *testing.T) {
	installed(t)
	files := designs(t)
	dir := t.TempDir()
	parsed := make([]*design.Design, len(files))
	name := func(i int) string { return filepath.Base(filepath.Dir(files[i])) + "_" + filepath.Base(files[i]) }
	for i, file := range files {
		parsed[i] = generated(t, typescript, file, filepath.Join(dir, name(i)))
	}
	example(t, dir)
	compiled(t, dir)
	for i := range files {
		t.Run(name(i), func(t *testing.T) {
			if !*everything && !tried(files[i]) {
				t.Skip("it type-checks; -everything tries it")
			}
			t.Parallel()
			try(t, typescript, parsed[i], filepath.Join(dir, "out", name(i)))
		})
	}
}

// example puts the page's example next to the code of its design, to be type-checked with it.
func example(t *testing.T, dir string) {
	t.Helper()
	if *only != "" {
		return
	}
	page, err := os.ReadFile("../../docs/typescript.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```ts\n")
	code, _, found := strings.Cut(after, "```\n")
	code = strings.ReplaceAll(code, "./shop/index.js", "./designs_shop.design.yaml/index.js")
	if !found || !strings.Contains(code, "designs_shop") {
		t.Fatal("docs/typescript.md has no example")
	}
	if err := os.WriteFile(filepath.Join(dir, "example.ts"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
}

// trialItems is the approximate number of items per entity in a trial.
func trialItems() int {
	if *everything {
		return 20
	}
	return 4
}

// try runs the random trials of a design.
func try(t *testing.T, l language, d *design.Design, dir string) {
	t.Helper()
	driver := start(t, l, dir)
	run, err := trial.New(d, trial.Options{Seed: 1, Items: trialItems(), Open: driver.open})
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, s := range run.Subjects() {
		if s.Kind == trial.EntitySubject {
			continue
		}
		r, err := run.Try(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		calls += r.Cases
		for _, f := range r.Failures {
			if f.Kind == trial.Failed && (strings.Contains(f.Got, difference) || strings.Contains(f.Got, broken)) {
				t.Error(f.String()) // other tests check the design itself
			}
		}
	}
	if err := run.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d calls, %d by both; transactions: %v", calls, driver.calls, driver.composed)
	if driver.calls == 0 {
		t.Error("no call was made")
	}
}
