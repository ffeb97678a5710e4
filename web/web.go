// Package web has the pages that people see: those of the systems, of the demo, and the components of which all are made. They
// are written in TypeScript (README.md), and their build is in this package, so that a Go program needs no Node.
//
// # Model
//
//	apps/NAME/main.tsx ──vite build──▶ dist/assets/NAME-HASH.js, its styles, words and fonts; manifest.json, apps.json
//	                                        │
//	App(NAME) ──▶ GET / : HTML that is written for the request's language ──▶ GET /assets/… : files of the build
//
// # Invariants
//
//	W1  A page loads nothing from elsewhere, and runs no script and no style but files of this build: Policy says so.
//	W2  A page works below any prefix: all its addresses are relative.
//	W3  dist is the build of the sources beside it, byte for byte; a test builds them again.
//
// A handler may be used from any number of goroutines.
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

// Policy lets a page load its own files, call its own origin, and show pictures that it has made, and nothing else.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

//go:embed dist
var dist embed.FS

// Page is what a page is told of where it is.
type Page struct {
	// Product is whose page it is, where it is not that of its own name: a page of the same sort for each system. It gives the
	// colours, and who is signed in. Title is what the page calls it, in place of {product} in its words.
	Product, Title string
	// API is where the system's API is, relative to the page; "" is where the page is.
	API string
	// Tokens is where the demo signs tokens, "" elsewhere.
	Tokens string
	// Home is the page that names all systems, "" where there is none.
	Home string
	// Policy is the page's Content-Security-Policy; "" is Policy.
	Policy string
	// Data is what the page can read from its meta element data: any value that JSON has; nil is none.
	Data func(*http.Request) any
}

// about is what the build says of a page in a language.
type about struct{ Title, Description, Colour string }

// entry is one of the manifest.
type entry struct {
	File    string   `json:"file"`
	CSS     []string `json:"css"`
	Imports []string `json:"imports"`
}

// build is what the build says of itself; it is read once.
var build = sync.OnceValue(func() (b struct {
	manifest map[string]entry
	about    map[string]map[string]about
},
) {
	must := func(name string, v any) {
		text, err := dist.ReadFile("dist/" + name)
		if err = errors.Join(err, json.Unmarshal(text, v)); err != nil {
			panic(fmt.Sprintf("web: %s: %v", name, err)) // it is in the program, and tests read it
		}
	}
	must("manifest.json", &b.manifest)
	must("apps.json", &b.about)
	return b
})

// Has tells whether there is a page of that name.
func Has(name string) bool { return build().about[name] != nil }

// Files are what the HTML of a page refers to, relative to the page.
type Files struct {
	Styles, Preload []string
	Script          string
}

// FilesOf are the files of a page, for HTML that a system writes by itself.
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

// App is a page and its files: GET / is the page, GET /assets/ are the files. It panics where there is no page of that name.
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

// app writes the HTML of one page.
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
		panic(err) // of strings and such
	}
	return string(text)
}

// Assets serves the files of the build below /assets/. A name has the hash of what is in the file, so a browser may keep it
// for ever.
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

// contentType is that of the few kinds of files that the build has. (mime asks the machine, which may say anything.)
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
