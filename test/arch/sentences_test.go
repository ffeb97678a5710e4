package arch

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The location of the sentences: the package by the name it is imported by, its directory, the file, the
// type.
const (
	table     = "apierr"
	tableDir  = "internal/database/dynamo/apierr"
	tableFile = "sentences.go"
	tableType = "Sentence"
)

// TestSentencesAreInTable keeps sentences for clients out of the engine and the server: an error is
// made from a sentence of the table, or from the text of another error.
func TestSentencesAreInTable(t *testing.T) {
	for _, dir := range []string{"internal/database/engine", "internal/database/server"} {
		eachSource(t, dir, func(files *token.FileSet, file *ast.File) {
			ast.Inspect(file, func(n ast.Node) bool {
				if fault := literalSentence(n); fault != "" {
					t.Errorf("%s: %s; sentences stand in %s", files.Position(n.Pos()), fault, tableDir)
				}
				return true
			})
		})
	}
}

// literalSentence describes how an expression makes an error with a sentence of its own, "" if it does
// not.
func literalSentence(n ast.Node) string {
	if l, ok := n.(*ast.CompositeLit); ok && selected(l.Type) == "Error" {
		return "an error made by hand"
	}
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	switch name := selected(call.Fun); name {
	case "New", "Validation", "Serialization", tableType:
		message := call.Args[len(call.Args)-1]
		if _, said := message.(*ast.CallExpr); !said || hasLiteral(message, text) {
			return name + " of a text that no other error says"
		}
	}
	if _, ok := stated(call); ok && slices.ContainsFunc(call.Args, func(fact ast.Expr) bool { return hasLiteral(fact, words) }) {
		return "words where a fact should stand"
	}
	return ""
}

// TestSentencesHaveTheirFacts counts the facts that are passed for each sentence, and requires each to be
// used.
func TestSentencesHaveTheirFacts(t *testing.T) {
	sentences := readSentences(t)
	used := map[string]bool{}
	eachSource(t, "internal", func(files *token.FileSet, file *ast.File) {
		within := file.Name.Name == table && filepath.Base(files.Position(file.Pos()).Filename) != tableFile
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				sentence, isStated := stated(n)
				if text, known := sentences[sentence]; isStated && known && verbs(text) != len(n.Args) {
					t.Errorf("%s: %s takes %d facts, has %d", files.Position(n.Pos()), sentence, verbs(text), len(n.Args))
				}
			case *ast.SelectorExpr:
				used[selected(n)] = true
			case *ast.Ident:
				used[n.Name] = used[n.Name] || within
			}
			return true
		})
	})
	for name, text := range sentences {
		if strings.Contains(verb.ReplaceAllString(text, ""), "%") {
			t.Errorf("%s has verbs other than %%s and %%d: %s", name, text)
		}
		if !used[name] {
			t.Errorf("%s is nowhere used", name)
		}
	}
}

// verb is a verb in a sentence: %s, or %[1]s if a fact occurs twice.
var verb = regexp.MustCompile(`%(?:\[(\d)\])?[sd]`)

// verbs is the number of facts in a sentence.
func verbs(text string) int {
	n := 0
	for i, m := range verb.FindAllStringSubmatch(text, -1) {
		at := i + 1
		if m[1] != "" {
			at = int(m[1][0] - '0')
		}
		n = max(n, at)
	}
	return n
}

// selected returns X for an expression apierr.X, "" for any other.
func selected(e ast.Expr) string {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := s.X.(*ast.Ident); ok && x.Name == table {
		return s.Sel.Name
	}
	return ""
}

// stated returns X for a call apierr.X.With(…), or X.With(…) within the package itself.
func stated(call *ast.CallExpr) (sentence string, ok bool) {
	with, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || with.Sel.Name != "With" {
		return "", false
	}
	if x, ok := with.X.(*ast.Ident); ok {
		return x.Name, true
	}
	sentence = selected(with.X)
	return sentence, sentence != ""
}

var (
	text  = regexp.MustCompile(``)
	words = regexp.MustCompile(`\pL | \pL`) // unlike names of members and values
)

// hasLiteral reports whether an expression contains a string literal that matches a pattern.
func hasLiteral(e ast.Expr, pattern *regexp.Regexp) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			s, err := strconv.Unquote(l.Value)
			found = found || err == nil && pattern.MatchString(s)
		}
		return true
	})
	return found
}

// readSentences returns the sentences of the table by name.
func readSentences(t *testing.T) map[string]string {
	t.Helper()
	var files []*ast.File
	var set *token.FileSet
	eachSource(t, tableDir, func(s *token.FileSet, file *ast.File) { set, files = s, append(files, file) })
	config := types.Config{Error: func(error) {}} // for imports, which are not resolved: constants need none
	pkg, _ := config.Check(tableDir, set, files, nil)
	sentences := map[string]string{}
	for _, name := range pkg.Scope().Names() {
		c, ok := pkg.Scope().Lookup(name).(*types.Const)
		if !ok {
			continue
		}
		if named, ok := c.Type().(*types.Named); ok && named.Obj().Name() == tableType {
			sentences[name] = constant.StringVal(c.Val())
		}
	}
	if len(sentences) < 100 {
		t.Fatalf("only %d sentences found in %s", len(sentences), tableDir)
	}
	return sentences
}

// eachSource parses the Go files under a directory of the module, without tests.
func eachSource(t *testing.T, dir string, visit func(*token.FileSet, *ast.File)) {
	t.Helper()
	files := token.NewFileSet()
	err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(dir)), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, name, nil, 0)
		if err == nil {
			visit(files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
