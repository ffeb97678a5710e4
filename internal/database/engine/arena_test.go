package engine_test

import (
	"fmt"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// An output's items stay unchanged while other pages are read and released, and their memory is reused after Release.
func TestReleasedPages(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openEngine(t, s.open(t)())
			createBigItems(t, e, 3)
			query := func(limit int64) *api.QueryOutput {
				t.Helper()
				out, err := e.Query(t.Context(), &api.QueryInput{
					TableName:                 new("big"),
					KeyConditionExpression:    new("pk = :p"),
					ExpressionAttributeValues: attr.Item{}.With(":p", attr.String("p")),
					ProjectionExpression:      new("sk"),
					Limit:                     &limit,
				})
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			held := query(2)
			before := fmt.Sprintf("%x", held.Items)
			for range 10 {
				scanned, err := e.Scan(t.Context(), &api.ScanInput{TableName: new("big"), ProjectionExpression: new("ls")})
				if err != nil {
					t.Fatal(err)
				}
				scanned.Release()
				scanned.Release() // further calls have no effect
				again := query(3)
				if len(again.Items) != 3 || fmt.Sprintf("%x", again.Items[:2]) != before {
					t.Fatalf("a page reads %x", again.Items)
				}
				again.Release()
			}
			if after := fmt.Sprintf("%x", held.Items); after != before {
				t.Errorf("items became %s, were %s", after, before)
			}
		})
	}
}
