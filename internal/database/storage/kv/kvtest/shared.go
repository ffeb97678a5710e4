package kvtest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// RunShared runs the suite on a store that several processes may open: each call goes to another handle, so that whatever one
// handle holds, counts or sees, the others must learn from the store itself. open returns several handles of an empty store.
func RunShared(t *testing.T, open func(t *testing.T) []kv.Store) {
	t.Helper()
	runShared(t, open)
}

// RunOptimistic is RunShared for a store whose handles do not lock keys against each other: an update that conflicted with
// another handle's runs again. The two omitted tests distinguish that from waiting.
func RunOptimistic(t *testing.T, open func(t *testing.T) []kv.Store) {
	t.Helper()
	runShared(t, open, "WaitEndsWithContext", "TransactionConflict")
}

func runShared(t *testing.T, open func(t *testing.T) []kv.Store, without ...string) {
	t.Helper()
	run(t, func(t *testing.T) kv.Store {
		t.Helper()
		return &handles{all: open(t)}
	}, without...)
}

// handles is one store with several handles, used in turn.
type handles struct {
	all  []kv.Store
	turn atomic.Uint64
}

func (h *handles) next() kv.Store { return h.all[h.turn.Add(1)%uint64(len(h.all))] }

func (h *handles) Get(ctx context.Context, key []byte) ([]byte, error) { return h.next().Get(ctx, key) }

func (h *handles) Counter(ctx context.Context, key []byte) ([]int64, error) {
	return h.next().Counter(ctx, key)
}

func (h *handles) Iter(ctx context.Context, lo, hi []byte, o kv.IterOptions) (kv.Iterator, error) {
	return h.next().Iter(ctx, lo, hi, o)
}

func (h *handles) Snapshot(ctx context.Context) (kv.Snapshot, error) { return h.next().Snapshot(ctx) }

func (h *handles) Eventual() kv.Reads { return h.next().Eventual() }

func (h *handles) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	return h.next().Update(ctx, in, fn)
}

func (h *handles) ReadLog(ctx context.Context, log kv.LogID, after kv.Seq, limit int) ([]kv.Record, kv.Seq, error) {
	return h.next().ReadLog(ctx, log, after, limit)
}

func (h *handles) TrimLog(ctx context.Context, log kv.LogID, upTo kv.Seq) error {
	return h.next().TrimLog(ctx, log, upTo)
}

func (h *handles) LogTrimmed(ctx context.Context, log kv.LogID) (kv.Seq, error) {
	return h.next().LogTrimmed(ctx, log)
}

func (h *handles) DeleteRange(ctx context.Context, lo, hi []byte) error {
	return h.next().DeleteRange(ctx, lo, hi)
}

func (h *handles) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	return h.next().Load(ctx, fill)
}

func (h *handles) Size(ctx context.Context, lo, hi []byte) (int64, error) {
	return h.next().Size(ctx, lo, hi)
}

func (h *handles) LogSize(ctx context.Context, log kv.LogID, after kv.Seq) (int64, error) {
	return h.next().LogSize(ctx, log, after)
}

func (h *handles) Compact(ctx context.Context, lo, hi []byte) error {
	return h.next().Compact(ctx, lo, hi)
}

func (h *handles) Split(ctx context.Context, keys [][]byte) error { return h.next().Split(ctx, keys) }

func (h *handles) Keep(ctx context.Context, name string, what kv.Selection) error {
	return h.next().Keep(ctx, name, what)
}

func (h *handles) OpenKept(ctx context.Context, name string) (kv.Snapshot, error) {
	return h.next().OpenKept(ctx, name)
}

func (h *handles) Kept(ctx context.Context) ([]kv.KeptSnapshot, error) { return h.next().Kept(ctx) }

func (h *handles) DropKept(ctx context.Context, name string) error {
	return h.next().DropKept(ctx, name)
}

func (h *handles) Time(ctx context.Context) (now time.Time, timed bool, err error) {
	return h.next().Time(ctx)
}

func (h *handles) Health() error { return h.next().Health() }

func (h *handles) DiskUsage() (kv.DiskUsage, error) { return h.next().DiskUsage() }

func (h *handles) Limits() kv.Limits { return h.next().Limits() }

func (h *handles) Close() error {
	var failed error
	for _, s := range h.all {
		failed = errors.Join(failed, s.Close())
	}
	return failed
}
