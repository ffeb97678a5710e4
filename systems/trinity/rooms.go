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
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/trinity/films"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

const (
	// roomFilms is the number of films in a room, if there are enough.
	roomFilms = 30
	// codeLength and codeLetters allow 2³⁰ codes. Letters and digits that look alike are excluded.
	codeLength  = 6
	codeLetters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	// codeAttempts limits the attempts to find a free code. The limit is only reached if nearly all codes are in use.
	codeAttempts = 20
)

// Errors for things that do not exist.
var (
	errNoRoom  = errors.New("the room does not exist or has expired")
	errNotHost = errors.New("only the host of the room can do that")
	errNoFilms = errors.New("there are no films of these genres")
)

// genres returns the genres of a media type.
func genres(_ context.Context, _ auth.Principal, in genreQuery) (Genres, error) {
	return Genres{films.Genres(string(in.MediaType))}, nil
}

// openRoom creates a room with its films and its host. For a retry it returns the first response and sets replayed.
func (s *service) openRoom(ctx context.Context, who auth.Principal, asked api.KeyedBody[RoomInput]) (room trinitydb.Room, replayed bool, err error) {
	media, genres := asked.Body.MediaType, asked.Body.GenreIDs
	if !films.Known(string(media), genres) {
		return trinitydb.Room{}, false, problem.BadRequest(problem.CodeInvalidBody, "the genre does not exist", problem.Field{Field: "body.genreIds", Message: "are not in the list of genres"})
	}
	in := trinitydb.OpenRoomInput{RequestKey: asked.RequestKey, RoomID: uuid.NewString(), HostID: who.Sub, Name: calledBy(&asked.Body.MemberInput), MediaType: media, GenreIDs: genres}
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
		room.MemberCount, room.HasMatch, room.Closed = 1, false, false // the room is read in its current state; all other fields never change
	}
	return room, result.Replayed, err
}

// randomCode returns a code that is hard to guess.
func randomCode() string {
	b := make([]byte, codeLength)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = codeLetters[int(b[i])%len(codeLetters)] // 256 is a multiple of 32
	}
	return string(b)
}

// roomByCode returns the room with a code, in upper or lower case.
func (s *service) roomByCode(ctx context.Context, _ auth.Principal, in CodePath) (trinitydb.Room, error) {
	return s.present(s.db.RoomByCode(ctx, trinitydb.RoomByCodeInput{Code: strings.ToUpper(in.Code)}))
}

// room returns a room by its id.
func (s *service) room(ctx context.Context, roomID string) (trinitydb.Room, error) {
	return s.present(s.db.RoomByID(ctx, trinitydb.RoomByIDInput{RoomID: roomID}))
}

// present rejects expired rooms, which DynamoDB only deletes later.
func (s *service) present(room trinitydb.Room, err error) (trinitydb.Room, error) {
	if errors.Is(err, table.ErrNotFound) || err == nil && s.over(room.TTL) {
		return trinitydb.Room{}, errNoRoom
	}
	return room, err
}

// over reports whether an expiry time has passed.
func (s *service) over(ttl time.Time) bool { return !s.clock().Before(ttl) }
