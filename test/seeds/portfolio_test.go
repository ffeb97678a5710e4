package seeds

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const portfolio = "portfolio-backend-table"

// TestPortfolio runs the query that each of the document's keys exists for; its three written examples keep their numbers.
func TestPortfolio(t *testing.T) {
	t.Run("table, GSI1 and GSI2", func(t *testing.T) {
		db := open(t, "portfolio")
		db.wantTables("portfolio")
	})

	t.Run("items of every entity come back equal", func(t *testing.T) {
		db := open(t, "portfolio")
		db.wantSampleItems("portfolio")
	})

	db := open(t, "portfolio")
	for _, pattern := range []struct {
		name string
		in   *dynamodb.QueryInput
		want []string // sort keys of the table
	}{
		{"query 1 user by email", byGSI1("USER#user@example.com", ""), []string{"PROFILE"}},
		{"query 2 posts of a category, drafts too", postsOf("cat-123"), []string{"METADATA", "METADATA"}},
		{
			"query 3 notifications of a user, by id", childrenOf("USER#user-123", "NOTIFICATION#"),
			[]string{"NOTIFICATION#1c3a", "NOTIFICATION#f00d"},
		},
		{
			"GSI1 notifications of a user, by time", byGSI1("USER#user-123", "NOTIFICATION#"),
			[]string{"NOTIFICATION#f00d", "NOTIFICATION#1c3a"},
		},
		{"GSI1 published posts", byGSI1("POST#STATUS#published", ""), []string{"METADATA", "METADATA"}},
		{"GSI1 comments of a user", byGSI1("COMMENT#user-123", "POST#"), []string{"COMMENT#b7e2", "COMMENT#0a91"}},
		{"GSI1 likes of a user", byGSI1("USER#user-123", "LIKE#"), []string{"LIKE#user-123"}},
		{"GSI1 category by slug", byGSI1("CATEGORY#SLUG#serverless", ""), []string{"METADATA"}},
		{
			"GSI1 bookmarks of a user, by time", byGSI1("USER#user-123", "BOOKMARK#"),
			[]string{"BOOKMARK#post-3", "BOOKMARK#post-1"},
		},
		{
			"bookmarks of a user, by post", childrenOf("USER#user-123", "BOOKMARK#"),
			[]string{"BOOKMARK#post-1", "BOOKMARK#post-3"},
		},
		{"likes of a post", childrenOf("POST#post-1", "LIKE#"), []string{"LIKE#user-123"}},
		{
			"comments of a post come by id, not by time", childrenOf("POST#post-1", "COMMENT#"),
			[]string{"COMMENT#0a91", "COMMENT#b7e2"},
		},
	} {
		t.Run(pattern.name, func(t *testing.T) {
			wantStrings(t, db.query(pattern.in).Items, "SK", pattern.want...)
		})
	}
}

