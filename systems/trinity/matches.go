package trinity

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

// match returns a match of a member's room.
func (s *service) match(ctx context.Context, m membership, movieID int64) (trinitydb.Match, error) {
	return s.db.MatchOf(ctx, trinitydb.MatchOfInput{RoomID: m.item.RoomID, MovieID: movieID})
}

// shareMatches writes the users' match items for matches that a leave has caused. Batches may be redelivered.
func (s *service) shareMatches(ctx context.Context, b consumer.Batch) error {
	for match := range s.createdMatches(ctx, b) {
		if match.Shared {
			continue
		}
		if err := s.share(ctx, match); err != nil {
			return fmt.Errorf("share match %s: %w", match.MatchID, err)
		}
	}
	return nil
}

// createdMatches returns the matches in a batch of stream records.
func (s *service) createdMatches(ctx context.Context, b consumer.Batch) iter.Seq[trinitydb.Match] {
	return func(yield func(trinitydb.Match) bool) {
		for _, r := range b.Records {
			if r.EventName != streams.OperationTypeInsert {
				continue
			}
			item, ok := s.decode(ctx, b.Shard, r)
			if match, isMatch := item.(trinitydb.Match); ok && isMatch && !yield(match) {
				return
			}
		}
	}
}

// decode returns a record's item, or its old item if it was deleted. Unreadable items are logged and skipped, because a retry
// would not help and would block the rest of the shard.
func (s *service) decode(ctx context.Context, shard string, r streams.Record) (item any, ok bool) {
	image := r.Dynamodb.NewImage
	if r.EventName == streams.OperationTypeRemove {
		image = r.Dynamodb.OldImage
	}
	item, place, err := trinitydb.Decode(table.FromStream(image))
	if err != nil {
		s.logger.ErrorContext(ctx, "skipping a record of the stream: its item does not match the design",
			"shard", shard, "sequence", aws.ToString(r.Dynamodb.SequenceNumber), "error", err)
		return nil, false
	}
	return item, item != nil && place.Kind == table.KeyPlace
}

// share creates a match item for each user unless it exists. Users who have left since keep the match.
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
