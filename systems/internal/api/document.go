package api

import (
	"bytes"
	"embed"
	"net/http"
	"time"
)

// page is the browsable page of a document: it reads openapi.json beside it and needs nothing from elsewhere.
//
//go:embed page
var page embed.FS

// pagePolicy lets the page load its own files and call its own API, and nothing else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// listLink is the page's link to the one that names all systems, for where there is one.
const listLink = ` · <a href="/">all systems</a>`

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
		text, err := page.ReadFile("page/" + file)
		if err != nil {
			panic(err) // the files are in the program
		}
		if !a.options.Listed {
			text = bytes.Replace(text, []byte(listLink), nil, 1)
		}
		a.Handle("GET "+path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", pagePolicy)
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeContent(w, r, file, time.Time{}, bytes.NewReader(text))
		}))
	}
	switch {
	case a.options.Page != nil:
		a.Handle("GET /{$}", a.options.Page)
		a.Handle("GET /assets/", a.options.Page)
	case a.options.Prefix != "":
		a.Handle("GET /{$}", http.RedirectHandler(a.options.Prefix+"/docs", http.StatusFound))
	}
}
