// Package trinity is Trinity: people meet in a room, vote on films, and hear at once of the one that all of them want to see.
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
// What is stored, and how it is asked for, stands in trinity.design.yaml, with the races that show that its flows keep its
// invariants; package trinitydb is generated from it, and is the only way to the data. The functions that change a room
// (members.go, votes.go) are the design's flows, step by step. Functions of a room take a membership, which only the
// caller's own item gives. The API is the table in routes.go, with what requests say; answers.go lists what is shown.
//
// # Invariants
//
//	T1  What belongs to a room is for its members. Who knows its code may see the room and join.
//	T2  A match is made once, and exactly when all members, two or more, have said yes: with the last yes, or with the
//	    leaving of the last who had not.
//	T3  A vote is final while its member stays; who leaves takes his votes back.
//	T4  Two rooms that can be joined never have one code.
//	T5  Whoever follows a room's events hears at once of what happens after ready, at whichever process it was done.
//	T6  After its host has closed a room nobody joins it or votes in it.
//	T7  All that belongs to a room goes with it, a day after it was made, and is as good as gone from that moment on. The
//	    matches of a user stay.
//
// All of the package may be used from any number of goroutines.
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
	// tokenVariable is the environment variable with the access token of TMDB.
	tokenVariable = "TRINITY_TMDB_TOKEN" //nolint:gosec // a name
	// checkInterval is how often an event stream looks for what it was not told.
	checkInterval = 5 * time.Second
)

//go:embed words
var wordsFiles embed.FS

// Options are what a deployment can exchange.
type Options struct {
	// Films has the films to vote on; nil is TMDB with TRINITY_TMDB_TOKEN, or the offline catalogue without one.
	Films films.Source
	// NewCode makes the codes of rooms; nil makes random ones.
	NewCode func() string
	// CheckInterval is how often an event stream looks for what it was not told; 0 is 5 s.
	CheckInterval time.Duration
}

// service is the open system.
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
			{Err: trinitydb.ErrRoomFull, Code: "room_full", Detail: "the room has as many members as it can have"},
		},
		Words: words.Must(wordsFiles, "words"),
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
		Personal: &personal.Data{DB: db, Kept: trinitydb.PersonKept()},
		Pages:    list,
		Page:     page,
		Streams: []system.Stream{
			{Name: "matches", Table: matchesTable, Handle: s.shareMatches},
			{Name: "told-matches", Table: matchesTable, EveryProcess: true, Begun: s.hub.source(), Handle: s.tellMatches},
			{Name: "told-members", Table: votesTable, EveryProcess: true, Begun: s.hub.source(), Handle: s.tellMembers},
		},
		Sample: seed.Sample{Records: sample, Load: db.Load},
	}, nil
}

// configuredFilms is TMDB where there is a token for it.
func configuredFilms(getenv func(string) string) (films.Source, error) {
	if token := getenv(tokenVariable); token != "" {
		return films.NewTMDB(films.TMDBOptions{Token: token})
	}
	return films.Offline(), nil
}
