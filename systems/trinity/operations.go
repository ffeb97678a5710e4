package trinity

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/trinity/films"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

// register adds the operations to the API.
func (s *service) register(a huma.API) {
	const rooms, votes, matches = "Rooms", "Votes", "Matches"
	notFound, noMember := []int{http.StatusNotFound}, []int{http.StatusForbidden, http.StatusNotFound}
	op := func(id, method, path, tag, summary string, errors []int) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: path, Tags: []string{tag}, Summary: summary, Errors: errors}
	}
	with := func(o huma.Operation, status int, description string) huma.Operation {
		o.DefaultStatus, o.Description = status, description
		return o
	}
	huma.Register(a, api.Operation(op("listGenres", http.MethodGet, "/genres", rooms, "The genres that films have", nil), api.Public), s.listGenres)
	huma.Register(a, with(op("createRoom", http.MethodPost, "/rooms", rooms, "Open a room", nil), http.StatusCreated,
		"You are its host and its first member. Others join by its code. It goes after a day."), s.createRoom)
	huma.Register(a, op("listRooms", http.MethodGet, "/rooms", rooms, "The rooms you are in, last joined first", nil), s.listRooms)
	huma.Register(a, op("listHostedRooms", http.MethodGet, "/rooms/hosted", rooms, "The rooms you have made, newest first", nil), s.listHosted)
	huma.Register(a, op("listUnmatchedRooms", http.MethodGet, "/rooms/unmatched", rooms, "The rooms you are in that have no match", nil), s.listUnmatched)
	huma.Register(a, op("getRoom", http.MethodGet, "/rooms/{id}", rooms, "A room with its members", noMember), s.getRoom)
	huma.Register(a, op("getRoomByCode", http.MethodGet, "/codes/{code}", rooms, "The room that a code opens", notFound), s.getRoomByCode)
	huma.Register(a, with(op("joinRoom", http.MethodPut, "/codes/{code}/member", rooms, "Join the room that a code opens",
		[]int{http.StatusNotFound, http.StatusConflict}), http.StatusCreated, "200 if you are in it already."), s.joinRoom)
	huma.Register(a, with(op("leaveRoom", http.MethodDelete, "/rooms/{id}/member", rooms, "Leave a room", notFound), http.StatusNoContent,
		"Your votes are taken back. What all others have said yes to is a match then. Leaving twice is leaving."), s.leaveRoom)
	huma.Register(a, op("listCandidates", http.MethodGet, "/rooms/{id}/candidates", votes, "The films of a room, with their tallies", noMember), s.listCandidates)
	huma.Register(a, with(op("castVote", http.MethodPut, "/rooms/{id}/votes/{movieId}", votes, "Vote on a film",
		[]int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict}), http.StatusCreated,
		"A vote is final: the same again is answered with 200, another one with 409. With the last yes comes the match."), s.putVote)
	huma.Register(a, op("getVote", http.MethodGet, "/rooms/{id}/votes/{movieId}", votes, "Your vote on a film", noMember), s.getVote)
	huma.Register(a, op("listOwnVotes", http.MethodGet, "/rooms/{id}/votes/mine", votes, "Your votes in a room", noMember), s.listOwnVotes)
	huma.Register(a, op("listVotes", http.MethodGet, "/rooms/{id}/votes", votes, "All votes of a room", noMember), s.listVotes)
	huma.Register(a, op("listRoomMatches", http.MethodGet, "/rooms/{id}/matches", matches, "The matches of a room", noMember), s.listRoomMatches)
	huma.Register(a, op("getMatch", http.MethodGet, "/rooms/{id}/matches/{movieId}", matches, "A room's match on a film", noMember), s.getMatch)
	huma.Register(a, op("listMatches", http.MethodGet, "/matches", matches, "Your matches, newest first", nil), s.listMatches)
	huma.Register(a, api.Operation(feedOperation(a, op("watchRoom", http.MethodGet, "/rooms/{id}/events", matches, "What happens in a room", noMember)), api.Stream), s.watchRoom)
}

