package demo

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/system"
)

const (
	tokensPath    = "/token"
	tokensBodyMax = 4 << 10
)

// subForm matches the user names allowed in the demo.
var subForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$`)

// asked is a request for a token.
type asked struct {
	System string `json:"system"`
	Sub    string `json:"sub"`
	Admin  bool   `json:"admin"`
}

// signed is the response, in JSON.
type signed struct {
	AccessToken string    `json:"accessToken"`
	ExpiresAt   time.Time `json:"expiresAt"`
}

// tokens signs a token for any user, for requests from this origin or a shell. A JSON request gets JSON; a form (curl -d
// system=appcore) gets only the token, which a shell can store in a variable.
func tokens(issuer func(system string) *auth.Issuer, systems []system.System) http.Handler {
	refuse := func(w http.ResponseWriter, r *http.Request, err error) {
		api.Complete(r.Context(), problem.Rules{}.Problem(err)).Write(w)
	}
	var check http.CrossOriginProtection
	check.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, problem.Forbidden("", "tokens are signed for pages of this origin only"))
	}))
	return check.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, asJSON, err := readAsked(w, r)
		if err == nil {
			err = a.check(systems)
		}
		if err != nil {
			refuse(w, r, err)
			return
		}
		claims := auth.Claims{Sub: a.Sub, LogIn: rand.Text(), TTL: indexTTL}
		if a.Admin {
			n := slices.IndexFunc(systems, func(s system.System) bool { return s.Name == a.System })
			claims.Groups = []string{systems[n].AdminGroup}
		}
		token, err := issuer(a.System).Mint(claims)
		if err != nil {
			refuse(w, r, err)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		if !asJSON {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(w, token+"\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(signed{token, time.Now().Add(indexTTL).UTC().Truncate(time.Second)})
	}))
}

// readAsked parses JSON or a form.
func readAsked(w http.ResponseWriter, r *http.Request) (a asked, asJSON bool, err error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, tokensBodyMax))
	if err != nil {
		return a, false, &problem.Error{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("the body is larger than the maximum of %d bytes", tokensBodyMax), Err: err}
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "application/json" {
		if err := json.Unmarshal(text, &a); err != nil {
			return a, true, &problem.Error{Status: http.StatusBadRequest, Detail: "the request body is invalid", Err: err}
		}
		return a.withDefaults(), true, nil
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return a, false, &problem.Error{Status: http.StatusBadRequest, Detail: "the request body is invalid", Err: err}
	}
	return asked{System: form.Get("system"), Sub: form.Get("sub"), Admin: form.Get("admin") == "true"}.withDefaults(), false, nil
}

func (a asked) withDefaults() asked {
	if a.Sub == "" {
		a.Sub = indexSub
	}
	return a
}

func (a asked) check(systems []system.System) error {
	n := slices.IndexFunc(systems, func(s system.System) bool { return s.Name == a.System })
	switch {
	case n < 0:
		return problem.BadRequest(problem.CodeInvalidBody, "the request body is invalid", problem.Field{Field: "body.system", Message: "the system does not exist"})
	case !subForm.MatchString(a.Sub):
		return problem.BadRequest(problem.CodeInvalidBody, "the request body is invalid", problem.Field{Field: "body.sub", Message: "want at most 100 letters, digits and . _ : @ -"})
	case a.Admin && systems[n].AdminGroup == "":
		return problem.BadRequest(problem.CodeInvalidBody, "the request body is invalid", problem.Field{Field: "body.admin", Message: "this system has no administrators"})
	}
	return nil
}
