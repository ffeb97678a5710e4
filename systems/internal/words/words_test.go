package words_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/monotable/monotable/systems/internal/words"
)

func read(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var said map[string]string
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return said
}

var place = regexp.MustCompile(`\{\d+\}`)

// TestLanguagesSayTheSame: all languages translate the same texts, with the same values in them.
func TestLanguagesSayTheSame(t *testing.T) {
	t.Parallel()
	es, pt := read(t, "es.json"), read(t, "pt.json")
	if a, b := slices.Sorted(maps.Keys(es)), slices.Sorted(maps.Keys(pt)); !slices.Equal(a, b) {
		t.Errorf("es.json and pt.json have different texts")
	}
	for english, said := range es {
		for _, text := range []string{said, pt[english]} {
			for _, at := range place.FindAllString(text, -1) {
				if !strings.Contains(english, at) {
					t.Errorf("%q has %s, which %q has not", text, at, english)
				}
			}
			if text == "" {
				t.Errorf("%q has an empty translation", english)
			}
		}
	}
}

func TestSay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ language, english, want string }{
		{"es", "too many requests", "demasiadas solicitudes"},
		{"pt", "the body may have 1048576 bytes", "o corpo pode ter 1048576 bytes"},
		{"es", "expected property a to be present when b is present", "falta a, que se necesita junto con b"},
		{"es", "expected number >= 1", "debe ser 1 o más"},
		{"en", "too many requests", "too many requests"},
		{"es", "nobody has translated this", "nobody has translated this"},
		{"xx", "too many requests", "too many requests"},
	} {
		if got := words.Platform.Say(test.language, test.english); got != test.want {
			t.Errorf("%s of %q: %q, want %q", test.language, test.english, got, test.want)
		}
	}
	var none *words.Catalogue
	if got := none.Say("es", "too many requests"); got != "too many requests" {
		t.Errorf("a nil catalogue says %q", got)
	}
}

// TestPlatformIsTranslated: the texts with which the packages that all systems share make problems have a translation.
func TestPlatformIsTranslated(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"../api", "../auth", "../problem", "../ratelimit", "../run"} {
		for _, text := range said(t, dir) {
			if !words.Platform.Has("es", text) {
				t.Errorf("%s: %q has no translation", dir, text)
			}
		}
	}
	for _, status := range []int{400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 503, 504} {
		if !words.Platform.Has("pt", http.StatusText(status)) {
			t.Errorf("%d has no title", status)
		}
	}
	for _, text := range []string{
		validation.MsgExpectedMinLength, validation.MsgExpectedMaxLength, validation.MsgExpectedRequiredProperty, validation.MsgUnexpectedProperty,
		validation.MsgExpectedMinimumNumber, validation.MsgExpectedMaximumNumber, validation.MsgExpectedOneOf, validation.MsgExpectedBePattern,
		validation.MsgExpectedMatchPattern, validation.MsgExpectedMinItems, validation.MsgExpectedMaxItems, validation.MsgExpectedInteger, validation.MsgExpectedString,
		validation.MsgExpectedRFC3339DateTime, validation.MsgExpectedRFC3339Date, validation.MsgExpectedArrayItemsUnique,
	} {
		if !words.Platform.Has("es", filled(text)) {
			t.Errorf("%q has no translation", text)
		}
	}
}

// filled is a format with something in it.
func filled(format string) string { return regexp.MustCompile(`%[a-z]`).ReplaceAllString(format, "x") }

// said are the texts of calls of package problem, and of its details and messages, in the files of a directory.
func said(t *testing.T, dir string) []string {
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

// texts are the sentences in an argument: a code has no spaces.
func texts(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && strings.Contains(text, " ") {
			return []string{filled(text)}
		}
	case *ast.CallExpr: // errors are for the log
		if of, ok := e.Fun.(*ast.SelectorExpr); ok && of.Sel.Name == "Sprintf" {
			return texts(e.Args[0])
		}
	case *ast.BinaryExpr: // a text with a value behind it
		if left := texts(e.X); len(left) > 0 && e.Op == token.ADD {
			return []string{left[0] + "x"}
		}
	}
	return nil
}
