package trinity

import (
	"embed"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

//go:embed page
var page embed.FS

// playPolicy lets the page load its own files, TMDB's posters, and call its own API.
const playPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' https://image.tmdb.org; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const (
	playTokenTTL = 12 * time.Hour
	playBodyMax  = 1 << 10
)

// playName is who a token of the page can be for.
var playName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,40}$`)

// pages are the page for phones. Where tokens are signed on this machine, it gets one for any name.
func pages(issuer *auth.Issuer) map[string]http.Handler {
	list := map[string]http.Handler{}
	for path, file := range map[string]string{"/play/{$}": "index.html", "/play/play.js": "play.js", "/play/play.css": "play.css"} {
		list["GET "+path] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", playPolicy)
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeFileFS(w, r, page, "page/"+file)
		})
	}
	if issuer != nil && ofThisMachine(issuer.URL()) {
		list["POST /play/token"] = ofThisOrigin(func(w http.ResponseWriter, r *http.Request) { playToken(w, r, issuer) })
	}
	return list
}

// ofThisMachine tells whether an address is one that only this machine can reach. A deployment's issuer has another, and
// signs nothing for who only says a name.
func ofThisMachine(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Hostname() == "localhost" || loopback(u.Hostname()))
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// ofThisOrigin refuses requests from pages of other origins, those included that may call the API.
func ofThisOrigin(next http.HandlerFunc) http.Handler {
	var check http.CrossOriginProtection
	check.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		problem.New(http.StatusForbidden, "", "tokens are signed for this page only").Write(w)
	}))
	return check.Handler(next)
}

// playToken signs a token for a name, for requests from this machine.
func playToken(w http.ResponseWriter, r *http.Request, issuer *auth.Issuer) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !loopback(host) || !ofThisMachine("http://"+r.Host) { // asked for by another name it came through a proxy
		problem.New(http.StatusForbidden, "", "tokens are signed for this machine only").Write(w)
		return
	}
	var asked struct {
		Name string `json:"name"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, playBodyMax)).Decode(&asked); err != nil || !playName.MatchString(asked.Name) {
		problem.New(http.StatusBadRequest, problem.CodeInvalidBody, "a name has letters, digits and . _ -, at most 40").Write(w)
		return
	}
	token, err := issuer.Mint(auth.Claims{Sub: asked.Name, TTL: playTokenTTL})
	if err != nil {
		problem.New(http.StatusInternalServerError, "", "no token can be signed").Write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]string{"token": token})
}
