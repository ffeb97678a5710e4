// Package cluster runs the built server over a shared store: a real PostgreSQL, installed by test/setup.
package cluster

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/test/internal/serverproc"
	"github.com/monotable/monotable/web/webtest"
)

var (
	postgres *postgrestest.Server
	suites   = flag.String("suites", "", "arguments of go test by which TestSuites and TestSuitesOnTiKV run something else: '-run=TestBackups ./test/sdk'")
	whole    = flag.Bool("whole", false, "run all suites of the SDKs and of the systems, which takes ten minutes over each store")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(postgrestest.Run(func(s *postgrestest.Server) int {
		postgres = s
		return m.Run()
	}))
}

// TestServe: a server over PostgreSQL is killed while eight clients write. Everything acknowledged is still there when another
// server takes over from another directory. Tools find that server by the socket in its directory.
func TestServe(t *testing.T) {
	binary, url := serverproc.Build(t), postgrestest.URL("serve", postgres)
	first := serverproc.Start(t, binary, "--store", url, "--data", t.TempDir(), "--log-level", "error")
	createTable(t, client(first))
	const writers = 8
	var acknowledged [writers]atomic.Int64
	var all sync.WaitGroup
	enough := make(chan struct{})
	for w := range writers {
		all.Go(func() {
			c := client(first)
			for n := int64(1); ; n++ {
				if err := put(t, c, w, n); err != nil {
					return // the server has been killed
				}
				if acknowledged[w].Store(n); w == 0 && n == 60 {
					close(enough)
				}
			}
		})
	}
	<-enough
	first.Kill(t)
	all.Wait()
	dir := t.TempDir()
	second := serverproc.Start(t, binary, "--store", url, "--data", dir)
	for w := range writers {
		if last := acknowledged[w].Load(); last > 0 && get(t, client(second), w) < last {
			t.Errorf("writer %d: %d was acknowledged, but the value is %d", w, last, get(t, client(second), w))
		}
	}
	printed, err := exec.CommandContext(t.Context(), binary, "verify", dir).CombinedOutput()
	if err != nil {
		t.Errorf("verify through the server: %v\n%s", err, printed)
	}
}

// TestServers: three servers share a store. A table created by one is immediately visible to the others. All add to the same
// items, and no acknowledged write is lost when the leader is killed. An index that another server adds meanwhile contains every
// item. Items expire within seconds, whichever server leads.
func TestServers(t *testing.T) {
	binary, url := serverproc.Build(t), postgrestest.URL("servers", postgres)
	dir := t.TempDir()
	var servers []*serverproc.Server
	for n := range 3 {
		servers = append(servers, serverproc.Start(t, binary, "--store", url, "--data", filepath.Join(dir, fmt.Sprint(n)), "--log-level", "error"))
	}
	createTable(t, client(servers[0]))
	for n, s := range servers {
		if err := put(t, client(s), 1000+n, 1); err != nil {
			t.Fatalf("server %d, when another one has created the table: %v", n, err)
		}
	}
	poll(t, "each server lists the others", func() bool { return others(t, servers[0]) == 2 && others(t, servers[2]) == 2 })
	const writers, items = 9, 4
	var acknowledged, undetermined [items]atomic.Int64
	var running, all sync.WaitGroup
	var stop atomic.Bool
	running.Add(writers)
	for w := range writers {
		all.Go(func() {
			c, begun := client(servers[w%3]), sync.OnceFunc(running.Done)
			for n := w; !stop.Load(); n++ {
				err := add(t, c, n%items)
				switch {
				case err == nil:
					acknowledged[n%items].Add(1)
					begun()
				case w%3 == 0: // the server to be killed
					undetermined[n%items].Add(1)
					return
				default:
					t.Errorf("writer %d: %v", w, err)
					return
				}
			}
		})
	}
	running.Wait()
	expire(t, client(servers[1]))
	servers[0].Kill(t)
	addIndex(t, client(servers[1]))
	poll(t, "the index is active", func() bool { return indexActive(t, client(servers[2])) })
	poll(t, "the item has expired", func() bool { return get(t, client(servers[2]), 2000) == 0 })
	stop.Store(true)
	all.Wait()
	for n := range items {
		least := acknowledged[n].Load()
		if got := get(t, client(servers[2]), n); got < least || got > least+undetermined[n].Load() {
			t.Errorf("item %d: %d were acknowledged, %d undetermined, and there are %d", n, least, undetermined[n].Load(), got)
		}
	}
	printed, err := exec.CommandContext(t.Context(), binary, "verify", filepath.Join(dir, "1")).CombinedOutput()
	if err != nil {
		t.Errorf("verify through a server: %v\n%s", err, printed)
	}
	if status, text := ready(t, servers[2]); status != http.StatusOK {
		t.Errorf("a server is not ready: %d %s", status, text)
	}
}

// patience is long because the machine may be busy.
const patience = 3 * time.Minute

// poll waits until a condition holds.
func poll(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); <-time.After(100 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatalf("%v later: not so: %s", patience, what)
		}
	}
}

func add(t *testing.T, c *dynamodb.Client, item int) error {
	t.Helper()
	_, err := c.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("items"), Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: fmt.Sprint("writer", item)}},
		UpdateExpression:          aws.String("ADD n :one SET m = :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	})
	return err
}

