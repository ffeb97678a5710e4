package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/web/webtest"
)

// keeps makes the console create its table, like serve.
func keeps(o *console.Options) { o.KeepQueries = true }

// keptQueries is the response to GET /_console/queries.
type keptQueries struct {
	In, Why            string
	Bookmarks, History []struct{ Title, Address string }
}

func (k *keptQueries) titles() (bookmarks, history string) {
	for _, q := range k.Bookmarks {
		bookmarks += q.Title + " "
	}
	for _, q := range k.History {
		history += q.Title + " "
	}
	return strings.TrimSpace(bookmarks), strings.TrimSpace(history)
}

func queriesOf(t *testing.T, address string, change ...func(*http.Request)) keptQueries {
	t.Helper()
	get := func(r *http.Request) { r.Method, r.Body, r.ContentLength = http.MethodGet, http.NoBody, 0 }
	return decoded[keptQueries](t, post(t, address+"queries", "", append(change, get)...))
}

func changeOf(add []string, remove ...string) string {
	var c struct {
		Add    []struct{ Title, Address string } `json:"add"`
		Remove []string                          `json:"remove"`
	}
	for _, title := range add {
		c.Add = append(c.Add, struct{ Title, Address string }{title, "#/" + title})
	}
	for _, title := range remove {
		c.Remove = append(c.Remove, "#/"+title)
	}
	text, _ := json.Marshal(c) // never fails
	return string(text)
}

func tablesOf(t *testing.T, db *monotable.DB) []string {
	t.Helper()
	out, err := db.Client().ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil {
		t.Fatal(err)
	}
	return out.TableNames
}

// TestQueries: bookmarks are sorted by title and the history newest first, the table is created with the first query, and
// changing one list does not affect the other.
func TestQueries(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	address := served(t, db, keeps) + "/_console/"
	if k := queriesOf(t, address); k.In != "table" || len(tablesOf(t, db)) != 0 {
		t.Errorf("before the first query: kept in %q, tables %v", k.In, tablesOf(t, db))
	}
	for _, c := range []struct{ list, change string }{
		{"history", changeOf([]string{"c", "a"})},
		{"history", changeOf([]string{"b"})},
		{"bookmarks", changeOf([]string{"z", "b"})},
		{"history", changeOf([]string{"c"}, "a")},
		{"bookmarks", changeOf([]string{"y"}, "nothing")},
	} {
		if a := post(t, address+"queries/"+c.list, c.change); a.status != http.StatusOK {
			t.Fatalf("%s %s: %d %s", c.list, c.change, a.status, a.body)
		}
	}
	k := queriesOf(t, address)
	if bookmarks, history := k.titles(); bookmarks != "b y z" || history != "c b" {
		t.Errorf("bookmarks %q, history %q, want b y z and c b", bookmarks, history)
	}
	for _, bad := range []string{``, `[]`, `{"add":[{"title":"","address":"#/a"}]}`, `{"add":[{"title":"a","address":"https://example.com"}]}`, `{"add":[{"title":"` + strings.Repeat("a", 5000) + `","address":"#/a"}]}`} {
		if a := post(t, address+"queries/bookmarks", bad); a.status != http.StatusBadRequest {
			t.Errorf("%.60s: %d %s", bad, a.status, a.body)
		}
	}
	if a := post(t, address+"queries/others", changeOf([]string{"a"})); a.status != http.StatusBadRequest {
		t.Errorf("another list: %d %s", a.status, a.body)
	}
}

