package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/monotabletest"
)

// TestEveryChangeOnce follows a table of monotable under four writers while its shards rotate every second, with a
// handler that sometimes fails and runs that end at any time: each item's versions are delivered in order, without
// gaps or duplicates.
func TestEveryChangeOnce(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		db := monotabletest.NewWith(t, &monotable.Options{StreamShards: 3, StreamShardRotation: time.Second})
		arn := createOrders(t.Context(), db.Client())
		const writers, versions = 4, 200
		var writing sync.WaitGroup
		for writer := range writers {
			random := rand.New(rand.NewPCG(seed, uint64(writer)))
			writing.Go(func() {
				for version := 1; version <= versions; version++ {
					putOrder(t.Context(), db.Client(), fmt.Sprint(writer), strconv.Itoa(version))
					<-time.After(time.Duration(random.IntN(100)) * time.Millisecond)
				}
			})
		}
		random := rand.New(rand.NewPCG(seed, writers))
		j := &judge{t: t, random: random, last: map[string]int{}}
		store := consumer.NewMemory()
		c, err := consumer.New(db.StreamsClient(), arn, j.handle, consumer.Options{
			Checkpoints: store, BatchSize: 7, Bisect: true, PollInterval: 200 * time.Millisecond, DiscoverInterval: time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(2000))*time.Millisecond)
			if err := c.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("run ended with %v", err)
			}
			cancel()
		}
		writing.Wait()
		if err := c.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		for writer := range writers {
			if got := j.last[fmt.Sprint(writer)]; got != versions {
				t.Errorf("writer %d: version %d was last, want %d", writer, got, versions)
			}
		}
		if len(j.shards) < 10 {
			t.Errorf("read %d shards only: they do not rotate", len(j.shards))
		}
	})
}

// judge is a handler that demands each item's next version, and fails at times.
type judge struct {
	t      *testing.T
	mu     sync.Mutex
	random *rand.Rand
	last   map[string]int
	shards map[string]bool
}

func (j *judge) handle(_ context.Context, b consumer.Batch) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.random.IntN(10) == 0 {
		return errors.New("not now")
	}
	if j.shards == nil {
		j.shards = map[string]bool{}
	}
	j.shards[b.Shard] = true
	for _, r := range b.Records {
		item := r.Dynamodb.Keys["customer"].(*types.AttributeValueMemberS).Value
		version, err := strconv.Atoi(r.Dynamodb.NewImage["total"].(*types.AttributeValueMemberN).Value)
		if err != nil || version != j.last[item]+1 {
			j.t.Errorf("item %s: version %d after %d, %v", item, version, j.last[item], err)
		}
		j.last[item] = version
	}
	return nil
}

// TestLatestPositionSurvivesRestart tests that records added to a shard after a run with Latest has begun are delivered in the next
// run, although nothing had been read that a checkpoint could name.
func TestLatestPositionSurvivesRestart(t *testing.T) {
	var ago atomic.Int64 // lag of the database's clock
	ago.Store(int64(time.Hour))
	db := monotabletest.NewWith(t, &monotable.Options{Now: func() time.Time { return time.Now().Add(-time.Duration(ago.Load())) }})
	server := httptest.NewServer(db.Handler())
	defer server.Close()
	streams := db.StreamsClient(func(o *dynamodbstreams.Options) {
		o.BaseEndpoint, o.HTTPClient = aws.String(server.URL), server.Client()
	})
	arn := createOrders(t.Context(), db.Client())
	putOrder(t.Context(), db.Client(), "zoe", "1")
	ago.Store(0)
	var received strings.Builder
	c, err := consumer.New(streams, arn, func(_ context.Context, b consumer.Batch) error {
		for _, r := range b.Records {
			received.WriteString(r.Dynamodb.Keys["customer"].(*types.AttributeValueMemberS).Value)
		}
		return nil
	}, consumer.Options{From: consumer.Latest, Checkpoints: consumer.NewMemory()})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	putOrder(t.Context(), db.Client(), "ana", "1")
	for range 2 {
		if err := c.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if received.String() != "ana" {
		t.Errorf("received %q, want ana once", received.String())
	}
}

// TestLatestByTheDatabasesClock tests that the position of a run with Latest is a time by the database's clock, whichever that is.
func TestLatestByTheDatabasesClock(t *testing.T) {
	for _, ahead := range []time.Duration{-time.Hour, time.Hour} {
		db := monotabletest.NewWith(t, &monotable.Options{Now: func() time.Time { return time.Now().Add(ahead) }})
		arn := createOrders(t.Context(), db.Client())
		received := 0
		c, err := consumer.New(db.StreamsClient(), arn, func(_ context.Context, b consumer.Batch) error {
			received += len(b.Records)
			return nil
		}, consumer.Options{From: consumer.Latest, Checkpoints: consumer.NewMemory()})
		if err != nil {
			t.Fatal(err)
		}
		for run := range 2 {
			if err := c.CatchUp(t.Context()); err != nil {
				t.Errorf("run %d with a clock that is %v ahead: %v", run, ahead, err)
			}
			if run == 0 {
				putOrder(t.Context(), db.Client(), "ana", "1")
			}
		}
		if received != 1 {
			t.Errorf("with a clock that is %v ahead, %d records were received, want 1", ahead, received)
		}
	}
}
