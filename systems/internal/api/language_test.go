package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

// TestProblemsAreInTheCallersLanguage: titles, details and fields are translated; codes are not.
func TestProblemsAreInTheCallersLanguage(t *testing.T) {
	t.Parallel()
	issuer, err := auth.NewIssuer("shop", "http://issuer.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.New(api.Options{Name: "shop", Title: "Shop", Verifier: issuer.Verifier()})
	if err != nil {
		t.Fatal(err)
	}
	huma.Register(a, api.Operation(huma.Operation{OperationID: "list", Method: http.MethodGet, Path: "/list"}, api.Public),
		func(context.Context, *struct{ api.PageQuery }) (*struct{}, error) { return &struct{}{}, nil })
	huma.Register(a, api.Operation(huma.Operation{OperationID: "pay", Method: http.MethodGet, Path: "/pay"}, api.Public), func(context.Context, *struct {
		Amount float64 `query:"amount" maximum:"999999999999" minimum:"0.00001"`
	},
	) (*struct{}, error) {
		return &struct{}{}, nil
	})
	huma.Register(a, huma.Operation{OperationID: "mine", Method: http.MethodGet, Path: "/mine"},
		func(context.Context, *struct{}) (*struct{}, error) { return &struct{}{}, nil })
	for _, test := range []struct{ path, language, want string }{
		{"/nothing", "es-MX,es;q=0.9", `"title":"No encontrado","status":404,"detail":"esta ruta no existe","code":"not_found"`},
		{"/nothing", "en-GB", `"detail":"this path does not exist"`},
		{"/nothing", "ja", `"detail":"this path does not exist"`},
		{"/mine", "pt-BR", `"detail":"envie um token de acesso: Authorization: Bearer TOKEN","code":"missing_token"`},
		{"/list?limit=1000", "es", `"message":"debe ser 100 o menos"`},
		{"/pay?amount=1e12", "es", `"message":"debe ser 999999999999 o menos"`},
		{"/pay?amount=0", "es", `"message":"debe ser 0.00001 o más"`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, test.path, http.NoBody)
		r.Header.Set("Accept-Language", test.language)
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s in %s: %s, want %s", test.path, test.language, w.Body, test.want)
		}
		if !slices.Contains(w.Header().Values("Vary"), "Accept-Language") {
			t.Errorf("%s in %s: Vary is %q, so a cache gives it to all", test.path, test.language, w.Header().Values("Vary"))
		}
	}
}