// TestConcurrentQueries: no concurrent change is lost, neither in the table, even while it is being created, nor in the file, which
// stays sorted.
func TestConcurrentQueries(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "bookmarks.json")
	for name, change := range map[string]func(*console.Options){"table": keeps, "file": func(o *console.Options) { o.Bookmarks = file }} {
		address := served(t, monotabletest.New(t), change) + "/_console/"
		var all sync.WaitGroup
		var want []string
		for tab := range 4 {
			for n := range 5 {
				want = append(want, fmt.Sprintf("%d-%d", tab, n))
			}
			all.Go(func() {
				for n := range 5 {
					if a := post(t, address+"queries/bookmarks", changeOf([]string{fmt.Sprintf("%d-%d", tab, n)})); a.status != http.StatusOK {
						t.Errorf("%s: %d %s", name, a.status, a.body)
					}
				}
			})
		}
		all.Wait()
		k := queriesOf(t, address)
		if got, _ := k.titles(); got != strings.Join(want, " ") || k.In != name {
			t.Errorf("%s: kept in %s: %s", name, k.In, got)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"queries\": [\n    {\n      \"title\": \"0-0\",\n      \"address\": \"#/0-0\"\n    },\n"; !strings.HasPrefix(string(text), want) {
		t.Errorf("the file begins with\n%.100s\nwant\n%s", text, want)
	}
}

// TestQueriesOfPrincipals: each identity has its own queries, with any of its keys. Without permission, the browser keeps them.
func TestQueriesOfPrincipals(t *testing.T) {
	t.Parallel()
	db, _, reader := guarded(t)
	address := served(t, db, keeps, func(o *console.Options) { o.SignIn = true }) + "/_console/"
	signIn := func(key string) func(*http.Request) {
		a := post(t, address+"session", key)
		if a.status != http.StatusNoContent || len(a.cookies) != 1 {
			t.Fatalf("%s: %d %s", key, a.status, a.body)
		}
		return func(r *http.Request) { r.AddCookie(a.cookies[0]) }
	}
	ana, bruno, again := signIn(`{"accessKeyId":"ANA","secretAccessKey":"ana-secret"}`), signIn(`{"accessKeyId":"BRUNO","secretAccessKey":"bruno-secret"}`), signIn(`{"accessKeyId":"BRUNO2","secretAccessKey":"bruno-secret-2"}`)
	for title, who := range map[string]func(*http.Request){"of-ana": ana, "of-bruno": bruno} {
		if a := post(t, address+"queries/bookmarks", changeOf([]string{title}), who); a.status != http.StatusOK {
			t.Fatalf("%s: %d %s", title, a.status, a.body)
		}
	}
	for _, test := range []struct {
		who  func(*http.Request)
		want string
	}{{ana, "of-ana"}, {bruno, "of-bruno"}, {again, "of-bruno"}} {
		k := queriesOf(t, address, test.who)
		if got, _ := k.titles(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	asReader := signIn(reader)
	if k := queriesOf(t, address, asReader); k.In != "browser" || k.Why != "denied" {
		t.Errorf("the reader's are kept in %q, %q", k.In, k.Why)
	}
	if a := post(t, address+"queries/bookmarks", changeOf([]string{"x"}), asReader); a.status != http.StatusBadRequest || !strings.Contains(a.body, "AccessDeniedException") {
		t.Errorf("the reader's change: %d %s", a.status, a.body)
	}
	if a := post(t, address+"queries/bookmarks", changeOf([]string{"x"})); a.status != http.StatusUnauthorized {
		t.Errorf("signed out: %d %s", a.status, a.body)
	}
}

// rows waits until the page's lists of bookmarks and history have these titles.
func rows(p *webtest.Page, bookmarks, history string) {
	p.Until(fmt.Sprintf(`[...document.querySelectorAll(".query-list")].map((l) => [...l.querySelectorAll("code")].map((c) => c.textContent).join(" | ")).join(" / ") === %q`, bookmarks+" / "+history))
}

// TestQueriesOfPages: a bookmark appears in another browser, a change in a second tab loses none, and all are kept when the
// server restarts.
func TestQueriesOfPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := monotable.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	shop(t, db)
	const sent, open = `shop · GSI1 · GSI1PK = "STATUS#sent"`, `shop · GSI1 · GSI1PK = "STATUS#open"`
	at := func(server, status string) string {
		return server + "/_console/#/tables/shop?index=GSI1&pk=STATUS%23" + status
	}
	server := served(t, db, keeps)
	one := webtest.Open(t, at(server, "sent"))
	one.UntilText("6 items")
	other := webtest.Open(t, at(server, "open"), webtest.Phone)
	other.UntilText("6 items")
	one.Button("Bookmark " + sent)
	other.Button("Bookmark " + open) // this tab has not loaded the first bookmark
	for _, p := range []*webtest.Page{one, other} {
		p.Wait(`button[aria-label^="Remove the bookmark"]`)
		p.Eval(`location.hash = "#/queries"`)
		p.UntilText("the table monotable-console")
	}
	one.Reload()
	one.Until(`document.querySelectorAll(".query-list")[0].querySelectorAll("code").length === 2 && document.querySelectorAll(".query-list")[1].querySelectorAll("code").length === 2`)
	look(one, "console-queries-table")
	one.Close()
	other.Close()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := monotable.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Close() })
	p := webtest.Open(t, served(t, again, keeps)+"/_console/#/queries", webtest.Dark, webtest.Language("es-MX"))
	p.Until(fmt.Sprintf(`[...document.querySelectorAll(".query-list")[0].querySelectorAll("code")].map((c) => c.textContent).join() === %q`, open+","+sent))
	p.Button("Quitar el marcador " + sent) // the first of the bookmarks
	p.Until(`document.querySelectorAll(".query-list")[0].querySelectorAll("code").length === 1 && document.querySelectorAll(".query-list")[1].querySelectorAll("code").length === 2`)
	p.Button("Borrar")
	p.Until(`document.querySelectorAll(".query-list").length === 1`)
	look(p, "console-queries-table")
}

