package kinesis_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/kinesis"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

const streamARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/music"

// sink is a sink that reports what it accepts, and fails as determined by fail.
type sink struct {
	kinesis.Sink
	fail func(call int) (refused func(i int) bool, err error)

	mu    sync.Mutex
	calls int
	taken chan kinesis.Record
}

func (s *sink) Put(ctx context.Context, arn string, records []kinesis.Record) (failed []kinesis.Record, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	refused, err := s.fail(s.calls)
	var taken []kinesis.Record
	for i, r := range records {
		if refused != nil && refused(i) {
			failed = append(failed, r)
		} else {
			taken = append(taken, r)
		}
	}
	if len(taken) > 0 {
		if rest, err := s.Sink.Put(ctx, arn, taken); err != nil {
			return append(rest, failed...), err
		}
	}
	for _, r := range taken {
		s.taken <- r
	}
	return failed, err
}

// kept is a store that outlives its engine.
type kept struct{ kv.Store }

func (kept) Close() error { return nil }

// database is an engine with deliveries.
type database struct {
	*testing.T
	*engine.Engine
	deliverer *kinesis.Deliverer
	counts    *observe.Database
}

func open(t *testing.T, store kv.Store, s kinesis.Sink) *database {
	t.Helper()
	counts := observe.New()
	d := kinesis.New(s, counts, slog.New(slog.DiscardHandler))
	e, err := engine.Open(t.Context(), store, engine.Options{Region: "eu-west-1", AccountID: "123456789012", OnDeliveries: d.Wake, Observe: counts})
	if err != nil {
		t.Fatal(err)
	}
	d.Start(e)
	return &database{t, e, d, counts}
}

func (db *database) close() {
	db.Helper()
	db.deliverer.Close()
	if err := db.Close(); err != nil {
		db.Error(err)
	}
}

// do decodes an input and calls an operation with it.
func do[In, Out any](db *database, operation func(context.Context, *In) (*Out, error), body string) {
	db.Helper()
	in := new(In)
	if err := wire.Decode([]byte(body), in); err != nil {
		db.Fatal(err)
	}
	if err := api.Validate(in); err != nil {
		db.Fatal(err)
	}
	if _, err := operation(db.Context(), in); err != nil {
		db.Fatal(err)
	}
}

func (db *database) create(configuration string) {
	db.Helper()
	do(db, db.CreateTable, `{"TableName":"Music","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`)
	do(db, db.PutItem, `{"TableName":"Music","Item":{"pk":{"S":"before"}}}`)
	do(db, db.EnableKinesisStreamingDestination, `{"TableName":"Music","StreamArn":"`+streamARN+`"`+configuration+`}`)
}

// TestRecords compares records with the form that AWS documents.
func TestRecords(t *testing.T) {
	files := kinesis.NewFiles(t.TempDir())
	s := &sink{Sink: files, fail: func(int) (func(int) bool, error) { return nil, nil }, taken: make(chan kinesis.Record, 10)}
	db := open(t, memkv.New(), s)
	defer db.close()
	db.create(`,"EnableKinesisStreamingConfiguration":{"ApproximateCreationDateTimePrecision":"MICROSECOND"}`)
	before := time.Now().UnixMicro() / 1000 * 1000
	do(db, db.PutItem, `{"TableName":"Music","Item":{"pk":{"S":"<a>"},"n":{"N":"1.50"},"l":{"L":[{"NULL":true},{"B":"AP8="}]}}}`)
	do(db, db.UpdateItem, `{"TableName":"Music","Key":{"pk":{"S":"<a>"}},"UpdateExpression":"REMOVE l"}`)
	do(db, db.DeleteItem, `{"TableName":"Music","Key":{"pk":{"S":"<a>"}}}`)
	long, short := `{"l":{"L":[{"NULL":true},{"B":"AP8="}]},"n":{"N":"1.5"},"pk":{"S":"<a>"}}`, `{"n":{"N":"1.5"},"pk":{"S":"<a>"}}`
	ids := map[string]bool{}
	for i, want := range []struct{ name, images string }{
		{"INSERT", `"NewImage":` + long + `,"SizeBytes":23`},
		{"MODIFY", `"NewImage":` + short + `,"OldImage":` + long + `,"SizeBytes":32`},
		{"REMOVE", `"OldImage":` + short + `,"SizeBytes":14`},
	} {
		record := <-s.taken
		var got map[string]any
		if err := json.Unmarshal(record.Data, &got); err != nil {
			t.Fatal(err)
		}
		body := got["dynamodb"].(map[string]any)
		if at := int64(body["ApproximateCreationDateTime"].(float64)); at < before || at > time.Now().UnixMicro() {
			t.Errorf("record %d: time %d, want one after %d", i, at, before)
		}
		ids[got["eventID"].(string)] = true
		delete(body, "ApproximateCreationDateTime")
		delete(got, "eventID")
		var wanted map[string]any
		text := `{"awsRegion":"eu-west-1","eventName":"` + want.name + `","userIdentity":null,"recordFormat":"application/json","tableName":"Music",
			"dynamodb":{"ApproximateCreationDateTimePrecision":"MICROSECOND","Keys":{"pk":{"S":"<a>"}},` + want.images + `},"eventSource":"aws:dynamodb"}`
		if err := json.Unmarshal([]byte(text), &wanted); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("record %d: %s", i, diff)
		}
	}
	if len(ids) != 3 {
		t.Errorf("event ids %v, want three", ids)
	}
}

