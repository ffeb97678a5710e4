package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/monotable/monotable/internal/inprocess"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/web/webtest"
)

// tabTo presses Tab until the focus is on an element e that satisfies a condition. It first waits for such an element to appear:
// while a view is loading, Tab only cycles through the elements already there.
func tabTo(t *testing.T, p *webtest.Page, condition string) {
	t.Helper()
	const most = 60
	p.Until(`[...document.querySelectorAll("a, button, input, select, textarea, summary, [tabindex]")].some((e) => ` + condition + `)`)
	for range most {
		there, err := chromedp.Run(p.Context(), chromedp.Evaluate[bool](`((e) => !!(`+condition+`))(document.activeElement)`))
		if err != nil {
			t.Fatal(err)
		}
		if there {
			return
		}
		p.Press(kb.Tab)
	}
	p.Shot("failed")
	t.Fatalf("%d times Tab does not reach %s", most, condition)
}

func palette(p *webtest.Page) {
	p.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.Until(`document.activeElement.getAttribute("role") === "combobox"`)
}

// goTo presses the keys of a command until the page shows an address. It retries because on a busy machine, the time between two
// keys can exceed the limit for a command.
func goTo(t *testing.T, p *webtest.Page, keys, hash string) {
	t.Helper()
	const tries = 20
	for range tries {
		p.Press(keys)
		there, err := chromedp.Run(p.Context(), chromedp.Evaluate[bool](fmt.Sprintf(`location.hash === %q`, hash)))
		if err != nil {
			t.Fatal(err)
		}
		if there {
			return
		}
	}
	t.Fatalf("%d times %s do not lead to %s", tries, keys, hash)
}

// TestKeyboard: navigating from the list of tables to an item and changing it works without a pointer.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	p := webtest.Open(t, served(t, db)+"/_console/")
	p.UntilText("ACTIVE")
	palette(p)
	p.Press("shop")
	p.Until(`document.querySelectorAll("[role=option]")[0].textContent.includes("shop")`)
	look(p, "console-palette")
	p.Press(kb.Enter)
	p.Wait(".data-grid tbody a")
	p.Press("/")
	tabTo(t, p, `e.textContent === "Query"`)
	p.Press(kb.Enter)
	p.Wait("input[name=pk]")
	tabTo(t, p, `e.name === "pk"`)
	p.Press("USER#u-01" + kb.Enter)
	p.UntilText("13 items")
	p.Press(kb.Escape)
	p.Until(`document.activeElement === document.body`)
	p.Press("r")
	p.Until(`document.activeElement.closest("tbody tr").getAttribute("aria-rowindex") === "2"`)
	p.Press(kb.End)
	p.Until(`document.activeElement.closest("tbody tr").textContent.includes("PROFILE")`)
	p.Press(" ")
	p.UntilText("1 selected")
	p.Press(kb.Enter)
	p.UntilText("-96.7266")
	tabTo(t, p, `e.textContent === "Edit"`)
	p.Press(kb.Enter)
	p.Wait(".node")
	tabTo(t, p, `e.getAttribute("aria-label") === "Value of name"`)
	p.Do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.Press("João S.")
	tabTo(t, p, `e.textContent === "Review changes"`)
	p.Press(kb.Enter)
	p.UntilText("Save these changes?")
	tabTo(t, p, `e.textContent === "Save"`)
	p.Press(kb.Enter)
	p.UntilText("The item is saved.")
	if name := stored(t, db, "USER#u-01", "PROFILE")["name"].(*s).Value; name != "João S." {
		t.Errorf("name is %q", name)
	}
	p.Press(kb.Escape)
	p.Until(`document.querySelector("dialog[open]") === null`)
	p.Press("u") // undo
	p.UntilText("1 item is as it was before.")
	if name := stored(t, db, "USER#u-01", "PROFILE")["name"].(*s).Value; name != "João Silva" {
		t.Errorf("after undo the name is %q", name)
	}
	p.Press("?")
	p.UntilText("Keyboard shortcuts")
	look(p, "console-keys")
	p.Press(kb.Escape)
	p.Until(`document.querySelector("dialog[open]") === null`) // a dialog receives the keys until it has closed
	p.Press("b")
	p.Wait(`button[aria-label^="Remove the bookmark"]`)
	p.Press("t")
	p.Wait(".view-tabs")
	goTo(t, p, "gb", "#/queries")
	p.UntilText(`PK = "USER#u-01"`)
	look(p, "console-queries")
	p.Press("]") // there is no next page
	p.Click(".view-tab button")
	p.UntilText("13 items")
	look(p, "console-tabs")
}

