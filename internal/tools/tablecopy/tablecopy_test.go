package tablecopy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/tablecopy"
	"github.com/monotable/monotable/monotabletest"
)

// sides are the two databases of a copy, and its options.
type sides struct {
	from, to *monotable.DB
	tablecopy.Options
	said chan string
}

func newSides(t *testing.T) *sides {
	t.Helper()
	s := &sides{from: monotabletest.New(t), to: monotabletest.New(t), said: make(chan string, 100)}
	s.Options = tablecopy.Options{
		From:      tablecopy.Endpoint{Name: "from", Client: s.from.Client(), Streams: s.from.StreamsClient()},
		To:        tablecopy.Endpoint{Name: "to", Client: s.to.Client()},
		StateFile: filepath.Join(t.TempDir(), "copy.json"), Segments: 2, Verify: true,
		Logf:     func(format string, args ...any) { s.said <- fmt.Sprintf(format, args...) },
		Progress: func(string, int64, int64) {},
	}
	return s
}

// definition is a table with the key id.
func definition(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	}
}

func createTable(t *testing.T, db *monotable.DB, in *dynamodb.CreateTableInput) {
	t.Helper()
	if _, err := db.Client().CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// follow starts a copy that follows, and returns a function that stops it once it does.
func (s *sides) follow(t *testing.T) (stop func()) {
	t.Helper()
	s.Mode, s.EnableStream = tablecopy.Follow, true
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- tablecopy.Run(ctx, s.Options) }()
	return func() {
		for {
			select {
			case line := <-s.said:
				if !strings.Contains(line, "following its changes") {
					continue
				}
				cancel()
			case err := <-ended:
				if cancel(); err != nil {
					t.Error(err)
				}
				return
			}
		}
	}
}

// TestFailureEndsFollowing: a table that cannot be copied ends the copy, although others are being followed.
func TestFailureEndsFollowing(t *testing.T) {
	s := newSides(t)
	createTable(t, s.from, definition("first"))
	createTable(t, s.from, definition("second"))
	createTable(t, s.to, definition("second"))
	s.Mode, s.EnableStream = tablecopy.Follow, true
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := tablecopy.Run(ctx, s.Options)
	if err == nil || !strings.Contains(err.Error(), "table second already exists at to") || ctx.Err() != nil {
		t.Errorf("ended with %v (%v)", err, ctx.Err())
	}
}

// TestKilledAfterStreamIsOff: a copy that is killed after it has turned the stream of the source off, before it has recorded that,
// can be finished.
func TestKilledAfterStreamIsOff(t *testing.T) {
	s := newSides(t)
	createTable(t, s.from, definition("things"))
	s.follow(t)()
	files := map[string][]byte{s.StateFile: nil, s.StateFile + ".streams": nil}
	for name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	s.Mode = tablecopy.Finish
	for range 2 {
		if err := tablecopy.Run(t.Context(), s.Options); err != nil {
			t.Fatal(err)
		}
		for name, data := range files {
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestStreamTurnedOff: a copy whose stream was turned off, and on again, cannot be finished: changes in between are not in either stream.
func TestStreamTurnedOff(t *testing.T) {
	s := newSides(t)
	createTable(t, s.from, definition("things"))
	s.follow(t)()
	for _, on := range []bool{false, true} {
		stream := &types.StreamSpecification{StreamEnabled: &on}
		if on {
			stream.StreamViewType = types.StreamViewTypeKeysOnly
		}
		if _, err := s.from.Client().UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: aws.String("things"), StreamSpecification: stream}); err != nil {
			t.Fatal(err)
		}
	}
	s.Mode, s.Verify = tablecopy.Finish, false
	if err := tablecopy.Run(t.Context(), s.Options); err == nil || !strings.Contains(err.Error(), "stream was turned off") {
		t.Errorf("finished with %v", err)
	}
}

// TestStartOver: without its state file a copy starts over, although the position of the earlier one in the stream, which is in another
// file, is no longer there.
func TestStartOver(t *testing.T) {
	s := newSides(t)
	createTable(t, s.from, definition("things"))
	s.follow(t)()
	positions := s.StateFile + ".streams"
	data, err := os.ReadFile(positions)
	if err == nil {
		err = os.WriteFile(positions, bytes.ReplaceAll(data, []byte("shardId-"), []byte("shardId-9")), 0o600)
	}
	if err = errors.Join(err, os.Remove(s.StateFile)); err != nil {
		t.Fatal(err)
	}
	s.Existing = true
	s.follow(t)()
}

// denied is an HTTP client for a server that does not let its callers create tables.
type denied struct{ dynamodb.HTTPClient }

func (d denied) Do(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".CreateTable") {
		return d.HTTPClient.Do(r)
	}
	body := `{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"not authorized to perform: dynamodb:CreateTable"}`
	return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// TestTableCreatedByOthers: a target table that the copy was not allowed to create, and that exists when it resumes, is not its own.
func TestTableCreatedByOthers(t *testing.T) {
	s := newSides(t)
	createTable(t, s.from, definition("things"))
	s.To.Client = s.to.Client(func(o *dynamodb.Options) { o.HTTPClient = denied{o.HTTPClient} })
	if err := tablecopy.Run(t.Context(), s.Options); err == nil || !strings.Contains(err.Error(), "not authorized") {
		t.Fatal(err)
	}
	createTable(t, s.to, definition("things"))
	if err := tablecopy.Run(t.Context(), s.Options); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Error(err)
	}
}

// large returns an item of 300 KB that is 1 MB as JSON.
func large(id string) tablecopy.Item {
	list := slices.Repeat([]types.AttributeValue{&types.AttributeValueMemberN{Value: "1"}}, 100_000)
	return tablecopy.Item{"id": &types.AttributeValueMemberS{Value: id}, "list": &types.AttributeValueMemberL{Value: list}}
}

// TestLargeRequests: items whose batch is larger than a request may be are written nevertheless.
func TestLargeRequests(t *testing.T) {
	s := newSides(t)
	err := tablecopy.Load(t.Context(), s.Options, tablecopy.Loaded{Create: *definition("things"), Items: func(yield func(tablecopy.Item, error) bool) {
		for i := range 25 {
			if !yield(large(fmt.Sprint(i)), nil) {
				return
			}
		}
	}})
	if err != nil {
		t.Error(err)
	}
}
