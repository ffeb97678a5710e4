package faults

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/test/internal/registers"
)

// follower reads the stream of the registers and checks that each record of an item starts where the previous one ended.
type follower struct {
	consumer *consumer.Consumer

	mu      sync.Mutex
	last    map[place]int          // the value of each register, by its records
	values  map[place]map[int]bool // all of its values
	faults  []string
	records int
}

type place struct{ pair, register int }

func newFollower(t *testing.T, c *cluster) *follower {
	t.Helper()
	out, err := c.frontEnds[0].probe.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(registers.Table)})
	if err != nil {
		t.Fatal(err)
	}
	f := &follower{last: map[place]int{}, values: map[place]map[int]bool{}}
	f.consumer, err = consumer.New(newServers(c), *out.Table.LatestStreamArn, f.take, consumer.Options{
		PollInterval: 50 * time.Millisecond, DiscoverInterval: time.Second, RetryMax: 200 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// follow reads until the context ends.
func (f *follower) follow(ctx context.Context, t *testing.T) {
	t.Helper()
	if err := f.consumer.Run(ctx); err != nil && ctx.Err() == nil {
		t.Errorf("following the stream: %v", err)
	}
}

// catchUp reads to the end.
func (f *follower) catchUp(t *testing.T) {
	t.Helper()
	if err := f.consumer.CatchUp(t.Context()); err != nil {
		t.Errorf("reading the stream: %v", err)
	}
}

func (f *follower) take(_ context.Context, batch consumer.Batch) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range batch.Records {
		pair, register := registers.Place(r.Dynamodb.Keys)
		at := place{pair, register}
		before, known := f.last[at]
		if !known {
			before, f.values[at] = registers.Absent, map[int]bool{}
		}
		old, now := registers.Item(r.Dynamodb.OldImage), registers.Item(r.Dynamodb.NewImage)
		if old != before {
			f.faults = append(f.faults, fmt.Sprintf("%v: a record goes from %d to %d, and the one before it ended with %d (number %s)", at, old, now, before, *r.Dynamodb.SequenceNumber))
		}
		f.last[at], f.values[at][now] = now, true
		f.records++
	}
	return nil
}

// compare compares the records with the table, and with the acknowledged writes.
func (f *follower) compare(t *testing.T, name string, table map[place]int, acknowledged map[place][]int) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range f.faults {
		t.Errorf("%s: %s", name, fault)
	}
	for at, n := range table {
		last, known := f.last[at]
		if !known {
			last = registers.Absent
		}
		if last != n {
			t.Errorf("%s: the last record of %v has %d, the table %d", name, at, last, n)
		}
		for _, written := range acknowledged[at] {
			if !f.values[at][written] {
				t.Errorf("%s: %v: %d was acknowledged and no record has it", name, at, written)
			}
		}
	}
	for at := range maps.Keys(f.last) {
		if _, known := table[at]; !known {
			t.Errorf("%s: there are records of unwritten %v", name, at)
		}
	}
	t.Logf("%s: %d records", name, f.records)
}

// servers reads streams, with each request to a different server.
type servers []*dynamodbstreams.Client

func newServers(c *cluster) (s servers) {
	for _, f := range c.frontEnds {
		s = append(s, dynamodbstreams.New(dynamodbstreams.Options{
			Region: "us-east-1", BaseEndpoint: aws.String("http://" + f.clients.Address()), Credentials: aws.AnonymousCredentials{}, RetryMaxAttempts: 1,
			HTTPClient: &http.Client{Timeout: c.store.pace().client, Transport: &http.Transport{}},
		}))
	}
	return s
}

func (s servers) any() *dynamodbstreams.Client { return s[rand.IntN(len(s))] }

func (s servers) DescribeStream(ctx context.Context, in *dynamodbstreams.DescribeStreamInput, o ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	return s.any().DescribeStream(ctx, in, o...)
}

func (s servers) GetShardIterator(ctx context.Context, in *dynamodbstreams.GetShardIteratorInput, o ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	return s.any().GetShardIterator(ctx, in, o...)
}

func (s servers) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput, o ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	return s.any().GetRecords(ctx, in, o...)
}
