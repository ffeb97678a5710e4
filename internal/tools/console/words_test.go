package console_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/monotable/monotable/internal/words"
	"github.com/monotable/monotable/web/webtest"
)

// english matches English words that never occur in translations.
var english = regexp.MustCompile(`\b(the|which|that|is|are|of|and|with|but|not|has|its|items|reads|writes|when you|per line)\b`)

// quoted matches values in a text: names, conditions and keys of a design may be English words.
var quoted = regexp.MustCompile("\"[^\"]*\"|'[^']*'|\\{[^}]*\\}|\\w+:|[.:]\\w+")

func inEnglish(text string) bool { return english.MatchString(quoted.ReplaceAllString(text, "")) }

// placeholder is a value in a text, or a verb of a format.
var (
	placeholder = regexp.MustCompile(`\{\d+…?\}`)
	verb        = regexp.MustCompile(`%(?:\[\d+\])?[-+# 0]*[\d.]*[a-zA-Z]`)
)

func catalogues(t *testing.T) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	for _, language := range []string{"es", "pt"} {
		text, err := os.ReadFile("words/" + language + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var said map[string]string
		if err := json.Unmarshal(text, &said); err != nil {
			t.Fatal(err)
		}
		out[language] = said
	}
	return out
}

// TestTranslations: both languages have the same texts with the same values. None is still English, and no text is mistaken for
// another one.
func TestTranslations(t *testing.T) {
	t.Parallel()
	all := catalogues(t)
	said := words.Must(os.DirFS("."), "words")
	if diff := len(all["es"]) - len(all["pt"]); diff != 0 {
		t.Errorf("es.json has %d texts more than pt.json", diff)
	}
	for language, texts := range all {
		for from, to := range texts {
			if _, both := all["es"][from]; !both {
				t.Errorf("es.json lacks %q", from)
			}
			if plain := placeholder.ReplaceAllString(to, ""); inEnglish(plain) || strings.Contains(to, "…}") && strings.HasSuffix(to, "{") {
				t.Errorf("%s: %q is still in English: %q", language, from, to)
			}
			bare := func(s string) []string {
				list := placeholder.FindAllString(strings.ReplaceAll(s, "…}", "}"), -1)
				slices.Sort(list)
				return slices.Compact(list)
			}
			if !slices.Equal(bare(from), bare(to)) {
				t.Errorf("%s: %q and %q have different values", language, from, to)
			}
			sample := func(s string) string {
				return placeholder.ReplaceAllStringFunc(s, func(at string) string { return "V" + strings.Trim(at, "{…}") })
			}
			if phrase, is := strings.CutPrefix(from, "…"); is {
				if got := said.Phrase(language, sample(phrase)); got != sample(to) {
					t.Errorf("%s: the phrase %q becomes %q, want %q", language, sample(phrase), got, sample(to))
				}
			} else if got := said.Say(language, sample(from)); got != sample(to) {
				t.Errorf("%s: %q becomes %q, want %q", language, sample(from), got, sample(to))
			}
		}
	}
}

