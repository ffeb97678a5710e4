package apitest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/monotable/monotable/systems/internal/databasetest"
	"github.com/monotable/monotable/systems/internal/designcheck"
	"github.com/monotable/monotable/systems/internal/problem"
)

// Person describes a test user who requests a copy of their data, and then its erasure.
type Person struct {
	As string
	// Design is the design's file; Tables map its table names if they depend on the stage: "shop=shop-test".
	Design string
	Tables []string
	// Entities are some of the entities that the copy must contain.
	Entities []string
}

// copied is a copy of a person's data.
type copied struct {
	Person string
	Items  []struct {
		Entity string
		Item   map[string]any
	}
	Complete bool
}

// Person tests the routes for personal data: the copy is complete, nothing is erased without confirmation, and afterwards
// monotable conform finds no data of the user.
func (v *Server) Person(t *testing.T, p Person) {
	t.Helper()
	v.Deliver(t) // so that the stream consumers' items exist
	get := Request{Method: http.MethodGet, Path: "/me/data", As: p.As}
	erase := Request{Method: http.MethodDelete, Path: "/me", As: p.As, Header: map[string]string{"Confirm": "erase"}}
	has := func(entities ...string) func(testing.TB, *Response) {
		return func(tb testing.TB, r *Response) {
			tb.Helper()
			var got copied
			if err := json.Unmarshal(r.Body, &got); err != nil {
				tb.Fatalf("%v: %s", err, r.Body)
			}
			if got.Person != p.As || !got.Complete {
				tb.Errorf("it is of %q, complete %v", got.Person, got.Complete)
			}
			met := map[string]bool{}
			for _, x := range got.Items {
				met[x.Entity] = true
			}
			for _, e := range entities {
				if !met[e] {
					tb.Errorf("the copy has no %s", e)
				}
			}
		}
	}
	v.Run(t, []Case{
		{Name: "a copy", Request: get, Status: http.StatusOK, Check: has(p.Entities...)},
		{
			Name: "not confirmed", Request: Request{Method: http.MethodDelete, Path: "/me", As: p.As}, Status: http.StatusBadRequest,
			Code: problem.CodeInvalidParameter,
		},
		{Name: "nothing was erased", Request: get, Status: http.StatusOK, Check: has(p.Entities...)},
		{Name: "erased", Request: erase, Status: http.StatusOK},
		{Name: "erased again", Request: erase, Status: http.StatusOK, Check: func(tb testing.TB, r *Response) {
			tb.Helper()
			var got struct{ Deleted, Changed map[string]int }
			if err := json.Unmarshal(r.Body, &got); err != nil || len(got.Deleted)+len(got.Changed) > 0 {
				tb.Errorf("not everything was erased: %s, %v", r.Body, err)
			}
		}},
		{Name: "what is kept", Request: get, Status: http.StatusOK, Check: has()},
	})
	if databasetest.Other() {
		return
	}
	args := []string{"conform", p.Design, "--endpoint", v.Database.Address(t).Endpoint, "--person", p.As}
	for _, name := range p.Tables {
		args = append(args, "--table", name)
	}
	designcheck.Command(t, args...)
}
