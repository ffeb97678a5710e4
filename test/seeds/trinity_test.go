package seeds

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	trinityRooms   = "trinity-rooms"
	trinityVotes   = "trinity-votes"
	trinityMatches = "trinity-matches"
)

func TestTrinity(t *testing.T) {
	t.Run("three tables and code-index", func(t *testing.T) {
		db := open(t, "trinity")
		db.wantTables("trinity")
	})

	t.Run("sample items come back equal", func(t *testing.T) {
		db := open(t, "trinity")
		db.wantSampleItems("trinity")
	})

	t.Run("rooms 1 by id", func(t *testing.T) {
		db := open(t, "trinity")
		room := db.get(trinityRooms, values("id", "room-uuid-123"))
		wantStrings(t, []item{room}, "code", "ABC123")
	})

	t.Run("rooms 1 without the candidates", func(t *testing.T) {
		db := open(t, "trinity")
		out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName:            aws.String(trinityRooms),
			Key:                  values("id", "room-uuid-123"),
			ProjectionExpression: aws.String("code, genreIds[1], candidates[0].title"),
		})
		if err != nil {
			t.Fatal(err)
		}
		wantItem(t, out.Item, toItem(t, map[string]any{
			"code": "ABC123", "genreIds": []any{12}, "candidates": []any{map[string]any{"title": "Dune"}},
		}))
	})

	t.Run("rooms 1 costs its 30 candidates", func(t *testing.T) {
		db := open(t, "trinity")
		candidates := make([]any, 30) // 700 B each, so the room has 21 KB
		for n := range candidates {
			candidates[n] = map[string]any{"id": n, "overview": strings.Repeat("x", 690)}
		}
		db.put(trinityRooms, values("id", "crowded", "code", "CROWDY", "candidates", candidates))
		for _, read := range []struct {
			consistent bool
			units      float64
		}{{false, 3}, {true, 6}} {
			out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{
				TableName: aws.String(trinityRooms), Key: values("id", "crowded"), ProjectionExpression: aws.String("code"),
				ConsistentRead: aws.Bool(read.consistent), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			})
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, fmt.Sprintf("units, consistent %t", read.consistent),
				aws.ToFloat64(out.ConsumedCapacity.CapacityUnits), read.units)
		}
	})

	t.Run("rooms 2 by code, which need not be unique", func(t *testing.T) {
		db := open(t, "trinity")
		wantStrings(t, db.query(roomByCode("ABC123")).Items, "id", "room-uuid-123")
		wantStrings(t, db.query(roomByCode("abc123")).Items, "id")

		db.put(trinityRooms, values("id", "another", "code", "ABC123"))
		ids := column(db.query(roomByCode("ABC123")).Items, "id")
		slices.Sort(ids)
		wantEqual(t, "rooms of one code", ids, []string{"another", "room-uuid-123"})
	})

	t.Run("rooms 3 by host reads every room", func(t *testing.T) {
		db := open(t, "trinity")
		out := db.scan(&dynamodb.ScanInput{
			TableName:                 aws.String(trinityRooms),
			FilterExpression:          aws.String("hostId = :hostId"),
			ExpressionAttributeValues: values(":hostId", "user-123"),
		})
		wantStrings(t, out.Items, "id", "room-uuid-123")
		wantEqual(t, "items read", out.ScannedCount, 2)
	})

	t.Run("rooms TTL", func(t *testing.T) {
		db := open(t, "trinity")
		db.enableTTL(trinityRooms, "ttl")
		room := db.get(trinityRooms, values("id", "room-123"))
		wantStrings(t, []item{room}, "ttl", "4102444800")
	})

	t.Run("matches 1 of a room, by number", func(t *testing.T) {
		db := open(t, "trinity")
		db.put(trinityMatches, values("roomId", "room-123", "movieId", 1000000), values("roomId", "room-123", "movieId", 9))
		matches := &dynamodb.QueryInput{
			TableName:                 aws.String(trinityMatches),
			KeyConditionExpression:    aws.String("roomId = :roomId"),
			ExpressionAttributeValues: values(":roomId", "room-123"),
			Limit:                     aws.Int32(3),
		}
		pages := db.pages(matches)
		wantEqual(t, "sizes of the pages", pageSizes(pages), []int{3, 1})
		wantStrings(t, slices.Concat(pages...), "movieId", "9", "789", "1399", "1000000")
	})

	t.Run("matches 2 one match", func(t *testing.T) {
		db := open(t, "trinity")
		match := db.get(trinityMatches, values("roomId", "room-123", "movieId", 789))
		wantStrings(t, []item{match}, "matchId", "0b6f1c3e-match")
	})

	t.Run("matches 3 of a user reads every match", func(t *testing.T) {
		db := open(t, "trinity")
		out := db.scan(&dynamodb.ScanInput{
			TableName:                 aws.String(trinityMatches),
			FilterExpression:          aws.String("contains(matchedUsers, :userId)"),
			ExpressionAttributeValues: values(":userId", "user-456"),
		})
		wantStrings(t, out.Items, "title", "Dune")
		wantEqual(t, "items read", out.ScannedCount, 2)
	})

	t.Run("matches: no index takes its key from an array", func(t *testing.T) {
		db := open(t, "trinity")
		byUser := tablesOf(t, "trinity")[2]
		byUser.TableName = aws.String("trinity-matches-by-user")
		byUser.AttributeDefinitions = append(byUser.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String("matchedUsers"), AttributeType: types.ScalarAttributeTypeS,
		})
		byUser.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("user-index"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("matchedUsers"), KeyType: types.KeyTypeHash}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}}
		db.createTable(byUser)
		_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: byUser.TableName, Item: itemsOf(t, "trinity")[trinityMatches][0],
		})
		wantError(t, err, "ValidationException", "Type mismatch for Index Key matchedUsers Expected: S Actual: L")

		byUser.AttributeDefinitions[2].AttributeType = "L"
		_, err = db.CreateTable(t.Context(), byUser)
		wantError(t, err, "ValidationException", "Member must satisfy enum value set: [B, N, S]")
	})
}

// roomByCode is the document's query of code-index.
func roomByCode(code string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName:                 aws.String(trinityRooms),
		IndexName:                 aws.String("code-index"),
		KeyConditionExpression:    aws.String("code = :code"),
		ExpressionAttributeValues: values(":code", code),
	}
}
