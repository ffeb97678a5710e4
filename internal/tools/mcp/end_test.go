package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/mcp"
	"github.com/monotable/monotable/monotabletest"
)

// slow is a client whose reads block until they are released or canceled.
type slow struct {
	table.Client

	asked, release chan struct{}
}

func (s slow) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	s.asked <- struct{}{}
	select {
	case <-s.release:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.Client.GetItem(ctx, in, o...)
}

// TestEnd tests that pending and queued calls complete and are answered when the stream ends, and that canceled and listening
// calls do not delay the end.
func TestEnd(t *testing.T) { synctest.Test(t, end) }

func end(t *testing.T) {
	t.Helper()
	d, err := design.Parse("shop.design.yaml", []byte(`
design: 1
name: Shop
tables: { Shop: { key: { pk: PK } } }
entities: { User: { key: { pk: "USER#{userId}" }, fields: { userId: id } } }
reads: { UserByID: { one: User, by: [userId] } }
`))
	if err != nil {
		t.Fatal(err)
	}
	client := monotabletest.New(t).Client()
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Shop"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}},
	}); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	held := slow{client, make(chan struct{}, 9), make(chan struct{})}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- mcp.Serve(t.Context(), in, out, mcp.Options{Root: root, Design: d, Client: held})
		_ = out.Close()
	}()
	responses := bufio.NewScanner(fromServer)
	say := func(line string) {
		if _, err := fmt.Fprintln(toServer, line); err != nil {
			t.Error(err)
		}
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	responses.Scan()
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, id := range []string{`"a"`, `2.0`, `"cancelled"`} {
		say(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"UserByID","arguments":{"userId":"u"}}}`)
		<-held.asked
	}
	say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"cancelled"}}`)
	go func() {
		say(`{"jsonrpc":"2.0","id":"listener","method":"subscriptions/listen","params":{}}`)
		say(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		_ = toServer.Close()
		synctest.Wait() // until the server has seen the end
		close(held.release)
	}()
	var got []string
	for responses.Scan() {
		for _, id := range []string{`"id":"a"`, `"id":2`, `"id":3`} {
			if strings.Contains(responses.Text(), id) && strings.Contains(responses.Text(), `"result"`) {
				got = append(got, id)
			}
		}
		if strings.Contains(responses.Text(), `"id":"a"`) && !strings.Contains(responses.Text(), "not found") {
			t.Errorf("the call is answered with %s", responses.Text())
		}
	}
	slices.Sort(got)
	if want := []string{`"id":"a"`, `"id":2`, `"id":3`}; !slices.Equal(got, want) {
		t.Errorf("the completed calls are %v, want %v", got, want)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
