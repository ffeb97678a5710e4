package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
	"github.com/monotable/monotable/test/internal/ledger"
	"github.com/monotable/monotable/test/internal/serverproc"
)

// balancer sends requests to one server at a time, like a load balancer or a DNS name.
type balancer struct{ server atomic.Pointer[url.URL] }

func (b *balancer) send(t *testing.T, s *serverproc.Server) {
	t.Helper()
	to, err := url.Parse(s.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	b.server.Store(to)
}

// RoundTrip implements http.RoundTripper.
func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = b.server.Load().Host
	r.Host = r.URL.Host
	return http.DefaultTransport.RoundTrip(r)
}

// retries returns the SDK's own retryer, with shorter delays and more attempts: for two minutes, because the machine may be busy.
func retries() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff, o.RateLimiter = 2400, 100*time.Millisecond, noLimit{}
	})
}

type noLimit struct{}

func (noLimit) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}

func (noLimit) AddTokens(uint) error { return nil }

func (b *balancer) client() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://database"), Credentials: aws.AnonymousCredentials{}, HTTPClient: &http.Client{Transport: b}, Retryer: retries(),
	})
}

func (b *balancer) streams() *dynamodbstreams.Client {
	return dynamodbstreams.New(dynamodbstreams.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://database"), Credentials: aws.AnonymousCredentials{}, HTTPClient: &http.Client{Transport: b}, Retryer: retries(),
	})
}

// createMoving creates the table of the writers, with many items that do not change.
func createMoving(t *testing.T, c *dynamodb.Client) (stream string) {
	t.Helper()
	created, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("moving"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			attribute("pk", types.ScalarAttributeTypeS), attribute("sk", types.ScalarAttributeTypeS),
			attribute("parity", types.ScalarAttributeTypeS), attribute("version", types.ScalarAttributeTypeN),
		},
		KeySchema: keySchema("pk", "sk"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byParity"), KeySchema: keySchema("parity", "version"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 40 {
		var list []types.WriteRequest
		for i := range 25 {
			item := ledger.Item(fmt.Sprintf("still%d#%d", n, i), 600)
			list = append(list, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		if _, err := c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"moving": list}}); err != nil {
			t.Fatal(err)
		}
	}
	return *created.TableDescription.LatestStreamArn
}

// traffic is the continuous work of the clients.
type traffic struct {
	b       *balancer
	writers []*ledger.Writer
	stop    atomic.Bool
	written atomic.Int64
	counted atomic.Int64 // the last acknowledged value of the counter
	pauses  []time.Duration
	all     sync.WaitGroup

	follower sync.WaitGroup
	streamed map[string][]string // sequence numbers by shard, in the order in which the follower read them
	rest     atomic.Bool         // all writers have stopped
}

// begin makes clients write, count, read and follow the stream until stop.
func begin(t *testing.T, b *balancer, stream string) *traffic {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	x := &traffic{b: b, pauses: make([]time.Duration, 4)}
	for w := range x.pauses {
		writer := ledger.NewWriter(w, seed, func(string) string { return "moving" })
		writer.Client = b.client()
		x.writers = append(x.writers, writer)
		x.all.Go(func() {
			for !x.stop.Load() {
				begun := time.Now()
				if err := writer.Write(t.Context()); err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
				x.pauses[w] = max(x.pauses[w], time.Since(begun))
				x.written.Add(1)
			}
		})
	}
	x.all.Go(func() { x.count(t) })
	x.all.Go(func() { x.read(t) })
	x.follower.Go(func() { x.follow(t, stream) })
	return x
}

var counterKey = ledger.Key("counter#0")

// count increments a counter on condition that it has the last acknowledged value, or already the new one: when a kill loses a
// response, the SDK sends the request again.
func (x *traffic) count(t *testing.T) {
	t.Helper()
	c := x.b.client()
	for n := int64(0); !x.stop.Load(); n++ {
		in := &dynamodb.UpdateItemInput{
			TableName: aws.String("moving"), Key: counterKey, UpdateExpression: aws.String("SET n = :next"), ConditionExpression: aws.String("n IN (:n, :next)"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":n": &types.AttributeValueMemberN{Value: fmt.Sprint(n)}, ":next": &types.AttributeValueMemberN{Value: fmt.Sprint(n + 1)},
			},
		}
		if n == 0 {
			in.ConditionExpression = aws.String("attribute_not_exists(pk) OR n = :next")
			delete(in.ExpressionAttributeValues, ":n")
		}
		if _, err := c.UpdateItem(t.Context(), in); err != nil {
			t.Errorf("the counter at %d: %v", n, err)
			return
		}
		x.counted.Store(n + 1)
	}
}

