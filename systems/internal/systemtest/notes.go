// Package systemtest has a small system for tests of the common parts: notes that belong to users, in one table with a stream.
//
// It uses the SDK directly, and is not an example of how to write a system.
package systemtest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/sse"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/load"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/internal/system"
)

// ErrFull stands for an error that a design would declare: there is one note too many.
var ErrFull = errors.New("the notebook is full")

// Hooks let a test observe the system; all may be nil.
type Hooks struct {
	// Seen receives the ids of notes from the stream.
	Seen chan<- string
	// Started is closed when the worker begins, Stopped when it has returned.
	Started, Stopped chan<- struct{}
	// Watching signals that an event stream has begun.
	Watching chan<- struct{}
	// If Hold is set, POST waits for it; Holding signals that it waits.
	Hold    <-chan struct{}
	Holding chan<- struct{}
	// Closed is closed with the service.
	Closed chan<- struct{}
}

// Note is a note.
type Note struct {
	ID   string `json:"id" doc:"The note's id"`
	Text string `json:"text" maxLength:"1000" doc:"Its text"`
}

// service is the open system.
type service struct {
	client table.Client
	table  string
	hooks  Hooks
}

// Notes is the system.
func Notes(hooks Hooks) system.System {
	return system.System{
		Name: "notes", Title: "Notes", About: "Notes of users.", Version: "1.2.3",
		Tables: func(stage string) []system.Table { return []system.Table{notesTable(stage)} },
		Rules:  problem.Rules{{Err: ErrFull, Code: "notebook_full"}},
		Open: func(_ context.Context, d system.Deps) (*system.Service, error) {
			s := &service{client: d.DynamoDB, table: "notes-" + d.Stage, hooks: hooks}
			return s.open(), nil
		},
		Examples: []system.Example{
			{
				Title: "Write a note", Method: http.MethodPost, Path: "/notes",
				Header: map[string]string{"Idempotency-Key": "first"}, Body: `{"text":"it's here"}`,
			},
			{Title: "Notes, newest first", Method: http.MethodGet, Path: "/notes?limit=5"},
		},
		Load: load.Plan{
			Routes:  []load.Call{load.Create("/notes", `{"text":"{user}"}`), load.Get("/notes?limit=5")},
			Without: map[string]string{"watchNotes": "its response does not end"},
		},
	}
}

func notesTable(stage string) system.Table {
	text := types.ScalarAttributeTypeS
	return system.Table{TTL: "expires", Create: &dynamodb.CreateTableInput{
		TableName: aws.String("notes-" + stage), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: text},
			{AttributeName: aws.String("sk"), AttributeType: text},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	}}
}

func (s *service) open() *system.Service {
	return &system.Service{
		Register: s.routes,
		Pages: map[string]http.Handler{
			"GET /play/": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("page at " + r.URL.Path)) }),
		},
		Workers: []system.Worker{{Name: "idle", Run: func(ctx context.Context) error {
			if s.hooks.Started != nil {
				close(s.hooks.Started)
			}
			<-ctx.Done()
			if s.hooks.Stopped != nil {
				close(s.hooks.Stopped)
			}
			return ctx.Err()
		}}},
		Streams: []system.Stream{{Name: "seen", Table: s.table, Handle: s.seen}},
		Sample:  seed.Sample{Records: records, Load: s.load},
		Close: func() error {
			if s.hooks.Closed != nil {
				close(s.hooks.Closed)
			}
			return nil
		},
	}
}

type newNote struct {
	api.Keyed
	Body NoteInput
}

// NoteInput is a note's content.
type NoteInput struct {
	Text string `json:"text" minLength:"1" maxLength:"1000" doc:"Its text"`
}

func (s *service) routes(a huma.API) {
	notes := api.Tag(a, "Notes")
	api.Create[Note](notes, "/notes", "createNote", "Write a note", s.create)
	api.List[Note](notes, "/notes", "listNotes", "Notes in order", s.list)
	sse.Register(a, api.Operation(huma.Operation{
		OperationID: "watchNotes", Method: http.MethodGet, Path: "/events", Summary: "Follow notes", Tags: []string{"Notes"},
	}, api.Stream), map[string]any{"note": Note{}}, s.watch)
}