// TestFindingsAreTranslated: all findings in the tests of the rules have a translation.
func TestFindingsAreTranslated(t *testing.T) {
	t.Parallel()
	said := words.Must(os.DirFS("."), "words")
	line := regexp.MustCompile(`^(?:\d+ (?:error|warning|info) ST\d+ \S+: |  counterexample: |  fix: )(.*)$`)
	n := 0
	if err := filepath.WalkDir("../designer/check/testdata", func(path string, file fs.DirEntry, err error) error {
		if err != nil || file.IsDir() || strings.HasSuffix(path, ".yaml") {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // a file of this repository
		if err != nil {
			return err
		}
		for l := range strings.Lines(string(text)) {
			m := line.FindStringSubmatch(strings.TrimRight(l, "\n"))
			if m == nil {
				continue
			}
			n++
			for _, language := range []string{"es", "pt"} {
				if got := said.Say(language, m[1]); inEnglish(got) {
					t.Errorf("%s: %q becomes %q", language, m[1], got)
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if n < 300 {
		t.Errorf("only %d texts were found", n)
	}
}

// prose matches texts for people in the source: at least two English words.
var prose = regexp.MustCompile(`[a-z]{2,} [a-z]{2,}`)

// TestDesignerIsTranslated: each text in the designer's source that reaches the page is in the catalogue.
func TestDesignerIsTranslated(t *testing.T) {
	t.Parallel()
	keys := slices.Collect(maps.Keys(catalogues(t)["es"]))
	covered := func(text string) bool {
		pieces := placeholder.Split(verb.ReplaceAllString(text, "{0}"), -1)
		for i := range pieces {
			pieces[i] = strings.Trim(pieces[i], ";, ")
		}
		return slices.ContainsFunc(keys, func(key string) bool {
			at := 0
			for _, piece := range pieces {
				i := strings.Index(key[at:], piece)
				if i < 0 {
					return false
				}
				at += i + len(piece)
			}
			return true
		})
	}
	for _, pattern := range []string{
		"../designer/check/*.go", "../designer/conform/*.go", "../designer/races/*.go", "../designer/explain/explain.go", "../designer/plan/plan.go",
		"../designer/keylang/sorts.go", "../designer/keylang/functions.go", "../designer/lower/*.go", "../../../design/table/internal/schema/kind.go", "../../../design/table/internal/schema/value.go",
		"../../../design/table/internal/schema/template.go", "*.go",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range files {
			base := filepath.Base(name)
			if strings.HasSuffix(base, "_test.go") || base == "text.go" || base == "render.go" || base == "rules.go" || base == "sarif.go" { // command line only
				continue
			}
			for _, text := range translatable(t, name) {
				if prose.MatchString(text) && !covered(text) && !slices.Contains(unseen, text) {
					t.Errorf("%s: %q has no translation", name, text)
				}
			}
		}
	}
}

// unseen are texts that the page does not show to people.
var unseen = []string{"no entity has such a key", "\x00counted by ", " is taken", "set of ", "monotable console session"}

// translatable returns the literals of a file, without those of internal errors, database errors and command-line output.
func translatable(t *testing.T, name string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Field: // paths and struct tags
			return false
		case *ast.FuncDecl:
			return n.Name.Name != "freshness" && (n.Name.Name != "String" || !strings.HasSuffix(name, "races/report.go"))
		case *ast.CallExpr:
			if of, is := n.Fun.(*ast.SelectorExpr); is {
				if from, is := of.X.(*ast.Ident); is && (from.Name == "fmt" && of.Sel.Name == "Errorf" || from.Name == "errors") {
					return false
				}
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}

// TestNoEnglishOnOtherPages: the back end describes a design, its items and its races in the language of the page, also after the
// language has changed.
func TestNoEnglishOnOtherPages(t *testing.T) {
	t.Parallel()
	db, shop := designedShop(t, 2)
	addNonconforming(t, db)
	races := votes(t)
	texts := func(p *webtest.Page, selector string) {
		t.Helper()
		said, err := chromedp.Run(p.Context(), chromedp.Evaluate[[]string](`[...document.querySelectorAll(`+strconv.Quote(selector)+`)].map((e) => e.textContent)`))
		if err != nil {
			t.Fatal(err)
		}
		if len(said) == 0 {
			t.Errorf("nothing is at %s", selector)
		}
		for _, text := range said {
			if inEnglish(text) {
				t.Errorf("%s: %q", selector, text)
			}
		}
	}
	for _, language := range []string{"es-MX", "pt-BR"} {
		t.Run(language, func(t *testing.T) {
			p := webtest.Open(t, shop+"/_console/#/tables/shop/checks", webtest.Language(language))
			p.Until(`document.querySelectorAll(".wrong").length === 3`)
			texts(p, ".wrong-items .small")
			p = webtest.Open(t, shop+"/_console/#/tables/shop/patterns", webtest.Language(language))
			p.Wait(".finding")
			texts(p, ".finding p")
			texts(p, "td .small")
			p.Eval(`location.hash = "#/tables/shop/patterns/UserByID?" + new URLSearchParams({with: '{"userId":"nobody"}', run: "1"})`)
			p.Wait(".pattern-result .notice.danger")
			texts(p, ".pattern-result .notice.danger")
			p.Eval(`location.hash = "#/tables/shop/patterns/OrdersOf"`)
			p.Until(`document.querySelector(".pattern-name").textContent === "OrdersOf"`)
			texts(p, ".pattern-form .field-hint")
			p = webtest.Open(t, races+"/_console/#/tables/votes/checks", webtest.Language(language))
			p.Click(".checks > section:nth-of-type(2) button")
			p.Until(`document.querySelectorAll(".sequence").length >= 3`)
			texts(p, ".race-finding figcaption, .race-processes .muted, .race-name")
			texts(p, ".sequence-response, .sequence-event, .sequence-end strong")
		})
	}
}
