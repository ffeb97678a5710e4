package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

// storedThing is a thing as data access returns it; thing is the same as callers see it.
type storedThing struct {
	ID, OwnerID string
	Secret      string
	Size        *int64
}

type thing struct {
	ID    string `json:"id"`
	Owner string `json:"owner" from:"OwnerID"`
	Size  int64  `json:"size"`
}

// ThingPath identifies a thing.
type ThingPath struct {
	ID string `path:"id" maxLength:"9"`
}

type thingInput struct {
	api.Keyed
	ThingPath
	Body struct {
		Size int64 `json:"size"`
	}
}

type ownedInput struct{ OwnerID, ID string }

// patternInput is an access pattern's input; a request has all its fields.
type patternInput struct {
	RequestKey, ID string
	OwnerID        string
	Size           *int64
}

func owned(_ context.Context, in ownedInput) (storedThing, error) {
	if in.ID == "gone" {
		return storedThing{}, table.ErrNotFound
	}
	return storedThing{ID: in.ID, OwnerID: in.OwnerID, Secret: "never shown"}, nil
}

func things(_ context.Context, in struct{ OwnerID string }, page table.PageOptions) (table.Page[storedThing], error) {
	return table.Page[storedThing]{Items: []storedThing{{ID: fmt.Sprint(page.Limit), OwnerID: in.OwnerID}}, Next: page.After + "+"}, nil
}

func created(_ context.Context, in patternInput) (storedThing, error) {
	return storedThing{ID: in.ID + in.RequestKey, OwnerID: in.OwnerID, Size: in.Size}, nil
}

// byOwner and byName are two lists for api.Either: byName takes a parameter that byOwner does not.
func byOwner(_ context.Context, in struct{ OwnerID string }, _ table.PageOptions) (table.Page[storedThing], error) {
	return table.Page[storedThing]{Items: []storedThing{{ID: "all", OwnerID: in.OwnerID}}}, nil
}

func byName(_ context.Context, in struct{ OwnerID, Name string }, _ table.PageOptions) (table.Page[namedThing], error) {
	return table.Page[namedThing]{Items: []namedThing{{ID: in.Name, OwnerID: in.OwnerID, Size: 1}}}, nil
}

type namedThing struct {
	ID, OwnerID string
	Size        int64
}

type thingQuery struct {
	api.PageQuery
	Name string `query:"name"`
}

func newAPI(t *testing.T) (*api.API, *auth.Issuer) {
	t.Helper()
	issuer, err := auth.NewIssuer("shop", "http://issuer.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.New(api.Options{Name: "shop", Title: "Shop", Verifier: issuer.Verifier()})
	if err != nil {
		t.Fatal(err)
	}
	return a, issuer
}

// TestRoutes: callers get what a line of the table declares.
func TestRoutes(t *testing.T) {
	t.Parallel()
	a, issuer := newAPI(t)
	r := api.Tag(a, "Things")
	make2 := api.Call[thingInput](created, "OwnerID")
	api.Get[thing](r, "/things/{id}", "getThing", "A thing", api.Call[ThingPath](owned, "OwnerID"), api.NotFound, api.Cache("no-store"))
	api.List[thing](r, "/things", "listThings", "Things", api.Pages[api.PageQuery](things, "OwnerID"))
	api.Create[thing](r, "/things/{id}", "makeThing", "Make a thing", func(ctx context.Context, who auth.Principal, in thingInput) (storedThing, bool, error) {
		out, err := make2(ctx, who, in)
		return out, in.RequestKey == "again", err
	}, api.At("things/{id}"))
	api.Delete(r, "/things/{id}", "deleteThing", "Delete a thing", api.Do[ThingPath](func(context.Context, struct{ ID string }) error { return nil }))
	api.Remove[thing](r, "/things/{id}/parts", "takeParts", "Take a thing's parts", api.Call[ThingPath](owned, "OwnerID"))
	api.List[thing](r, "/either", "listEither", "Things, or those of a name", api.Either[thing, thingQuery](byName, byOwner, "OwnerID"))
	api.Get[thing](r, "/open", "openThing", "Anybody's", func(_ context.Context, who auth.Principal, _ api.None) (storedThing, error) {
		return storedThing{ID: "open", OwnerID: who.Sub}, nil
	}, api.Public)
	token, err := issuer.Mint(auth.Claims{Sub: "ana"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		request, key, body string
		anonymous          bool
		status             int
		want, location     string
	}{
		"get":       {request: "GET /things/1", status: 200, want: `{"id":"1","owner":"ana","size":0}`},
		"gone":      {request: "GET /things/gone", status: 404, want: `"code":"not_found"`},
		"invalid":   {request: "GET /things/1234567890", status: 400, want: `"field":"path.id"`},
		"stranger":  {request: "GET /things/1", anonymous: true, status: 401, want: `"code":"missing_token"`},
		"list":      {request: "GET /things?limit=7&cursor=c", status: 200, want: `{"items":[{"id":"7","owner":"ana","size":0}],"next":"c+"}`},
		"create":    {request: "POST /things/1", key: "k", body: `{"size":3}`, status: 201, want: `{"id":"1k","owner":"ana","size":3}`, location: "things/1k"},
		"replay":    {request: "POST /things/1", key: "again", body: `{"size":3}`, status: 200, want: `"size":3`, location: "things/1again"},
		"no key":    {request: "POST /things/1", body: `{"size":3}`, status: 400, want: "header.Idempotency-Key"},
		"remove":    {request: "DELETE /things/1/parts", status: 200, want: `{"id":"1","owner":"ana","size":0}`},
		"wide":      {request: "GET /either", status: 200, want: `{"items":[{"id":"all","owner":"ana","size":0}]}`},
		"narrow":    {request: "GET /either?name=n", status: 200, want: `{"items":[{"id":"n","owner":"ana","size":1}]}`},
		"delete":    {request: "DELETE /things/1", status: 204},
		"public":    {request: "GET /open", anonymous: true, status: 200, want: `{"id":"open","owner":"","size":0}`},
		"signed in": {request: "GET /open", status: 200, want: `{"id":"open","owner":"ana","size":0}`},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		q := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(c.body))
		if !c.anonymous {
			q.Header.Set("Authorization", "Bearer "+token)
		}
		if c.key != "" {
			q.Header.Set("Idempotency-Key", c.key)
		}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, q)
		if got := w.Body.String(); w.Code != c.status || !strings.Contains(got, c.want) || strings.Contains(got, "never shown") {
			t.Errorf("%s: %d %s, want %d %s", name, w.Code, got, c.status, c.want)
		}
		if got := w.Header().Get("Location"); got != c.location {
			t.Errorf("%s: Location %q, want %q", name, got, c.location)
		}
		if got, want := w.Header().Get("Cache-Control"), map[string]string{"get": "no-store", "public": "private, no-cache", "signed in": "private, no-cache"}[name]; got != want {
			t.Errorf("%s: Cache-Control %q, want %q", name, got, want)
		}
	}
	responses := a.OpenAPI().Paths["/things/{id}"]
	if h := responses.Get.Responses["200"].Headers; h["Cache-Control"] == nil || h["Location"] != nil {
		t.Errorf("the document of GET has headers %v, want Cache-Control alone", h)
	}
	if h := responses.Post.Responses["201"].Headers; h["Location"] == nil || h["Cache-Control"] != nil {
		t.Errorf("the document of POST has headers %v, want Location alone", h)
	}
}

