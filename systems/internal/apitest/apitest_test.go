package apitest_test

import (
	"net/http"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/sam"
	"github.com/monotable/monotable/systems/internal/systemtest"
)

// TestNotes calls a small system over each transport, delivers its records, and checks its effect on its table.
func TestNotes(t *testing.T) {
	seen := make(chan string, 10)
	apitest.Each(t, systemtest.Notes(systemtest.Hooks{Seen: seen}), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		write := apitest.Request{Method: http.MethodPost, Path: "/notes", As: "u-1", Key: "n-1", Body: map[string]any{"text": "hello"}}
		v.Run(t, []apitest.Case{
			{Name: "written", Request: write, Status: http.StatusCreated, Check: func(tb testing.TB, r *apitest.Response) {
				tb.Helper()
				var n systemtest.Note
				if r.JSON(tb, &n); n != (systemtest.Note{ID: "n-1", Text: "hello"}) {
					tb.Errorf("wrote %+v", n)
				}
			}},
			{Name: "empty", Request: apitest.Request{Method: http.MethodPost, Path: "/notes", As: "u-1", Key: "n-1", Body: `{"text":""}`}, Status: http.StatusBadRequest, Code: problem.CodeInvalidBody, Field: "body.text"},
			{Name: "listed", Request: apitest.Request{Method: http.MethodGet, Path: apitest.Query("/notes", "limit", "1"), As: "u-1"}, Status: http.StatusOK},
		})
		for range 2 {
			v.Deliver(t)
			if id := <-seen; id != "n-1" {
				t.Errorf("delivered %s, want n-1", id)
			}
		}
		accesses := v.Accesses()
		for operation, want := range map[string]sam.Access{
			"createNote": {Action: "dynamodb:PutItem", Table: "notes-test", Leading: "USER#u-1"},
			"listNotes":  {Action: "dynamodb:Query", Table: "notes-test", Leading: "USER#u-1"},
		} {
			if got := accesses[operation]; len(got) != 1 || got[0] != want {
				t.Errorf("%s did %+v, want %+v", operation, got, want)
			}
		}
		if routes := v.Routes(); len(routes) != 3 || routes[0] != (sam.Route{ID: "createNote", Method: "POST", Path: "/notes", Summary: "Write a note", Token: true}) {
			t.Errorf("routes %+v", routes)
		}
		v.Load(t)
		v.RejectsUnauthenticated(t)
	})
}

// TestBuilt does the same with the system's binary, as a server and as AWS Lambda runs it.
func TestBuilt(t *testing.T) {
	apitest.EachBuilt(t, systemtest.Notes(systemtest.Hooks{}), "../systemtest/lambda", func(t *testing.T, v *apitest.Server) {
		t.Helper()
		write := apitest.Request{Method: http.MethodPost, Path: "/notes", As: "u-1", Key: "n-1", Body: map[string]any{"text": "hello"}}
		v.Run(t, []apitest.Case{
			{Name: "written", Request: write, Status: http.StatusCreated},
			{Name: "empty", Request: apitest.Request{Method: http.MethodPost, Path: "/notes", As: "u-1", Key: "n-1", Body: `{"text":""}`}, Status: http.StatusBadRequest, Code: problem.CodeInvalidBody, Field: "body.text"},
			{Name: "listed", Request: apitest.Request{Method: http.MethodGet, Path: "/notes", As: "u-1"}, Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
				tb.Helper()
				var of struct{ Items []systemtest.Note }
				if r.JSON(tb, &of); len(of.Items) != 1 || of.Items[0] != (systemtest.Note{ID: "n-1", Text: "hello"}) {
					tb.Errorf("found %s", r.Body)
				}
			}},
		})
		if batches := v.Batches(t, "notes-test"); len(batches) != 1 || len(batches[0].Records) != 1 {
			t.Errorf("the table's stream has %+v, want a record", batches)
		}
		v.Deliver(t)
		v.Load(t)
		v.RejectsUnauthenticated(t)
	})
}
