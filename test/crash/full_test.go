package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable/test/internal/ledger"
	"github.com/monotable/monotable/test/internal/serverproc"
)

// mountSmall mounts an in-memory file system for the duration of the test.
func mountSmall(t *testing.T, megabytes int) string {
	t.Helper()
	dir := t.TempDir()
	mount := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", megabytes), "tmpfs", dir)
	if output, err := mount.CombinedOutput(); err != nil {
		t.Skipf("needs a small file system, and mounting one is not permitted: %v: %s", err, output)
	}
	t.Cleanup(func() {
		//nolint:noctx // tb.Context has ended by now
		if output, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, output)
		}
	})
	return dir
}

// refusedForSpace reports whether an error means that the database is out of disk space, and fails the test for any other error.
func refusedForSpace(t *testing.T, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	refused, ok := errors.AsType[smithy.APIError](err)
	if !ok || refused.ErrorCode() != "LimitExceededException" || !strings.Contains(refused.ErrorMessage(), "out of disk space") {
		t.Fatalf("want a LimitExceededException about disk space, got %v", err)
	}
	return true
}

// TestFullDisk fills a small file system with puts until they are rejected. Reads and deletes still work, dropping the table
// makes writes possible again without a restart, and kill -9 loses no acknowledged write.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(mountSmall(t, 64), "data")
	binary := serverproc.Build(t)
	serve := func() (*serverproc.Server, *dynamodb.Client) {
		server := serverproc.Start(t, binary, "--data", dir, "--log-level", "warn")
		return server, connect(server)
	}
	server, client := serve()
	createTable(t, client)
	want := map[string]int{}
	put := func(i int) error {
		it := ledger.Item(fmt.Sprintf("n%d#%d", i%50, i), i)
		filler := make([]byte, 32<<10)
		random := rand.New(rand.NewPCG(uint64(i), 0))
		for at := range filler {
			filler[at] = byte(random.Uint32())
		}
		it["filler"] = &types.AttributeValueMemberB{Value: filler}
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: it})
		if err == nil {
			want[fmt.Sprintf("n%d#%d", i%50, i)] = i
		}
		return err
	}
	n := 0
	fill := func() { fillUp(t, func() error { n++; return put(n) }) }
	fill()
	t.Logf("%d items fill the disk", n)
	_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(tableName), Key: ledger.Key("n0#0"), UpdateExpression: aws.String("SET more = :v"),
		ExpressionAttributeValues: attributes{":v": &types.AttributeValueMemberN{Value: "1"}},
	})
	if !refusedForSpace(t, err) {
		t.Error("an update is accepted")
	}
	_, err = client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: aws.String(tableName), Item: ledger.Item("n0#x", 1)}},
		{Delete: &types.Delete{TableName: aws.String(tableName), Key: ledger.Key("n0#0")}},
	}})
	if !refusedForSpace(t, err) {
		t.Error("a transaction that puts is accepted")
	}
	sameItems(t, client, want)

	server.Kill(t)
	verify(t, binary, dir)
	server, client = serve()
	sameItems(t, client, want)
	fill() // recovery may have freed some space
	deleteSome(t, client, want, 100)
	sameItems(t, client, want)
	if _, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String(tableName)}); err != nil {
		t.Fatal(err)
	}
	clear(want)
	awaitRoom(t, func() error { return tryCreateTable(t, client) })
	if err := put(n); err != nil {
		t.Errorf("a put into a database that has room again: %v", err)
	}
	server.Kill(t)
	verify(t, binary, dir)
	server, client = serve()
	sameItems(t, client, want)
	server.Stop(t)
}

// fillUp puts until puts have been rejected for half a second: flushes and compactions free some space when they end.
func fillUp(t *testing.T, put func() error) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for refused := 0; refused < 50; {
		if !refusedForSpace(t, put()) {
			refused = 0
			continue
		}
		refused++
		<-look.C
	}
}

func sameItems(t *testing.T, client *dynamodb.Client, want map[string]int) {
	t.Helper()
	found := versions(t, readingClient(client), "")
	for name, version := range want {
		if found[name] != version {
			t.Fatalf("item %s has version %d, want %d", name, found[name], version)
		}
	}
	if len(found) != len(want) {
		t.Fatalf("the table has %d items, want %d", len(found), len(want))
	}
}

// readingClient returns a client whose retries do not depend on the number of rejected writes of the other client.
func readingClient(client *dynamodb.Client) *dynamodb.Client {
	return dynamodb.New(client.Options(), func(o *dynamodb.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.RateLimiter = ratelimit.None })
	})
}

// deleteSome deletes n items: one by one, in batches and in transactions.
func deleteSome(t *testing.T, client *dynamodb.Client, items map[string]int, n int) {
	t.Helper()
	for name, version := range items {
		if n--; n < 0 {
			return
		}
		var err error
		switch version % 3 {
		case 0:
			_, err = client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(tableName), Key: ledger.Key(name)})
		case 1:
			_, err = client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
				tableName: {{DeleteRequest: &types.DeleteRequest{Key: ledger.Key(name)}}},
			}})
		default:
			_, err = client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Delete: &types.Delete{TableName: aws.String(tableName), Key: ledger.Key(name)}},
			}})
		}
		if err != nil {
			t.Fatalf("delete %s, %d to go: %v", name, n, err)
		}
		delete(items, name)
	}
}

// awaitRoom repeats a call until it is no longer rejected.
func awaitRoom(t *testing.T, call func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for refusedForSpace(t, call()) {
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatal("dropping the table gives no room back")
		}
	}
}
