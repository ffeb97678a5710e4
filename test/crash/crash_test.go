// Package crash repeatedly kills a busy database and then checks it against what it acknowledged: nothing is lost or
// half-written, and `monotable verify` finds every index entry, expiry entry and count consistent with its table. A failure
// prints the seed; set it with -seed.
package crash

import (
	"context"
	"flag"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/test/internal/ledger"
	"github.com/monotable/monotable/test/internal/serverproc"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "seed of the run; 0 draws one")
	killsFlag = flag.Int("kills", 6, "how often the server is killed")
)

const (
	writers   = 8
	tableName = "ledger"
)

type attributes = ledger.Attributes

func TestKill(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	binary, dir := serverproc.Build(t), t.TempDir()
	all := make([]*ledger.Writer, writers)
	for i := range all {
		all[i] = ledger.NewWriter(i, seed, func(string) string { return tableName })
	}
	for round := range *killsFlag {
		server := serverproc.Start(t, binary, "--data", dir, "--log-level", "warn")
		client := connect(server)
		if round == 0 {
			createTable(t, client)
		}
		settle(t, client, all)
		for _, w := range all {
			w.Client = client
		}
		requests := writeUntilKilled(t, server, all, 50+random.Int64N(2000))
		t.Logf("kill %d: after %d acknowledged requests", round+1, requests)
		verify(t, binary, dir)
	}
	server := serverproc.Start(t, binary, "--data", dir, "--log-level", "warn")
	settle(t, connect(server), all)
	server.Stop(t)
	verify(t, binary, dir)
}

// writeUntilKilled runs all writers, kills the server after a number of responses, and returns the total number of responses.
func writeUntilKilled(t *testing.T, server *serverproc.Server, all []*ledger.Writer, after int64) int64 {
	t.Helper()
	var done atomic.Int64
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reached := make(chan struct{})
	counted := &countdown{done: &done, at: after, reached: reached}
	for _, w := range all {
		wg.Go(func() {
			for w.Write(ctx) == nil {
				counted.add()
			}
		})
	}
	select {
	case <-reached:
	case <-ctx.Done():
		t.Errorf("only %d requests answered within a minute", done.Load())
	}
	server.Kill(t)
	wg.Wait()
	return done.Load()
}

// countdown closes reached when done reaches a number.
type countdown struct {
	done    *atomic.Int64
	at      int64
	reached chan struct{}
}

func (c *countdown) add() {
	if c.done.Add(1) == c.at {
		close(c.reached)
	}
}

// settle reads the whole table, directly and through its indexes, and compares it with every ledger.
func settle(t *testing.T, client *dynamodb.Client, all []*ledger.Writer) {
	t.Helper()
	found := versions(t, client, "")
	for _, index := range []string{"byParity", "byVersion"} {
		if got := versions(t, client, index); len(got) != len(found) {
			t.Errorf("%s holds %d items, the table %d", index, len(got), len(found))
		}
	}
	for _, w := range all {
		own := map[string]int{}
		for name, version := range found {
			if w.Owns(name) {
				own[name] = version
			}
		}
		for _, fault := range w.Ledger.Settle(own) {
			t.Error(fault)
		}
	}
}

// versions scans the table or one of its indexes.
func versions(t *testing.T, client *dynamodb.Client, index string) map[string]int {
	t.Helper()
	found := map[string]int{}
	in := &dynamodb.ScanInput{TableName: aws.String(tableName)}
	if index != "" {
		in.IndexName = aws.String(index)
	}
	for pages := dynamodb.NewScanPaginator(client, in); pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			name := it["pk"].(*types.AttributeValueMemberS).Value + "#" + it["sk"].(*types.AttributeValueMemberS).Value
			version, err := strconv.Atoi(it["version"].(*types.AttributeValueMemberN).Value)
			if err != nil {
				t.Fatal(err)
			}
			found[name] = version
		}
	}
	return found
}

func verify(t *testing.T, binary, dir string) {
	t.Helper()
	if output, err := exec.CommandContext(t.Context(), binary, "verify", dir).CombinedOutput(); err != nil {
		t.Fatalf("verify: %v\n%s", err, output)
	}
}

// connect enables retries: the SDK closes a request's body when the response has arrived, and net/http breaks the connection if
// it has not yet seen the end of that body. Every request here may be repeated.
func connect(server *serverproc.Server) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.Endpoint), Credentials: aws.AnonymousCredentials{},
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = 20 * time.Millisecond }),
	})
}

// createTable creates a table with a local and a global index and expiry, so that every kind of derived entry exists.
func createTable(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	if err := tryCreateTable(t, client); err != nil {
		t.Fatal(err)
	}
}

func tryCreateTable(t *testing.T, client *dynamodb.Client) error {
	t.Helper()
	definition := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
	}
	schema := func(partition, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: &partition, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange},
		}
	}
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(tableName), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			definition("pk", types.ScalarAttributeTypeS), definition("sk", types.ScalarAttributeTypeS),
			definition("parity", types.ScalarAttributeTypeS), definition("version", types.ScalarAttributeTypeN),
		},
		KeySchema: schema("pk", "sk"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byParity"), KeySchema: schema("parity", "version"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{{
			IndexName: aws.String("byVersion"), KeySchema: schema("pk", "version"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	})
	if err != nil {
		return err
	}
	_, err = client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String(tableName),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires"), Enabled: aws.Bool(true)},
	})
	return err
}
