// Package trinity is Trinity: a group meets in a room, votes on films, and learns immediately which film everyone wants to see.
//
// # Model
//
//	POST /rooms ──▶ Room with its films and its host        PUT /codes/{code}/member ──▶ Member
//
//	PUT /rooms/{id}/votes/{movieId} ──▶ Vote and tally ── the last yes ──▶ Match and the matches of its users
//	PUT /rooms/{id}/closed ──▶ Room and Members closed
//	DELETE /rooms/{id}/member ──▶ votes taken back, Member gone ── all others agree ──▶ Match
//	                                                                      │ the tables' streams
//	                                                                      ▼
//	                          one worker: matches of its users; each process: hub ──▶ GET /rooms/{id}/events
//
// trinity.design.yaml declares what is stored and how it is accessed, and the races that verify the invariants of its flows.
// Package trinitydb is generated from it and is the only code that accesses the data. The functions that change a room
// (members.go, votes.go) implement the design's flows step by step. Functions on a room require a membership, which can only be
// created from the caller's own item. The API is the table in routes.go, with its request types; responses.go has the response
// types.
//
// # Invariants
//
//	T1  A room's data is for its members. Anyone with its code can see the room and join.
//	T2  A match is created once, exactly when all members, two or more, have voted yes: by the last yes vote, or when
//	    the last member who had not voted leaves.
//	T3  A vote is final while its member stays; leaving withdraws it.
//	T4  Two rooms that can be joined never have the same code.
//	T5  A room's event stream delivers everything that happens after ready immediately, from whichever process.
//	T6  After its host has closed a room, users can neither join it nor vote in it.
//	T7  Everything in a room expires a day after its creation, and counts as deleted from that moment. A user's
//	    matches remain.
//
// The package is safe for concurrent use.
package trinity

import (
	"context"
	"embed"
	"log/slog"
	"net/http"
	"time"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/personal"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/systems/internal/words"
	"github.com/monotable/monotable/systems/trinity/films"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

//go:generate go run ../../cmd/monotable generate trinity.design.yaml -o trinitydb
//go:generate go test -run TestTemplate -update .

// Name is the system's name.
const Name = "trinity"

const (
	// tokenVariable is the environment variable for TMDB's access token.
	tokenVariable = "TRINITY_TMDB_TOKEN" //nolint:gosec // a name
	// checkInterval is how often an event stream checks the table for missed events.
	checkInterval = 5 * time.Second
)

//go:embed words
var wordsFiles embed.FS

// Options are the replaceable parts of a deployment.
type Options struct {
	// Films provides the films to vote on; nil means TMDB if TRINITY_TMDB_TOKEN is set, otherwise the offline catalogue.
	Films films.Source
	// NewCode generates room codes; nil means random ones.
	NewCode func() string
	// CheckInterval is how often an event stream checks the table for missed events; 0 means 5 s.
	CheckInterval time.Duration
}

// service is the running system.
type service struct {
	db      *trinitydb.DB
	films   films.Source
	newCode func() string
	clock   func() time.Time
	check   time.Duration
	hub     *hub
	logger  *slog.Logger
}

// System is Trinity.
func System(o Options) system.System {
	return system.System{
		Name: Name, Title: "Trinity", Version: "1.0.0",
		About:  "Rooms in which people vote on films until all of them agree on one.",
		Tables: func(string) []system.Table { return tables() },
		Rules: problem.Rules{
			{Err: errNoMember, Status: http.StatusForbidden, Code: problem.CodeForbidden},
			{Err: trinitydb.ErrMemberNotFound, Status: http.StatusForbidden, Code: problem.CodeForbidden, Detail: errNoMember.Error()},
			{Err: errNotHost, Status: http.StatusForbidden, Code: "not_host"},
			{Err: trinitydb.ErrClosed, Code: "room_closed", Detail: "the host has closed the room"},
			{Err: errNoRoom, Status: http.StatusNotFound, Code: problem.CodeNotFound},
			{Err: errNoMovie, Status: http.StatusNotFound, Code: problem.CodeNotFound},
			{Err: errVoteIsFinal, Code: "vote_is_final"},
			{Err: errNoFilms, Code: "no_films"},
			{Err: trinitydb.ErrRoomFull, Code: "room_full", Detail: "the room is full"},
		},
		Words: words.Must(wordsFiles),
		Open:  func(_ context.Context, d system.Deps) (*system.Service, error) { return open(o, d) },
		Examples: []system.Example{
			{
				Title: "Open a room", Method: http.MethodPost, Path: "/rooms",
				Header: map[string]string{"Idempotency-Key": "first"}, Body: `{"mediaType":"MOVIE","genreIds":[35,878]}`,
			},
			{Title: "The rooms you are in", Method: http.MethodGet, Path: "/rooms?limit=5"},
			{Title: "Those without a match", Method: http.MethodGet, Path: "/rooms/unmatched"},
			{Title: "Your matches, newest first", Method: http.MethodGet, Path: "/matches?limit=5"},
			{Title: "The genres", Method: http.MethodGet, Path: "/genres"},
		},
		Load: loadPlan(),
	}
}

func tables() []system.Table {
	return system.Tables(trinitydb.CreateTables(trinitydb.Config{}), trinitydb.TimeToLive(trinitydb.Config{}), trinitydb.Decode)
}

// The tables with streams, as trinitydb names them.
const (
	votesTable   = "trinity-votes"
	matchesTable = "trinity-matches"
)

func open(o Options, d system.Deps) (*system.Service, error) {
	db, err := trinitydb.New(d.DynamoDB, trinitydb.Config{CursorKey: d.CursorKey, Caller: auth.CursorOwner, Clock: d.Clock, Observe: d.Observe})
	if err != nil {
		return nil, err
	}
	s := &service{
		db: db, films: o.Films, newCode: o.NewCode, clock: d.Clock, check: o.CheckInterval, hub: newHub(), logger: d.Logger,
	}
	if s.films == nil {
		if s.films, err = configuredFilms(d.Getenv); err != nil {
			return nil, err
		}
	}
	if s.newCode == nil {
		s.newCode = randomCode
	}
	if s.check == 0 {
		s.check = checkInterval
	}
	list, page := pages(d.Issuer, d.PublicURL)
	return &system.Service{
		Register: s.routes,
		Personal: &personal.Data{DB: db, Kept: trinitydb.PersonKept(), Before: s.leaveAll},
		Pages:    list,
		Page:     page,
		Streams: []system.Stream{
			{Name: "matches", Table: matchesTable, Handle: s.shareMatches},
			{Name: "publish-matches", Table: matchesTable, EveryProcess: true, Begun: s.hub.source(), Handle: s.publishMatches},
			{Name: "publish-members", Table: votesTable, EveryProcess: true, Begun: s.hub.source(), Handle: s.publishMembers},
		},
		Sample: seed.Sample{Records: sample, Load: db.Load},
	}, nil
}

// configuredFilms returns TMDB if a token for it is set.
func configuredFilms(getenv func(string) string) (films.Source, error) {
	if token := getenv(tokenVariable); token != "" {
		return films.NewTMDB(films.TMDBOptions{Token: token})
	}
	return films.Offline(), nil
}
