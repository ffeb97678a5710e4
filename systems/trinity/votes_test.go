package trinity_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/trinity"
)

// TestMatch: the last yes vote, and no earlier one, creates the match for everyone who is in the room at that time.
func TestMatch(t *testing.T) {
	t.Parallel()
	apitest.Each(t, trinity.System(trinity.Options{Films: some(3)}), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		a, b, c := client{v, ana}, client{v, bruno}, client{v, cho}
		room := a.create(t, "k")
		if got := a.vote(t, room.ID, 1, true); got.Match != nil {
			t.Errorf("%+v matched without another member", got)
		}
		b.join(t, room.Code)
		c.join(t, room.Code)
		if got := b.vote(t, room.ID, 1, true); got.Match != nil {
			t.Errorf("two of three made %+v", got.Match)
		}
		b.vote(t, room.ID, 2, true)
		c.vote(t, room.ID, 2, false)
		a.vote(t, room.ID, 2, true)
		got := c.vote(t, room.ID, 1, true)
		if got.Match == nil || got.Match.MovieID != 1 || got.Match.Title != "Film 1" || !slices.Equal(got.Match.MatchedUsers, []string{ana, bruno, cho}) {
			t.Fatalf("the last yes was answered with %+v", got.Match)
		}
		for _, who := range []client{a, b, c} {
			if list := who.matches(t, room.ID); len(list) != 1 || list[0].MatchID != got.Match.MatchID {
				t.Errorf("%s finds the matches %+v", who.sub, list)
			}
			if own := all[trinity.OwnMatch](t, who, "/matches"); len(own) != 1 || own[0].MatchID != got.Match.MatchID || own[0].RoomID != room.ID {
				t.Errorf("%s has the matches %+v", who.sub, own)
			}
			if rooms := all[trinity.JoinedRoom](t, who, "/rooms/unmatched"); len(rooms) != 0 {
				t.Errorf("without a match are %+v", rooms)
			}
		}
		late := client{v, "u-late"}
		if joined := late.join(t, room.Code); !joined.HasMatch {
			t.Errorf("a late member gets %+v", joined)
		}
		if again := late.vote(t, room.ID, 1, true); again.Match == nil || again.Match.MatchID != got.Match.MatchID {
			t.Errorf("a yes after the match is answered with %+v", again.Match)
		}
		if own := all[trinity.OwnMatch](t, late, "/matches"); len(own) != 0 {
			t.Errorf("a user who was not a member has %+v", own)
		}
		v.Deliver(t)
		scan(t, v).sound(t)
	})
}

// TestDifferentVoteIsRejected: repeating a vote has no effect; a different vote is rejected.
func TestDifferentVoteIsRejected(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(3)}))
	a, b := client{v, ana}, client{v, bruno}
	room := a.create(t, "k")
	b.join(t, room.Code)
	for movieID, yes := range map[int64]bool{1: true, 2: false} {
		first := a.vote(t, room.ID, movieID, yes)
		if again := a.vote(t, room.ID, movieID, yes, http.StatusOK); again.Vote != first.Vote {
			t.Errorf("again: %+v, first: %+v", again.Vote, first.Vote)
		}
		a.vote(t, room.ID, movieID, !yes, http.StatusConflict)
	}
	created := b.vote(t, room.ID, 1, true)
	if again := b.vote(t, room.ID, 1, true, http.StatusOK); again.Match == nil || again.Match.MatchID != created.Match.MatchID {
		t.Errorf("the last yes again is answered with %+v, first %+v", again.Match, created.Match)
	}
	own := all[trinity.Vote](t, a, "/rooms/"+room.ID+"/votes/mine")
	if len(own) != 2 || own[0].UserID != ana || own[1].UserID != ana {
		t.Errorf("own votes are %+v", own)
	}
	if votes := all[trinity.Vote](t, b, "/rooms/"+room.ID+"/votes"); len(votes) != 3 {
		t.Errorf("all votes are %+v, want 3", votes)
	}
	scan(t, v).sound(t)
}

