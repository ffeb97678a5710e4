package crash

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/test/internal/ledger"
	"github.com/monotable/monotable/test/internal/serverproc"
)

// TestKillReplication kills a server of three Regions while it adds replicas of a table, and then repeatedly while writers in all
// Regions write to it and their changes are being replicated. After each restart, every acknowledged write reaches all Regions.
// At the end, the streams of all Regions contain the same changes of each item, without duplicates.
func TestKillReplication(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	r := &replicated{T: t, binary: serverproc.Build(t), dir: t.TempDir()}
	for i, region := range slices.Repeat(r.regions(), 3) {
		r.writers = append(r.writers, &regionalWriter{ledger.NewWriter(i, seed, func(string) string { return tableName }), region})
	}
	r.restart()
	createTable(t, r.client(home))
	for range 100 {
		for _, w := range r.of(home) {
			r.must(w.Write(t.Context()))
		}
	}
	for _, region := range r.regions()[1:] {
		_, err := r.client(home).UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
			TableName:      aws.String(tableName),
			ReplicaUpdates: []types.ReplicationGroupUpdate{{Create: &types.CreateReplicationGroupMemberAction{RegionName: &region}}},
		})
		r.must(err)
		writeUntilKilled(t, r.server, r.of(home), 1+random.Int64N(200))
		r.restart()
		r.awaitActive(home, region)
		r.settle(home)
	}
	r.settle(r.regions()...)
	for round := range *killsFlag {
		requests := writeUntilKilled(t, r.server, r.of(r.regions()...), 50+random.Int64N(1000))
		t.Logf("kill %d: after %d acknowledged requests", round+1, requests)
		verify(t, r.binary, r.dir)
		r.restart()
		r.settle(r.regions()...)
	}
	r.compareStreams()
	r.server.Stop(t)
	verify(t, r.binary, r.dir)
}

const home = "us-east-1"

// replicated is a server with replicas of a table, and their writers.
type replicated struct {
	*testing.T
	binary, dir string
	server      *serverproc.Server
	writers     []*regionalWriter
}

// regionalWriter writes in one Region. Items of different writers differ, so there are no conflicts.
type regionalWriter struct {
	*ledger.Writer
	region string
}

func (*replicated) regions() []string { return []string{home, "eu-west-1", "sa-east-1"} }

func (r *replicated) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *replicated) restart() {
	r.Helper()
	r.server = serverproc.Start(r.T, r.binary, "--data", r.dir, "--log-level", "warn",
		"--regions", strings.Join(r.regions(), ","), "--replication-delay", "20ms")
	for _, w := range r.writers {
		w.Client = r.client(w.region)
	}
}

// of returns the writers of Regions.
func (r *replicated) of(regions ...string) (all []*ledger.Writer) {
	for _, w := range r.writers {
		if slices.Contains(regions, w.region) {
			all = append(all, w.Writer)
		}
	}
	return all
}

func (r *replicated) client(region string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: region, BaseEndpoint: &r.server.Endpoint, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = 20 * time.Millisecond }),
	})
}

// eventually polls until fault returns nothing.
func (r *replicated) eventually(fault func() string) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	for look := time.NewTicker(20 * time.Millisecond); ; {
		found := fault()
		if found == "" {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			r.Fatalf("after a minute: %s", found)
		}
	}
}

func (r *replicated) awaitActive(regions ...string) {
	r.Helper()
	for _, region := range regions {
		r.eventually(func() string {
			out, err := r.client(region).DescribeTable(r.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(tableName)})
			r.must(err)
			if out.Table.TableStatus != types.TableStatusActive {
				return region + " is " + string(out.Table.TableStatus)
			}
			return ""
		})
	}
}

// settle compares the ledgers of the writers of some Regions with the items in their own Region, and waits until all these
// Regions have the same items.
func (r *replicated) settle(regions ...string) {
	r.Helper()
	all := map[string]int{}
	for _, region := range regions {
		found := versions(r.T, r.client(region), "")
		for _, w := range r.of(region) {
			own := maps.Clone(found)
			maps.DeleteFunc(own, func(item string, _ int) bool { return !w.Owns(item) })
			for _, fault := range w.Ledger.Settle(own) {
				r.Error(fault)
			}
			maps.Copy(all, own)
		}
	}
	for _, region := range regions {
		r.eventually(func() string {
			found := versions(r.T, r.client(region), "")
			for item := range all {
				if found[item] != all[item] {
					return fmt.Sprintf("%s has version %d of item %s, its writer's Region version %d", region, found[item], item, all[item])
				}
			}
			if len(found) != len(all) {
				return fmt.Sprintf("%s has %d items, want %d", region, len(found), len(all))
			}
			return ""
		})
	}
}

// compareStreams compares the changes of each item in the streams of all Regions. A Region's stream starts with its replica.
func (r *replicated) compareStreams() {
	r.Helper()
	versions := r.streamed(home)
	records := 0
	for _, region := range r.regions()[1:] {
		for item, theirs := range r.streamed(region) {
			short, long := theirs, versions[item]
			if len(short) > len(long) {
				short, long = long, short
			}
			if !slices.Equal(short, long[len(long)-len(short):]) {
				r.Errorf("item %s: the stream of %s has the versions\n%v\nthat of %s\n%v", item, region, theirs, home, versions[item])
			}
			records += len(theirs)
		}
	}
	r.Logf("%d records", records)
	if records == 0 {
		r.Error("the streams are empty")
	}
}

// streamed returns the versions of each item in a stream, in order; 0 for removed. No version may occur twice, and the old image
// of each record must equal the previous new image.
func (r *replicated) streamed(region string) map[string][]int {
	r.Helper()
	versions := map[string][]int{}
	last := map[string]int{}
	for _, record := range r.records(region) {
		key := record.Dynamodb.Keys
		item := key["pk"].(*streamtypes.AttributeValueMemberS).Value + "#" + key["sk"].(*streamtypes.AttributeValueMemberS).Value
		before, now := r.version(record.Dynamodb.OldImage), r.version(record.Dynamodb.NewImage)
		if before != last[item] && len(versions[item]) > 0 {
			r.Errorf("%s: item %s goes from version %d to %d and was %d", region, item, before, now, last[item])
		}
		if now != 0 && slices.Contains(versions[item], now) {
			r.Errorf("%s: item %s has version %d twice in the stream", region, item, now)
		}
		versions[item], last[item] = append(versions[item], now), now
	}
	return versions
}

func (r *replicated) version(image map[string]streamtypes.AttributeValue) int {
	r.Helper()
	number, ok := image["version"].(*streamtypes.AttributeValueMemberN)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(number.Value)
	r.must(err)
	return n
}

// records returns all records of a Region's stream.
func (r *replicated) records(region string) (all []streamtypes.Record) {
	r.Helper()
	client := dynamodbstreams.New(dynamodbstreams.Options{
		Region: region, BaseEndpoint: &r.server.Endpoint, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	})
	table, err := r.client(region).DescribeTable(r.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(tableName)})
	r.must(err)
	arn := table.Table.LatestStreamArn
	stream, err := client.DescribeStream(r.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	r.must(err)
	for _, shard := range stream.StreamDescription.Shards { // parents first
		it, err := client.GetShardIterator(r.Context(), &dynamodbstreams.GetShardIteratorInput{
			StreamArn: arn, ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
		})
		r.must(err)
		for next := it.ShardIterator; next != nil; {
			page, err := client.GetRecords(r.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: next})
			r.must(err)
			if all = append(all, page.Records...); len(page.Records) == 0 {
				break
			}
			next = page.NextShardIterator
		}
	}
	return all
}
