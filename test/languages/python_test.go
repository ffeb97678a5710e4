package languages

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
)

// hasBoto3 skips the test if Debian's boto3 is missing.
func hasBoto3(t *testing.T) {
	t.Helper()
	if err := exec.CommandContext(t.Context(), python.driver[0], "-c", "import boto3").Run(); err != nil {
		t.Skip("python3-boto3 is not installed: make setup")
	}
}

// TestPython tests that the generated code of every design type-checks, and that the random trials find no
// difference from Go.
func TestPython(t *testing.T) {
	hasBoto3(t)
	files := designs(t)
	dir := t.TempDir()
	parsed := make([]*design.Design, len(files))
	name := func(i int) string {
		return strings.NewReplacer(".", "_", "-", "_").Replace(filepath.Base(filepath.Dir(files[i])) + "_" + filepath.Base(files[i]))
	}
	for i, file := range files {
		parsed[i] = generated(t, python, file, filepath.Join(dir, name(i)))
	}
	pythonExample(t, dir)
	t.Run("types", func(t *testing.T) {
		t.Parallel()
		if _, err := os.Stat("/usr/bin/mypy"); err != nil {
			t.Skip("mypy is not installed: make setup")
		}
		cmd := exec.CommandContext(t.Context(), "/usr/bin/mypy", "--strict", "--python-version", "3.10", "--cache-dir", t.TempDir(), ".")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("mypy --strict: %v\n%s", err, bytes.ReplaceAll(out, []byte(dir), nil))
		}
	})
	for i := range files {
		t.Run(name(i), func(t *testing.T) {
			if !*everything && !tried(files[i]) {
				t.Skip("it type-checks; -everything tries it")
			}
			t.Parallel()
			try(t, python, parsed[i], filepath.Join(dir, name(i)))
		})
	}
}

// pythonExample puts the page's example next to the code of its design, to be type-checked with it.
func pythonExample(t *testing.T, dir string) {
	t.Helper()
	if *only != "" {
		return
	}
	page, err := os.ReadFile("../../docs/python.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```python\n")
	code, _, found := strings.Cut(after, "```\n")
	code = strings.ReplaceAll(code, "from shop import", "from designs_shop_design_yaml import")
	if !found || !strings.Contains(code, "designs_shop") {
		t.Fatal("docs/python.md has no example")
	}
	code = strings.ReplaceAll(code, "import boto3\n", "import boto3  # type: ignore[import]\n")
	if err := os.WriteFile(filepath.Join(dir, "example.py"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
}
