package trinity

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/retry"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

var errNoMember = errors.New("you are not a member of the room")

// membership proves that a user is in a room that has not expired. Functions that read or change a room require one; only member
// and join create it.
type membership struct{ item trinitydb.Member }

// member returns a user's membership.
func (s *service) member(ctx context.Context, userID, roomID string) (membership, error) {
	m, err := s.db.MemberOf(ctx, trinitydb.MemberOfInput{RoomID: roomID, UserID: userID})
	switch {
	case err == nil && s.over(m.TTL):
		return membership{}, errNoRoom
	case err == nil:
		return membership{m}, nil
	case !errors.Is(err, table.ErrNotFound):
		return membership{}, err
	}
	if _, err := s.room(ctx, roomID); err != nil {
		return membership{}, err
	}
	return membership{}, errNoMember
}

// join adds a user to the room with a code; there reports whether they were already a member.
func (s *service) join(ctx context.Context, who auth.Principal, in newMember) (room trinitydb.Room, there bool, err error) {
	err = again(ctx, func() error {
		if room, err = s.roomByCode(ctx, who, in.CodePath); err != nil {
			return err
		}
		_, err = s.db.Join(ctx, trinitydb.JoinInput{
			RoomID: room.RoomID, UserID: who.Sub, HostID: room.HostID, Code: room.Code, MediaType: room.MediaType,
			HasMatch: room.HasMatch, Name: calledBy(in.Body), TTL: room.TTL,
		})
		return err
	})
	switch {
	case errors.Is(err, trinitydb.ErrJoined):
		return room, true, nil
	case err != nil:
		return trinitydb.Room{}, false, err
	}
	room, err = s.room(ctx, room.RoomID)
	return room, false, err
}

// visible matches a character that can be seen.
var visible = regexp.MustCompile(`[^\s\p{Z}\p{C}]`)

// calledBy returns a member's chosen name, or nil if nothing of it can be seen. It drops what would break the line or reverse the
// text in which other members read the name.
func calledBy(in *MemberInput) *string {
	if in == nil || !visible.MatchString(in.Name) {
		return nil
	}
	name := strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return -1
		}
		return r
	}, in.Name))
	return &name
}

// remove removes another member on behalf of the host.
func (s *service) remove(ctx context.Context, who auth.Principal, in memberPath) error {
	if err := s.asHost(ctx, who.Sub, in.RoomID); err != nil {
		return err
	}
	return s.leave(ctx, auth.Principal{Sub: in.UserID}, in.RoomPath)
}

// asHost returns an error unless the caller is the room's host and a member.
func (s *service) asHost(ctx context.Context, userID, roomID string) error {
	m, err := s.member(ctx, userID, roomID)
	if err == nil && m.item.HostID != userID {
		err = errNotHost
	}
	return err
}

// closeRoom implements the design's flow EndRoom: afterwards no user can join or vote.
func (s *service) closeRoom(ctx context.Context, who auth.Principal, in RoomPath) (room trinitydb.Room, err error) {
	if err := s.asHost(ctx, who.Sub, in.RoomID); err != nil {
		return trinitydb.Room{}, err
	}
	err = again(ctx, func() error {
		if room, err = s.room(ctx, in.RoomID); err != nil || room.Closed {
			return err
		}
		end := trinitydb.CloseRoomInput{RoomID: room.RoomID, Version: room.Version}
		for member, err := range s.db.MembersAll(ctx, trinitydb.MembersInput{RoomID: room.RoomID}) {
			if err != nil {
				return err
			}
			end.Lines = append(end.Lines, trinitydb.CloseRoomLine{UserID: member.UserID})
		}
		_, err := s.db.CloseRoom(ctx, end)
		room.Closed = err == nil
		return err
	})
	return room, err
}

// leave withdraws a member's votes and then deletes the member. Films for which all others have voted yes become matches. If it
// is interrupted, the member has fewer votes, and the request can be repeated.
func (s *service) leave(ctx context.Context, who auth.Principal, in RoomPath) error {
	roomID, userID := in.RoomID, who.Sub
	m, err := s.member(ctx, userID, roomID)
	switch {
	case errors.Is(err, errNoMember):
		return nil
	case err != nil:
		return err
	}
	err = again(ctx, func() error {
		if err := s.takeBack(ctx, m); err != nil {
			return err
		}
		// Read the room first: any later change to what is read afterwards increases the room's version.
		room, err := s.db.RoomByID(ctx, trinitydb.RoomByIDInput{RoomID: roomID})
		if err != nil {
			return err
		}
		agreed, err := s.filmsAgreedWithout(ctx, m, room)
		if err != nil {
			return err
		}
		if len(agreed) == 0 {
			_, err = s.db.Leave(ctx, trinitydb.LeaveInput{Version: room.Version, RoomID: roomID, UserID: userID})
			return err
		}
		_, err = s.db.LeaveWithMatches(ctx, trinitydb.LeaveWithMatchesInput{
			Version: room.Version, RoomID: roomID, UserID: userID, TTL: room.TTL, Lines: agreed,
		})
		return err
	})
	if errors.Is(err, trinitydb.ErrMemberNotFound) {
		return nil // another request has already done it
	}
	return err
}

