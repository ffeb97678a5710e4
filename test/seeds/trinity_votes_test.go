package seeds

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestTrinityVotes(t *testing.T) {
	t.Run("votes 1 of a room, in pages", func(t *testing.T) {
		db := open(t, "trinity")
		room := votesOf("room-123")
		room.Limit = aws.Int32(1)
		pages := db.pages(room)
		wantEqual(t, "sizes of the pages", pageSizes(pages), []int{1, 1, 1, 0})
		wantStrings(t, slices.Concat(pages...), "userMovieId", "user-123#789", "user-456#789", "user-456#JOINED")
	})

	t.Run("votes 2 one vote", func(t *testing.T) {
		db := open(t, "trinity")
		key := values("roomId", "room-123", "userMovieId", "user-456#789")
		wantItem(t, db.get(trinityVotes, key), itemsOf(t, "trinity")[trinityVotes][0])
	})

	t.Run("votes 3 of a user in a room are the votes and the joining", func(t *testing.T) {
		db := open(t, "trinity")
		mine := votesOf("room-123")
		mine.KeyConditionExpression = aws.String("roomId = :roomId AND begins_with(userMovieId, :userId)")
		mine.ExpressionAttributeValues = values(":roomId", "room-123", ":userId", "user-456#")
		wantStrings(t, db.query(mine).Items, "userMovieId", "user-456#789", "user-456#JOINED")

		mine.FilterExpression = aws.String("attribute_not_exists(isParticipation)")
		wantStrings(t, db.query(mine).Items, "userMovieId", "user-456#789")
	})

	t.Run("votes 4 participation in all rooms reads every vote", func(t *testing.T) {
		db := open(t, "trinity")
		out := db.scan(&dynamodb.ScanInput{
			TableName:                 aws.String(trinityVotes),
			FilterExpression:          aws.String("userId = :userId"),
			ExpressionAttributeValues: values(":userId", "user-456"),
		})
		keys := column(out.Items, "userMovieId")
		slices.Sort(keys)
		wantEqual(t, "records", keys, []string{"user-456#789", "user-456#JOINED", "user-456#JOINED"})
		wantEqual(t, "items read", out.ScannedCount, 4)
	})

	t.Run("a vote is stored as it was given", func(t *testing.T) {
		db := open(t, "trinity")
		vote := values("roomId", "test-room", "userMovieId", "user-123#789", "userId", "user-123", "movieId", 789,
			"vote", true, "timestamp", "2026-02-03T12:00:00.000Z")
		db.put(trinityVotes, vote)
		wantItem(t, db.get(trinityVotes, values("roomId", "test-room", "userMovieId", "user-123#789")), vote)
	})

	t.Run("votes in one batch", func(t *testing.T) {
		db := open(t, "trinity")
		var requests []types.WriteRequest
		for n := range 26 {
			requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{
				Item: values("roomId", "batch", "userMovieId", fmt.Sprintf("user-1#%02d", n), "vote", true),
			}})
		}
		write := func(requests []types.WriteRequest) (*dynamodb.BatchWriteItemOutput, error) {
			return db.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{trinityVotes: requests},
			})
		}
		_, err := write(requests)
		wantError(t, err, "ValidationException", "Member must have length less than or equal to 25")
		_, err = write([]types.WriteRequest{requests[0], requests[0]})
		wantError(t, err, "ValidationException", "Provided list of item keys contains duplicates")
		out, err := write(requests[:25])
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "unprocessed", len(out.UnprocessedItems), 0)
		wantEqual(t, "votes written", db.query(votesOf("batch")).Count, 25)
	})

	t.Run("my rooms without matches: two scans, then a query a room", func(t *testing.T) {
		db := open(t, "trinity")
		hosted := db.scan(&dynamodb.ScanInput{
			TableName:                 aws.String(trinityRooms),
			FilterExpression:          aws.String("hostId = :hostId"),
			ExpressionAttributeValues: values(":hostId", "user-456"),
		})
		joined := db.scan(&dynamodb.ScanInput{
			TableName:                 aws.String(trinityVotes),
			FilterExpression:          aws.String("userId = :userId AND isParticipation = :yes"),
			ExpressionAttributeValues: values(":userId", "user-456", ":yes", true),
			ProjectionExpression:      aws.String("roomId"),
		})
		rooms := append(column(hosted.Items, "id"), column(joined.Items, "roomId")...)
		slices.Sort(rooms)
		var without []string
		for _, room := range slices.Compact(rooms) {
			matches := db.query(&dynamodb.QueryInput{
				TableName:                 aws.String(trinityMatches),
				KeyConditionExpression:    aws.String("roomId = :roomId"),
				ExpressionAttributeValues: values(":roomId", room),
				Limit:                     aws.Int32(1),
				Select:                    types.SelectCount,
			})
			if matches.Items != nil {
				t.Errorf("a count came with items: %v", matches.Items)
			}
			if matches.Count == 0 {
				without = append(without, room)
			}
		}
		wantEqual(t, "rooms without matches", without, []string{"room-uuid-123"})
	})
}

// TestTrinityMatch is the flow of the document's integration test: both voters see that the vote is unanimous, and both write the
// match.
func TestTrinityMatch(t *testing.T) {
	bothVote := func(db database) {
		for _, user := range []string{"user-1", "user-2"} {
			db.put(trinityVotes, values("roomId", "duel", "userMovieId", user+"#789", "userId", user,
				"movieId", 789, "vote", true))
		}
		for range 2 { // each voter reads after both have voted
			wantEqual(db.t, "votes", db.query(votesOf("duel")).Count, 2)
		}
	}
	match := func(id string) item {
		return values("roomId", "duel", "movieId", 789, "matchId", id, "matchedUsers", []string{"user-1", "user-2"})
	}

	t.Run("the second match replaces the first", func(t *testing.T) {
		db := open(t, "trinity")
		bothVote(db)
		db.put(trinityMatches, match("of-user-1"), match("of-user-2"))
		wantItem(t, db.get(trinityMatches, values("roomId", "duel", "movieId", 789)), match("of-user-2"))
	})

	t.Run("under a condition it fails", func(t *testing.T) {
		db := open(t, "trinity")
		bothVote(db)
		db.put(trinityMatches, match("of-user-1"))
		_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String(trinityMatches), Item: match("of-user-2"),
			ConditionExpression: aws.String("attribute_not_exists(roomId)"),
		})
		wantError(t, err, "ConditionalCheckFailedException", "The conditional request failed")
		wantItem(t, db.get(trinityMatches, values("roomId", "duel", "movieId", 789)), match("of-user-1"))
	})
}

func votesOf(room string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName:                 aws.String(trinityVotes),
		KeyConditionExpression:    aws.String("roomId = :roomId"),
		ExpressionAttributeValues: values(":roomId", room),
	}
}
