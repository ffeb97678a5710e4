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

// TestOutOfConnections tests that while the server accepts no more connections, a call that needs one waits, and so does
// opening a store. Both continue once there is one.
func TestOutOfConnections(t *testing.T) {
	small, err := postgrestest.Start("max_connections = 6")
	if err != nil {
		t.Fatal(err)
	}
	defer small.Remove()
	address, log := postgrestest.URL("small", small), make(logLines, 100)
	options := postgreskv.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}
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
