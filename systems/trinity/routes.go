package trinity

import (
	"context"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/live"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

// routes registers the API. Routes named after an access pattern of the design call it directly; the others call domain
// functions.
func (s *service) routes(a huma.API) {
	const caller = "UserID" // the field of access patterns that is set to the caller's id

	rooms := api.Tag(a, "Rooms")
	api.Get[Genres](rooms, "/genres", "listGenres", "The available genres", genres, api.Public, api.Cache("public, max-age=86400"))
	api.Create[Room](rooms, "/rooms", "createRoom", "Open a room", s.openRoom, api.At("rooms/{id}"),
		api.Refuses(errNoFilms),
		api.About("You become its host and first member. Others join with its code. It expires after a day."))
	api.List[JoinedRoom](rooms, "/rooms", "listRooms", "Your rooms, last joined first",
		present(s, api.Pages[api.PageQuery](s.db.RoomsOfUser, caller), func(r trinitydb.RoomsOfUserItem) time.Time { return r.TTL }))
	api.List[HostedRoom](rooms, "/rooms/hosted", "listHostedRooms", "The rooms you host, newest first",
		present(s, api.Pages[api.PageQuery](s.db.RoomsOfHost, "HostID"), func(r trinitydb.RoomsOfHostItem) time.Time { return r.TTL }))
	api.List[JoinedRoom](rooms, "/rooms/unmatched", "listUnmatchedRooms", "Your rooms without a match",
		present(s, api.Pages[api.PageQuery](s.db.RoomsOfUserWithoutMatch, caller), func(r trinitydb.RoomsOfUserWithoutMatchItem) time.Time { return r.TTL }))
	api.Get[RoomWithMembers](rooms, "/rooms/{id}", "getRoom", "A room with its members", asMember(s, s.roomWithMembers),
		api.Refuses(errNoMember, errNoRoom))
	api.Get[Room](rooms, "/codes/{code}", "getRoomByCode", "A room by its code", s.roomByCode, api.At("../rooms/{id}"),
		api.Refuses(errNoRoom))
	api.Ensure[Room](rooms, "/codes/{code}/member", "joinRoom", "Join a room by its code", s.join, api.At("../../rooms/{id}"),
		api.Refuses(errNoRoom, trinitydb.ErrClosed, trinitydb.ErrRoomFull),
		api.About("The response is 200 if you are already a member."))
	api.Delete(rooms, "/rooms/{id}/members/{userId}", "removeMember", "Remove a member from your room", s.remove,
		api.Refuses(errNoMember, errNoRoom, errNotHost),
		api.About("Only the host can do this. The member can join again with the code. Repeated requests have no further effect."))
	api.Put[Room](rooms, "/rooms/{id}/closed", "closeRoom", "Close your room", s.closeRoom,
		api.Refuses(errNoMember, errNoRoom, errNotHost),
		api.About("Only the host can do this. After that, nobody can join or vote; members still see the matches. Repeated requests have no further effect."))
	api.Delete(rooms, "/rooms/{id}/member", "leaveRoom", "Leave a room", s.leave,
		api.Refuses(errNoRoom),
		api.About("Your votes are withdrawn; films to which all remaining members said yes become matches. Repeated requests have no further effect."))

	votes := api.Tag(a, "Votes")
	api.List[Candidate](votes, "/rooms/{id}/candidates", "listCandidates", "The films of a room, with their tallies",
		toMembers(s, api.Pages[roomPage](s.db.Movies)), api.Refuses(errNoMember, errNoRoom))
	api.Ensure[CastVote](votes, "/rooms/{id}/votes/{movieId}", "castVote", "Vote on a film", s.castVote,
		api.Refuses(errNoMember, errNoRoom, errNoMovie, errVoteIsFinal, trinitydb.ErrClosed),
		api.About("A vote is final: repeating it returns 200, a different one 409. The last yes makes the match."))
	api.Get[Vote](votes, "/rooms/{id}/votes/{movieId}", "getVote", "Your vote on a film", toMembers(s, api.Call[MoviePath](s.db.VoteOf, caller)), api.NotFound,
		api.Refuses(errNoMember))
	api.List[Vote](votes, "/rooms/{id}/votes/mine", "listOwnVotes", "Your votes in a room",
		toMembers(s, api.Pages[roomPage](s.db.VotesOfUserInRoom, caller)), api.Refuses(errNoMember, errNoRoom))
	api.List[Vote](votes, "/rooms/{id}/votes", "listVotes", "All votes of a room", toMembers(s, api.Pages[roomPage](s.db.VotesOfRoom)),
		api.Refuses(errNoMember, errNoRoom))

	matches := api.Tag(a, "Matches")
	api.List[Match](matches, "/rooms/{id}/matches", "listRoomMatches", "The matches of a room",
		toMembers(s, api.Pages[roomPage](s.db.MatchesOfRoom)), api.Refuses(errNoMember, errNoRoom))
	api.Get[Match](matches, "/rooms/{id}/matches/{movieId}", "getMatch", "A room's match on a film",
		toMembers(s, api.Call[MoviePath](s.db.MatchOf)), api.NotFound, api.Refuses(errNoMember))
	api.List[OwnMatch](matches, "/matches", "listMatches", "Your matches, newest first", api.Pages[api.PageQuery](s.db.MatchesOfUser, caller))
	huma.Register(a, feedOperation(a), s.watchRoom)
}

// feedOperation describes the event stream.
func feedOperation(a huma.API) huma.Operation {
	return live.Operation(a, huma.Operation{
		OperationID: "watchRoom", Path: "/rooms/{id}/events", Summary: "Events in a room", Tags: []string{"Matches"},
		Description: "Server-sent events: match, with the match; joined, changed and left, with the member, who has changed by voting; closed, when the host has closed the room; ready, when all matches so far have been sent. " +
			"A connection that begins with Last-Event-ID gets the matches since that one.",
	}, map[string]any{"match": Match{}, "joined": Person{}, "changed": Person{}, "left": Person{}, "closed": RoomClosed{}}, api.Refuses(errNoMember, errNoRoom))
}

// inRoom is the input of an operation on a room.
type inRoom interface{ room() string }

// asMember adapts a function of a membership to a caller, who must be a member of the room in the path.
func asMember[In inRoom, Out any](s *service, do func(context.Context, membership, In) (Out, error)) func(context.Context, auth.Principal, In) (Out, error) {
	return func(ctx context.Context, who auth.Principal, in In) (out Out, err error) {
		m, err := s.member(ctx, who.Sub, in.room())
		if err != nil {
			return out, err
		}
		return do(ctx, m, in)
	}
}

// toMembers restricts a pattern to members of the room in the path.
func toMembers[In inRoom, Out any](s *service, pattern func(context.Context, auth.Principal, In) (Out, error)) func(context.Context, auth.Principal, In) (Out, error) {
	return asMember(s, func(ctx context.Context, m membership, in In) (Out, error) {
		return pattern(ctx, auth.Principal{Sub: m.item.UserID}, in)
	})
}

// present omits expired rooms, which DynamoDB only deletes later.
func present[T any](s *service, list func(context.Context, auth.Principal, api.PageQuery) (table.Page[T], error), ttl func(T) time.Time) func(context.Context, auth.Principal, api.PageQuery) (table.Page[T], error) {
	return func(ctx context.Context, who auth.Principal, in api.PageQuery) (table.Page[T], error) {
		page, err := list(ctx, who, in)
		page.Items = slices.DeleteFunc(page.Items, func(item T) bool { return s.over(ttl(item)) })
		return page, err
	}
}

// RoomPath identifies a room. It is exported because huma ignores other embedded structs.
type RoomPath struct {
	RoomID string `path:"id" pattern:"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" patternDescription:"a UUID in small letters" doc:"The room's id"`
}

func (p RoomPath) room() string { return p.RoomID }

// MoviePath identifies a film in a room.
type MoviePath struct {
	RoomPath
	MovieID int64 `path:"movieId" minimum:"1" maximum:"99999999" doc:"The film's id"`
}

type roomPage struct {
	RoomPath
	api.PageQuery
}

// memberPath identifies a member of a room.
type memberPath struct {
	RoomPath
	UserID string `path:"userId" minLength:"1" maxLength:"128" doc:"The member's id"`
}

type newMember struct {
	CodePath
	Body *MemberInput
}

// MemberInput is a member's name in a room.
type MemberInput struct {
	Name string `json:"name,omitempty" maxLength:"40" pattern:"^[^\\x00-\\x1f\\x7f]*$" patternDescription:"a line of text" doc:"Your name for the other members"`
}

// CodePath identifies a room by its code.
type CodePath struct {
	Code string `path:"code" pattern:"^[A-Za-z0-9]{6}$" patternDescription:"six letters and digits" doc:"The room's code, in upper or lower case"`
}

type genreQuery struct {
	MediaType trinitydb.MediaType `query:"mediaType" enum:"MOVIE,TV" default:"MOVIE" doc:"Of what"`
}

// RoomInput describes a new room.
type RoomInput struct {
	MediaType trinitydb.MediaType `json:"mediaType" enum:"MOVIE,TV" doc:"The kind of titles"`
	GenreIDs  []int64             `json:"genreIds,omitempty" maxItems:"2" uniqueItems:"true" doc:"TMDB genres, at most two; films have any of them"`
	MemberInput
}

type newVote struct {
	MoviePath
	Body VoteInput
}

// VoteInput is a vote.
type VoteInput struct {
	Vote bool `json:"vote" doc:"Whether you want to see it"`
}

type watchedRoom struct {
	RoomPath
	LastEventID string `header:"Last-Event-ID" maxLength:"40" doc:"The id of the last match that was received"`
}
