package trinity

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/trinity/films"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

const (
	// roomFilms is how many films a room has, if there are as many.
	roomFilms = 30
	// codeLength and codeLetters make 2³⁰ codes. Letters and digits that look alike are left out.
	codeLength  = 6
	codeLetters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	// codeAttempts end a series of codes that were all taken: the store has to be full of rooms for that.
	codeAttempts = 20
)

// The answers where there is nothing.
var (
	errNoRoom  = errors.New("there is no such room, or its day is over")
	errNoFilms = errors.New("there are no films of these genres")
)

// openRoom makes a room with its films and its host in it. A request that was made before is answered as it was then, and
// replayed is set.
func (s *service) openRoom(ctx context.Context, hostID, requestKey string, media trinitydb.MediaType, genres []int64) (room trinitydb.Room, replayed bool, err error) {
	in := trinitydb.OpenRoomInput{RequestKey: requestKey, RoomID: uuid.NewString(), HostID: hostID, MediaType: media, GenreIDs: genres}
	found, err := s.films.Films(ctx, films.Query{MediaType: string(media), GenreIDs: genres, Count: roomFilms, Seed: in.RoomID})
	if err != nil {
		return trinitydb.Room{}, false, problem.Unavailable(fmt.Errorf("films: %w", err))
	}
	if len(found) == 0 {
		return trinitydb.Room{}, false, errNoFilms
	}
	for _, f := range found {
		line := trinitydb.OpenRoomLine{MovieID: f.ID, Title: f.Title, Overview: f.Overview, ReleaseDate: f.ReleaseDate}
		if f.PosterPath != "" {
			line.PosterPath = &f.PosterPath
		}
		in.Lines = append(in.Lines, line)
	}
	var result trinitydb.OpenRoomResult
	for range codeAttempts {
		in.Code = s.newCode()
		if result, err = s.db.OpenRoom(ctx, in); !errors.Is(err, trinitydb.ErrRoomCodeTaken) {
			break
		}
	}
	if errors.Is(err, trinitydb.ErrRoomCodeTaken) {
		return trinitydb.Room{}, false, problem.Unavailable(err)
	}
	room = result.Room
	if result.Replayed {
		room.MemberCount, room.HasMatch = 1, false // the room is found as it is now; all else is as it was
	}
	return room, result.Replayed, err
}

// randomCode is a code that is not easily guessed.
func randomCode() string {
	b := make([]byte, codeLength)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = codeLetters[int(b[i])%len(codeLetters)] // 256 is a multiple of 32
	}
	return string(b)
}

// roomByCode is the room that a code opens, in any case.
func (s *service) roomByCode(ctx context.Context, code string) (trinitydb.Room, error) {
	return s.present(s.db.RoomByCode(ctx, trinitydb.RoomByCodeInput{Code: strings.ToUpper(code)}))
}

// room is a room by its id.
func (s *service) room(ctx context.Context, roomID string) (trinitydb.Room, error) {
	return s.present(s.db.RoomByID(ctx, trinitydb.RoomByIDInput{RoomID: roomID}))
}

// present lets only rooms pass whose day is not over: DynamoDB removes them in its own time.
func (s *service) present(room trinitydb.Room, err error) (trinitydb.Room, error) {
	if errors.Is(err, table.ErrNotFound) || err == nil && s.over(room.TTL) {
		return trinitydb.Room{}, errNoRoom
	}
	return room, err
}

// over tells whether a time to go has come.
func (s *service) over(ttl time.Time) bool { return !s.clock().Before(ttl) }

// roomsOfHost are a page of the rooms that a user has made, newest first.
func (s *service) roomsOfHost(ctx context.Context, userID string, page table.PageOptions) (table.Page[trinitydb.RoomsOfHostItem], error) {
	found, err := s.db.RoomsOfHost(ctx, trinitydb.RoomsOfHostInput{HostID: userID}, page)
	return kept(found, func(r trinitydb.RoomsOfHostItem) bool { return !s.over(r.TTL) }), err
}

// roomsOf are a page of the rooms that a user is in, last joined first.
func (s *service) roomsOf(ctx context.Context, userID string, page table.PageOptions) (table.Page[trinitydb.RoomsOfUserItem], error) {
	found, err := s.db.RoomsOfUser(ctx, trinitydb.RoomsOfUserInput{UserID: userID}, page)
	return kept(found, func(r trinitydb.RoomsOfUserItem) bool { return !s.over(r.TTL) }), err
}

// roomsWithoutMatch are those of them that have no match.
func (s *service) roomsWithoutMatch(ctx context.Context, userID string, page table.PageOptions) (table.Page[trinitydb.RoomsOfUserWithoutMatchItem], error) {
	found, err := s.db.RoomsOfUserWithoutMatch(ctx, trinitydb.RoomsOfUserWithoutMatchInput{UserID: userID}, page)
	return kept(found, func(r trinitydb.RoomsOfUserWithoutMatchItem) bool { return !s.over(r.TTL) }), err
}

// kept is a page without the items that do not pass.
func kept[T any](page table.Page[T], pass func(T) bool) table.Page[T] {
	var items []T
	for _, item := range page.Items {
		if pass(item) {
			items = append(items, item)
		}
	}
	page.Items = items
	return page
}