// leaveAll leaves a user's rooms before their data is erased. Otherwise the others would wait for the votes of somebody who is
// gone, and a match with an earlier vote would become an item of the user, which does not expire.
func (s *service) leaveAll(ctx context.Context, userID string) error {
	for room, err := range s.db.RoomsOfUserAll(ctx, trinitydb.RoomsOfUserInput{UserID: userID}) {
		if err == nil {
			err = s.leave(ctx, auth.Principal{Sub: userID}, RoomPath{room.RoomID})
		}
		if err != nil && !errors.Is(err, errNoRoom) { // an expired room, whose items have no effect
			return err
		}
	}
	return nil
}

// takeBack deletes a member's votes.
func (s *service) takeBack(ctx context.Context, m membership) error {
	for v, err := range s.db.VotesOfUserInRoomAll(ctx, trinitydb.VotesOfUserInRoomInput{RoomID: m.item.RoomID, UserID: m.item.UserID}) {
		if err != nil {
			return err
		}
		if v.Vote {
			_, err = s.db.TakeBackYes(ctx, trinitydb.TakeBackYesInput{RoomID: v.RoomID, UserID: v.UserID, MovieID: v.MovieID})
		} else {
			_, err = s.db.TakeBackNo(ctx, trinitydb.TakeBackNoInput{RoomID: v.RoomID, UserID: v.UserID, MovieID: v.MovieID})
		}
		if err != nil && !errors.Is(err, trinitydb.ErrVoteNotFound) && !errors.Is(err, trinitydb.ErrNotVoted) {
			return err
		}
	}
	return nil
}

// filmsAgreedWithout returns the films for which all members except one have voted yes.
func (s *service) filmsAgreedWithout(ctx context.Context, m membership, room trinitydb.Room) ([]trinitydb.LeaveWithMatchesLine, error) {
	left := room.MemberCount - 1
	if left < leastMembers {
		return nil, nil
	}
	var lines []trinitydb.LeaveWithMatchesLine
	for movie, err := range s.db.MoviesAll(ctx, trinitydb.MoviesInput{RoomID: room.RoomID}) {
		if err != nil {
			return nil, err
		}
		if movie.Yes == left && !movie.Matched {
			lines = append(lines, trinitydb.LeaveWithMatchesLine{MovieID: movie.MovieID, Title: movie.Title, PosterPath: movie.PosterPath})
		}
	}
	if len(lines) == 0 {
		return nil, nil
	}
	others, err := s.others(ctx, m)
	for i := range lines {
		lines[i].MatchedUsers = others
	}
	return lines, err
}

// members returns all members of a room.
func (s *service) members(ctx context.Context, m membership) ([]trinitydb.Member, error) {
	var list []trinitydb.Member
	for item, err := range s.db.MembersAll(ctx, trinitydb.MembersInput{RoomID: m.item.RoomID}) {
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

// roomMembers is a room with its members.
type roomMembers struct {
	trinitydb.Room
	Members []trinitydb.Member
}

// roomWithMembers reads a room and its members concurrently.
func (s *service) roomWithMembers(ctx context.Context, m membership, in RoomPath) (found roomMembers, err error) {
	var reading sync.WaitGroup
	var noMembers error
	reading.Go(func() { found.Members, noMembers = s.members(ctx, m) })
	found.Room, err = s.room(ctx, in.RoomID)
	reading.Wait()
	return found, cmp.Or(err, noMembers)
}

// others returns the ids of all members except one.
func (s *service) others(ctx context.Context, m membership) ([]string, error) {
	list, err := s.members(ctx, m)
	var ids []string
	for _, item := range list {
		if item.UserID != m.item.UserID {
			ids = append(ids, item.UserID)
		}
	}
	return ids, err
}

// again retries a flow of the design that has lost a race. Every lost race means that another flow has succeeded, so there is
// always progress. The limit far exceeds what is needed if everyone in a full room votes on one film at the same time.
func again(ctx context.Context, flow func() error) error {
	overtaken := []error{trinitydb.ErrRaced, trinitydb.ErrStillVoting, table.ErrConflict, table.ErrLines}
	err := retry.Policy{Tries: 200, First: time.Millisecond, Longest: 50 * time.Millisecond}.Do(ctx, flow, overtaken...) //nolint:mnd // said above
	if slices.ContainsFunc(overtaken, func(e error) bool { return errors.Is(err, e) }) {
		return errors.Join(table.ErrConflict, err)
	}
	return err
}
