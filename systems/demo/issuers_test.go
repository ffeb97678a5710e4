package demo

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/systems/internal/systemtest"
	"github.com/monotable/monotable/systems/transporteapp"
)

// tokenOf returns a token signed by demo token.
func tokenOf(t *testing.T, data string, args ...string) string {
	t.Helper()
	status, token, stderr := commandOf(t, registered(), append([]string{"token", "--data", data}, args...)...)
	if status != 0 {
		t.Fatalf("%v: %s", args, stderr)
	}
	return strings.TrimSpace(token)
}

// adminOf returns a token of a system's admin, or of a user if the system has no admins.
func adminOf(t *testing.T, data string, s system.System) string {
	t.Helper()
	args := []string{"--system", s.Name, "--sub", "u-admin"}
	if s.AdminGroup != "" {
		args = append(args, "--admin")
	}
	return tokenOf(t, data, args...)
}

// guarded sends each system a request that needs a token and works on an empty database.
func guarded(t *testing.T, web string, s system.System, token string) systemtest.Response {
	t.Helper()
	for _, e := range s.Examples {
		headers := []string{"Content-Type", "application/json"}
		for name, value := range e.Header {
			headers = append(headers, name, value)
		}
		url := web + "/" + s.Name + e.Path
		if systemtest.Call(t, e.Method, url, e.Body, headers...).Status == http.StatusUnauthorized {
			return systemtest.Call(t, e.Method, url, e.Body, append(headers, "Authorization", "Bearer "+token)...)
		}
	}
	t.Fatalf("%s has no example that needs a token", s.Name)
	return systemtest.Response{}
}

// TestTokenIsOfOneSystem: a system accepts its own admin's token and rejects those of all other systems' admins.
func TestTokenIsOfOneSystem(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	all := registered()
	r := serveAll(t, all, "--data", data)
	for _, from := range all {
		token := adminOf(t, data, from)
		for _, to := range all {
			response := guarded(t, r.web, to, token)
			switch {
			case from.Name == to.Name && response.Status >= http.StatusMultipleChoices:
				t.Errorf("%s rejects its own token: %d %s", to.Name, response.Status, response.Body)
			case from.Name != to.Name && (response.Status != http.StatusUnauthorized || response.Problem(t).Code != problem.CodeInvalidToken):
				t.Errorf("%s responds to a token of %s with %d %s, want 401 invalid_token", to.Name, from.Name, response.Status, response.Body)
			}
		}
	}
	r.end(t)
}

// TestAdminOfAnotherSystem: a CatFecito admin cannot add credits to a TransporteApp company; TransporteApp's own back office can.
func TestAdminOfAnotherSystem(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	r := serveAll(t, registered(), "--data", data)
	company := tokenOf(t, data, "--system", transporteapp.Name, "--sub", "u-company")
	call := func(method, path, body, token string) systemtest.Response {
		return systemtest.Call(t, method, r.web+"/"+transporteapp.Name+path, body, "Authorization", "Bearer "+token,
			"Content-Type", "application/json", "Idempotency-Key", "k-1")
	}
	profile := `{"email":"ana@transportes.mx","fullName":"Ana García","timezone":"America/Mexico_City"}`
	if response := call(http.MethodPut, "/perfil", profile, company); response.Status != http.StatusOK {
		t.Fatalf("%d %s", response.Status, response.Body)
	}
	for _, c := range []struct {
		token  string
		status int
	}{
		{tokenOf(t, data, "--system", catfecito.Name, "--admin", "--sub", "u-1"), http.StatusUnauthorized},
		{company, http.StatusForbidden},
		{tokenOf(t, data, "--system", transporteapp.Name, "--admin", "--sub", "u-1"), http.StatusCreated},
	} {
		if response := call(http.MethodPost, "/empresas/u-company/creditos", `{"creditos":1000}`, c.token); response.Status != c.status {
			t.Errorf("%d %s, want %d", response.Status, response.Body, c.status)
		}
	}

	// If one user pool serves several systems, the group distinguishes their admins.
	issuer, err := openIssuer(transporteapp.Name, data, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{catfecito.AdminGroup, "admin"} {
		token, err := issuer.Mint(auth.Claims{Sub: "u-1", Groups: []string{group}})
		if err != nil {
			t.Fatal(err)
		}
		if response := call(http.MethodPost, "/empresas/u-company/creditos", `{"creditos":1000}`, token); response.Status != http.StatusForbidden {
			t.Errorf("a member of %s: %d %s, want 403", group, response.Status, response.Body)
		}
	}
	r.end(t)
}

// TestPageTokens: the page has a token for each system, which the system accepts, and no two systems share an issuer.
func TestPageTokens(t *testing.T) {
	t.Parallel()
	all := registered()
	r := serveAll(t, all, "--memory")
	page := onPage(t, systemtest.Call(t, http.MethodGet, r.web+"/", "").Body)
	issuers := map[string]string{}
	for n, s := range all {
		token := page.Systems[n].Token
		if response := guarded(t, r.web, s, token); response.Status == http.StatusUnauthorized {
			t.Errorf("%s: %d %s", s.Name, response.Status, response.Body)
		}
		configuration := systemtest.Call(t, http.MethodGet, fmt.Sprintf("%s/%s_users/.well-known/openid-configuration", r.web, s.Name), "")
		issuer := regexp.MustCompile(`"issuer":"([^"]*)"`).FindString(configuration.Body)
		if issuers[issuer] != "" {
			t.Errorf("%s and %s have the issuer %s", s.Name, issuers[issuer], issuer)
		}
		issuers[issuer] = s.Name
	}
	r.end(t)
}