// TestExpiredItemsAreMarked checks that a removal by time to live says so.
func TestExpiredItemsAreMarked(t *testing.T) {
	s := &sink{Sink: kinesis.NewFiles(t.TempDir()), fail: func(int) (func(int) bool, error) { return nil, nil }, taken: make(chan kinesis.Record, 10)}
	db := open(t, memkv.New(), s)
	defer db.close()
	db.create("")
	do(db, db.UpdateTimeToLive, `{"TableName":"Music","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}}`)
	do(db, db.PutItem, fmt.Sprintf(`{"TableName":"Music","Item":{"pk":{"S":"a"},"ttl":{"N":"%d"}}}`, time.Now().Unix()-10))
	<-s.taken
	if removed := string((<-s.taken).Data); !strings.Contains(removed, `"userIdentity":{"principalId":"dynamodb.amazonaws.com","type":"Service"}`) {
		t.Error(removed)
	}
}

// TestOrderAndResumption writes versions of some items while the sink sometimes fails and the engine restarts. All versions
// of each item must arrive in order, with repetitions only of what may have been repeated.
func TestOrderAndResumption(t *testing.T) {
	const items, versions, restarts = 5, 30, 3
	dir, store := t.TempDir(), kept{memkv.New()}
	files := kinesis.NewFiles(dir)
	newSink := func() *sink {
		return &sink{Sink: files, taken: make(chan kinesis.Record, 10*items*versions), fail: func(call int) (func(int) bool, error) {
			switch call % 4 {
			case 1:
				return func(i int) bool { return i%2 == 0 }, errors.New("a part is refused")
			case 3:
				return func(int) bool { return true }, errors.New("all is refused")
			default:
				return nil, nil
			}
		}}
	}
	s := newSink()
	db := open(t, store, s)
	db.create("")
	for version := range versions {
		for item := range items {
			do(db, db.PutItem, fmt.Sprintf(`{"TableName":"Music","Item":{"pk":{"S":"i%d"},"v":{"N":"%d"}}}`, item, version))
		}
		if version%(versions/restarts) == 0 {
			db.close()
			s = newSink()
			db = open(t, store, s)
		}
	}
	// The order is per item: the last record of one may be accepted before that of another.
	newest := fmt.Sprintf(`"v":{"N":"%d"}`, versions-1)
	awaited := map[string]bool{}
	for item := range items {
		awaited[fmt.Sprintf(`"pk":{"S":"i%d"}`, item)] = true
	}
	for record := range s.taken {
		if data := string(record.Data); strings.Contains(data, newest) {
			maps.DeleteFunc(awaited, func(key string, _ bool) bool { return strings.Contains(data, key) })
		}
		if len(awaited) == 0 {
			break
		}
	}
	db.close()
	last := map[string]int{}
	for _, line := range lines(t, files) {
		var r struct {
			DynamoDB struct {
				NewImage struct {
					PK struct{ S string }
					V  struct {
						N int `json:",string"`
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		item, version := r.DynamoDB.NewImage.PK.S, r.DynamoDB.NewImage.V.N
		before, seen := last[item]
		if next := before + 1; !seen && version != 0 || seen && version > next {
			t.Errorf("item %s: version %d after %d (%v)", item, version, before, seen)
		}
		last[item] = version
	}
	for item := range items {
		if got := last[fmt.Sprint("i", item)]; got != versions-1 {
			t.Errorf("item %d: version %d is the last, want %d", item, got, versions-1)
		}
	}
	if lag := db.counts.Table("Music").Delivery().Lag(time.Now().Add(time.Hour)); lag != 0 {
		t.Errorf("lag %v after all was delivered", lag)
	}
}

// TestPartialLineIsRemoved checks that an incomplete line after a crash does not corrupt the next one.
func TestPartialLineIsRemoved(t *testing.T) {
	files := kinesis.NewFiles(t.TempDir())
	put := func(text string) {
		t.Helper()
		if _, err := files.Put(t.Context(), streamARN, []kinesis.Record{{Data: []byte(text)}}); err != nil {
			t.Fatal(err)
		}
	}
	put("1")
	for _, rest := range []string{"2", strings.Repeat("x", 200_000)} {
		file, err := os.OpenFile(files.Path(streamARN), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = file.WriteString(rest)
		}
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		put("3")
	}
	if diff := cmp.Diff([]string{"1", "3", "3"}, lines(t, files)); diff != "" {
		t.Error(diff)
	}
	if want := filepath.Join("eu-west-1", "123456789012", "music.jsonl"); !strings.HasSuffix(files.Path(streamARN), want) {
		t.Errorf("path %s, want …%s", files.Path(streamARN), want)
	}
}

func lines(t *testing.T, files *kinesis.Files) []string {
	t.Helper()
	data, err := os.ReadFile(files.Path(streamARN))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}