// TestSwitchingEndpoints: the page switches between endpoints and keeps its view. Bookmarks for both are in one file.
func TestSwitchingEndpoints(t *testing.T) {
	t.Parallel()
	one, two := monotabletest.New(t), monotabletest.New(t)
	shop(t, one)
	shop(t, two)
	file := filepath.Join(t.TempDir(), "queries.json")
	options := func(name string, handler http.Handler, readOnly bool) console.Options {
		return console.Options{
			Name: name, Endpoint: "http://monotable.localhost/", Region: "us-east-1", Client: inprocess.Client{Handler: handler}, Bookmarks: file, ReadOnly: readOnly,
			Credentials: credentials.NewStaticCredentialsProvider("monotable", "monotable", ""),
		}
	}
	server := httptest.NewServer(console.Several(options("local", one.Handler(), false), options("other-1", two.Handler(), true)))
	t.Cleanup(server.Close)
	if a := post(t, server.URL+"/_console/at/other-1/api/DeleteTable", `{"TableName":"shop"}`); a.status != http.StatusForbidden || !strings.Contains(a.body, "ReadOnly") {
		t.Errorf("write to the read-only endpoint: %d %s", a.status, a.body)
	}
	if a := post(t, server.URL+"/_console/at/nothing/api/ListTables", `{}`); a.status == http.StatusOK {
		t.Errorf("no such endpoint: %d %s", a.status, a.body)
	}
	p := webtest.Open(t, server.URL+"/_console/#/tables/shop?pk=USER%23u-01", webtest.Language("pt-BR"))
	p.UntilText("13 itens")
	p.Click(`button[aria-label^="Guardar"]`)
	p.Wait(`button[aria-label^="Remover o favorito"]`)
	p.Button("local")
	p.UntilText("other-1")
	p.Go(server.URL + "/_console/at/other-1/#/tables/shop?pk=USER%23u-01")
	p.UntilText("13 itens")
	p.Until(`![...document.querySelectorAll("button, a")].some((b) => b.textContent.includes("Criar item"))`)
	p.Eval(`location.hash = "#/queries"`)
	p.UntilText(`PK = "USER#u-01"`)
	look(p, "console-queries-file")
	var kept struct {
		Queries []struct{ Title, Address string }
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil || len(kept.Queries) != 1 || kept.Queries[0].Address != "#/tables/shop?pk=USER%23u-01" {
		t.Errorf("the file has %s, %v", text, err)
	}
	if a := post(t, server.URL+"/_console/at/other-1/queries/bookmarks", `{"remove":["#/tables/shop?pk=USER%23u-01"]}`); a.status != http.StatusForbidden || !strings.Contains(a.body, "ReadOnly") {
		t.Errorf("bookmarks of a read-only console: %d %s", a.status, a.body)
	}
}

// TestWeight: the first view needs less than 250 KB, and the page never loads more than 400 KB in total. The first view is
// painted within 300 ms, at best of many tries.
func TestWeight(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	address := served(t, db)
	const (
		firstMax = 250 << 10
		allMax   = 400 << 10
		paintMax = 300
	)
	p := webtest.Open(t, address+"/_console/")
	p.UntilText("ACTIVE")
	transferred := func() int {
		n, err := chromedp.Run(p.Context(), chromedp.Evaluate[int](`performance.getEntries().reduce((n, e) => n + (e.transferSize ?? 0), 0)`))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	first := transferred()
	p.Eval(`location.hash = "#/partiql"`)
	p.Wait(".code-editor.ready")
	p.Eval(`location.hash = "#/tables/shop/import"`)
	file, err := filepath.Abs(filepath.Join("testdata", "items.csv"))
	if err != nil {
		t.Fatal(err)
	}
	upload(p, "input[name=files]", file)
	p.UntilText("The first item")
	everything := transferred()
	t.Logf("transferred: %d KB for the first view, %d KB with editor and import", first>>10, everything>>10)
	if first > firstMax || everything > allMax {
		t.Errorf("transferred %d bytes first and %d in all, want at most %d and %d", first, everything, firstMax, allMax)
	}
	// The best of many tries counts, because other work on the machine adds delays. A page that is really too slow exceeds the
	// limit every time.
	const tries = 40
	fastest := 1e9
	for i := range tries {
		p.Go(address + fmt.Sprintf("/_console/?%d", i))
		p.Until(`performance.getEntriesByName("first-contentful-paint").length > 0`)
		at, err := chromedp.Run(p.Context(), chromedp.Evaluate[float64](`performance.getEntriesByName("first-contentful-paint")[0].startTime`))
		if err != nil {
			t.Fatal(err)
		}
		if fastest = min(fastest, at); fastest < paintMax {
			break
		}
	}
	t.Logf("first contentful paint: %.0f ms", fastest)
	if fastest >= paintMax {
		t.Errorf("first contentful paint after %.0f ms at best of %d, want less than %d", fastest, tries, paintMax)
	}
}