// TestWrongRoutes: building the table reports an unknown name together with its route.
func TestWrongRoutes(t *testing.T) {
	t.Parallel()
	type unknown struct {
		Colour string `json:"colour"`
	}
	own := func(context.Context, auth.Principal, api.None) (storedThing, error) { return storedThing{}, nil }
	for name, c := range map[string]struct {
		build func(api.Routes)
		want  string
	}{
		"shows what is not there": {func(r api.Routes) { api.Get[unknown](r, "/x", "x", "X", own) }, "route x, GET /x: byname: api_test.unknown from [api_test.storedThing]: Colour: no source"},
		"lacks an input":          {func(r api.Routes) { api.Get[thing](r, "/x", "x", "X", api.Call[ThingPath](owned)) }, "OwnerID: no source"},
		"has an input too many":   {func(api.Routes) { api.Do[ThingPath](func(context.Context, struct{}) error { return nil }) }, "ID of api_test.ThingPath goes nowhere"},
		"names another caller":    {func(api.Routes) { api.Call[ThingPath](owned, "UserID") }, "OwnerID: no source"},
		"names the caller in vain": {
			func(api.Routes) {
				api.Do[ThingPath](func(context.Context, struct{ ID string }) error { return nil }, "UserID")
			}, "UserID of struct { UserID string } goes nowhere",
		},
		"is at no member": {func(r api.Routes) { api.Get[thing](r, "/x", "x", "X", own, api.At("x/{name}")) }, `has no text "name" for the location`},
	} {
		func() {
			defer func() {
				if fault := fmt.Sprint(recover()); !strings.Contains(fault, c.want) {
					t.Errorf("%s: %s, want %q in it", name, fault, c.want)
				}
			}()
			a, _ := newAPI(t)
			c.build(api.Tag(a, "X"))
		}()
	}
}

// TestReplayDocumented: an operation that creates something once returns 200 for a retry, as documented.
func TestReplayDocumented(t *testing.T) {
	t.Parallel()
	a, _ := newAPI(t)
	r := api.Tag(a, "Things")
	create := func(context.Context, auth.Principal, api.Keyed) (thing, bool, error) { return thing{}, false, nil }
	charge := func(context.Context, auth.Principal, api.Keyed) (thing, error) { return thing{}, nil }
	ensure := func(context.Context, auth.Principal, api.None) (thing, bool, error) { return thing{}, true, nil }
	api.Create[thing](r, "/creates", "creates", "Create", create)
	api.Post[thing](r, "/charges", "charges", "Charge", charge)
	api.Ensure[thing](r, "/ensures", "ensures", "Ensure", ensure)
	for path, responses := range map[string]map[string]*huma.Response{
		"/creates": a.OpenAPI().Paths["/creates"].Post.Responses, "/ensures": a.OpenAPI().Paths["/ensures"].Put.Responses,
	} {
		created, again := responses["201"], responses["200"]
		if created == nil || again == nil {
			t.Fatalf("%s: responses %v, want 200 and 201", path, responses)
		}
		if again.Content["application/json"].Schema != created.Content["application/json"].Schema || again.Description == created.Description {
			t.Errorf("%s: 200 is %+v, want the body of 201 with a different description", path, again)
		}
	}
	if responses := a.OpenAPI().Paths["/charges"].Post.Responses; responses["201"] != nil || responses["200"].Description != http.StatusText(http.StatusOK) {
		t.Errorf("responses %v, want 200 alone", responses)
	}
}
