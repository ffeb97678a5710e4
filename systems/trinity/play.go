package trinity

import (
	"crypto/rand"
	"encoding/json"
	"image/png"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/qr"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/system"
)

// posters is the base URL of TMDB's posters.
const posters = "https://image.tmdb.org"

const (
	playTokenTTL = 12 * time.Hour
	playBodyMax  = 1 << 10
	// qrPixels is the size of a QR code's module in pixels.
	qrPixels = 6
)

// playName matches a guest's name: letters of any script, and the punctuation that names contain.
var playName = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{M}\p{N} .\-_'’]{0,39}$`)

// playCode matches a room's code in the address of a QR code.
var playCode = regexp.MustCompile(`^[A-Z0-9]{6}$`)

// player serves what the page needs besides the API: it signs guests in, and draws the QR code that opens a room on a phone. If
// the issuer runs on this machine, guests can sign in here and at the public address, which is set by the operator.
type player struct {
	issuer *auth.Issuer
	public string // "" if there is none
}

// playing describes the environment for the page.
type playing struct {
	// Public is the address at which others reach the page, used in the QR code; "" if it is not set.
	Public string `json:"public,omitempty"`
	// Guests reports whether a name is enough to sign in.
	Guests bool `json:"guests"`
}

// pages returns the page's own endpoints.
func pages(issuer *auth.Issuer, public string) (map[string]http.Handler, system.Page) {
	p := player{issuer, public}
	list := map[string]http.Handler{
		"GET /play/{$}": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { // the page's former address
			w.Header().Set("Location", "../")
			w.WriteHeader(http.StatusFound)
		}),
	}
	settings := playing{Public: public, Guests: issuer != nil && (public != "" || ofThisMachine(issuer.URL()))}
	if public != "" {
		list["GET /play/qr.png"] = http.HandlerFunc(p.qr)
	}
	if settings.Guests {
		list["POST /play/token"] = ofThisOrigin(p.token)
	}
	return list, system.Page{Pictures: []string{posters}, Data: settings}
}

// qr draws the address at which a phone joins a room or opens the page.
func (p player) qr(w http.ResponseWriter, r *http.Request) {
	address := p.public + "/"
	if code := r.URL.Query().Get("code"); code != "" {
		if !playCode.MatchString(code) {
			api.Complete(r.Context(), problem.New(http.StatusBadRequest, problem.CodeInvalidParameter, "a code has six letters and digits")).Write(w)
			return
		}
		address += "#/join/" + code
	}
	code, err := qr.Encode(address, qr.M, qr.Auto)
	if err == nil {
		code, err = barcode.Scale(code, qrPixels*code.Bounds().Dx(), qrPixels*code.Bounds().Dy())
	}
	if err != nil {
		api.Complete(r.Context(), problem.New(http.StatusInternalServerError, "", "the address is too long for a QR code")).Write(w)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Cache-Control", "no-cache")
	_ = png.Encode(w, code)
}

// ofThisMachine reports whether an address can only be reached from this machine. A deployment's issuer has another address, and
// never signs tokens for a mere name.
func ofThisMachine(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Hostname() == "localhost" || loopback(u.Hostname()))
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// signsFor reports whether a request may sign a guest in. A request for another host name has come through a proxy.
func (p player) signsFor(r *http.Request) bool {
	if u, err := url.Parse(p.public); err == nil && p.public != "" && r.Host == u.Host {
		return true
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && loopback(host) && ofThisMachine(p.issuer.URL()) && ofThisMachine("http://"+r.Host)
}

// ofThisOrigin rejects requests from pages of other origins, even those that may call the API.
func ofThisOrigin(next http.HandlerFunc) http.Handler {
	var check http.CrossOriginProtection
	check.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.Complete(r.Context(), problem.New(http.StatusForbidden, "", "tokens are signed for this page only")).Write(w)
	}))
	return check.Handler(next)
}

// token signs a guest in under a name. Each sign-in creates a new user, even if another has the same name.
func (p player) token(w http.ResponseWriter, r *http.Request) {
	if !p.signsFor(r) {
		api.Complete(r.Context(), problem.New(http.StatusForbidden, "", "guests can sign in only on this machine or at its public address")).Write(w)
		return
	}
	var asked struct {
		Name string `json:"name"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, playBodyMax)).Decode(&asked)
	asked.Name = strings.TrimSpace(asked.Name)
	if err != nil || !playName.MatchString(asked.Name) {
		api.Complete(r.Context(), problem.New(http.StatusBadRequest, problem.CodeInvalidBody, "a name starts with a letter or digit and has at most 40 letters, digits, spaces and . _ - '")).Write(w)
		return
	}
	token, err := p.issuer.Mint(auth.Claims{Sub: "guest-" + strings.ToLower(rand.Text()), TTL: playTokenTTL})
	if err != nil {
		api.Complete(r.Context(), problem.New(http.StatusInternalServerError, "", "tokens cannot be signed")).Write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]string{"token": token, "name": asked.Name})
}
