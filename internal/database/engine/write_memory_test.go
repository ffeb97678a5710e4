package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// waitingStore is a store that signals each time an update begins to wait for memory.
type waitingStore struct {
	kv.Store
	waits chan struct{}
}

func (s *waitingStore) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	return s.Store.Update(ctx, in, func(txn kv.Txn) error {
		err := fn(txn)
		if errors.Is(err, kv.ErrRerun) {
			s.waits <- struct{}{}
		}
		return err
	})
}

// TestWritesWaitingForMemoryHoldNothing: small requests that change large items wait when the memory for writes is used up.
// Others can change the table meanwhile.
func TestWritesWaitingForMemoryHoldNothing(t *testing.T) {
	const clients, memory = 60, 16 << 20
	pebble, err := pebblekv.Open("/data", pebblekv.Options{
		FS: vfs.NewMem(), BatchBytes: memory, CacheBytes: 1 << 20, MemTableBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	store := &waitingStore{pebble, make(chan struct{}, 3*clients)}
	e, err := engine.Open(t.Context(), store, engine.Options{TTLInterval: -1, StreamShardRotation: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	createTable(t, e, streamedTable("NEW_AND_OLD_IMAGES"))
	for i := range clients {
		music(t, e, fmt.Sprint(i), strings.Repeat("x", 390_000))
	}
	release := occupyWriteMemory(t, pebble, memory)
	if err := pebble.Compact(t.Context(), nil, nil); err != nil { // none runs during the measurement: files are in memory too
		t.Fatal(err)
	}
	before := liveHeap()
	var g errgroup.Group
	for i := range clients {
		g.Go(func() error { return setNumber(t.Context(), e, i) })
	}
	for range clients {
		<-store.waits
	}
	if held := liveHeap() - before; held > clients*100_000 {
		t.Errorf("%d writes hold %d KB while they wait", clients, held>>10)
	}
	music(t, e, "another", "small")
	_, err = e.UpdateTable(t.Context(), &api.UpdateTableInput{TableName: new("Music"), DeletionProtectionEnabled: new(true)})
	if err != nil {
		t.Error(err)
	}
	release()
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	for i := range clients {
		if out, err := perform(t.Context(), e, "get-item", fmt.Sprintf(`{"TableName":"Music","Key":{"pk":{"S":"%d"}},
			"ProjectionExpression":"n"}`, i)); err != nil || !strings.Contains(out, `"1"`) {
			t.Errorf("item %d: %s, %v", i, out, err)
		}
	}
}

// setNumber changes item i with a small request: an UpdateItem, or a TransactWriteItems.
func setNumber(ctx context.Context, e *engine.Engine, i int) error {
	update := fmt.Sprintf(`{"TableName":"Music","Key":{"pk":{"S":"%d"}},"UpdateExpression":"SET n = :n",
		"ExpressionAttributeValues":{":n":{"N":"1"}}}`, i)
	var err error
	if i%2 == 0 {
		_, err = perform(ctx, e, "update-item", update)
	} else {
		_, err = perform(ctx, e, "transact-write-items", fmt.Sprintf(`{"TransactItems":[{"Update":%s}]}`, update))
	}
	return err
}

// occupyWriteMemory starts an update that reserves all memory for writes, and holds it until release is called.
func occupyWriteMemory(t *testing.T, s kv.Store, bytes int64) (release func()) {
	t.Helper()
	ready, let, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- s.Update(t.Context(), kv.Intent{Write: [][]byte{{0xEF}}}, func(txn kv.Txn) error {
			err := txn.Reserve(bytes)
			close(ready)
			<-let
			return err
		})
	}()
	<-ready
	return func() {
		close(let)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// liveHeap is the number of bytes in use after a collection.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one left in pools
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // far below the limit
}
