package portfolio_test

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/portfolio"
	"github.com/monotable/monotable/systems/portfolio/site"
)

// visit requests a page without following redirects.
func visit(t *testing.T, v *apitest.Server, path, language string, header ...string) (*httptest.ResponseRecorder, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://blog.example.com/portfolio"+path, nil)
	r.Header.Set("Accept-Language", language)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	v.Host.Handler().ServeHTTP(w, r)
	return w, w.Body.String()
}

// shows fails the test if a page is missing or lacks one of the texts.
func shows(t *testing.T, v *apitest.Server, path, language string, want ...string) string {
	t.Helper()
	response, text := visit(t, v, path, language)
	if response.Code != http.StatusOK || response.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: %d %v", path, response.Code, response.Header())
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not contain %q:\n%s", path, w, text)
		}
	}
	return text
}

// TestSite: published posts are on the site, in lists, at one address, in feeds and in the sitemap. Drafts are nowhere.
func TestSite(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	shows(t, v, "/", "es", "Todavía no hay entradas aquí.")
	p := published(t, v, ana, "first")
	draft := write(t, v, ana, "borrador", "cat-123")
	call[struct{}](t, v, request(http.MethodPut, "/me", bruno, map[string]any{"email": "b@example.com", "name": "Bruno Díaz"}))
	call[struct{}](t, v, request(http.MethodPut, "/posts/"+p.PostID, ana, map[string]any{
		"title": "¿Por qué <Go>?", "excerpt": "Una \"razón\"", "categoryId": "cat-123", "body": "## Una razón\n\n<script>alert(1)</script>\n\n`x < y`",
	}))
	comment(t, v, bruno, p.PostID, "c", "<b>Bien</b>")
	like(t, v, bruno, p.PostID)

	at := "/p/" + site.Address("¿Por qué <Go>?", p.PostID)
	if !strings.HasPrefix(at, "/p/por-que-go-0") {
		t.Error(at)
	}
	const base = "http://blog.example.com/portfolio"
	for path, want := range map[string][]string{
		"/":     {`<html lang="es"`, "¿Por qué &lt;Go&gt;?", `href="./p/`, `<link rel="canonical" href="` + base + `/">`, "Category go"},
		"/c/go": {"¿Por qué &lt;Go&gt;?", `href="../p/`, `aria-current="page">Category go`},
		at: {
			"<h2>Una razón</h2>", "<code>x &lt; y</code>", "&lt;b&gt;Bien&lt;/b&gt;", "Bruno Díaz", "1 me gusta", "1 minuto", `data-yes="Te gusta"`, `data-plural="{n} me gusta"`,
			`<link rel="canonical" href="` + base + at + `">`, `<meta property="og:type" content="article">`, `<meta name="description" content="Una &#34;razón&#34;">`,
		},
		"/feed.atom":   {base + at, "¿Por qué &lt;Go&gt;?"},
		"/feed.json":   {base + at},
		"/sitemap.xml": {base + at, base + "/c/go"},
	} {
		text := shows(t, v, path, "es-MX,es", want...)
		if strings.Contains(text, "borrador") || strings.Contains(strings.ToUpper(text), draft.PostID) || strings.Contains(text, "alert(1)") {
			t.Errorf("%s shows a draft, or runs an author's script:\n%s", path, text)
		}
		if err := wellFormed(path, text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if text := shows(t, v, "/", "en"); strings.Contains(text, "site-pages") {
		t.Errorf("a single page has navigation to other pages:\n%s", text)
	}
	shows(t, v, at, "pt-BR", "1 curtida", "Comentários")
	shows(t, v, "/site.js", "en", "Idempotency-Key")
	// Relative addresses stay below the system's prefix, and behind a proxy on its scheme. A browser that kept a redirect would
	// follow it in a circle once the title has changed back.
	for path, want := range map[string]string{"/p/an-older-title-" + strings.ToLower(p.PostID): strings.TrimPrefix(at, "/p/"), "/p/": "../", "/c/": "../"} {
		if response, _ := visit(t, v, path, "en"); response.Code/100 != 3 || response.Header().Get("Location") != want || response.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %v, want %s and no-cache", path, response.Code, response.Header(), want)
		}
	}
	for _, path := range []string{
		"/p/borrador-" + strings.ToLower(draft.PostID), "/p/x", "/p/" + strings.ToLower(nowhere), "/c/none", "/c/NO%20SLUG", "/?after=damaged", "/c/go?after=damaged",
	} {
		if response, text := visit(t, v, path, "en"); response.Code != http.StatusNotFound || !strings.Contains(text, "There is no such page") {
			t.Errorf("%s: %d %s", path, response.Code, text)
		}
	}
}

func wellFormed(path, text string) error {
	switch {
	case strings.HasSuffix(path, ".json"):
		return json.Unmarshal([]byte(text), new(any))
	case strings.HasSuffix(path, ".atom"), strings.HasSuffix(path, ".xml"):
		return xml.Unmarshal([]byte(text), new(struct{}))
	default:
		return nil
	}
}

// TestSitePages: older posts are on further pages, each on one. A page that a browser has is not sent again.
func TestSitePages(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	const posts = 14
	for i := range posts {
		published(t, v, ana, "post-"+strings.Repeat("i", i+1))
	}
	for _, path := range []string{"/", "/c/go"} {
		response, first := visit(t, v, path, "en")
		if again, _ := visit(t, v, path, "en", "If-None-Match", response.Header().Get("ETag")); again.Code != http.StatusNotModified {
			t.Errorf("%s with its tag: %d, want 304", path, again.Code)
		}
		_, after, found := strings.Cut(first, `rel="next" href="`)
		after, _, _ = strings.Cut(after, `"`)
		if !found {
			t.Fatalf("%s has no further page:\n%s", path, first)
		}
		second := shows(t, v, path+after, "en", "Newest posts", "noindex", `aria-label="Pages"`)
		if a, b := strings.Count(first, "<article"), strings.Count(second, "<article"); a+b != posts {
			t.Errorf("%s has %d and %d posts, want %d", path, a, b, posts)
		}
	}
}