// TestQueriesStayInBrowserWithoutPermission: a console that may not write to the endpoint leaves queries to the browser and says so. For another
// endpoint, it offers to create the table and moves the browser's queries there.
func TestQueriesStayInBrowserWithoutPermission(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	readOnly := served(t, db, keeps, func(o *console.Options) { o.ReadOnly = true })
	if a := post(t, readOnly+"/_console/queries/bookmarks", changeOf([]string{"x"})); a.status != http.StatusForbidden {
		t.Errorf("a change of a read-only console: %d %s", a.status, a.body)
	}
	bookmarked := func(p *webtest.Page) {
		p.UntilText("6 items")
		p.Click(`button[aria-label^="Bookmark shop"]`)
		p.Wait(`button[aria-label^="Remove the bookmark"]`)
		p.Eval(`location.hash = "#/queries"`)
	}
	p := webtest.Open(t, readOnly+"/_console/#/tables/shop?index=GSI1&pk=STATUS%23sent")
	bookmarked(p)
	p.UntilText("The console is read-only and writes nothing to the endpoint, so this browser keeps them.")
	p.Reload()
	p.Until(`document.querySelectorAll(".query-list code").length === 2`) // one bookmark, one in the history
	if tables := tablesOf(t, db); len(tables) != 1 {
		t.Errorf("a read-only console has created tables: %v", tables)
	}
	p = webtest.Open(t, served(t, db)+"/_console/#/tables/shop?index=GSI1&pk=STATUS%23sent")
	bookmarked(p)
	p.UntilText("the endpoint has no table monotable-console")
	look(p, "console-queries-browser")
	if tables := tablesOf(t, db); len(tables) != 1 {
		t.Errorf("a console has created tables without being asked: %v", tables)
	}
	p.Button("Keep them in a table")
	p.UntilText("They are kept in the table")
	p.Until(`localStorage.length === 0 || ![...Object.keys(localStorage)].some((k) => k.startsWith("console-bookmarks") || k.startsWith("console-history"))`)
	other := webtest.Open(t, served(t, db)+"/_console/#/queries")
	rows(other, `shop · GSI1 · GSI1PK = "STATUS#sent"`, `shop · GSI1 · GSI1PK = "STATUS#sent"`)
}
