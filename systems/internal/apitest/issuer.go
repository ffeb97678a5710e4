package apitest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/monotable/monotable/systems/internal/auth"
)

// Token returns a user's access token. It is only signed once a minute, because signing takes longer than most requests.
func (v *Server) Token(tb testing.TB, sub string, groups ...string) string {
	tb.Helper()
	key := fmt.Sprint(v.Clock.Now().Truncate(time.Minute), sub, groups)
	if kept, ok := v.tokens.Load(key); ok {
		return kept.(string) //nolint:forcetypeassert // the map's only values
	}
	token, err := v.issuer.Mint(auth.Claims{Sub: sub, Groups: groups})
	if err != nil {
		tb.Fatal(err)
	}
	v.tokens.Store(key, token)
	return token
}

// TokenWith returns a user's access token with an additional claim, signed with the same key.
func (v *Server) TokenWith(tb testing.TB, sub, claim string, value any) string {
	tb.Helper()
	token, err := jwt.ParseInsecure([]byte(v.Token(tb, sub)))
	if err != nil {
		tb.Fatal(err)
	}
	if err := token.Set(claim, value); err != nil {
		tb.Fatal(err)
	}
	text, err := os.ReadFile(v.keys)
	if err != nil {
		tb.Fatal(err)
	}
	var file struct{ Keys json.RawMessage }
	if err := json.Unmarshal(text, &file); err != nil {
		tb.Fatal(err)
	}
	keys, err := jwk.Parse(file.Keys)
	if err != nil {
		tb.Fatal(err)
	}
	key, _ := keys.Key(0)
	signed, err := jwt.Sign(token, jwt.WithKey(jwa.RS256(), key))
	if err != nil {
		tb.Fatal(err)
	}
	return string(signed)
}

// openIssuer opens the test's issuer with a clock.
func (v *Server) openIssuer(tb testing.TB, now func() time.Time) *auth.Issuer {
	tb.Helper()
	issuer, err := auth.OpenIssuer(v.system.Name, v.keys, issuerBase, now)
	if err != nil {
		tb.Fatal(err)
	}
	return issuer
}

// expired returns a token that was valid once.
func (v *Server) expired(tb testing.TB, sub string) string {
	tb.Helper()
	token, err := v.openIssuer(tb, func() time.Time { return time.Now().Add(-48 * time.Hour) }).Mint(auth.Claims{Sub: sub})
	if err != nil {
		tb.Fatal(err)
	}
	return token
}

// keyFile returns a copy of the key file that all tests of the process share, because generating keys takes longer than most
// tests.
func keyFile(tb testing.TB) string {
	tb.Helper()
	text, err := issuerKeys()
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "issuer.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

//nolint:gochecknoglobals // made once in a process
var issuerKeys = sync.OnceValues(func() ([]byte, error) {
	directory, err := os.MkdirTemp("", "issuer")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(directory) }()
	path := filepath.Join(directory, "issuer.json")
	if _, err := auth.OpenIssuer("any", path, issuerBase, nil); err != nil { // all systems share the keys, but not the addresses
		return nil, err
	}
	return os.ReadFile(path) //nolint:gosec // written above
})
