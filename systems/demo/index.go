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
	// signing is the command that signs other tokens, without a system and a user; "" for a demo in memory, whose keys no other
	// process has.
	signing string
	issuer  func(system string) *auth.Issuer
	systems []system.System
	page    *template.Template
}

func newIndex(base, signing string, issuer func(system string) *auth.Issuer, systems []system.System) *index {
	return &index{base: base, signing: signing, issuer: issuer, systems: systems, page: template.Must(template.ParseFS(page, "page/index.html"))}
}

// signing is the command that signs tokens with the keys in a directory; "" for a demo in memory, whose data is "".
func signing(program, data string) string {
	switch {
	case data == "":
		return ""
	case filepath.Clean(data) == filepath.Clean(defaultData):
		return program + " token"
	case strings.Trim(data, shellPlain) == "":
		return program + " token --data " + data
	default:
		return program + " token --data '" + strings.ReplaceAll(data, "'", `'\''`) + "'"
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
	system.System

	// Token is of indexSub, who is no admin.
	Token, Curl string
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
	var list []shown
	for _, s := range x.systems {
		of := shown{System: s}
		var err error
		if of.Token, err = x.token(s, nil); err != nil {
			return err
		}
		if len(s.Examples) > 0 {
			if of.Curl, err = x.curl(s, s.Examples[0]); err != nil {
				return err
			}
		}
		list = append(list, of)
	}
	return x.page.Execute(text, map[string]any{"Systems": list, "Sub": indexSub, "Signing": x.signing})
}

func (x *index) token(s system.System, groups []string) (string, error) {
	return x.issuer(s.Name).Mint(auth.Claims{Sub: indexSub, Groups: groups, TTL: indexTTL})
}

// curl is a line that works as it stands.
func (x *index) curl(s system.System, e system.Example) (string, error) {
	token, err := x.token(s, e.Groups)
	if err != nil {
		return "", err
	}
	return e.Curl(x.base+"/"+s.Name, token), nil
}
