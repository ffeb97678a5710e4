package portfolio_test

import (
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/portfolio"
)

// TestLostCopy: an edit restores the author's copy of a post if the copy was lost.
func TestLostCopy(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "first")
	before := scan(t, v)
	table := aws.String("portfolio-backend-table")
	found, err := v.Database.DynamoDB.Query(t.Context(), &dynamodb.QueryInput{
		TableName: table, KeyConditionExpression: aws.String("PK = :author AND begins_with(SK, :posts)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":author": &types.AttributeValueMemberS{Value: "USER#" + ana}, ":posts": &types.AttributeValueMemberS{Value: "POST#"},
		},
	})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("%d copies, %v", len(found.Items), err)
	}
	key := map[string]types.AttributeValue{"PK": found.Items[0]["PK"], "SK": found.Items[0]["SK"]}
	if _, err := v.Database.DynamoDB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: table, Key: key}); err != nil {
		t.Fatal(err)
	}
	call[portfolio.Post](t, v, request(http.MethodPut, "/posts/"+p.PostID, ana, content("edited", "cat-123")))
	after := scan(t, v)
	if after.sound(t); len(after.posts) != len(before.posts) {
		t.Errorf("%d posts, want %d", len(after.posts), len(before.posts))
	}
}
