package trinity_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/trinity"
	"github.com/monotable/monotable/systems/trinity/films"
)

const (
	ana   = "u-123"
	bruno = "u-456"
	cho   = "u-789"
	// nowhere is a valid UUID of nothing.
	nowhere = "3f2b8c1e-7a4d-4b6f-9c2a-1d5e8f7a6b3c"
)

// some is a Source of the films 1 to n.
type some int

func (n some) Films(context.Context, films.Query) ([]films.Film, error) {
	var list []films.Film
	for i := range int64(n) {
		list = append(list, films.Film{ID: i + 1, MediaType: films.Movie, Title: fmt.Sprint("Film ", i+1), ReleaseDate: "1999"})
	}
	return list, nil
}

// client is a person.
type client struct {
	v   *apitest.Server
	sub string
}

// do sends a request whose response must have one of the statuses.
func (c client) do(tb testing.TB, into any, r apitest.Request, statuses ...int) int {
	tb.Helper()
	r.As = c.sub
	response := c.v.Insist(tb, r)
	for _, status := range statuses {
		if response.Status == status {
			if into != nil && status < http.StatusMultipleChoices {
				response.JSON(tb, into)
			}
			return status
		}
	}
	tb.Fatalf("%s: %s %s: %d %s, want %v", c.sub, r.Method, r.Path, response.Status, response.Body, statuses)
	return 0
}

func (c client) create(tb testing.TB, key string) trinity.Room {
	tb.Helper()
	var room trinity.Room
	c.do(tb, &room, apitest.Request{Method: http.MethodPost, Path: "/rooms", Key: key, Body: map[string]any{"mediaType": "MOVIE"}}, http.StatusCreated)
	return room
}

func (c client) join(tb testing.TB, code string) trinity.Room {
	tb.Helper()
	var room trinity.Room
	c.do(tb, &room, apitest.Request{Method: http.MethodPut, Path: "/codes/" + code + "/member"}, http.StatusCreated, http.StatusOK)
	return room
}

func (c client) leave(tb testing.TB, roomID string) {
	tb.Helper()
	c.do(tb, nil, apitest.Request{Method: http.MethodDelete, Path: "/rooms/" + roomID + "/member"}, http.StatusNoContent)
}

// cast is the response to a vote.
type cast struct {
	trinity.Vote
	Match *trinity.Match
}

func (c client) vote(tb testing.TB, roomID string, movieID int64, yes bool, statuses ...int) cast {
	tb.Helper()
	if statuses == nil {
		statuses = []int{http.StatusCreated}
	}
	var out cast
	c.do(tb, &out, apitest.Request{Method: http.MethodPut, Path: fmt.Sprintf("/rooms/%s/votes/%d", roomID, movieID), Body: map[string]any{"vote": yes}}, statuses...)
	return out
}

// all returns a list's items, read page by page.
func all[T any](tb testing.TB, c client, path string) []T {
	tb.Helper()
	items := []T{}
	for next := ""; ; {
		var p struct {
			Items []T
			Next  string
		}
		c.do(tb, &p, apitest.Request{Method: http.MethodGet, Path: apitest.Query(path, "limit", "7", "cursor", next)}, http.StatusOK)
		items = append(items, p.Items...)
		if next = p.Next; next == "" {
			return items
		}
	}
}

func (c client) matches(tb testing.TB, roomID string) []trinity.Match {
	tb.Helper()
	return all[trinity.Match](tb, c, "/rooms/"+roomID+"/matches")
}

// TestNames: a name can be seen and does not change the text around it. Emoji of several characters stay whole.
func TestNames(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(3)}))
	room := client{v, ana}.create(t, "k")
	for i, c := range []struct{ chosen, want string }{
		{" Zoë ", "Zoë"}, {"\u202eanA", "anA"}, {"a\u2028b\u0085", "ab"}, {"\u202e", ""}, {"\u200b\u2060", ""}, {"👩\u200d🚀", "👩\u200d🚀"}, {"\u200f\u05d3\u05df", "\u05d3\u05df"},
	} {
		guest := client{v, fmt.Sprint("guest-", i)}
		guest.do(t, nil, apitest.Request{Method: http.MethodPut, Path: "/codes/" + room.Code + "/member", Body: map[string]any{"name": c.chosen}}, http.StatusCreated)
		var found trinity.RoomWithMembers
		guest.do(t, &found, apitest.Request{Method: http.MethodGet, Path: "/rooms/" + room.ID}, http.StatusOK)
		for _, m := range found.Members {
			if m.UserID == guest.sub && m.Name != c.want {
				t.Errorf("%q is called %q, want %q", c.chosen, m.Name, c.want)
			}
		}
	}
}
