package faults

import (
	"context"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
	"github.com/monotable/monotable/test/internal/link"
)

// TestLostConnections tests that a store whose connections are all silently lost, as when the server's machine is gone,
// detects that once and continues with new ones. Checking them one by one would exceed the test's time.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	const (
		connections = 30
		ping        = "1s"
		enough      = 25 * time.Second
	)
	server, err := postgrestest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Remove)
	l := link.New(t, "unix", server.Socket())
	address := "postgres://postgres@" + l.Address() + "/postgres?sslmode=disable&search_path=lost&pool_ping_timeout=" + ping
	s, err := postgreskv.Open(t.Context(), address, postgreskv.Options{Connections: connections})
	if err != nil {
		t.Fatal(err)
	}
	var open []kv.Snapshot
	for range connections {
		snapshot, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, snapshot)
	}
	for _, snapshot := range open {
		if err := snapshot.Close(); err != nil {
			t.Error(err)
		}
	}
	<-time.After(1100 * time.Millisecond) // connections that were just in use are not pinged
	l.DropSilently()
	ctx, cancel := context.WithTimeout(t.Context(), enough)
	defer cancel()
	snapshot, err := s.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := snapshot.Close(); err != nil {
		t.Error(err)
	}
	err = s.Update(ctx, kv.Intent{Write: [][]byte{[]byte("k")}}, func(txn kv.Txn) error { txn.Set([]byte("k"), []byte("v")); return nil })
	if err != nil {
		t.Error(err)
	}
	if v, err := s.Get(ctx, []byte("k")); err != nil || string(v) != "v" {
		t.Errorf("%q, %v", v, err)
	}
	l.Cut()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
