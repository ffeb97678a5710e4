// Package arch checks the source tree against its architecture: the import graph of layers.txt, one comment per package,
// and the license.
package arch

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/monotable/monotable"

// root is the module's directory as seen from this package.
var root = filepath.Join("..", "..")

// rule says what one package, or one directory of packages, may import.
type rule struct {
	line     int
	internal []string // paths inside the module, "." is the root package
	external []string // prefixes of import paths outside the module and the standard library
}

// sourcePackage is the information in the files of one directory.
type sourcePackage struct {
	imports  map[string]string // import path → a file that imports it
	comments []string          // files that carry a package comment
}

// TestImports compares every import of every non-test file with layers.txt.
func TestImports(t *testing.T) {
	rules := readRules(t, "layers.txt")
	for dir, pkg := range readTree(t) {
		r, ok := ruleFor(rules, dir)
		if !ok {
			t.Errorf("%s: no line in layers.txt; say what it may import", dir)
			continue
		}
		for imported, file := range pkg.imports {
			if !r.allows(imported) {
				t.Errorf("%s imports %s, which layers.txt:%d does not allow for %s", file, imported, r.line, dir)
			}
		}
	}
}

// TestRulesHaveSubjects keeps layers.txt from listing packages that no longer exist.
func TestRulesHaveSubjects(t *testing.T) {
	tree := readTree(t)
	for subject, r := range readRules(t, "layers.txt") {
		prefix, isTree := strings.CutSuffix(subject, "/...")
		found := false
		for dir := range tree {
			found = found || dir == subject || isTree && (dir == prefix || strings.HasPrefix(dir, prefix+"/"))
		}
		if !found {
			t.Errorf("layers.txt:%d speaks of %s, which has no Go files", r.line, subject)
		}
	}
}

// TestDatabaseImportsNothingAboveIt tests that the database imports nothing above it, and that nothing that the tools are built on imports a
// tool. A package directly under internal/ that imports nothing of the module is the ground below both floors.
func TestDatabaseImportsNothingAboveIt(t *testing.T) {
	const database, tools = "internal/database", "internal/tools"
	tree := readTree(t)
	within := func(dir, floor string) bool { return strings.HasPrefix(dir+"/", floor+"/") }
	below := map[string]bool{} // packages outside tools that a tool imports, directly or not
	var visit func(dir string)
	visit = func(dir string) {
		if below[dir] || tree[dir] == nil {
			return
		}
		below[dir] = true
		for imported := range tree[dir].imports {
			if inside, ok := insideModule(imported); ok {
				visit(inside)
			}
		}
	}
	for dir, pkg := range tree {
		for imported, file := range pkg.imports {
			inside, ok := insideModule(imported)
			switch {
			case !ok:
			case isGround(tree, inside):
			case within(dir, database) && !within(inside, database):
				t.Errorf("%s imports %s: %s imports nothing above it", file, inside, database)
			case within(dir, tools) && !within(inside, tools):
				visit(inside)
			}
		}
	}
	for dir := range below {
		if within(dir, tools) {
			t.Errorf("%s is below a tool and imported by a package that the tools are built on", dir)
		}
	}
}

// isGround reports whether a package is directly under internal/ and imports nothing of the module.
func isGround(tree map[string]*sourcePackage, dir string) bool {
	if path.Dir(dir) != "internal" || tree[dir] == nil {
		return false
	}
	for imported := range tree[dir].imports {
		if _, ok := insideModule(imported); ok {
			return false
		}
	}
	return true
}

// TestPackageComments requires exactly one package comment per package, so that there is one place to read.
func TestPackageComments(t *testing.T) {
	for dir, pkg := range readTree(t) {
		if len(pkg.comments) != 1 {
			t.Errorf("%s: %d package comments, want 1: %v", dir, len(pkg.comments), pkg.comments)
		}
	}
}

func (r rule) allows(imported string) bool {
	if inside, ok := insideModule(imported); ok {
		return slices.ContainsFunc(r.internal, func(allowed string) bool {
			prefix, isTree := strings.CutSuffix(allowed, "/...")
			return inside == allowed || isTree && strings.HasPrefix(inside+"/", prefix+"/")
		})
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(r.external, func(prefix string) bool {
		return strings.HasPrefix(imported+"/", prefix+"/")
	})
}

// insideModule returns the directory of an imported package of this module.
func insideModule(imported string) (dir string, ok bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// ruleFor finds the rule of a directory: its own line, or that of the nearest parent directory.
func ruleFor(rules map[string]rule, dir string) (rule, bool) {
	if r, ok := rules[dir]; ok {
		return r, true
	}
	for d := dir; d != "." && d != "/"; d = path.Dir(d) {
		if r, ok := rules[d+"/..."]; ok {
			return r, true
		}
	}
	return rule{}, false
}

func readRules(t *testing.T, name string) map[string]rule {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rules := map[string]rule{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		subject, allowed, ok := strings.Cut(text, ":")
		if !ok {
			t.Fatalf("%s:%d: want PACKAGE: IMPORTS", name, n)
		}
		inside, outside, _ := strings.Cut(allowed, "|")
		rules[strings.TrimSpace(subject)] = rule{line: n, internal: strings.Fields(inside), external: strings.Fields(outside)}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rules
}

// readTree parses the head of every Go file of the module, by directory relative to its root.
func readTree(t *testing.T) map[string]*sourcePackage {
	t.Helper()
	tree := map[string]*sourcePackage{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipDir(name, entry)
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		return readFile(tree, name)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(tree) < 5 {
		t.Fatalf("only %d packages under %s: %v", len(tree), root, slices.Collect(maps.Keys(tree)))
	}
	return tree
}

// skipDir skips everything that is not part of the module: hidden directories, data, installed packages, and directories
// with their own module.
func skipDir(name string, entry fs.DirEntry) error {
	base := entry.Name()
	if name == root {
		return nil
	}
	if strings.HasPrefix(base, ".") || base == "node_modules" || base == "testdata" || base == "data" || base == "bin" {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func readFile(tree map[string]*sourcePackage, name string) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(root, name)
	if err != nil {
		return err
	}
	dir := filepath.ToSlash(filepath.Dir(relative))
	test := strings.HasSuffix(name, "_test.go")
	pkg := tree[dir]
	if pkg == nil {
		pkg = &sourcePackage{imports: map[string]string{}}
		tree[dir] = pkg
	}
	if hasPackageComment(file) {
		pkg.comments = append(pkg.comments, relative)
	}
	if test {
		return nil
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		pkg.imports[imported] = relative
	}
	return nil
}

func hasPackageComment(file *ast.File) bool {
	return file.Doc != nil && strings.HasPrefix(file.Doc.Text(), "Package ") || file.Doc != nil && file.Name.Name == "main"
}
