package trinity_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/trinity"
)

// TestRoomExpiresAfterADay: a day after its creation a room is gone, whether or not DynamoDB has deleted it: it cannot be found, joined or
// changed, and its code is free. Its users' matches remain.
func TestRoomExpiresAfterADay(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(2), NewCode: func() string { return "AAAAAA" }}))
	a, b := client{v, ana}, client{v, bruno}
	room := a.create(t, "k")
	b.join(t, room.Code)
	a.vote(t, room.ID, 1, true)
	match := b.vote(t, room.ID, 1, true).Match
	v.Clock.Advance(24*time.Hour - time.Second)
	if rooms := all[trinity.JoinedRoom](t, b, "/rooms"); len(rooms) != 1 {
		t.Errorf("a second before its end: %+v", rooms)
	}
	v.Clock.Advance(time.Second)
	vote := apitest.Request{Method: http.MethodPut, Path: "/rooms/" + room.ID + "/votes/2", As: ana, Body: map[string]any{"vote": true}}
	var cases []apitest.Case
	for name, r := range map[string]apitest.Request{
		"room": get(ana, "/rooms/"+room.ID), "code": get(bruno, "/codes/AAAAAA"), "votes": get(ana, "/rooms/"+room.ID+"/votes"), "vote": vote,
		"matches": get(ana, "/rooms/"+room.ID+"/matches"), "events": get(ana, "/rooms/"+room.ID+"/events"), "stranger": get(cho, "/rooms/"+room.ID),
		"join":  {Method: http.MethodPut, Path: "/codes/AAAAAA/member", As: cho},
		"leave": {Method: http.MethodDelete, Path: "/rooms/" + room.ID + "/member", As: ana},
	} {
		cases = append(cases, refused(name, r, http.StatusNotFound, problem.CodeNotFound, ""))
	}
	v.Run(t, cases)
	for _, path := range []string{"/rooms", "/rooms/hosted", "/rooms/unmatched"} {
		if rooms := all[trinity.JoinedRoom](t, a, path); len(rooms) != 0 {
			t.Errorf("%s: %+v", path, rooms)
		}
	}
	if own := all[trinity.OwnMatch](t, b, "/matches"); len(own) != 1 || own[0].MatchID != match.MatchID {
		t.Errorf("the history is %+v, want %+v", own, match)
	}
	v.Clock.Advance(time.Second)
	if again := b.create(t, "k"); again.Code != "AAAAAA" || again.ID == room.ID {
		t.Errorf("the code was not free: %+v", again)
	}
}

// TestLists: users' lists of their own items are sorted newest first, in pages.
func TestLists(t *testing.T) {
	t.Parallel()
	const rooms = 10
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(1)}))
	a, b := client{v, ana}, client{v, bruno}
	var created []trinity.Room
	for i := range rooms {
		room := a.create(t, string(rune('a'+i)))
		created = append([]trinity.Room{room}, created...)
		v.Clock.Advance(time.Millisecond)
		if i%2 == 0 {
			b.join(t, room.Code)
			a.vote(t, room.ID, 1, true)
			if i%4 == 0 {
				b.vote(t, room.ID, 1, true)
			}
		}
		v.Clock.Advance(time.Millisecond)
	}
	for _, list := range []struct {
		name string
		got  []trinity.JoinedRoom
		want func(i int) bool // whether the i-th room is wanted
	}{
		{"of the host", all[trinity.JoinedRoom](t, a, "/rooms/hosted"), func(int) bool { return true }},
		{"of another host", all[trinity.JoinedRoom](t, b, "/rooms/hosted"), func(int) bool { return false }},
		{"of a member", all[trinity.JoinedRoom](t, b, "/rooms"), func(i int) bool { return i%2 == 0 }},
		{"of the first member", all[trinity.JoinedRoom](t, a, "/rooms"), func(int) bool { return true }},
		{"without a match", all[trinity.JoinedRoom](t, b, "/rooms/unmatched"), func(i int) bool { return i%4 == 2 }},
		{"of the host without a match", all[trinity.JoinedRoom](t, a, "/rooms/unmatched"), func(i int) bool { return i%4 != 0 }},
	} {
		var want []trinity.Room
		for i, room := range created {
			if list.want(rooms - 1 - i) {
				want = append(want, room)
			}
		}
		if len(list.got) != len(want) {
			t.Errorf("%s: %d rooms, want %d", list.name, len(list.got), len(want))
			continue
		}
		for i, room := range want {
			if list.got[i].ID != room.ID || list.got[i].Code != room.Code {
				t.Errorf("%s: %d is %+v, want %+v", list.name, i, list.got[i], room)
			}
		}
	}
	if own := all[trinity.OwnMatch](t, b, "/matches"); len(own) != 3 || !own[0].Timestamp.After(own[1].Timestamp) || !own[1].Timestamp.After(own[2].Timestamp) {
		t.Errorf("matches %+v, want three, newest first", own)
	}
}
