package trinity

import (
	"context"
	"errors"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

// RoomPath is for inputs of operations of a room; embed it.
type RoomPath struct {
	ID string `path:"id" pattern:"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" patternDescription:"a UUID in small letters" doc:"The room's id"`
}

// membership is the caller's in the room.
func (in *RoomPath) membership(ctx context.Context, s *service) (membership, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return membership{}, err
	}
	return s.member(ctx, who.Sub, in.ID)
}

// MoviePath is for inputs of operations of a film in a room; embed it.
type MoviePath struct {
	RoomPath
	MovieID int64 `path:"movieId" minimum:"1" maximum:"99999999" doc:"The film's id"`
}

type roomPage struct {
	RoomPath
	api.PageQuery
}

type getRoomOutput struct {
	Body struct {
		Room
		Members []Person `json:"members" nullable:"false" doc:"Who takes part"`
	}
}

func (s *service) getRoom(ctx context.Context, in *RoomPath) (*getRoomOutput, error) {
	m, err := in.membership(ctx, s)
	if err != nil {
		return nil, err
	}
	room, members, err := s.roomWithMembers(ctx, m)
	if err != nil {
		return nil, err
	}
	out := &getRoomOutput{}
	out.Body.Room, out.Body.Members = roomOf(room), make([]Person, len(members))
	for i := range members {
		out.Body.Members[i] = personOf(members[i])
	}
	return out, nil
}

func (s *service) leaveRoom(ctx context.Context, in *RoomPath) (*struct{}, error) {
	m, err := in.membership(ctx, s)
	switch {
	case errors.Is(err, errNoMember):
		return nil, nil //nolint:nilnil // no answer is the answer
	case err != nil:
		return nil, err
	}
	return nil, s.leave(ctx, m)
}

func (s *service) listCandidates(ctx context.Context, in *roomPage) (*api.PageOutput[Candidate], error) {
	m, err := in.membership(ctx, s)
	if err != nil {
		return nil, err
	}
	page, err := s.movies(ctx, m, in.Options())
	return api.PageOf(page, candidateOf), err
}

type putVoteInput struct {
	MoviePath
	Body struct {
		Vote bool `json:"vote" doc:"Whether you want to see it"`
	}
}

type putVoteOutput struct {
	Status int
	Body   struct {
		Vote
		Match *Match `json:"match,omitempty" doc:"The film's match, if there is one and you have said yes"`
	}
}

func (s *service) putVote(ctx context.Context, in *putVoteInput) (*putVoteOutput, error) {
	m, err := in.membership(ctx, s)
	if err != nil {
		return nil, err
	}
	c, err := s.castVote(ctx, m, in.MovieID, in.Body.Vote)
	if err != nil {
		return nil, err
	}
	out := &putVoteOutput{Status: api.CreatedStatus(!c.made)}
	out.Body.Vote = voteOf(c.vote)
	if c.match != nil && c.vote.Vote {
		match := matchOf(*c.match)
		out.Body.Match = &match
	}
	return out, nil
}

type voteOutput struct{ Body Vote }

func (s *service) getVote(ctx context.Context, in *MoviePath) (*voteOutput, error) {
	m, err := in.membership(ctx, s)
	if err != nil {
		return nil, err
	}
	v, err := s.vote(ctx, m, in.MovieID)
	return &voteOutput{voteOf(v)}, err
}

func (s *service) listOwnVotes(ctx context.Context, in *roomPage) (*api.PageOutput[Vote], error) {
	m, err := in.membership(ctx, s)
	if err != nil {
		return nil, err
	}
	page, err := s.ownVotes(ctx, m, in.Options())
	return api.PageOf(page, voteOf), err
}

func (s *service) listVotes(ctx context.Context, in *roomPage) (*api.PageOutput[Vote], error) {
	m, err := in.membership(ctx, s)
	if err != nil {
		return nil, err
	}
	page, err := s.votes(ctx, m, in.Options())
	return api.PageOf(page, voteOf), err
}

func (s *service) listRoomMatches(ctx context.Context, in *roomPage) (*api.PageOutput[Match], error) {
	m, err := in.membership(ctx, s)
	if err != nil {
		return nil, err
	}
	page, err := s.matches(ctx, m, in.Options())
	return api.PageOf(page, matchOf), err
}

type matchOutput struct{ Body Match }

func (s *service) getMatch(ctx context.Context, in *MoviePath) (*matchOutput, error) {
	m, err := in.membership(ctx, s)
	if err != nil {
		return nil, err
	}
	match, err := s.match(ctx, m, in.MovieID)
	return &matchOutput{matchOf(match)}, err
}

func (s *service) listMatches(ctx context.Context, in *struct{ api.PageQuery }) (*api.PageOutput[OwnMatch], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.matchesOf(ctx, who.Sub, in.Options())
	return api.PageOf(page, ownMatchOf), err
}

type watchRoomInput struct {
	RoomPath
	LastEventID string `header:"Last-Event-ID" maxLength:"40" doc:"The id of the last match that was received"`
}

func (s *service) watchRoom(ctx context.Context, in *watchRoomInput) (*huma.StreamResponse, error) {
	since, ok := parseEventID(in.LastEventID)
	if !ok {
		return nil, problem.BadRequest(problem.CodeInvalidParameter, "no event has such an id", problem.Field{Field: "header.Last-Event-ID", Message: "is not the id of an event"})
	}
	m, err := in.membership(ctx, s)
	if err != nil {
		return nil, err
	}
	return s.newFeed(m, since), nil
}

func schemaOf[T any](registry huma.Registry) *huma.Schema {
	return registry.Schema(reflect.TypeFor[T](), true, "")
}
