package api

import (
	"embed"
	"net/http"
)

// page is the browsable page of a document: it reads openapi.json beside it and needs nothing from elsewhere.
//
//go:embed page
var page embed.FS

// pagePolicy lets the page load its own files and call its own API, and nothing else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// registerDocument serves the OpenAPI document and its page.
func (a *API) registerDocument() {
	a.Handle("GET /openapi.json", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text, err := a.document()
		if err != nil {
			panic(err) // a bug of an operation, which is logged and answered as others are
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	}))
	for path, file := range map[string]string{"/docs": "index.html", "/docs/page.js": "page.js", "/docs/page.css": "page.css"} {
		a.Handle("GET "+path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", pagePolicy)
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeFileFS(w, r, page, "page/"+file)
		}))
	}
	if a.options.Prefix != "" {
		a.Handle("GET /{$}", http.RedirectHandler(a.options.Prefix+"/docs", http.StatusFound))
	}
}
