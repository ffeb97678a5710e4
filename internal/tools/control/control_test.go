package control_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/control"
)

// open opens a database with one table.
func open(t *testing.T, dir string) *monotable.DB {
	t.Helper()
	db, err := monotable.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	_, err = db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("things"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("things"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// serve serves a database until the test ends, or the result is called.
func serve(t *testing.T, dir string, db control.Database) (stop func()) {
	t.Helper()
	stop, err := control.Serve(dir, db, prometheus.NewRegistry(), "http://127.0.0.1:8000", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return stop
}

func dial(t *testing.T, dir string) *control.Client {
	t.Helper()
	c, err := control.Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTools tests that requests of tools go through the socket and are answered.
func TestTools(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	db := open(t, dir)
	if err := os.WriteFile(filepath.Join(dir, control.SocketName), nil, 0o600); err != nil { // left over
		t.Fatal(err)
	}
	defer serve(t, dir, db)()
	info, err := os.Stat(filepath.Join(dir, control.SocketName))
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("the socket has mode %v, %v", info.Mode(), err)
	}
	client := dial(t, dir)
	if got := client.Endpoint(); got != "http://127.0.0.1:8000" {
		t.Errorf("endpoint %q, want that of the server", got)
	}

	t.Chdir(t.TempDir())
	var progress [][2]int64
	if err := client.Backup(t.Context(), "copy", func(done, total int64) { progress = append(progress, [2]int64{done, total}) }); err != nil {
		t.Fatal(err)
	}
	if len(progress) == 0 || progress[0][1] <= 0 {
		t.Errorf("progress %v", progress)
	}
	for name, verify := range map[string]func() (monotable.Verified, error){
		"copy": func() (monotable.Verified, error) { return monotable.Verify(t.Context(), "copy", nil, nil, nil) },
		"open": func() (monotable.Verified, error) { return client.Verify(t.Context(), nil, nil) },
	} {
		if done, err := verify(); err != nil || done != (monotable.Verified{Tables: 1, Items: 1, LogRecords: 1, Streams: 1}) {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
	}
	if err := client.Backup(t.Context(), "copy", nil); err == nil || !strings.Contains(err.Error(), "a copy needs an empty directory") {
		t.Errorf("a second backup to the same directory: %v", err)
	}
	if err := client.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	stats, err := client.Stats(t.Context())
	if err != nil || len(stats.Tables) != 1 || stats.Tables[0].Name != "things" || stats.Tables[0].Items.Rows != 1 ||
		stats.Total.Disk <= 0 || stats.Directory <= 0 {
		t.Errorf("stats %+v, %v", stats, err)
	}
}

// TestLongPath: a name too long for a socket works on Linux, and is an error elsewhere.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 40))
	db := open(t, dir)
	stop, err := control.Serve(dir, db, prometheus.NewRegistry(), "http://127.0.0.1:8000", slog.New(slog.DiscardHandler))
	if runtime.GOOS != "linux" {
		if err == nil {
			t.Error("served")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dial(t, dir).Stats(t.Context()); err != nil {
		t.Error(err)
	}
	stop()
	if _, err := os.Lstat(filepath.Join(dir, control.SocketName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket stays behind: %v", err)
	}
}

// TestDialWithoutServer tests that Dial returns ErrNotServed if no process responds, for whatever reason.
func TestDialWithoutServer(t *testing.T) {
	listen := func(t *testing.T, dir string) *net.UnixListener {
		t.Helper()
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, control.SocketName), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for name, prepare := range map[string]func(t *testing.T, dir string) string{
		"no directory": func(_ *testing.T, dir string) string { return filepath.Join(dir, "nowhere") },
		"no socket":    func(_ *testing.T, dir string) string { return dir },
		"left over": func(t *testing.T, dir string) string {
			t.Helper()
			l := listen(t, dir)
			l.SetUnlinkOnClose(false)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"a file": func(t *testing.T, dir string) string {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, control.SocketName), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"silent": func(t *testing.T, dir string) string {
			t.Helper()
			l := listen(t, dir)
			t.Cleanup(func() { _ = l.Close() })
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := prepare(t, t.TempDir())
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if _, err := control.Dial(ctx, dir); !errors.Is(err, control.ErrNotServed) {
				t.Errorf("Dial: %v", err)
			}
		})
	}
}

// endless is a database whose backup and verification continue until their context ends.
type endless struct {
	control.Database
	begun, ended chan struct{}
}

func newEndless() endless { return endless{begun: make(chan struct{}), ended: make(chan struct{})} }

func (e endless) Backup(ctx context.Context, _ string, progress func(done, total int64)) error {
	progress(1, 2)
	close(e.begun)
	<-ctx.Done()
	close(e.ended)
	return ctx.Err()
}

func (e endless) Verify(context.Context, func(monotable.Finding), func(done, total int64)) (monotable.Verified, error) {
	panic("half of the response is written")
}

// TestWorkEndsWithClient tests that work ends when its client disconnects.
func TestWorkEndsWithClient(t *testing.T) {
	dir, db := t.TempDir(), newEndless()
	defer serve(t, dir, db)()
	ctx, cancel := context.WithCancel(t.Context())
	responseTarget := make(chan error, 1)
	client := dial(t, dir)
	go func() { responseTarget <- client.Backup(ctx, "copy", nil) }()
	<-db.begun
	cancel()
	if err := <-responseTarget; !errors.Is(err, context.Canceled) {
		t.Errorf("Backup: %v", err)
	}
	<-db.ended
}

// TestServerStops tests that work ends before the database is closed, and its client gets the
// reason.
func TestServerStops(t *testing.T) {
	dir, db := t.TempDir(), newEndless()
	stop := serve(t, dir, db)
	notified := make(chan struct{}, 1)
	responseTarget := make(chan error, 1)
	client := dial(t, dir)
	go func() {
		responseTarget <- client.Backup(t.Context(), "copy", func(done, total int64) {
			if done == 1 && total == 2 {
				notified <- struct{}{}
			}
		})
	}()
	<-notified
	stop()
	select {
	case <-db.ended:
	default:
		t.Error("stop did not wait")
	}
	if err := <-responseTarget; err == nil || !strings.Contains(err.Error(), "is stopping") {
		t.Errorf("Backup: %v", err)
	}
	if _, err := control.Dial(t.Context(), dir); !errors.Is(err, control.ErrNotServed) {
		t.Errorf("Dial: %v", err)
	}
}

// TestIncompleteResponseIsError tests that an incomplete response is an error.
func TestIncompleteResponseIsError(t *testing.T) {
	dir := t.TempDir()
	defer serve(t, dir, newEndless())()
	if _, err := dial(t, dir).Verify(t.Context(), nil, nil); err == nil {
		t.Error("a response without an end is accepted")
	}
}

// aborting is a database whose process ends while it is backed up, as the client sees it.
type aborting struct{ control.Database }

func (aborting) Backup(context.Context, string, func(done, total int64)) error {
	panic(http.ErrAbortHandler)
}

func TestServerEnds(t *testing.T) {
	dir := t.TempDir()
	defer serve(t, dir, aborting{})()
	err := dial(t, dir).Backup(t.Context(), "copy", nil)
	if err == nil || err.Error() != "the process that has the database open exited before it was done" {
		t.Error(err)
	}
}
