package trinity

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

// leastMembers is the number of members required for a match.
const leastMembers = 2

var (
	errNoMovie     = errors.New("the room has no such film")
	errVoteIsFinal = errors.New("you have voted on this film, and a vote is final")
)

// cast is the result of a vote.
type cast struct {
	Vote trinitydb.Vote
	// Match is the film's match, or nil if there is none.
	Match *trinitydb.Match
}

// castVote votes on a film. It is idempotent and sets there for a repeated vote; a different vote is rejected.
func (s *service) castVote(ctx context.Context, who auth.Principal, in newVote) (c cast, there bool, err error) {
	m, err := s.member(ctx, who.Sub, in.RoomID)
	if err != nil {
		return cast{}, false, err
	}
	err = again(ctx, func() (err error) {
		if in.Body.Vote {
			c, err = s.voteYes(ctx, m, in.MovieID)
		} else {
			c, err = s.voteNo(ctx, m, in.MovieID)
		}
		return err
	})
	if errors.Is(err, trinitydb.ErrVoted) {
		c, err = s.voted(ctx, m, in.MovieID, in.Body.Vote)
		return c, true, err
	}
	return c, false, err
}

func (s *service) voteNo(ctx context.Context, m membership, movieID int64) (cast, error) {
	if _, err := s.movie(ctx, m, movieID); err != nil {
		return cast{}, err
	}
	result, err := s.db.VoteNo(ctx, trinitydb.VoteNoInput{RoomID: m.item.RoomID, UserID: m.item.UserID, MovieID: movieID, TTL: m.item.TTL})
	return cast{Vote: result.Vote}, err
}

// voteYes is one attempt at the design's flow Yes: its write checks everything that has been read.
func (s *service) voteYes(ctx context.Context, m membership, movieID int64) (cast, error) {
	room, movie, err := s.ballot(ctx, m, movieID)
	if err != nil {
		return cast{}, err
	}
	roomID, userID := m.item.RoomID, m.item.UserID
	below := max(room.MemberCount-1, 1)
	switch {
	case movie.Matched:
		result, err := s.db.VoteYesAfterMatch(ctx, trinitydb.VoteYesAfterMatchInput{RoomID: roomID, UserID: userID, MovieID: movieID, TTL: room.TTL})
		if err != nil {
			return cast{}, err
		}
		match, err := s.match(ctx, m, movieID)
		return cast{Vote: result.Vote, Match: &match}, err
	case room.MemberCount < leastMembers || movie.Yes < below:
		result, err := s.db.VoteYes(ctx, trinitydb.VoteYesInput{
			Members: room.MemberCount, Below: below, RoomID: roomID, UserID: userID, MovieID: movieID, TTL: room.TTL,
		})
		return cast{Vote: result.Vote}, err
	default:
		return s.completeMatch(ctx, m, room, movie)
	}
}

// ballot reads a room and one of its films concurrently.
func (s *service) ballot(ctx context.Context, m membership, movieID int64) (room trinitydb.Room, movie trinitydb.Movie, err error) {
	var reading sync.WaitGroup
	var noMovie error
	reading.Go(func() { movie, noMovie = s.movie(ctx, m, movieID) })
	room, err = s.room(ctx, m.item.RoomID)
	reading.Wait()
	if err == nil {
		err = noMovie
	}
	return room, movie, err
}

// completeMatch stores the last yes vote with its match.
func (s *service) completeMatch(ctx context.Context, m membership, room trinitydb.Room, movie trinitydb.Movie) (cast, error) {
	others, err := s.others(ctx, m)
	if err != nil {
		return cast{}, err
	}
	in := trinitydb.CompleteMatchInput{
		Seen: movie.Yes, Members: room.MemberCount, Version: room.Version, RoomID: room.RoomID, UserID: m.item.UserID,
		MovieID: movie.MovieID, TTL: room.TTL, Title: movie.Title, PosterPath: movie.PosterPath, MatchID: uuid.NewString(),
		MatchedUsers: slices.Sorted(slices.Values(append(slices.Clone(others), m.item.UserID))),
	}
	if movie.Yes != room.MemberCount-1 {
		return cast{}, trinitydb.ErrRaced // the room and the film were read before and after a change
	}
	for _, id := range others {
		in.Lines = append(in.Lines, trinitydb.CompleteMatchLine{UserID: id})
	}
	result, err := s.db.CompleteMatch(ctx, in)
	return cast{Vote: result.Vote, Match: &result.Match}, err
}

// voted returns the response to a repeated vote.
func (s *service) voted(ctx context.Context, m membership, movieID int64, yes bool) (cast, error) {
	vote, err := s.vote(ctx, m, movieID)
	if err != nil {
		return cast{}, err
	}
	switch {
	case vote.Vote != yes:
		return cast{}, errVoteIsFinal
	case !yes: // a match only includes members who voted yes
		return cast{Vote: vote}, nil
	}
	match, err := s.match(ctx, m, movieID)
	switch {
	case errors.Is(err, table.ErrNotFound):
		return cast{Vote: vote}, nil
	case err != nil:
		return cast{}, err
	}
	return cast{Vote: vote, Match: &match}, nil
}

// movie returns a film of a member's room.
func (s *service) movie(ctx context.Context, m membership, movieID int64) (trinitydb.Movie, error) {
	movie, err := s.db.MovieOf(ctx, trinitydb.MovieOfInput{RoomID: m.item.RoomID, MovieID: movieID})
	if errors.Is(err, table.ErrNotFound) {
		return trinitydb.Movie{}, errNoMovie
	}
	return movie, err
}

// vote returns a member's own vote on a film.
func (s *service) vote(ctx context.Context, m membership, movieID int64) (trinitydb.Vote, error) {
	return s.db.VoteOf(ctx, trinitydb.VoteOfInput{RoomID: m.item.RoomID, UserID: m.item.UserID, MovieID: movieID})
}
