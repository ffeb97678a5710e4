package trinity

import (
	"context"
	"errors"
	"fmt"

	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

// match is a match of a member's room.
func (s *service) match(ctx context.Context, m membership, movieID int64) (trinitydb.Match, error) {
	return s.db.MatchOf(ctx, trinitydb.MatchOfInput{RoomID: m.item.RoomID, MovieID: movieID})
}

// matches are a page of the matches of a member's room.
func (s *service) matches(ctx context.Context, m membership, page table.PageOptions) (table.Page[trinitydb.Match], error) {
	return s.db.MatchesOfRoom(ctx, trinitydb.MatchesOfRoomInput{RoomID: m.item.RoomID}, page)
}

// matchesOf are a page of all matches that a user was part of, newest first.
func (s *service) matchesOf(ctx context.Context, userID string, page table.PageOptions) (table.Page[trinitydb.UserMatch], error) {
	return s.db.MatchesOfUser(ctx, trinitydb.MatchesOfUserInput{UserID: userID}, page)
}

// matchesBatch tells the hub of the matches that a batch of the stream tells of, and shares those that somebody's leaving
// has made. Batches may come again.
func (s *service) matchesBatch(ctx context.Context, b consumer.Batch) error {
	for _, r := range b.Records {
		if r.EventName != streams.OperationTypeInsert {
			continue
		}
		item, ok := s.decode(ctx, r.Dynamodb.NewImage)
		match, isMatch := item.(trinitydb.Match)
		if !ok || !isMatch {
			continue
		}
		s.hub.publish(match.RoomID, event{match: &match})
		if match.Shared {
			continue
		}
		if err := s.share(ctx, match); err != nil {
			return fmt.Errorf("share match %s: %w", match.MatchID, err)
		}
	}
	return nil
}

// decode is the item of a record's image.
func (s *service) decode(ctx context.Context, image map[string]streams.AttributeValue) (item any, ok bool) {
	item, place, err := trinitydb.Decode(table.FromStream(image))
	if err != nil { // coming again does not mend it
		s.logger.ErrorContext(ctx, "an item of the stream cannot be read", "error", err)
		return nil, false
	}
	return item, item != nil && place.Kind == table.KeyPlace
}

// share makes what each user finds a match by, unless that is there already. Who has left since keeps the match.
func (s *service) share(ctx context.Context, match trinitydb.Match) error {
	for _, userID := range match.MatchedUsers {
		_, err := s.db.ShareMatch(ctx, trinitydb.ShareMatchInput{
			RoomID: match.RoomID, UserID: userID, MovieID: match.MovieID, MatchID: match.MatchID, Title: match.Title,
			PosterPath: match.PosterPath, Timestamp: match.Timestamp,
		})
		if err != nil && !errors.Is(err, trinitydb.ErrShared) {
			return err
		}
		_, err = s.db.MarkMember(ctx, trinitydb.MarkMemberInput{RoomID: match.RoomID, UserID: userID})
		if err != nil && !errors.Is(err, trinitydb.ErrMemberNotFound) {
			return err
		}
	}
	return nil
}
