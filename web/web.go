// Package web contains the web pages of the systems, the demo and the console. They are written in TypeScript (README.md), and
// their build is embedded, so that building a Go program does not need Node.
//
// # Model
//
//	apps/NAME/main.tsx ──vite build──▶ dist/assets/NAME-HASH.js, its styles, texts and fonts; manifest.json, apps.json
//	                                        │
//	App(NAME) ──▶ GET / : HTML in the request's language ──▶ GET /assets/… : files of the build
//
// # Invariants
//
//	W1  A page loads nothing from other origins, and only scripts and styles from files of this build: Policy enforces it.
//	W2  A page works below any prefix: all its addresses are relative.
//	W3  dist is the build of the sources, byte for byte; a test rebuilds and compares them.
//
// Handlers are safe for concurrent use.
package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/monotable/monotable/internal/accept"
)

// Policy only lets a page load its own files, call its own origin, and show pictures that it has created.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

//go:embed dist
var dist embed.FS

// Page configures a page for its location.
type Page struct {
	// Product is the system of a page that several systems share; by default it is the page's name. It determines the colors and
	// the session. Title is its display name, for {product} in the page's texts.
	Product, Title string
	// API is the address of the system's API, relative to the page; empty if it is the page's own.
	API string
	// Tokens is the address where the demo signs tokens; otherwise empty.
	Tokens string
	// Home is the address of the page that lists all systems; empty if there is none.
	Home string
	// Policy is the page's Content-Security-Policy; by default the constant Policy.
	Policy string
	// Data is a JSON value that the page can read from its meta element data; nil for none.
	Data func(*http.Request) any
}

// about is the build's information on a page in one language.
type about struct{ Title, Description, Colour string }

// entry is an entry of the manifest.
type entry struct {
	File    string   `json:"file"`
	CSS     []string `json:"css"`
	Imports []string `json:"imports"`
}

// build is the build's manifest; it is read once.
var build = sync.OnceValue(func() (b struct {
	manifest map[string]entry
	about    map[string]map[string]about
},
) {
	must := func(name string, v any) {
		text, err := dist.ReadFile("dist/" + name)
		if err = errors.Join(err, json.Unmarshal(text, v)); err != nil {
			panic(fmt.Sprintf("web: %s: %v", name, err)) // it is embedded and tested
		}
	}
	must("manifest.json", &b.manifest)
	must("apps.json", &b.about)
	return b
})

// Has reports whether there is a page with the name.
func Has(name string) bool { return build().about[name] != nil }

// Files are the files that a page's HTML refers to, relative to the page.
type Files struct {
	Styles, Preload []string
	Script          string
}

// FilesOf returns the files of a page, for HTML that a system renders itself.
func FilesOf(name string) Files {
	b := build()
	key := "apps/" + name + "/main.tsx"
	files := Files{Script: b.manifest[key].File}
	var visit func(key string)
	seen := map[string]bool{}
	visit = func(key string) {
		if seen[key] {
			return
		}
		seen[key] = true
		for _, imported := range b.manifest[key].Imports {
			visit(imported)
			if file := b.manifest[imported].File; !slices.Contains(files.Preload, file) {
				files.Preload = append(files.Preload, file)
			}
		}
		for _, style := range b.manifest[key].CSS {
			if !slices.Contains(files.Styles, style) {
				files.Styles = append(files.Styles, style)
			}
		}
	}
	visit(key)
	return files
}

// App serves a page and its files: GET / is the page, GET /assets/ are the files. It panics if there is no page with the name.
func App(name string, p Page) http.Handler {
	if !Has(name) {
		panic("web: there is no page " + name)
	}
	if p.Policy == "" {
		p.Policy = Policy
	}
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", &app{name: name, page: p, files: FilesOf(name)})
	mux.Handle("GET /assets/", Assets())
	return gzhttp.GzipHandler(mux)
}

// app renders the HTML of one page.
type app struct {
	name  string
	page  Page
	files Files
}

func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	lang := accept.Language(r)
	said, product := build().about[a.name][lang], cmp.Or(a.page.Product, a.name)
	said.Title = strings.ReplaceAll(said.Title, "{product}", a.page.Title)
	mark := cmp.Or(a.page.Title, said.Title)
	if of, ok := build().about[product][lang]; ok {
		said.Colour = of.Colour
	}
	meta := map[string]string{"name": product, "title": said.Title, "api": a.page.API}
	if a.page.Tokens != "" {
		meta["tokens"] = a.page.Tokens
	}
	if a.page.Home != "" {
		meta["home"] = a.page.Home
	}
	var data string
	if a.page.Data != nil {
		data = marshal(a.page.Data(r))
	}
	text := pageHTML{
		Lang: lang, Name: product, About: said, Icon: icon(mark, said.Colour), Files: a.files, Meta: marshal(meta), Data: data,
	}.String()
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", a.page.Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Add("Vary", "Accept-Language")
	if a.page.Data != nil {
		h.Set("Cache-Control", "no-store")
	} else {
		h.Set("Cache-Control", "no-cache")
		sum := sha256.Sum256([]byte(text))
		h.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
}

func marshal(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot fail for these types
	}
	return string(text)
}

// Assets serves the files of the build below /assets/. File names contain a hash of the content, so browsers may cache them
// forever.
func Assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "assets/" + path.Base(r.URL.Path) // there are no folders
		text, err := dist.ReadFile("dist/" + name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", contentType(name))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("ETag", `"`+path.Base(name)+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
	})
}

// contentType returns the content type of a file of the build. (Package mime depends on the machine's configuration.)
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	case ".json":
		return "application/json"
	default:
		return "application/octet-stream"
	}
}