// TestLeavingWithdrawsVotes: leaving withdraws votes, and films that all others want become matches.
func TestLeavingWithdrawsVotes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, trinity.System(trinity.Options{Films: some(5)}), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		a, b, c := client{v, ana}, client{v, bruno}, client{v, cho}
		room := a.create(t, "k")
		b.join(t, room.Code)
		c.join(t, room.Code)
		for _, movieID := range []int64{1, 2} {
			a.vote(t, room.ID, movieID, true)
			b.vote(t, room.ID, movieID, true)
		}
		a.vote(t, room.ID, 3, true)
		c.vote(t, room.ID, 3, true)
		c.vote(t, room.ID, 1, false)
		if list := a.matches(t, room.ID); len(list) != 0 {
			t.Fatalf("matches %+v before a member has left", list)
		}
		c.leave(t, room.ID)
		c.leave(t, room.ID) // and again
		list := a.matches(t, room.ID)
		if len(list) != 2 || list[0].MovieID != 1 || list[1].MovieID != 2 {
			t.Fatalf("matches %+v, want films 1 and 2", list)
		}
		for range 2 { // redelivered records change nothing
			v.Deliver(t)
			scan(t, v).sound(t)
		}
		for _, who := range []client{a, b} {
			if own := all[trinity.OwnMatch](t, who, "/matches"); len(own) != 2 {
				t.Errorf("%s has the matches %+v", who.sub, own)
			}
		}
		if own := all[trinity.OwnMatch](t, c, "/matches"); len(own) != 0 {
			t.Errorf("the member who left has the matches %+v", own)
		}
		c.join(t, room.Code)
		if votes := all[trinity.Vote](t, c, "/rooms/"+room.ID+"/votes/mine"); len(votes) != 0 {
			t.Errorf("rejoined with the votes %+v", votes)
		}
		if again := c.vote(t, room.ID, 3, true); again.Match != nil {
			t.Errorf("two of three made %+v", again.Match)
		}
		for _, who := range []client{a, b, c} {
			who.leave(t, room.ID)
		}
		v.Deliver(t)
		scan(t, v).sound(t)
		if list := a.join(t, room.Code); list.MemberCount != 1 {
			t.Errorf("an empty room was joined: %+v", list)
		}
	})
}

// TestLeaveFromSeveralDevices: leaving from several devices at the same time succeeds on each.
func TestLeaveFromSeveralDevices(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(2)}))
	a, b, c := client{v, ana}, client{v, bruno}, client{v, cho}
	room := a.create(t, "k")
	b.join(t, room.Code)
	for range 5 {
		c.join(t, room.Code)
		c.vote(t, room.ID, 1, true)
		var devices sync.WaitGroup
		for range 8 {
			devices.Go(func() {
				r := v.Do(t, apitest.Request{Method: http.MethodDelete, Path: "/rooms/" + room.ID + "/member", As: cho})
				if r.Status != http.StatusNoContent {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			})
		}
		devices.Wait()
	}
	scan(t, v).sound(t)
}

// TestSingleMemberGetsNoMatch: a member on their own never gets a match, whether the others have not joined yet or have left.
func TestSingleMemberGetsNoMatch(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(2)}))
	a, b := client{v, ana}, client{v, bruno}
	room := a.create(t, "k")
	a.vote(t, room.ID, 1, true)
	b.join(t, room.Code)
	a.vote(t, room.ID, 2, true)
	b.leave(t, room.ID)
	if list := a.matches(t, room.ID); len(list) != 0 {
		t.Errorf("alone with %+v", list)
	}
	b.join(t, room.Code)
	if got := b.vote(t, room.ID, 1, true); got.Match == nil {
		t.Error("two agree, and there is no match")
	}
	v.Deliver(t)
	scan(t, v).sound(t)
}
