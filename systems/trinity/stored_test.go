package trinity_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

// stored is the tables' entire content.
type stored struct {
	rooms map[string]*storedRoom // by id
	codes []trinitydb.Room       // the rooms in the code markers
	// shared are users' matches, by room, film and user.
	shared map[string]map[int64]map[string]trinitydb.UserMatch
	// unmatched are the index entries of members without a match, by room.
	unmatched map[string][]string
}

// storedRoom is a room with everything that belongs to it.
type storedRoom struct {
	room    *trinitydb.Room
	members map[string]trinitydb.Member
	movies  map[int64]trinitydb.Movie
	votes   []trinitydb.Vote
	matches map[int64]trinitydb.Match
}

func (s *stored) of(roomID string) *storedRoom {
	if s.rooms[roomID] == nil {
		s.rooms[roomID] = &storedRoom{
			members: map[string]trinitydb.Member{}, movies: map[int64]trinitydb.Movie{}, matches: map[int64]trinitydb.Match{},
		}
	}
	return s.rooms[roomID]
}

// scan reads all tables.
func scan(tb testing.TB, v *apitest.Server) *stored {
	tb.Helper()
	s := &stored{rooms: map[string]*storedRoom{}, shared: map[string]map[int64]map[string]trinitydb.UserMatch{}, unmatched: map[string][]string{}}
	for _, name := range []string{"trinity-rooms", "trinity-votes", "trinity-matches"} {
		for it := range v.Database.Items(tb, name, "") {
			x, place, err := trinitydb.Decode(it)
			if err != nil {
				tb.Fatal(err)
			}
			s.add(tb, x, place, it)
		}
	}
	for it := range v.Database.Items(tb, "trinity-votes", "unmatched-index") {
		room, user := it["room"].(*types.AttributeValueMemberS), it["unmatchedUserId"].(*types.AttributeValueMemberS) //nolint:forcetypeassert // the index has them
		s.unmatched[room.Value] = append(s.unmatched[room.Value], user.Value)
	}
	return s
}

func (s *stored) add(tb testing.TB, x any, place table.Place, it table.Item) {
	tb.Helper()
	switch x := x.(type) {
	case trinitydb.Room:
		if place.Kind == table.MarkerPlace {
			s.codes = append(s.codes, x)
		} else {
			s.of(x.RoomID).room = &x
		}
	case trinitydb.Member:
		s.of(x.RoomID).members[x.UserID] = x
	case trinitydb.Movie:
		s.of(x.RoomID).movies[x.MovieID] = x
	case trinitydb.Vote:
		s.of(x.RoomID).votes = append(s.of(x.RoomID).votes, x)
	case trinitydb.Match:
		s.of(x.RoomID).matches[x.MovieID] = x
	case trinitydb.UserMatch:
		if s.shared[x.RoomID] == nil {
			s.shared[x.RoomID] = map[int64]map[string]trinitydb.UserMatch{}
		}
		if s.shared[x.RoomID][x.MovieID] == nil {
			s.shared[x.RoomID][x.MovieID] = map[string]trinitydb.UserMatch{}
		}
		s.shared[x.RoomID][x.MovieID][x.UserID] = x
	case trinitydb.RoomRequest:
	default:
		tb.Errorf("an item of no entity: %v", it)
	}
}

// sound fails the test unless the stored data is consistent when no request is in flight: the design's invariants hold, and all
// matches are shared.
func (s *stored) sound(tb testing.TB) {
	tb.Helper()
	codes := map[string]string{}
	for _, c := range s.codes {
		codes[c.Code] = c.RoomID
	}
	for id, r := range s.rooms {
		if r.room == nil {
			tb.Errorf("%s has items but does not exist", id)
			continue
		}
		if codes[r.room.Code] != id {
			tb.Errorf("the code %s of %s opens %q", r.room.Code, id, codes[r.room.Code])
		}
		r.sound(tb)
		s.checkSharedMatches(tb, r)
	}
}

func (r *storedRoom) sound(tb testing.TB) {
	tb.Helper()
	id := r.room.RoomID
	if int(r.room.MemberCount) != len(r.members) {
		tb.Errorf("%s counts %d members and has %d", id, r.room.MemberCount, len(r.members))
	}
	yes, cast := map[int64]int64{}, map[string]int64{}
	for _, v := range r.votes {
		if _, ok := r.members[v.UserID]; !ok {
			tb.Errorf("%s has a vote of %s, who is not a member", id, v.UserID)
		}
		cast[v.UserID]++
		if v.Vote {
			yes[v.MovieID]++
		}
		if !v.TTL.Equal(r.room.TTL) {
			tb.Errorf("a vote goes at %v, its room at %v", v.TTL, r.room.TTL)
		}
	}
	for _, m := range r.members {
		if m.Votes != cast[m.UserID] || m.HasMatch != (len(r.matches) > 0) || !m.TTL.Equal(r.room.TTL) {
			tb.Errorf("%+v has %d votes, in a room of %d matches that goes at %v", m, cast[m.UserID], len(r.matches), r.room.TTL)
		}
	}
	for _, m := range r.movies {
		_, matched := r.matches[m.MovieID]
		if m.Yes != yes[m.MovieID] || m.Matched != matched || !m.TTL.Equal(r.room.TTL) {
			tb.Errorf("%+v has %d yes votes, match: %v", m, yes[m.MovieID], matched)
		}
		if m.Yes >= 2 && m.Yes >= r.room.MemberCount && !matched {
			tb.Errorf("%s: all %d members want %d, and it is no match", id, r.room.MemberCount, m.MovieID)
		}
	}
	if r.room.HasMatch != (len(r.matches) > 0) {
		tb.Errorf("%s has %d matches and says %v", id, len(r.matches), r.room.HasMatch)
	}
}

// checkSharedMatches: each user of a match has it, and no other user.
func (s *stored) checkSharedMatches(tb testing.TB, r *storedRoom) {
	tb.Helper()
	id := r.room.RoomID
	for movieID, match := range r.matches {
		if len(match.MatchedUsers) < 2 || match.MatchID == "" || !match.TTL.Equal(r.room.TTL) {
			tb.Errorf("match %+v", match)
		}
		users := slices.Sorted(maps.Keys(s.shared[id][movieID]))
		if !slices.Equal(users, slices.Sorted(slices.Values(match.MatchedUsers))) {
			tb.Errorf("%v find the match of %v", users, match.MatchedUsers)
		}
		for _, m := range s.shared[id][movieID] {
			if m.MatchID != match.MatchID || m.Title != match.Title || !m.Timestamp.Equal(match.Timestamp) {
				tb.Errorf("%s finds %+v as %+v", m.UserID, match, m)
			}
		}
	}
	if len(s.shared[id]) != len(r.matches) {
		tb.Errorf("%s has %d matches and shared %d", id, len(r.matches), len(s.shared[id]))
	}
	want := 0
	if len(r.matches) == 0 {
		want = len(r.members)
	}
	if len(s.unmatched[id]) != want {
		tb.Errorf("%s: the index of rooms without a match has %v, want %d", id, s.unmatched[id], want)
	}
}
