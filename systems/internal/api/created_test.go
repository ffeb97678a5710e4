package api_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

// TestReplayDocumented: an operation that creates something once answers a repetition with 200, and its document says so.
func TestReplayDocumented(t *testing.T) {
	issuer, err := auth.NewIssuer("shop", "http://issuer.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.New(api.Options{Name: "shop", Title: "Shop", Verifier: issuer.Verifier()})
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		Status int
		Body   struct{ ID string }
	}
	register := func(id string, handler func(context.Context, *struct{ api.IdempotencyKey }) (*answer, error), status int) {
		huma.Register(a, huma.Operation{OperationID: id, Method: http.MethodPost, Path: "/" + id, DefaultStatus: status}, handler)
	}
	none := func(context.Context, *struct{ api.IdempotencyKey }) (*answer, error) { return nil, nil } //nolint:nilnil // never called
	register("creates", none, http.StatusCreated)
	register("charges", none, http.StatusOK)
	responses := a.OpenAPI().Paths["/creates"].Post.Responses
	if responses["200"] == nil || responses["201"] == nil {
		t.Fatalf("responses %v, want 200 and 201", responses)
	}
	created, again := responses["201"], responses["200"]
	if again.Content["application/json"].Schema != created.Content["application/json"].Schema || again.Description == created.Description {
		t.Errorf("200 is %+v, want what 201 is, described in its own way", again)
	}
	if responses := a.OpenAPI().Paths["/charges"].Post.Responses; responses["201"] != nil || responses["200"].Description != "OK" {
		t.Errorf("responses %v, want 200 alone", responses)
	}
	if got := [2]int{api.CreatedStatus(false), api.CreatedStatus(true)}; got != [2]int{http.StatusCreated, http.StatusOK} {
		t.Errorf("created and replayed are %v", got)
	}
}
