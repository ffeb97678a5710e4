package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
)

// TestScripts runs every script under testdata with every store.
//
// A directive that is an operation's name (put-item) has the request as its input and the response, or the error,
// as its output; with the word quiet the output is only "ok". In requests, <<text*n>> is n times the text, and
// {{name}} the ARN of the latest backup with that name. The others:
//
//	advance 1h      moves the clock
//	restart         closes the engine and reopens it on the same data
//	dump [prefix]   prints the store's content: keys as printed by keyenc, items as JSON
//	log table       prints the table's change log
//	expire          removes expired items
//	settle          waits for background jobs
//	trim            trims the change logs
//	stream …        and others in streamDirective
//	kept            prints the store's kept snapshots
//	expire-backups  removes expired backups
//	insights table  prints the rankings of its keys
//	objects         lists the objects of the buckets, and others in bucketDirective
//	verify          checks indexes, TTL entries and counters against the items
//	in Region       sends the following to that Region, which is served from then on; the script starts in us-east-1
//	replicas table  prints each Region's items of a table
//
// settle also waits for replication. restart reopens all Regions, and the script stays in its own.
//
// The clock starts at 2026-11-20T12:00:00Z and only moves by advance. With -rewrite the outputs are rewritten.
func TestScripts(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
				t.Helper()
				if strings.HasPrefix(path, "testdata/fuzz/") {
					return
				}
				if slices.Contains(s.differs, strings.TrimPrefix(path, "testdata/")) {
					t.Skip("its numbers of changes are those of another store")
				}
				run := newScript(t, s.open)
				datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
					t.Helper()
					return run.directive(t, d)
				})
			})
		})
	}
}

// storeKind opens one kind of store; open's result opens the same data each time.
type storeKind struct {
	name string
	open func(t *testing.T) func() kv.Store
	// differs are scripts that print numbers of changes. A shared store allocates those in blocks.
	differs []string
}

func stores() []storeKind {
	return []storeKind{
		{name: "memkv", open: func(*testing.T) func() kv.Store {
			store := kept{memkv.New()}
			return func() kv.Store { return store }
		}},
		{name: "pebblekv", open: func(t *testing.T) func() kv.Store {
			t.Helper()
			options := pebblekv.Options{FS: vfs.NewMem(), MemTableBytes: 1 << 20, CacheBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)}
			return func() kv.Store {
				store, err := pebblekv.Open("/data", options)
				if err != nil {
					t.Fatal(err)
				}
				return store
			}
		}},
		{name: "postgreskv", differs: []string{"streams/records", "streams/shards"}, open: func(t *testing.T) func() kv.Store {
			t.Helper()
			url := postgrestest.URL(fmt.Sprint("script", scripts.Add(1)), postgres)
			return func() kv.Store {
				store, err := postgreskv.Open(t.Context(), url, postgreskv.Options{Untimed: true, Connections: 4})
				if err != nil {
					t.Fatal(err)
				}
				return store
			}
		}},
	}
}

// postgres is the server for the package's tests, in which each script has a schema.
var (
	postgres *postgrestest.Server
	scripts  atomic.Int32
)

func TestMain(m *testing.M) {
	engine.ScrambleReturnedWrites()
	os.Exit(postgrestest.Run(func(s *postgrestest.Server) int {
		postgres = s
		return m.Run()
	}))
}

// kept is a store in memory that survives an engine's Close.
type kept struct{ kv.Store }

func (kept) Close() error { return nil }

// script is one script's database.
type script struct {
	open   func() kv.Store
	store  kv.Store // of the Region that the script is in
	engine *engine.Engine
	now    atomic.Int64 // nanoseconds; jobs read it concurrently with the script

	all    *engine.Regions
	served []*scriptRegion // the first is home, whose store contains the others'

	iterator *string // of streamDirective
	buckets  string  // a directory
}

func newScript(t *testing.T, open func(*testing.T) func() kv.Store) *script {
	t.Helper()
	s := &script{open: open(t), buckets: t.TempDir()}
	s.now.Store(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano())
	s.start(t, home)
	t.Cleanup(func() { s.close(t) })
	return s
}

// start opens Regions; the script starts in the first, home.
func (s *script) start(t *testing.T, names ...string) {
	t.Helper()
	s.all, s.served = engine.NewRegions(), nil
	for _, name := range names {
		s.serve(t, name)
	}
	s.all.Opened()
	s.enter(t, home)
}

func (s *script) close(t *testing.T) {
	t.Helper()
	for _, r := range slices.Backward(s.served) { // home last
		if err := r.engine.Close(); err != nil {
			t.Error(err)
		}
	}
}

