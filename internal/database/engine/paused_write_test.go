package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/cluster"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// standing is the connection to the store of a server that is suspended as a whole.
type standing struct {
	kv.Store
	still atomic.Bool
	goOn  chan struct{}
}

func (s *standing) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if s.still.Load() {
		<-s.goOn
	}
	return s.Store.Update(ctx, in, fn)
}

// TestWriteAfterLeaving: a server that was suspended between a request's table lookup and its update acknowledges nothing in a
// store that a move has marked in the meantime.
func TestWriteAfterLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memkv.New()
		way := &standing{Store: store, goOn: make(chan struct{})}
		e := openOn(t, format.Guarded(way), engine.Options{Shared: true, TTLInterval: -1})
		defer e.Close()
		createTable(t, e, musicTable())
		way.still.Store(true)
		written := make(chan error)
		go func() { written <- putMusic(t.Context(), e, field("pk", "x")) }()
		synctest.Wait()
		<-time.After(10 * time.Second) // the lease expires
		if err := store.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error { txn.Advance(kv.SeqAt(time.Now().UnixMilli())); txn.LogSeq(); return nil }); err != nil {
			t.Fatal(err)
		}
		if n, err := cluster.Serving(t.Context(), store); n != 0 || err != nil {
			close(way.goOn)
			t.Fatal(n, err)
		}
		// What move.Run does to the source, from beginning to end.
		mark := format.Move{Stage: format.Left, To: "elsewhere", Version: format.Version()}
		err := store.Update(t.Context(), kv.Intent{Write: [][]byte{keyenc.FormatVersion()}}, func(txn kv.Txn) error { cluster.Raise(txn); return mark.Save(txn) })
		if err != nil {
			t.Fatal(err)
		}
		way.still.Store(false)
		close(way.goOn)
		if err := <-written; err == nil {
			t.Error("a write is acknowledged in a store that the database has left")
		}
	})
}
