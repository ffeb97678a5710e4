package catfecito_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
)

// TestLostCopy: every change of an order restores its user's copy if the copy was lost.
func TestLostCopy(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 10)
	listed := func(userID, orderID string, change func()) {
		t.Helper()
		deleteCopy(t, v, userID)
		change()
		found := must[page[catfecito.Order]](t, v, request(userID, http.MethodGet, "/orders", nil), http.StatusOK)
		if len(found.Items) != 1 || found.Items[0].OrderID != orderID {
			t.Errorf("the user finds %+v", found.Items)
		}
		scan(t, v).sound(t)
	}
	sold, left := buy(t, v, ana, "sold", p.ProductID, 1).OrderID, buy(t, v, bruno, "left", p.ProductID, 1).OrderID
	for _, step := range []string{"pay", "ship", "deliver"} {
		listed(ana, sold, func() {
			must[catfecito.Order](t, v, staff(keyed("", "/orders/"+sold+"/"+step, "k", nil)), http.StatusOK)
		})
	}
	v.Clock.Advance(time.Hour)
	listed(bruno, left, func() { v.Tick(t) })
}

// deleteCopy deletes the copy of a user's only order.
func deleteCopy(tb testing.TB, v *apitest.Server, userID string) {
	tb.Helper()
	table := aws.String("catfecito-serverless-" + v.Stage())
	found, err := v.Database.DynamoDB.Query(tb.Context(), &dynamodb.QueryInput{
		TableName: table, KeyConditionExpression: aws.String("PK = :user AND begins_with(SK, :orders)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":user": &types.AttributeValueMemberS{Value: "USER#" + userID}, ":orders": &types.AttributeValueMemberS{Value: "ORDER#"},
		},
	})
	if err != nil || len(found.Items) != 1 {
		tb.Fatalf("%d copies, %v", len(found.Items), err)
	}
	key := map[string]types.AttributeValue{"PK": found.Items[0]["PK"], "SK": found.Items[0]["SK"]}
	if _, err := v.Database.DynamoDB.DeleteItem(tb.Context(), &dynamodb.DeleteItemInput{TableName: table, Key: key}); err != nil {
		tb.Fatal(err)
	}
}

// TestOperationsCheckTheSession: every operation that takes a token checks the token's session.
func TestOperationsCheckTheSession(t *testing.T) {
	t.Parallel()
	v := open(t)
	signUp(t, v, anasMail)
	s := logIn(t, v, anasMail, password)
	status := func(r apitest.Request) int {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		response, _ := v.Stream(ctx, t, r) // one of them does not end
		return response.Status
	}
	var calls []apitest.Request
	for _, r := range v.Routes() {
		if slices.Contains(tokenless, r.ID) {
			continue
		}
		steps := strings.Split(r.Path, "/")
		for i := range steps {
			if strings.HasPrefix(steps[i], "{") {
				steps[i] = "x"
			}
		}
		calls = append(calls, by(s, request("", r.Method, strings.Join(steps, "/"), nil)))
	}
	for _, ended := range []bool{false, true} {
		for _, r := range calls {
			if got := status(r); (got == http.StatusUnauthorized) != ended {
				t.Errorf("%s %s: %d, after the session has ended: %v", r.Method, r.Path, got, ended)
			}
		}
		must[any](t, v, by(s, request("", http.MethodDelete, "/me/sessions/current", nil)), map[bool]int{false: http.StatusNoContent, true: http.StatusUnauthorized}[ended])
	}
}