// expire enables TTL and puts an item, number 2000, that expires at once.
func expire(t *testing.T, c *dynamodb.Client) {
	t.Helper()
	_, err := c.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String("items"), TimeToLiveSpecification: &types.TimeToLiveSpecification{Enabled: aws.Bool(true), AttributeName: aws.String("exp")},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "writer2000"}, "n": &types.AttributeValueMemberN{Value: "1"},
		"exp": &types.AttributeValueMemberN{Value: fmt.Sprint(time.Now().Unix() - 1)},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

func addIndex(t *testing.T, c *dynamodb.Client) {
	t.Helper()
	_, err := c.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
		TableName:            aws.String("items"),
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("m"), AttributeType: types.ScalarAttributeTypeN}},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName: aws.String("byM"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("m"), KeyType: types.KeyTypeHash}},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func indexActive(t *testing.T, c *dynamodb.Client) bool {
	t.Helper()
	out, err := c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("items")})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range out.Table.GlobalSecondaryIndexes {
		if *x.IndexName == "byM" {
			return x.IndexStatus == types.IndexStatusActive
		}
	}
	return false
}

// TestServeRefuses: invalid stores are rejected with an error that says what to do.
func TestServeRefuses(t *testing.T) {
	binary := serverproc.Build(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--store", "mysql://localhost/x"}, "want postgres://"},
		{[]string{"--store", "postgres://postgres:secret@/postgres?host=/nowhere"}, "/nowhere"},
		{[]string{"--store", "postgres://postgres@/postgres?host=/nowhere&password=secret"}, "/nowhere"},
		{[]string{"--store", "host=localhost password=secret"}, "want a URL that begins with postgres://"},
		{[]string{"--store", "postgres://localhost/x", "--memory"}, "--memory and --store cannot be combined"},
		{[]string{"--store", "postgres://localhost/x", "--durability", "none"}, "the store has its own files"},
	} {
		printed, err := exec.CommandContext(t.Context(), binary, append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(printed), c.want) || strings.Contains(string(printed), "secret") {
			t.Errorf("serve %s: %v\n%s\nwant %q, and no password", strings.Join(c.args, " "), err, printed, c.want)
		}
	}
}

// TestSuites runs the suites that do not depend on the store over PostgreSQL, with each database in a schema of one server.
func TestSuites(t *testing.T) {
	server, err := postgrestest.Start("max_connections = 1000")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Remove)
	selected := []string{"-run=TestConformance/(get|put|query|streams|transact_write|update)", "./test/conformance"}
	if *whole {
		selected = []string{"./test/conformance", "./test/sdk", "./test/seeds", "./systems/..."}
	}
	url, _, _ := strings.Cut(postgrestest.URL("", server), "&")
	runSuites(t, url, selected)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	var left int
	err = conn.QueryRow(t.Context(), `select count(*) from pg_namespace where starts_with(nspname, 'test_')`).Scan(&left)
	if err = errors.Join(err, conn.Close(t.Context())); err != nil || left > 0 {
		t.Errorf("the tests have left %d schemas, %v", left, err)
	}
}

// runSuites runs tests over a store.
func runSuites(t *testing.T, store string, selected []string, flags ...string) {
	t.Helper()
	if *suites != "" {
		selected = strings.Fields(*suites)
	}
	args := slices.Concat([]string{"test", "-count=1", "-timeout=1h"}, suiteFlags, flags, selected)
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = filepath.Join("..", "..")
	command.Env = append(os.Environ(), monotabletest.StoreVariable+"="+store, webtest.Variable+"=off")
	command.Stdout, command.Stderr = t.Output(), t.Output() // printed when each package has ended
	if err := command.Run(); err != nil {
		t.Fatalf("over %s: %v", store, err)
	}
}

func client(s *serverproc.Server) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &s.Endpoint, Credentials: aws.AnonymousCredentials{}, HTTPClient: &http.Client{}, RetryMaxAttempts: 1,
	})
}

func ready(t *testing.T, s *serverproc.Server) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Endpoint+"/-/ready", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// others returns the number of other servers of its store a server knows, as reported with its list of requests.
func others(t *testing.T, s *serverproc.Server) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Endpoint, strings.NewReader(`{"TableName":"items"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Amz-Target", "Monotable_20261127.ListRequests")
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	said := struct{ Others int }{-1}
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("ListRequests: %d, %v", response.StatusCode, err)
	}
	return said.Others
}

func createTable(t *testing.T, c *dynamodb.Client) {
	t.Helper()
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("items"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("n"), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byNumber"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("n"), KeyType: types.KeyTypeHash}},
		}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, c *dynamodb.Client, w int, n int64) error {
	t.Helper()
	_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: fmt.Sprint("writer", w)}, "n": &types.AttributeValueMemberN{Value: fmt.Sprint(n)},
	}})
	return err
}

func get(t *testing.T, c *dynamodb.Client, w int) (n int64) {
	t.Helper()
	out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("items"), Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: fmt.Sprint("writer", w)}}, ConsistentRead: aws.Bool(true),
	})
	if refused, is := errors.AsType[smithy.APIError](err); is {
		t.Fatal(refused)
	}
	if err != nil {
		t.Fatal(err)
	}
	if value, is := out.Item["n"].(*types.AttributeValueMemberN); is {
		if _, err := fmt.Sscan(value.Value, &n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}