// feedOperation describes the event stream.
func feedOperation(a huma.API, o huma.Operation) huma.Operation {
	o.Description = "Server-sent events: match, with the match; joined and left, with the member; ready, when all matches so far have been sent. " +
		"A connection that begins with Last-Event-ID gets the matches since that one."
	registry := a.OpenAPI().Components.Schemas
	o.Responses = map[string]*huma.Response{"200": {Description: "Events", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{
		Type: huma.TypeString, Description: "data is JSON.", Extensions: map[string]any{"x-events": map[string]any{
			"match": schemaOf[Match](registry), "joined": schemaOf[Person](registry), "left": schemaOf[Person](registry),
		}},
	}}}}}
	return o
}

type listGenresOutput struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Items []films.Genre `json:"items" nullable:"false" doc:"The genres, by name"`
	}
}

func (s *service) listGenres(_ context.Context, in *struct {
	MediaType trinitydb.MediaType `query:"mediaType" enum:"MOVIE,TV" default:"MOVIE" doc:"Of what"`
},
) (*listGenresOutput, error) {
	out := &listGenresOutput{CacheControl: "public, max-age=86400"}
	out.Body.Items = films.Genres(string(in.MediaType))
	return out, nil
}

type createRoomInput struct {
	api.IdempotencyKey
	Body struct {
		MediaType trinitydb.MediaType `json:"mediaType" enum:"MOVIE,TV" doc:"What is to be voted on"`
		GenreIDs  []int64             `json:"genreIds,omitempty" maxItems:"2" uniqueItems:"true" doc:"Genres of TMDB, two at most; films are of any of them"`
	}
}

type roomOutput struct {
	Status   int
	Location string `header:"Location" doc:"Where the room is"`
	Body     Room
}

func (s *service) createRoom(ctx context.Context, in *createRoomInput) (*roomOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	if !films.Known(string(in.Body.MediaType), in.Body.GenreIDs) {
		return nil, problem.BadRequest(problem.CodeInvalidBody, "there is no such genre", problem.Field{Field: "body.genreIds", Message: "are not of the list of genres"})
	}
	room, replayed, err := s.openRoom(ctx, who.Sub, in.IdempotencyKey.IdempotencyKey, in.Body.MediaType, in.Body.GenreIDs)
	if err != nil {
		return nil, err
	}
	return &roomOutput{Status: api.CreatedStatus(replayed), Location: "rooms/" + room.RoomID, Body: roomOf(room)}, nil
}

func (s *service) listRooms(ctx context.Context, in *struct{ api.PageQuery }) (*api.PageOutput[JoinedRoom], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.roomsOf(ctx, who.Sub, in.Options())
	return api.PageOf(page, joinedOf), err
}

func (s *service) listHosted(ctx context.Context, in *struct{ api.PageQuery }) (*api.PageOutput[HostedRoom], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.roomsOfHost(ctx, who.Sub, in.Options())
	return api.PageOf(page, hostedOf), err
}

func (s *service) listUnmatched(ctx context.Context, in *struct{ api.PageQuery }) (*api.PageOutput[JoinedRoom], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.roomsWithoutMatch(ctx, who.Sub, in.Options())
	return api.PageOf(page, unmatchedOf), err
}

// codeInput is for operations that know a room by its code.
type codeInput struct {
	Code string `path:"code" pattern:"^[A-Za-z0-9]{6}$" patternDescription:"six letters and digits" doc:"The room's code, in any case"`
}

func (s *service) getRoomByCode(ctx context.Context, in *codeInput) (*roomOutput, error) {
	if _, err := auth.Required(ctx); err != nil {
		return nil, err
	}
	room, err := s.roomByCode(ctx, in.Code)
	if err != nil {
		return nil, err
	}
	return &roomOutput{Status: http.StatusOK, Location: "../rooms/" + room.RoomID, Body: roomOf(room)}, nil
}

func (s *service) joinRoom(ctx context.Context, in *codeInput) (*roomOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	room, made, err := s.join(ctx, who.Sub, in.Code)
	if err != nil {
		return nil, err
	}
	return &roomOutput{Status: api.CreatedStatus(!made), Location: "../../rooms/" + room.RoomID, Body: roomOf(room)}, nil
}