// read reads the counter, which must never decrease.
func (x *traffic) read(t *testing.T) {
	t.Helper()
	c := x.b.client()
	for !x.stop.Load() {
		least := x.counted.Load()
		out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("moving"), Key: counterKey, ConsistentRead: aws.Bool(true)})
		if err != nil {
			t.Errorf("a read of the counter: %v", err)
			return
		}
		n := int64(0)
		if value, is := out.Item["n"].(*types.AttributeValueMemberN); is {
			n, _ = strconv.ParseInt(value.Value, 10, 64)
		}
		if n < least {
			t.Errorf("the counter is %d, and %d has been acknowledged", n, least)
			return
		}
	}
}

// follow reads the shards of the stream from their beginning, iterator by iterator, until all other clients have stopped and
// there are no more records.
func (x *traffic) follow(t *testing.T, stream string) {
	t.Helper()
	c, open := x.b.streams(), map[string]*string{}
	x.streamed = map[string][]string{}
	for {
		rest, more := x.rest.Load(), false
		out, err := c.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &stream})
		if err != nil {
			t.Errorf("the follower: %v", err)
			return
		}
		for _, shard := range out.StreamDescription.Shards {
			if _, known := x.streamed[*shard.ShardId]; known {
				continue
			}
			first, err := c.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
				StreamArn: &stream, ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
			})
			if err != nil {
				t.Errorf("the follower: %v", err)
				return
			}
			open[*shard.ShardId], x.streamed[*shard.ShardId] = first.ShardIterator, []string{}
		}
		for shard, at := range open {
			page, err := c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: at})
			if err != nil {
				t.Errorf("the follower: %v", err)
				return
			}
			for _, r := range page.Records {
				x.streamed[shard] = append(x.streamed[shard], *r.Dynamodb.SequenceNumber)
			}
			more = more || len(page.Records) > 0 || page.NextShardIterator == nil
			if open[shard] = page.NextShardIterator; page.NextShardIterator == nil {
				delete(open, shard)
			}
		}
		if rest && !more {
			return
		}
	}
}

// end stops all clients, and compares the database with the acknowledged writes.
func (x *traffic) end(t *testing.T, stream string) {
	t.Helper()
	x.stop.Store(true)
	x.all.Wait()
	x.rest.Store(true)
	x.follower.Wait()
	found := map[string]int{}
	for pages := dynamodb.NewScanPaginator(x.b.client(), &dynamodb.ScanInput{TableName: aws.String("moving"), ConsistentRead: aws.Bool(true)}); pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			version, is := item["version"].(*types.AttributeValueMemberN)
			if !is {
				continue
			}
			name := item["pk"].(*types.AttributeValueMemberS).Value + "#" + item["sk"].(*types.AttributeValueMemberS).Value
			n, err := strconv.Atoi(version.Value)
			if err != nil {
				t.Fatal(err)
			}
			found[name] = n
		}
	}
	for _, w := range x.writers {
		own := maps.Clone(found)
		maps.DeleteFunc(own, func(name string, _ int) bool { return !w.Owns(name) })
		for _, fault := range w.Ledger.Settle(own) {
			t.Error(fault)
		}
	}
	if t.Failed() {
		return
	}
	again := &traffic{b: x.b}
	again.rest.Store(true)
	again.follow(t, stream)
	if diff := cmp.Diff(again.streamed, x.streamed); diff != "" {
		t.Errorf("the follower has not read what a new one reads (-new +follower):\n%s", diff)
	}
	t.Logf("%d writes, %d increments, %d shards; the longest write took %v", x.written.Load(), x.counted.Load(), len(x.streamed), slices.Max(x.pauses))
}

// progress waits until a number of further writes have been acknowledged.
func (x *traffic) progress(t *testing.T, n int64) {
	t.Helper()
	want := x.written.Load() + n
	poll(t, "clients go on", func() bool { return t.Failed() || x.written.Load() >= want })
}

// TestMoveUnderWrites moves databases while they are being served.
func TestMoveUnderWrites(t *testing.T) {
	t.Parallel()
	binary := serverproc.Build(t)
	t.Run("whole", func(t *testing.T) { testMoveUnderWrites(t, binary, postgrestest.URL("moved_live", postgres)) })
	t.Run("killed", func(t *testing.T) { testMoveKilledUnderWrites(t, binary) })
}

