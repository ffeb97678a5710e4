package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// TestWarmThroughputFollowsTraffic checks that a new peak of an on-demand table or index raises what it serves at once, half an
// hour later and for good, and that provisioned tables keep theirs.
func TestWarmThroughputFollowsTraffic(t *testing.T) {
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	now := start
	counts := observe.New()
	store := kept{memkv.New()}
	open := func() *engine.Engine {
		e, err := engine.Open(t.Context(), store, engine.Options{TTLInterval: -1, Now: func() time.Time { return now }, Observe: counts})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	defer func() { _ = e.Close() }()
	const definition = `"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]`
	const index = `{"IndexName": "byPK", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}`
	for _, body := range []string{
		`{"TableName": "demand", "BillingMode": "PAY_PER_REQUEST", "GlobalSecondaryIndexes": [` + index + `], ` + definition + `}`,
		`{"TableName": "fixed", "ProvisionedThroughput": {"ReadCapacityUnits": 7, "WriteCapacityUnits": 5}, ` + definition + `}`,
	} {
		if _, err := perform(t.Context(), e, "create-table", body); err != nil {
			t.Fatal(err)
		}
	}
	minute := func(table, index, fixed float64) {
		t.Helper()
		counts.Table("demand").Write.Add(table * 60)
		counts.Table("demand").Index("byPK").Read.Add(index * 60)
		counts.Table("fixed").Write.Add(fixed * 60)
		now = now.Add(time.Minute)
		if err := e.RaiseWarm(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	warm := func(table string) string {
		t.Helper()
		out, err := e.DescribeTable(t.Context(), &api.DescribeTableInput{TableName: &table})
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(*out.Table.WarmThroughput.ReadUnitsPerSecond, "/", *out.Table.WarmThroughput.WriteUnitsPerSecond)
		for _, x := range out.Table.GlobalSecondaryIndexes {
			text += fmt.Sprint(" ", *x.WarmThroughput.ReadUnitsPerSecond, "/", *x.WarmThroughput.WriteUnitsPerSecond)
		}
		return text
	}
	minute(1, 1, 1) // the counts begin
	minute(2000, 6000, 4000)
	minute(2500, 7000, 4000)
	for range 29 {
		minute(0, 0, 0)
	}
	if diff := cmp.Diff("12000/4000 12000/4000", warm("demand")); diff != "" {
		t.Error(diff)
	}
	minute(0, 0, 0)
	for range 2 {
		if diff := cmp.Diff("12000/5000 14000/4000", warm("demand")); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff("7/5", warm("fixed")); diff != "" {
			t.Error(diff)
		}
		if err := e.Close(); err != nil { // and it is stored
			t.Fatal(err)
		}
		e = open()
	}
}
