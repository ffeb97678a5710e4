package trinity_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/trinity"
)

// TestHost: members see who votes and under which name. A removed member receives nothing more, and the others can agree without
// them. A closed room accepts no votes, and every member is notified once that it is closed.
func TestHost(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(3), CheckInterval: time.Hour}))
	v.Work(t)
	a, b, c := client{v, ana}, client{v, bruno}, client{v, cho}
	room := a.create(t, "k")
	for _, guest := range []client{b, c} {
		join := apitest.Request{Method: http.MethodPut, Path: "/codes/" + room.Code + "/member", Body: map[string]any{"name": "guest " + guest.sub}}
		guest.do(t, nil, join, http.StatusCreated)
	}
	host, removed := watch(t, a, room.ID, ""), watch(t, c, room.ID, "")
	for _, f := range []*feed{host, removed} {
		if h := f.next(t); h.name != "ready" {
			t.Fatalf("first comes %+v", h)
		}
	}
	a.vote(t, room.ID, 1, true)
	b.vote(t, room.ID, 1, true)
	c.vote(t, room.ID, 1, false)
	a.do(t, nil, apitest.Request{Method: http.MethodDelete, Path: "/rooms/" + room.ID + "/members/" + cho}, http.StatusNoContent)
	var received []string // from two tables, so in either order; earlier joins may arrive late
	for len(received) < 2 {
		if h := host.next(t); h.name != "joined" {
			received = append(received, h.name)
		}
	}
	if slices.Sort(received); !slices.Equal(received, []string{"left", "match"}) {
		t.Errorf("the host got %q", received)
	}
	if !slices.ContainsFunc(host.changed, func(h receivedEvent) bool {
		var p trinity.Person
		h.json(t, &p)
		return p.UserID == bruno && p.Name == "guest "+bruno && p.Votes == 1
	}) {
		t.Errorf("the host was not notified of a vote: %+v", host.changed)
	}
	for h := removed.next(t); h.name != ""; h = removed.next(t) {
		if h.name != "match" && h.name != "joined" { // earlier joins may arrive late
			t.Errorf("a removed member gets %+v", h)
		}
	}

	guest := watch(t, b, room.ID, "")
	for h := guest.next(t); h.name != "ready"; h = guest.next(t) {
	}
	a.do(t, nil, apitest.Request{Method: http.MethodPut, Path: "/rooms/" + room.ID + "/closed"}, http.StatusOK)
	for _, f := range []*feed{host, guest} {
		h := f.next(t)
		for h.name == "left" || h.name == "match" { // earlier events, which arrive late
			h = f.next(t)
		}
		if h.name != "closed" {
			t.Errorf("when the room is closed comes %+v", h)
		}
	}
	for _, yes := range []bool{true, false} {
		b.vote(t, room.ID, 2, yes, http.StatusConflict)
	}
	if list := b.matches(t, room.ID); len(list) != 1 {
		t.Errorf("the matches of a closed room are %+v", list)
	}
	b.leave(t, room.ID)
	scan(t, v).sound(t)
}
