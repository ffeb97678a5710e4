package monotable_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/monotabletest"
)

// BenchmarkOpenMemory opens and closes an empty database in memory.
func BenchmarkOpenMemory(b *testing.B) {
	for b.Loop() {
		db, err := monotable.OpenMemory(nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGetItem reads one item of 1 KB in process: through the SDK, and through the handler alone, which
// is the database's own part of it.
func BenchmarkGetItem(b *testing.B) {
	db := monotabletest.New(b)
	client := db.Client()
	createOrders(b.Context(), client)
	key := map[string]types.AttributeValue{
		"customer": &types.AttributeValueMemberS{Value: "ana"}, "order": &types.AttributeValueMemberS{Value: "1"},
	}
	it := map[string]types.AttributeValue{"text": &types.AttributeValueMemberS{Value: strings.Repeat("x", 1000)}}
	maps.Copy(it, key)
	if _, err := client.PutItem(b.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: it}); err != nil {
		b.Fatal(err)
	}
	b.Run("sdk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.GetItem(b.Context(), &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: key}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("handler", func(b *testing.B) {
		b.ReportAllocs()
		handler := db.Handler()
		body := `{"TableName":"orders","Key":{"customer":{"S":"ana"},"order":{"S":"1"}}}`
		for b.Loop() {
			request := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "http://127.0.0.1/", strings.NewReader(body))
			request.Header.Set("Content-Type", "application/x-amz-json-1.0")
			request.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			if answer.Code != http.StatusOK {
				b.Fatal(answer.Body)
			}
		}
	})
}