func (s *script) restart(t *testing.T) {
	t.Helper()
	s.close(t)
	var names []string
	own := home
	for _, r := range s.served {
		names = append(names, r.name)
		if r.engine == s.engine {
			own = r.name
		}
	}
	s.start(t, names...)
	s.enter(t, own)
}

// settle waits for jobs and replication in all Regions. Each may cause work in the others.
func (s *script) settle(t *testing.T) {
	t.Helper()
	for range 2 {
		for _, r := range s.served {
			r.engine.Settle()
		}
		if err := s.all.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// counting is a random source with predictable ids.
type counting struct{ n byte }

func (c *counting) Read(p []byte) (int, error) {
	for i := range p {
		c.n++
		p[i] = c.n
	}
	return len(p), nil
}

func (s *script) directive(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	var out string
	var err error
	switch d.Cmd {
	case "advance":
		err = s.advance(d)
	case "restart":
		s.restart(t)
	case "in":
		s.enter(t, argument(d))
	case "replicas":
		out, err = s.replicas(t.Context(), argument(d))
	case "dump":
		out, err = dump(t.Context(), s.store, argument(d))
	case "log":
		out, err = s.log(t.Context(), argument(d))
	case "expire":
		var n int
		n, err = s.engine.ExpireNow(t.Context())
		out = fmt.Sprintf("%d removed\n", n)
	case "settle":
		s.settle(t)
	case "trim":
		err = s.engine.TrimLogs(t.Context())
	case "stream", "iterator", "records", "reshard":
		out, err = s.streamDirective(t.Context(), d)
	case "kept":
		out, err = s.keptSnapshots(t.Context())
	case "insights":
		out, err = printRankings(t.Context(), s.engine, argument(d))
	case "expire-backups":
		err = s.engine.ExpireBackups(t.Context())
	case "objects", "object", "store", "bucket":
		out, err = s.bucketDirective(t.Context(), d)
	case "verify":
		out, err = s.verify(t.Context())
	default:
		out, err = perform(t.Context(), s.engine, d.Cmd, s.nameBackups(t.Context(), expand(d.Input)))
		if err == nil && d.HasArg("quiet") {
			out = "ok\n"
		}
	}
	if err != nil {
		return err.Error() + "\n"
	}
	return out
}

func (s *script) advance(d *datadriven.TestData) error {
	if len(d.CmdArgs) != 1 {
		return errors.New("advance needs a duration")
	}
	by, err := time.ParseDuration(d.CmdArgs[0].String())
	s.now.Add(int64(by))
	return err
}

// argument is the rest of the directive; one with spaces is written x=(some words).
func argument(d *datadriven.TestData) string {
	if len(d.CmdArgs) == 0 {
		return ""
	}
	if a := d.CmdArgs[0]; len(a.Vals) > 0 {
		return a.Vals[0]
	}
	return d.CmdArgs[0].Key
}

// perform sends one request to the directive's method, like the server.
func perform(ctx context.Context, e *engine.Engine, directive, body string) (string, error) {
	var operation strings.Builder
	for word := range strings.SplitSeq(directive, "-") {
		operation.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	method := reflect.ValueOf(e).MethodByName(operation.String())
	if !method.IsValid() {
		return "", fmt.Errorf("no operation %s", operation.String())
	}
	in := reflect.New(method.Type().In(1).Elem())
	if strings.TrimSpace(body) == "" {
		body = "{}"
	}
	if err := wire.Decode([]byte(body), in.Interface()); err != nil {
		return "", err
	}
	if err := api.Validate(in.Interface()); err != nil {
		return "", err
	}
	results := method.Call([]reflect.Value{reflect.ValueOf(ctx), in})
	if err, failed := reflect.TypeAssert[error](results[1]); failed {
		return "", withDetails(err)
	}
	out, err := wire.Append(nil, results[0].Interface())
	if err != nil {
		return "", err
	}
	return pretty(out) + "\n", nil
}

// withDetails shows the members of an error in addition to its message.
func withDetails(err error) error {
	var e *apierr.Error
	if !errors.As(err, &e) || e.Details == nil {
		return err
	}
	return fmt.Errorf("%w\n%s", err, pretty(wire.AppendError(nil, e)))
}

var repetition = regexp.MustCompile(`<<(.*?)\*(\d+)>>`)

func expand(input string) string {
	return repetition.ReplaceAllStringFunc(input, func(m string) string {
		parts := repetition.FindStringSubmatch(m)
		n, err := strconv.Atoi(parts[2])
		if err != nil {
			return m
		}
		return strings.Repeat(parts[1], n)
	})
}

func (s *script) verify(ctx context.Context) (string, error) {
	var findings strings.Builder
	done, err := s.engine.Verify(ctx, func(f verify.Finding) { fmt.Fprintln(&findings, f) }, nil)
	return fmt.Sprintf("%s%v\n", &findings, &done), err
}