// testMoveUnderWrites: a server moves its database into another store, where another server waits for it, while clients write,
// count, read and follow the stream. The SDK retries the requests that the old server rejects until they are sent to the new one.
// No acknowledged write is lost, the counter never decreases, and the follower continues with its iterator and misses no record.
func testMoveUnderWrites(t *testing.T, binary, address string) {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	scheme, _, _ := strings.Cut(address, "://")
	source, socket := filepath.Join(dir, "source"), filepath.Join(dir, "socket")
	old := serverproc.Start(t, binary, "--log-level", "error", "--data", source)
	b := new(balancer)
	b.send(t, old)
	stream := createMoving(t, b.client())
	x := begin(t, b, stream)
	x.progress(t, 100)

	started := make(chan *serverproc.Server, 1)
	go func() {
		started <- serverproc.Start(t, binary, "--log-level", "error", "--store", address, "--data", socket, "--await-move")
	}()
	refused(t, binary, "only works to PostgreSQL or TiKV", "move", "--from", source, "--to", filepath.Join(dir, "other"))
	printed := run(t, binary, "move", "--from", source, "--to", address)
	b.send(t, <-started)
	x.progress(t, 200)
	x.end(t, stream)
	t.Logf("%s", printed)
	for _, part := range []string{"writes were paused for", "verified"} {
		if !strings.Contains(printed, part) {
			t.Errorf("the move printed\n%s", printed)
		}
	}
	run(t, binary, "verify", socket)

	c := client(old)
	for what, request := range map[string]func() error{
		"a write": func() error { return put(t, c, 1, 1) },
		"a list":  func() error { _, err := c.ListTables(t.Context(), &dynamodb.ListTablesInput{}); return err },
	} {
		err := request()
		if refusal, is := errors.AsType[*types.InternalServerError](err); !is || !strings.Contains(refusal.ErrorMessage(), "The database has been moved to "+scheme+"://") {
			t.Errorf("%s at the old server: %v", what, err)
		}
	}
	if status, text := ready(t, old); status != http.StatusServiceUnavailable || !strings.Contains(text, "has been moved") {
		t.Errorf("the old server says %d, %s", status, text)
	}
	old.Stop(t)
	refused(t, binary, "the database has been moved to "+scheme+"://", "serve", "--addr", "127.0.0.1:0", "--data", source)
}

// testMoveKilledUnderWrites: the command is killed while the server copies, and another time the server is. Both times the
// clients continue with everything acknowledged, and the next move starts over and completes.
func testMoveKilledUnderWrites(t *testing.T, binary string) {
	t.Helper()
	t.Parallel()
	address, dir := postgrestest.URL("moved_killed", postgres), t.TempDir()
	source, socket := filepath.Join(dir, "source"), filepath.Join(dir, "socket")
	serve := func() *serverproc.Server {
		return serverproc.Start(t, binary, "--log-level", "error", "--data", source)
	}
	server := serve()
	b := new(balancer)
	b.send(t, server)
	stream := createMoving(t, b.client())
	x := begin(t, b, stream)

	kill := beginMove(t, binary, source, address)
	kill()
	x.progress(t, 50)
	kill = beginMove(t, binary, source, address) // after the server has abandoned the first move
	defer kill()
	server.Kill(t)
	if err := tryOpen(t, address); err == nil || !strings.Contains(err.Error(), "run the same monotable move again") {
		t.Errorf("the target in the middle of a move: %v", err)
	}
	server = serve()
	b.send(t, server)
	x.progress(t, 50)
	printed := run(t, binary, "move", "--from", source, "--to", address)
	if !strings.Contains(printed, "restarting an interrupted move") {
		t.Errorf("the move printed\n%s", printed)
	}
	b.send(t, serverproc.Start(t, binary, "--log-level", "error", "--store", address, "--data", socket))
	x.progress(t, 50)
	x.end(t, stream)
	run(t, binary, "verify", socket)
}

// beginMove starts a slow move, and returns while it copies. The returned function kills the command.
func beginMove(t *testing.T, binary, from, to string) (kill func()) {
	t.Helper()
	for {
		move := exec.CommandContext(t.Context(), binary, "move", "--from", from, "--to", to, "--progress", "--max-rate", "20KiB")
		stderr, err := move.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := move.Start(); err != nil {
			t.Fatal(err)
		}
		kill = func() {
			_ = move.Process.Kill()
			_ = move.Wait()
		}
		var printed []string
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "monotable: copy: ") {
				return kill
			}
			printed = append(printed, lines.Text())
		}
		kill()
		if !strings.Contains(strings.Join(printed, "\n"), "follows the store already") {
			t.Fatalf("the move has ended before it copied: %q", printed)
		}
	}
}