func (s *service) create(ctx context.Context, who auth.Principal, in newNote) (Note, bool, error) {
	if s.hooks.Hold != nil {
		s.hooks.Holding <- struct{}{}
		<-s.hooks.Hold
	}
	note := Note{ID: in.RequestKey, Text: in.Body.Text}
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: item(who.Sub, note)})
	return note, false, err
}

func item(sub string, n Note) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "USER#" + sub}, "sk": &types.AttributeValueMemberS{Value: "NOTE#" + n.ID},
		"text": &types.AttributeValueMemberS{Value: n.Text},
	}
}

func noteOf(it map[string]types.AttributeValue) Note {
	text := func(name string) string {
		if s, ok := it[name].(*types.AttributeValueMemberS); ok {
			return s.Value
		}
		return ""
	}
	return Note{ID: text("sk")[len("NOTE#"):], Text: text("text")}
}

func (s *service) list(ctx context.Context, who auth.Principal, in api.PageQuery) (page table.Page[Note], err error) {
	partition := &types.AttributeValueMemberS{Value: "USER#" + who.Sub}
	query := &dynamodb.QueryInput{
		TableName: &s.table, KeyConditionExpression: aws.String("pk = :pk"), Limit: aws.Int32(int32(in.Limit)), //nolint:gosec // at most 100
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": partition},
	}
	if in.Cursor != "" {
		after, err := base64.RawURLEncoding.DecodeString(in.Cursor)
		if err != nil {
			return page, fmt.Errorf("list notes: %w", table.ErrCursor)
		}
		query.ExclusiveStartKey = map[string]types.AttributeValue{"pk": partition, "sk": &types.AttributeValueMemberS{Value: string(after)}}
	}
	out, err := s.client.Query(ctx, query)
	if err != nil {
		return page, err
	}
	for _, it := range out.Items {
		page.Items = append(page.Items, noteOf(it))
	}
	if last, ok := out.LastEvaluatedKey["sk"].(*types.AttributeValueMemberS); ok {
		page.Next = table.Cursor(base64.RawURLEncoding.EncodeToString([]byte(last.Value)))
	}
	return page, nil
}

// watch signals that it has begun, and waits until it ends.
func (s *service) watch(ctx context.Context, _ *struct{}, send sse.Sender) {
	if send.Data(Note{ID: "hello"}) != nil {
		return
	}
	if s.hooks.Watching != nil {
		s.hooks.Watching <- struct{}{}
	}
	<-ctx.Done()
	_ = send.Data(Note{ID: "bye"})
}

func (s *service) seen(_ context.Context, b consumer.Batch) error {
	for _, r := range b.Records {
		if key, ok := r.Dynamodb.Keys["sk"].(*streams.AttributeValueMemberS); ok && s.hooks.Seen != nil {
			s.hooks.Seen <- key.Value[len("NOTE#"):]
		}
	}
	return nil
}

// records returns notes with random texts from the part's random source.
func records(p seed.Part) iter.Seq[table.Record] {
	return func(yield func(table.Record) bool) {
		for n := range p.Items {
			if !yield(table.Record{Values: table.Values(item("u-sample", Note{
				ID: fmt.Sprintf("%07d", p.First+n), Text: strconv.FormatUint(p.Uint64(), 36),
			}))}) {
				return
			}
		}
	}
}

func (s *service) load(ctx context.Context, all iter.Seq[table.Record], progress func(int)) error {
	stored := 0
	for chunk := range slices.Chunk(slices.Collect(all), 25) {
		var puts []types.WriteRequest
		for _, r := range chunk {
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: r.Values}})
		}
		out, err := s.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{s.table: puts}})
		if err != nil {
			return err
		}
		if len(out.UnprocessedItems) > 0 {
			return errors.New("items were left unprocessed")
		}
		stored += len(chunk)
		progress(stored)
	}
	return nil
}