// TestPortfolioTraps shows unintended consequences of the document's keys.
func TestPortfolioTraps(t *testing.T) {
	t.Run("query 1 finds the likes of a user whose id is the email", func(t *testing.T) {
		db := open(t, "portfolio")
		db.put(portfolio, values("PK", "POST#post-1", "SK", "LIKE#user@example.com",
			"GSI1PK", "USER#user@example.com", "GSI1SK", "LIKE#2024-03-03T00:00:00Z", "entityType", "LIKE"))
		found := db.query(byGSI1("USER#user@example.com", "")).Items
		wantStrings(t, found, "entityType", "LIKE", "USER")
	})

	t.Run("two users may have one email", func(t *testing.T) {
		db := open(t, "portfolio")
		_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String(portfolio),
			Item: values("PK", "USER#user-999", "SK", "PROFILE", "GSI1PK", "USER#user@example.com",
				"GSI1SK", "PROFILE", "entityType", "USER"),
			ConditionExpression: aws.String("attribute_not_exists(PK)"),
		})
		if err != nil {
			t.Fatal(err)
		}
		keys := column(db.query(byGSI1("USER#user@example.com", "PROFILE")).Items, "PK")
		slices.Sort(keys)
		wantEqual(t, "users of the email", keys, []string{"USER#user-123", "USER#user-999"})
	})

	t.Run("query 2 only the published needs a filter, which comes after the limit", func(t *testing.T) {
		db := open(t, "portfolio")
		posts := postsOf("cat-123")
		posts.FilterExpression = aws.String("#data.#status = :published")
		posts.ExpressionAttributeNames = map[string]string{"#data": "data", "#status": "status"}
		posts.ExpressionAttributeValues[":published"] = toValue("published")
		posts.Limit = aws.Int32(1)
		posts.ScanIndexForward = aws.Bool(false)
		first := db.query(posts)
		wantEqual(t, "items of the first page", first.Count, 0)
		wantItem(t, first.LastEvaluatedKey, values("PK", "POST#post-2", "SK", "METADATA",
			"GSI2PK", "CATEGORY#cat-123", "GSI2SK", "POST#2024-03-03T09:00:00Z"))
		wantStrings(t, slices.Concat(db.pages(posts)...), "PK", "POST#post-1")
	})

	t.Run("the post comes behind its comments and all its likes", func(t *testing.T) {
		db := open(t, "portfolio")
		for _, user := range []string{"user-a", "user-b", "user-c"} {
			db.put(portfolio, values("PK", "POST#post-1", "SK", "LIKE#"+user, "entityType", "LIKE"))
		}
		page := childrenOf("POST#post-1", "")
		page.Limit = aws.Int32(3)
		pages := db.pages(page)
		wantStrings(t, slices.Concat(pages...), "entityType",
			"COMMENT", "COMMENT", "LIKE", "LIKE", "LIKE", "LIKE", "POST")
		wantStrings(t, pages[0], "entityType", "COMMENT", "COMMENT", "LIKE")
		page.ScanIndexForward = aws.Bool(false)
		wantStrings(t, db.query(page).Items, "entityType", "POST", "LIKE", "LIKE")
	})

	t.Run("a like is unique by its key", func(t *testing.T) {
		db := open(t, "portfolio")
		_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName:           aws.String(portfolio),
			Item:                values("PK", "POST#post-1", "SK", "LIKE#user-123", "entityType", "LIKE"),
			ConditionExpression: aws.String("attribute_not_exists(SK)"),
		})
		wantError(t, err, "ConditionalCheckFailedException", "The conditional request failed")
	})

	t.Run("nothing inside data can be an index key", func(t *testing.T) {
		db := open(t, "portfolio")
		bySlug := tablesOf(t, "portfolio")[0]
		bySlug.TableName = aws.String("portfolio-by-slug")
		bySlug.AttributeDefinitions = append(bySlug.AttributeDefinitions[:2:2], types.AttributeDefinition{
			AttributeName: aws.String("data.slug"), AttributeType: types.ScalarAttributeTypeS,
		})
		bySlug.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("slug-index"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("data.slug"), KeyType: types.KeyTypeHash}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}}
		db.createTable(bySlug) // "data.slug" is an ordinary attribute name, and no item has that attribute
		db.put(*bySlug.TableName, itemsOf(t, "portfolio")[portfolio]...)
		out := db.scan(&dynamodb.ScanInput{TableName: bySlug.TableName, IndexName: aws.String("slug-index")})
		wantEqual(t, "entries of the index", out.Count, 0)
	})
}

// byGSI1 queries a partition of GSI1, optionally for sort keys with a prefix.
func byGSI1(partition, prefix string) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		TableName:                 aws.String(portfolio),
		IndexName:                 aws.String("GSI1"),
		KeyConditionExpression:    aws.String("GSI1PK = :pk"),
		ExpressionAttributeValues: values(":pk", partition),
	}
	if prefix != "" {
		in.KeyConditionExpression = aws.String("GSI1PK = :pk AND begins_with(GSI1SK, :sk)")
		in.ExpressionAttributeValues[":sk"] = toValue(prefix)
	}
	return in
}

func postsOf(category string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName:                 aws.String(portfolio),
		IndexName:                 aws.String("GSI2"),
		KeyConditionExpression:    aws.String("GSI2PK = :pk AND begins_with(GSI2SK, :sk)"),
		ExpressionAttributeValues: values(":pk", "CATEGORY#"+category, ":sk", "POST#"),
	}
}

// childrenOf queries a partition of the table for items whose sort key begins with prefix. An empty prefix, which DynamoDB would
// reject as a key value, returns all items.
func childrenOf(partition, prefix string) *dynamodb.QueryInput {
	in := byGSI1(partition, "")
	in.IndexName = nil
	in.KeyConditionExpression = aws.String("PK = :pk")
	if prefix != "" {
		in.KeyConditionExpression = aws.String("PK = :pk AND begins_with(SK, :sk)")
		in.ExpressionAttributeValues[":sk"] = toValue(prefix)
	}
	return in
}
