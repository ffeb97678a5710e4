// Package dist tests the parts of a release. Without -dist, it tests the test helpers from source, with a binary built from
// this tree. With -dist DIR (make dist-test), it installs and runs every package of a release that make dist has built in
// DIR.
package dist

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/test/internal/serverproc"
)

const root = "../.."

var release = flag.String("dist", "", "`directory` of a release that make dist has built, to test its packages")

// built returns the directory of the release; without one, the test is skipped.
func built(t *testing.T) string {
	t.Helper()
	if *release == "" {
		t.Skip("needs a release: make dist-test")
	}
	return absolute(t, *release)
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// only returns the only file that matches a pattern.
func only(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) != 1 {
		t.Fatalf("%s: %v, %v; want one file", pattern, files, err)
	}
	return files[0]
}

// run runs a command in a directory with additional environment variables, and returns its output.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir, command.Env = dir, append(os.Environ(), env...)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, output)
	}
	return string(output)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// examples returns the code blocks of a page in a language.
func examples(t *testing.T, page, language string) (blocks []string) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```").FindAllStringSubmatch(string(data), -1) {
		blocks = append(blocks, m[1])
	}
	if len(blocks) != 2 {
		t.Fatalf("%s has %d examples in %s, want two", page, len(blocks), language)
	}
	return blocks
}

// TestNode uses the package monotable from an empty project.
func TestNode(t *testing.T) {
	project := t.TempDir()
	var env []string
	if *release == "" {
		packages := filepath.Join(project, "node_modules")
		if err := os.CopyFS(filepath.Join(packages, "monotable"), os.DirFS(filepath.Join(root, "packaging", "npm"))); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(packages, "monotable"), "package.json", `{"main": "index.js", "exports": {".": "./index.js", "./testing": "./testing.js"}}`)
		env = []string{"MONOTABLE_BINARY=" + serverproc.Build(t)}
	} else {
		dir := filepath.Join(built(t), "npm")
		write(t, project, "package.json", `{"private": true}`)
		run(t, project, nil, "npm", "install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts",
			only(t, filepath.Join(dir, "monotable-linux-x64-*.tgz")), only(t, filepath.Join(dir, "monotable-[0-9]*.tgz")))
		if said := run(t, project, nil, filepath.Join(project, "node_modules", ".bin", "monotable"), "version"); !strings.HasPrefix(said, "monotable ") {
			t.Errorf("the launcher printed %q", said)
		}
	}
	for _, name := range []string{"helpers.test.mjs", "other.test.mjs", "orphan.cjs", "shop.design.yaml"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, project, name, string(data))
	}
	run(t, project, env, "node", "--test", "--test-concurrency=1", "helpers.test.mjs", "other.test.mjs")
}

// TestPython uses the Python package from an empty project, with Debian's boto3 and pytest.
func TestPython(t *testing.T) {
	project := t.TempDir()
	packages, plugin := absolute(t, filepath.Join(root, "packaging", "python")), []string{"-p", "monotable.pytest_plugin"}
	var env []string
	if *release == "" {
		env = []string{"MONOTABLE_BINARY=" + serverproc.Build(t)}
	} else {
		packages, plugin = filepath.Join(project, "packages"), nil // pytest finds the plugin through its entry point
		run(t, project, nil, "/usr/bin/python3", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", packages,
			only(t, filepath.Join(built(t), "python", "*manylinux*x86_64*.whl")))
	}
	for _, name := range []string{"test_helpers.py", "test_other.py", "orphan.py", "shop.design.yaml"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, project, name, string(data))
	}
	examples := examples(t, filepath.Join(root, "packaging", "python", "README.md"), "python")
	write(t, project, "test_readme.py", examples[0])
	write(t, project, "readme.py", examples[1])
	env = append(env, "PYTHONPATH="+packages, "PYTHONDONTWRITEBYTECODE=1")
	run(t, project, env, "/usr/bin/python3",
		append([]string{"-m", "pytest", "-q", "-p", "no:cacheprovider", "test_helpers.py", "test_other.py", "test_readme.py"}, plugin...)...)
	run(t, project, env, "/usr/bin/python3", "readme.py")
	run(t, project, env, "/usr/bin/python3", "-m", "monotable", "version")
}

// TestChecksums compares every file of the release with checksums.txt.
func TestChecksums(t *testing.T) {
	run(t, built(t), nil, "sha256sum", "--quiet", "-c", "checksums.txt")
}

// TestSBOM checks that the SBOM lists modules that the program certainly contains.
func TestSBOM(t *testing.T) {
	data, err := os.ReadFile(only(t, filepath.Join(built(t), "monotable_*_linux_amd64.tar.gz.cdx.json")))
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		Format     string `json:"bomFormat"`
		Components []struct{ Purl string }
	}
	if err := json.Unmarshal(data, &bom); err != nil || bom.Format != "CycloneDX" {
		t.Fatalf("%q, %v", bom.Format, err)
	}
	for _, module := range []string{"std", "github.com/cockroachdb/pebble/v2", "github.com/aws/aws-sdk-go-v2"} {
		if !bytes.Contains(data, []byte(`"purl": "pkg:golang/`+module+`@`)) {
			t.Errorf("%s is missing among %d components", module, len(bom.Components))
		}
	}
}

// TestTags tests the store on PostgreSQL with the release's build tags, which exclude parts of pgx.
func TestTags(t *testing.T) {
	info, err := buildinfo.ReadFile(filepath.Join(built(t), "build", "linux_amd64", "monotable"))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-tags" })
	if at < 0 {
		t.Fatalf("the program has no tags: %v", info.Settings)
	}
	run(t, root, nil, "go", "test", "-count=1", "-timeout=20m", "-tags="+info.Settings[at].Value, "-run=Contract|TestDialect|TestDescribe|TestLongKeys", "./internal/database/storage/kv/postgreskv")
}

// TestRunners uses the packed package in Vitest and Jest with the AWS SDK, in the versions pinned by runners/package-lock.json.
func TestRunners(t *testing.T) {
	dir, project := filepath.Join(built(t), "npm"), t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "vitest.test.mjs", "other-vitest.test.mjs", "jest.spec.cjs"} {
		data, err := os.ReadFile(filepath.Join("runners", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, project, name, string(data))
	}
	data, err := os.ReadFile(filepath.Join("testdata", "shop.design.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, project, "shop.design.yaml", string(data))
	examples := examples(t, filepath.Join(root, "packaging", "npm", "README.md"), "js")
	write(t, project, "readme.mjs", examples[0])
	write(t, project, "readme-vitest.test.mjs", examples[1])
	quiet := []string{"--no-audit", "--no-fund", "--loglevel=error"}
	run(t, project, nil, "npm", append([]string{"ci"}, quiet...)...)
	run(t, project, nil, "npm", append([]string{
		"install", "--no-save", "--ignore-scripts",
		only(t, filepath.Join(dir, "monotable-linux-x64-*.tgz")), only(t, filepath.Join(dir, "monotable-[0-9]*.tgz")),
	}, quiet...)...)
	run(t, project, nil, "npx", "--no-install", "vitest", "run", "--hookTimeout=120000", "vitest.test.mjs", "other-vitest.test.mjs", "readme-vitest.test.mjs")
	run(t, project, nil, "node", "readme.mjs")
	run(t, project, nil, "npx", "--no-install", "jest", "--testTimeout=120000", "--testMatch", "**/jest.spec.cjs")
}
