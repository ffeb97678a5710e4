package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// timed is a store whose numbers are times of its own clock, that of the synctest bubble.
type timed struct{ kv.Store }

func (s timed) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	return s.Store.Update(ctx, in, func(txn kv.Txn) error {
		txn.Advance(kv.SeqAt(time.Now().UnixMilli()))
		return fn(txn)
	})
}

func (s timed) Time(context.Context) (now time.Time, is bool, err error) {
	return time.Now(), true, nil
}

// openTimed opens a server on a store with a clock. The second result is how far the clock of the server's machine is ahead.
func openTimed(t *testing.T) (*engine.Engine, *atomic.Int64) {
	t.Helper()
	var ahead atomic.Int64
	e := openOn(t, timed{memkv.New()}, engine.Options{
		Shared: true, StreamShardRotation: -1, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	createTable(t, e, streamedTable("NEW_IMAGE"))
	send(t, e, "update-time-to-live", `{"TableName":"Music","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"exp"}}`)
	send(t, e, "update-continuous-backups", `{"TableName":"Music","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`)
	advance(time.Second)
	return e, &ahead
}

// TestClockJumps tests that however the clock of a server's machine jumps, the store's clock decides when items expire,
// which retried requests are recognized, what streams retain and to which times a table can be restored.
func TestClockJumps(t *testing.T) {
	const known = 3 * time.Second // the maximum error of a server about the store's time just after a jump
	for _, jump := range []time.Duration{time.Hour, -time.Hour, 40 * 24 * time.Hour, 0} {
		t.Run(jump.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, ahead := openTimed(t)
				due := time.Now().Add(5 * time.Minute).Truncate(time.Second)
				send(t, e, "put-item", fmt.Sprintf(`{"TableName":"Music","Item":{"pk":{"S":"due"},"exp":{"N":"%d"}}}`, due.Unix()))
				count := func() string {
					send(t, e, "transact-write-items", `{"ClientRequestToken":"token","TransactItems":[{"Update":{"TableName":"Music",
						"Key":{"pk":{"S":"counted"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}}]}`)
					return send(t, e, "get-item", `{"TableName":"Music","Key":{"pk":{"S":"counted"}}}`)
				}
				once, begun := count(), time.Now()

				ahead.Store(int64(jump))
				for range 5 {
					if n, err := e.ExpireNow(t.Context()); n != 0 || err != nil {
						t.Fatalf("%v before its time, %d items expire, %v", time.Until(due), n, err)
					}
					wantLatest(t, e, known)
					advance(time.Second)
				}
				advance(time.Until(begun.Add(10*time.Minute - known)))
				if again := count(); again != once {
					t.Errorf("repeated within ten minutes: %s, want %s", again, once)
				}
				if got := send(t, e, "get-item", `{"TableName":"Music","Key":{"pk":{"S":"due"}}}`); got != "{}" {
					t.Errorf("an item is there %v after its time: %s", time.Since(due), got)
				}
				advance(2 * known)
				if again := count(); again == once {
					t.Errorf("repeated after more than ten minutes: %s", again)
				}
				advance(10 * time.Minute) // logs are trimmed meanwhile
				if n := streamed(t, e); n != 4 {
					t.Errorf("the stream has %d records, want 4: two of each item", n)
				}
			})
		})
	}
}

// TestTokenAtWindowBoundaryOfServers: a request is executed once although the server that it reaches first takes the time to be a
// little later, in the next window of token records, than the one at which it is repeated.
func TestTokenAtWindowBoundaryOfServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lifetime = 10 * time.Minute
		var ahead atomic.Int64
		store := timed{memkv.New()}
		open := func(now func() time.Time) *engine.Engine {
			e := openOn(t, store, engine.Options{Shared: true, Now: now})
			t.Cleanup(func() {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
			return e
		}
		first := open(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
		second := open(time.Now)
		send(t, first, "create-table", accountsTable)
		advance(time.Until(time.Now().Truncate(lifetime).Add(lifetime - 10*time.Millisecond)))
		ahead.Store(int64(20 * time.Millisecond))
		for _, e := range []*engine.Engine{first, second} {
			send(t, e, "transact-write-items", `{"ClientRequestToken":"once","TransactItems":[{"Update":{"TableName":"Accounts","Key":{"id":{"S":"a"}},
				"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}}]}`)
		}
		got := send(t, first, "get-item", `{"TableName":"Accounts","Key":{"id":{"S":"a"}}}`)
		if want := `{"Item":{"id":{"S":"a"},"n":{"N":"1"}}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// streamed returns the number of records in the table's stream.
func streamed(t *testing.T, e *engine.Engine) int {
	t.Helper()
	c := newConsumer(t, e)
	it, err := e.GetShardIterator(t.Context(), &api.GetShardIteratorInput{
		StreamArn: c.arn, ShardId: c.shards()[0].ShardId, ShardIteratorType: new("TRIM_HORIZON"),
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.GetRecords(t.Context(), &api.GetRecordsInput{ShardIterator: it.ShardIterator})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Records)
}

// wantLatest checks that a table can be restored up to now, by the store's clock.
func wantLatest(t *testing.T, e *engine.Engine, within time.Duration) {
	t.Helper()
	out, err := e.DescribeContinuousBackups(t.Context(), &api.DescribeContinuousBackupsInput{TableName: new("Music")})
	if err != nil {
		t.Fatal(err)
	}
	latest := *out.ContinuousBackupsDescription.PointInTimeRecoveryDescription.LatestRestorableDateTime
	if off := time.Since(time.Unix(int64(latest), 0)); off.Abs() > within {
		t.Errorf("the latest restorable time is %v ago", off)
	}
}
