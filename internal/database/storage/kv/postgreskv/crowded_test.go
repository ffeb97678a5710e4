package postgreskv_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
)

// logLines is a log whose lines a test can wait for.
type logLines chan string

func (h logLines) Write(line []byte) (int, error) {
	select {
	case h <- string(line):
	default:
	}
	return len(line), nil
}

// await waits for a line that contains a text, and returns true, or for the end of a call.
func (h logLines) await(t *testing.T, text string, ended <-chan error) bool {
	t.Helper()
	for {
		select {
		case line := <-h:
			if strings.Contains(line, text) {
				return true
			}
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return false
		case <-time.After(time.Minute):
			t.Fatalf("nothing says %q", text)
		}
	}
}

// TestUpdatesDuringLongWork tests that updates find connections while more work that takes long is in progress than there are
// connections.
func TestUpdatesDuringLongWork(t *testing.T) {
	const connections = 4
	s := openWith(t, postgrestest.URL("long", server), postgreskv.Options{Connections: connections})
	defer closeAll(t, s)
	begun, end, ended := make(chan bool, 2*connections), make(chan bool), make(chan error)
	for range 2 * connections {
		go func() {
			ended <- s.Load(t.Context(), func(func(key, value []byte) error) error {
				begun <- true
				<-end
				return nil
			})
		}()
	}
	for range connections / 2 {
		<-begun
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for range 100 { // until the rest has begun, if it can
		if err := set(ctx, s, "k", "v"); err != nil {
			t.Error(err)
			break
		}
	}
	close(end)
	for range 2 * connections {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestOutOfConnections tests that while the server accepts no more connections, a call that needs one waits, and so does
// opening a store. Both continue once there is one.
func TestOutOfConnections(t *testing.T) {
	small, err := postgrestest.Start("max_connections = 6")
	if err != nil {
		t.Fatal(err)
	}
	defer small.Remove()
	address, log := postgrestest.URL("small", small), make(logLines, 100)
	options := postgreskv.Options{Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	closeAll(t, openWith(t, address, options)) // creates the tables
	crowd := func() (leave func()) {
		var others []*pgx.Conn
		for {
			c, err := pgx.Connect(t.Context(), postgrestest.URL("pg_catalog", small))
			if err != nil {
				break
			}
			others = append(others, c)
		}
		return func() {
			for _, c := range others {
				_ = c.Close(context.WithoutCancel(t.Context()))
			}
		}
	}
	leave, opened := crowd(), make(chan kv.Store)
	go func() {
		s, err := postgreskv.Open(t.Context(), address, options)
		if err != nil {
			t.Error(err)
		}
		opened <- s
	}()
	log.await(t, "too many clients", nil)
	leave()
	s := <-opened
	if t.Failed() {
		return
	}
	defer closeAll(t, s)

	leave = crowd()
	defer func() { leave() }()
	ended := make(chan error)
	for _, call := range []func() error{
		func() error { // an update concurrent with another
			return s.Update(t.Context(), writes("a"), func(kv.Txn) error { return set(t.Context(), s, "b", "v") })
		},
		func() error {
			snap, err := s.Snapshot(t.Context())
			if err == nil {
				err = snap.Close()
			}
			return err
		},
	} {
		for len(log) > 0 {
			<-log
		}
		go func() { ended <- call() }()
		for !log.await(t, "too many clients", ended) {
			// The call got a connection of the previous crowd, which the server was still closing when this one came.
			first, others := leave, crowd()
			leave = func() { first(); others() }
			go func() { ended <- call() }()
		}
		leave()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		leave = crowd()
	}
}

// TestOutageLog tests that the log has one line when the server stops responding and one when it responds again, however many calls wait.
func TestOutageLog(t *testing.T) {
	own, err := postgrestest.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer own.Remove()
	log := make(logLines, 1000)
	s := openWith(t, postgrestest.URL("outage", own), postgreskv.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	defer closeAll(t, s)
	own.Kill()
	const calls = 50
	ended := make(chan error)
	for range calls {
		go func() {
			_, err := s.Get(t.Context(), []byte("k"))
			ended <- err
		}()
	}
	first := <-log
	if err := own.Restart(); err != nil {
		t.Fatal(err)
	}
	for range calls {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	second := <-log
	if !strings.Contains(first, "does not respond") || !strings.Contains(second, "responds again") || len(log) > 0 {
		t.Errorf("logged %q, %q and %d more lines", first, second, len(log))
	}
}
