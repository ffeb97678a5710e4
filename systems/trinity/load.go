package trinity

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/monotable/monotable/systems/internal/load"
)

const (
	// loadRooms is the number of rooms per connection, enough for a page in its lists.
	loadRooms = 20
	// loadMatches is the number of matched films in its first room. Both members have voted on the others and disagree.
	loadMatches = 10
	// loadGuest is a connection's second user, loadVoter the one who joins and leaves.
	loadGuest, loadVoter = "guest", "voter"
)

// loadPlan measures every operation but the event stream. A connection has a room in which two members have voted on all films, a
// hall that a third joins and leaves, and other rooms for its lists. Votes are final and matches are created once, so each such
// request needs a new room, or a voter whose votes were withdrawn on leaving.
func loadPlan() load.Plan {
	vote := load.Call{Method: http.MethodPut, Path: "/rooms/{hall}/votes/{hallFilm0}", Body: `{"vote":true}`, As: loadVoter}
	join := load.Call{Method: http.MethodPut, Path: "/codes/{hallCode}/member", As: loadVoter}
	leave := load.Call{Method: http.MethodDelete, Path: "/rooms/{hall}/member", As: loadVoter}
	noVote := load.Call{Method: http.MethodPut, Path: "/rooms/{hall}/votes/{hallFilm1}", Body: `{"vote":false}`, As: loadVoter}
	match := load.Call{Method: http.MethodPut, Path: "/rooms/{next}/votes/{nextFilm0}", Body: `{"vote":true}`}
	get := func(path string) load.Route { return load.Route{Call: load.Call{Method: http.MethodGet, Path: path}} }
	return load.Plan{
		Setup: loadSetup(),
		Routes: []load.Route{
			{Call: load.Call{Method: http.MethodGet, Path: "/genres?mediaType=TV", As: "-"}},
			{Call: loadRoom("")},
			get("/rooms"), get("/rooms/hosted"), get("/rooms/unmatched"),
			get("/rooms/{room}"), get("/codes/{roomCode}"),
			{Call: join, Before: []load.Call{leave}},
			{Call: load.Call{Method: http.MethodPut, Path: "/rooms/{ended}/closed"}, Before: []load.Call{loadRoom("ended"), loadGuestJoins("ended")}},
			{Call: leave, Before: []load.Call{join, vote, noVote}},
			get("/rooms/{room}/candidates"),
			{Call: vote, Before: []load.Call{leave, join}},
			{Call: noVote, Before: []load.Call{leave, join}},
			{Call: as(loadGuest, match), Before: []load.Call{loadRoom("next"), loadFilms("next", 1), loadGuestJoins("next"), match}},
			get("/rooms/{room}/votes/{roomFilm0}"), get("/rooms/{room}/votes/mine"), get("/rooms/{room}/votes?limit=100"),
			get("/rooms/{room}/matches"), get("/rooms/{room}/matches/{roomFilm0}"), get("/matches"),
		},
		Without: map[string]string{"watchRoom": "its answer does not end", "removeMember": "it is leaveRoom, asked for by the host"},
	}
}

// loadSetup creates a connection's rooms.
func loadSetup() []load.Call {
	setup := []load.Call{
		loadRoom("room"), loadFilms("room", roomFilms), loadGuestJoins("room"),
		loadRoom("hall"), loadFilms("hall", 2), loadGuestJoins("hall"), //nolint:mnd // a film for a yes, one for a no
		{Method: http.MethodPut, Path: "/codes/{hallCode}/member", As: loadVoter},
	}
	for film := range roomFilms {
		own := load.Call{Method: http.MethodPut, Path: fmt.Sprintf("/rooms/{room}/votes/{roomFilm%d}", film), Body: `{"vote":true}`}
		guests := as(loadGuest, own)
		if film >= loadMatches {
			guests.Body = `{"vote":false}`
		}
		setup = append(setup, own, guests)
	}
	return append(setup, slices.Repeat([]load.Call{loadRoom("")}, loadRooms-2)...) // beside these two
}

// loadRoom opens a room, and stores its id and code under a name if one is given.
func loadRoom(name string) load.Call {
	call := load.Call{
		Method: http.MethodPost, Path: "/rooms", Header: map[string]string{"Idempotency-Key": "load-{n}"},
		Body: `{"mediaType":"MOVIE","genreIds":[35,18]}`,
	}
	if name != "" {
		call.Keep = map[string]string{name: "id", name + "Code": "code"}
	}
	return call
}

// loadFilms stores the ids of a room's first films.
func loadFilms(room string, films int) load.Call {
	call := load.Call{Method: http.MethodGet, Path: "/rooms/{" + room + "}/candidates?limit=100", Keep: map[string]string{}}
	for i := range films {
		call.Keep[room+"Film"+strconv.Itoa(i)] = fmt.Sprintf("items/%d/movieId", i)
	}
	return call
}

func loadGuestJoins(room string) load.Call {
	return load.Call{Method: http.MethodPut, Path: "/codes/{" + room + "Code}/member", As: loadGuest}
}

// as is a call by another user.
func as(user string, c load.Call) load.Call {
	c.As = user
	return c
}
