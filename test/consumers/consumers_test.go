// Package consumers follows a table with two consumers, one using package consumer and one using the AWS SDK for
// JavaScript. Meanwhile eight writers write to the table, its shards rotate and split, and the server and the consumers
// are killed, stopped and restarted. Each consumer must deliver every acknowledged change, in order for each item, and
// none again after its own checkpoint. A failure prints the seed; set it with -seed.
package consumers

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/monotable/monotable/test/internal/npm"
	"github.com/monotable/monotable/test/internal/serverproc"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the run; 0 draws one")

const (
	writers = 8

	// The duration of writing before the server is killed, before it is stopped, and after a shard was split.
	untilKill  = 4 * time.Second
	untilStop  = 3 * time.Second
	afterSplit = time.Second

	splitWait   = time.Minute
	catchUpWait = 60 * time.Second
)

func TestConsumers(t *testing.T) {
	npm.WantInstalled(t, "js")
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	site := &site{t: t, binary: serverproc.Build(t), dir: t.TempDir()}
	site.start("--stream-shard-rotation", "2s")
	client, streams := site.clients()
	arn := createTable(t, client)
	all := make([]*writer, writers)
	for i := range all {
		all[i] = newWriter(i, seed)
		all[i].client = client
	}

	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	inGo, inJS := newJudge(t, "Go"), newJudge(t, "JavaScript")
	following.Go(func() { followInGo(ctx, inGo, streams, arn, rand.New(rand.NewPCG(seed, 0))) })
	node := &script{judge: inJS, args: []string{site.server.Endpoint, arn, filepath.Join(t.TempDir(), "checkpoints.json")}}
	nodeLife, endNode := context.WithCancel(ctx)
	following.Go(func() { node.follow(nodeLife) })

	rest := writeTogether(ctx, all, false)
	wait(untilKill)
	site.server.Kill(t)
	endNode()
	site.start("--stream-shard-rotation", "2s")
	following.Go(func() { node.follow(ctx) })
	wait(untilStop)
	site.server.Stop(t)
	site.start("--stream-shard-rotation", "0")
	rest()

	rest = writeTogether(ctx, all, true)
	awaitSplit(ctx, t, streams, arn)
	wait(afterSplit)
	rest()

	table := versions(t, client)
	for _, j := range []*judge{inGo, inJS} {
		late := time.AfterFunc(catchUpWait, func() { j.end(errors.New("no end in sight")) })
		j.await(table)
		late.Stop()
	}
	cancel()
	following.Wait()
	for _, j := range []*judge{inGo, inJS} {
		j.compare(all)
	}
	report(t, all, site.missed.Load())
}

// site is the server's location: one address, one directory.
type site struct {
	t      *testing.T
	binary string
	dir    string
	server *serverproc.Server
	// missed counts the requests that reached no server, including those that the SDK then retried.
	missed atomic.Int64
}

// Do sends a request for the SDK.
func (s *site) Do(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.missed.Add(1)
	}
	return response, err
}

func (s *site) start(args ...string) {
	s.t.Helper()
	args = append([]string{"--data", s.dir, "--log-level", "warn", "--stream-shards", "2"}, args...)
	if s.server != nil {
		args = append(args, "--addr", strings.TrimPrefix(s.server.Endpoint, "http://"))
	}
	s.server = serverproc.Start(s.t, s.binary, args...)
}

func (s *site) clients() (*dynamodb.Client, *dynamodbstreams.Client) {
	patient := retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxBackoff = 20 * time.Millisecond
		o.RateLimiter = ratelimit.None
	})
	endpoint, anonymous := aws.String(s.server.Endpoint), aws.AnonymousCredentials{}
	return dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: endpoint, Credentials: anonymous, Retryer: patient, HTTPClient: s}),
		dynamodbstreams.New(dynamodbstreams.Options{Region: "us-east-1", BaseEndpoint: endpoint, Credentials: anonymous, Retryer: patient})
}

func createTable(t *testing.T, client *dynamodb.Client) (streamARN string) {
	t.Helper()
	out, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(tableName), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("item"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("item"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
	if err != nil {
		t.Fatal(err)
	}
	return *out.TableDescription.LatestStreamArn
}

// writeTogether runs all writers until rest is called.
func writeTogether(ctx context.Context, all []*writer, busy bool) (rest func()) {
	ctx, cancel := context.WithCancel(ctx)
	var writing sync.WaitGroup
	for _, w := range all {
		writing.Go(func() { w.write(ctx, busy) })
	}
	return func() {
		cancel()
		writing.Wait()
	}
}

// wait lets the writers write.
func wait(d time.Duration) { <-time.After(d) }

// awaitSplit waits until a shard has two children.
func awaitSplit(ctx context.Context, t *testing.T, streams *dynamodbstreams.Client, arn string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, splitWait)
	defer cancel()
	for look := time.NewTicker(200 * time.Millisecond); ; {
		children := map[string]int{}
		in := &dynamodbstreams.DescribeStreamInput{StreamArn: &arn}
		for {
			out, err := streams.DescribeStream(ctx, in)
			if err != nil {
				t.Fatalf("no shard was split within %v: %v", splitWait, err)
			}
			for _, s := range out.StreamDescription.Shards {
				if parent := aws.ToString(s.ParentShardId); parent != "" {
					if children[parent]++; children[parent] == 2 {
						return
					}
				}
			}
			if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
				break
			}
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("no shard was split within %v", splitWait)
		}
	}
}

// versions reads the table.
func versions(t *testing.T, client *dynamodb.Client) map[string]int {
	t.Helper()
	found := map[string]int{}
	for pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String(tableName)}); pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			version, err := strconv.Atoi(it["version"].(*types.AttributeValueMemberN).Value)
			if err != nil {
				t.Fatal(err)
			}
			found[it["item"].(*types.AttributeValueMemberS).Value] = version
		}
	}
	return found
}

func report(t *testing.T, all []*writer, missed int64) {
	t.Helper()
	acknowledged, lost := 0, 0
	for _, w := range all {
		lost += w.lost
		for _, versions := range w.acknowledged {
			acknowledged += len(versions)
		}
	}
	// On a fast machine the SDK's retries can outlast the server's downtime, so that no request is lost.
	t.Logf("%d changes acknowledged, %d requests met no server, %d were lost", acknowledged, missed, lost)
	if missed == 0 {
		t.Error("no request reached a stopped server: the test is ineffective")
	}
}
