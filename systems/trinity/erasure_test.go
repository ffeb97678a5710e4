package trinity_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/trinity"
)

// TestErasureLeavesRooms: the others do not wait for the votes of a user whose data was erased, and no later match names the user.
func TestErasureLeavesRooms(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(3)}))
	gone, b, c := client{v, ana}, client{v, bruno}, client{v, cho}
	room := gone.create(t, "k")
	b.join(t, room.Code)
	c.join(t, room.Code)
	gone.vote(t, room.ID, 1, true)
	gone.vote(t, room.ID, 2, false)
	b.vote(t, room.ID, 1, true)
	b.vote(t, room.ID, 2, true)
	c.vote(t, room.ID, 2, true)
	gone.do(t, nil, apitest.Request{Method: http.MethodDelete, Path: "/me", Header: map[string]string{"Confirm": "erase"}}, http.StatusOK)
	v.Deliver(t)
	if c.vote(t, room.ID, 1, true).Match == nil {
		t.Error("all who are left have said yes, and there is no match")
	}
	v.Deliver(t)
	for _, m := range c.matches(t, room.ID) {
		if !slices.Equal(m.MatchedUsers, []string{bruno, cho}) {
			t.Errorf("film %d is a match of %v", m.MovieID, m.MatchedUsers)
		}
	}
	for who, want := range map[client]int{gone: 0, b: 2, c: 2} {
		if got := all[trinity.OwnMatch](t, who, "/matches"); len(got) != want {
			t.Errorf("%s has the matches %+v, want %d", who.sub, got, want)
		}
	}
}
