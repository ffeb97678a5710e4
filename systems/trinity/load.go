package trinity

import (
	"fmt"
	"slices"

	"github.com/monotable/monotable/systems/internal/load"
)

const (
	// loadRooms is the number of rooms per connection, which fills a page of its lists.
	loadRooms = 20
	// loadMatches is the number of matches in a connection's first room. Both members have voted on the other films and disagree.
	loadMatches = 10
	// loadGuest is a connection's second user, loadVoter the one who joins and leaves.
	loadGuest, loadVoter = "guest", "voter"
)

// loadPlan measures every operation except the event stream. A connection has a room in which two members have voted on all
// films, a hall that a third user joins and leaves, and other rooms for its lists. Votes are final and matches are created once,
// so each such request needs a new room, or a voter whose votes were withdrawn by leaving.
func loadPlan() load.Plan {
	vote := load.Put("/rooms/{hall}/votes/{hallFilm0}", `{"vote":true}`).By(loadVoter)
	noVote := load.Put("/rooms/{hall}/votes/{hallFilm1}", `{"vote":false}`).By(loadVoter)
	join, leave := loadJoins("hall", loadVoter), load.Delete("/rooms/{hall}/member").By(loadVoter)
	match := load.Put("/rooms/{next}/votes/{nextFilm0}", `{"vote":true}`)
	return load.Plan{
		Setup: loadSetup(),
		Routes: []load.Call{
			load.Get("/genres?mediaType=TV").By("-"),
			loadRoom(""),
			load.Get("/rooms"), load.Get("/rooms/hosted"), load.Get("/rooms/unmatched"),
			load.Get("/rooms/{room}"), load.Get("/codes/{roomCode}"),
			join.After(leave),
			load.Put("/rooms/{ended}/closed", "").After(loadRoom("ended"), loadJoins("ended", loadGuest)),
			leave.After(join, vote, noVote),
			load.Get("/rooms/{room}/candidates"),
			vote.After(leave, join), noVote.After(leave, join),
			match.By(loadGuest).After(loadRoom("next"), loadFilms("next", 1), loadJoins("next", loadGuest), match),
			load.Get("/rooms/{room}/votes/{roomFilm0}"), load.Get("/rooms/{room}/votes/mine"), load.Get("/rooms/{room}/votes?limit=100"),
			load.Get("/rooms/{room}/matches"), load.Get("/rooms/{room}/matches/{roomFilm0}"), load.Get("/matches"),
		},
		Without: map[string]string{"watchRoom": "its response does not end", "removeMember": "it is leaveRoom, asked for by the host"},
	}
}

// loadSetup creates a connection's rooms.
func loadSetup() []load.Call {
	setup := []load.Call{
		loadRoom("room"), loadFilms("room", roomFilms), loadJoins("room", loadGuest),
		loadRoom("hall"), loadFilms("hall", 2), loadJoins("hall", loadGuest), loadJoins("hall", loadVoter), //nolint:mnd // a film for a yes, one for a no
	}
	for film := range roomFilms {
		path := fmt.Sprintf("/rooms/{room}/votes/{roomFilm%d}", film)
		setup = append(setup, load.Put(path, `{"vote":true}`), load.Put(path, fmt.Sprintf(`{"vote":%t}`, film < loadMatches)).By(loadGuest))
	}
	return append(setup, slices.Repeat([]load.Call{loadRoom("")}, loadRooms-2)...) // in addition to these two
}

// loadRoom opens a room, and stores its id and code under a name if one is given.
func loadRoom(name string) load.Call {
	call := load.Create("/rooms", `{"mediaType":"MOVIE","genreIds":[35,18]}`).Keeping(name, "id")
	if name != "" {
		call = call.Keeping(name+"Code", "code")
	}
	return call
}

// loadFilms stores the ids of a room's first films.
func loadFilms(room string, films int) load.Call {
	call := load.Get("/rooms/{" + room + "}/candidates?limit=100")
	for i := range films {
		call = call.Keeping(fmt.Sprintf("%sFilm%d", room, i), fmt.Sprintf("items/%d/movieId", i))
	}
	return call
}

// loadJoins adds a user to a room.
func loadJoins(room, user string) load.Call {
	return load.Put("/codes/{"+room+"Code}/member", "").By(user)
}
