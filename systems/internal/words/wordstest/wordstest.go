// Package wordstest finds the messages of a package, for tests that check that all of them are translated. It parses Go source
// and runs nothing, and belongs to the calling test.
package wordstest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Filled returns a format string filled with arguments.
func Filled(format string) string { return regexp.MustCompile(`%[a-z]`).ReplaceAllString(format, "x") }

// Said returns the messages in a directory's files: arguments of calls to package problem, details and field messages.
func Said(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files, %v", dir, err)
	}
	var found []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				of, ok := n.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if from, ok := of.X.(*ast.Ident); ok && from.Name == "problem" {
					for _, arg := range n.Args {
						found = append(found, texts(arg)...)
					}
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "Detail" || key.Name == "Message") {
					found = append(found, texts(n.Value)...)
				}
			}
			return true
		})
	}
	return found
}

// texts returns the sentences in an argument: a code has no spaces.
func texts(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && strings.Contains(text, " ") {
			return []string{Filled(text)}
		}
	case *ast.CallExpr: // errors are for the log
		if of, ok := e.Fun.(*ast.SelectorExpr); ok && of.Sel.Name == "Sprintf" {
			return texts(e.Args[0])
		}
	case *ast.BinaryExpr: // a text followed by a value
		if left := texts(e.X); len(left) > 0 && e.Op == token.ADD {
			return []string{left[0] + "x"}
		}
	}
	return nil
}
