package demo

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/system"
)

const (
	// indexSub is who the page's tokens are.
	indexSub = "u-123"
	// indexTTL lets a page stay open for a day's work.
	indexTTL = 12 * time.Hour

	// shellPlain are characters that mean only themselves to a shell.
	shellPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-"

	indexPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

//go:embed page
var page embed.FS

// index is the page that names the systems, with tokens that are signed when it is asked for.
type index struct {
	base string
	// signing is the command line that signs another token, "" where none can: the keys of a demo in memory are its own.
	signing string
	issuer  *auth.Issuer
	systems []system.System
	page    *template.Template
}

func newIndex(base, signing string, issuer *auth.Issuer, systems []system.System) *index {
	return &index{base: base, signing: signing, issuer: issuer, systems: systems, page: template.Must(template.ParseFS(page, "page/index.html"))}
}

// signing is the line that signs a token with the keys in a directory, which a demo in memory ("") does not have.
func signing(program, data string) string {
	switch {
	case data == "":
		return ""
	case filepath.Clean(data) == filepath.Clean(defaultData):
		return program + " token --sub NAME"
	case strings.Trim(data, shellPlain) == "":
		return program + " token --data " + data + " --sub NAME"
	default:
		return program + " token --data '" + strings.ReplaceAll(data, "'", `'\''`) + "' --sub NAME"
	}
}

func (x *index) register(h *run.Host) {
	h.Handle("GET /{$}", http.HandlerFunc(x.serve))
	for _, file := range []string{"index.js", "index.css"} {
		h.Handle("GET /"+file, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, page, "page/"+file)
		}))
	}
}

// shown is a system on the page.
type shown struct {
	Name, Title, About string
	Curl               string
}

func (x *index) serve(w http.ResponseWriter, _ *http.Request) {
	var text bytes.Buffer
	if err := x.write(&text); err != nil {
		panic(err) // a bug, which is logged and answered as others are
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", indexPolicy)
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(text.Bytes())
}

// write writes the page, with tokens that are signed now.
func (x *index) write(text io.Writer) error {
	token, err := x.issuer.Mint(auth.Claims{Sub: indexSub, TTL: indexTTL})
	if err != nil {
		return err
	}
	var systems []shown
	for _, s := range x.systems {
		of := shown{Name: s.Name, Title: s.Title, About: s.About}
		if len(s.Examples) > 0 {
			if of.Curl, err = x.curl(s, s.Examples[0], token); err != nil {
				return err
			}
		}
		systems = append(systems, of)
	}
	return x.page.Execute(text, map[string]any{"Systems": systems, "Token": token, "Sub": indexSub, "Signing": x.signing})
}

// curl is a line that works as it stands.
func (x *index) curl(s system.System, e system.Example, token string) (string, error) {
	if len(e.Groups) > 0 {
		var err error
		if token, err = x.issuer.Mint(auth.Claims{Sub: indexSub, Groups: e.Groups, TTL: indexTTL}); err != nil {
			return "", err
		}
	}
	return e.Curl(x.base+"/"+s.Name, token), nil
}
