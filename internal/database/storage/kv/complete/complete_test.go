package complete_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/complete"
	"github.com/monotable/monotable/internal/database/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// core is a store that can do nothing beyond what every store owes.
type core struct{ kv.Core }

func TestContract(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kv.Store { return complete.New(core{memkv.New()}) })
}

func TestMisuse(t *testing.T) {
	kvtest.RunMisuse(t, func(*testing.T) kv.Store { return complete.New(core{memkv.New()}) })
}

// TestByName: what a store has by itself is used.
func TestByName(t *testing.T) {
	below := memkv.New()
	s := complete.New(below)
	if err := s.Keep(t.Context(), "k", kv.Selection{}); err != nil {
		t.Fatal(err)
	}
	if kept, err := below.Kept(t.Context()); len(kept) != 1 || err != nil {
		t.Errorf("the store below has kept %v, %v", kept, err)
	}
}

// failingCore is a core whose process dies at an update: this one and those that follow do nothing.
type failingCore struct {
	kv.Core
	updates int // left
}

var errDead = errors.New("the process is dead")

func (d *failingCore) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if d.updates--; d.updates < 0 {
		return errDead
	}
	return d.Core.Update(ctx, in, fn)
}

func (d *failingCore) DeleteRange(ctx context.Context, lo, hi []byte) error {
	if d.updates < 0 {
		return errDead
	}
	return d.Core.DeleteRange(ctx, lo, hi)
}

// TestInterruptedSnapshotsAreWholeOrGone: whatever update a process dies at while it keeps or drops a snapshot, the snapshot is there whole or not at all, and after a
// minute nothing is left of what is not there.
func TestInterruptedSnapshotsAreWholeOrGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		value := make([]byte, 600<<10)
		what := kv.Selection{Spans: []kv.Span{{}}, Logs: []kv.LogID{1}}
		died := 0
		for updates := 0; ; updates++ {
			below := memkv.New()
			err := below.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error {
				for _, key := range []string{"a", "b", "c", "d"} {
					txn.Set([]byte(key), value)
				}
				txn.AppendLog(1, value)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			clean := size(t, below)
			first := complete.New(&failingCore{core{below}, updates})
			err = first.Keep(t.Context(), "k", what)
			kept := err == nil
			if kept {
				err = first.DropKept(t.Context(), "k")
			}
			second := complete.New(core{below})
			if snap, err := second.OpenKept(t.Context(), "k"); err == nil {
				if data, err := snap.Get([]byte("d")); len(data) != len(value) || err != nil || !kept {
					t.Errorf("after %d updates the snapshot is there (kept: %v) and has %d bytes of d, %v", updates, kept, len(data), err)
				}
				snap.Close()
			} else if !errors.Is(err, kv.ErrNotKept) {
				t.Fatal(err)
			}
			if err == nil {
				if died < 5 {
					t.Errorf("a process that keeps and drops makes %d updates", died)
				}
				return
			}
			died++
			again := "k"
			if updates%2 == 0 {
				<-time.After(2 * abandoned)
				again = "another"
			}
			if err := second.Keep(t.Context(), again, what); err != nil && (!kept || !errors.Is(err, kv.ErrKeptExists)) {
				t.Errorf("after %d updates: %v", updates, err)
			}
			for _, name := range []string{again, "k"} {
				if err := second.DropKept(t.Context(), name); err != nil && again == "k" {
					t.Fatal(err)
				}
			}
			if got := size(t, below); got != clean {
				t.Errorf("a process that died after %d updates leaves %d bytes", updates, got-clean)
			}
		}
	})
}

// size counts all keys, those of package complete included.
func size(t *testing.T, s *memkv.Store) int64 {
	t.Helper()
	n, err := s.Size(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestReplacedWriterAddsNothing: one who was taken for dead adds nothing any more.
func TestReplacedWriterAddsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := memkv.New()
		value := make([]byte, 2<<20)
		err := below.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error {
			txn.Set([]byte("a"), value)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		clean := size(t, below)
		asleep := complete.New(&sleeping{Core: core{below}})
		kept := make(chan error)
		go func() { kept <- asleep.Keep(t.Context(), "k", kv.Selection{Spans: []kv.Span{{}}}) }()
		<-time.After(2 * abandoned)
		other := complete.New(core{below})
		if err := errors.Join(other.Keep(t.Context(), "another", kv.Selection{}), other.DropKept(t.Context(), "another")); err != nil {
			t.Fatal(err)
		}
		if err := <-kept; err == nil {
			t.Error("a copy that was taken for abandoned is kept")
		}
		if got := size(t, below); got != clean {
			t.Errorf("%d bytes are left", got-clean)
		}
	})
}

const abandoned = time.Minute

// sleeping is a core whose process sleeps before its third update, when its record is there.
type sleeping struct {
	kv.Core
	updates int
}

func (s *sleeping) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if s.updates++; s.updates == 3 {
		<-time.After(3 * abandoned)
	}
	return s.Core.Update(ctx, in, fn)
}

// loading is a core with a bulk load of its own, and no kept snapshots.
type loading struct {
	kv.Core
	kv.Loader
}

// TestLongKey: a key that could not be copied is refused by a store's own bulk load, as by all else.
func TestLongKey(t *testing.T) {
	below := memkv.New()
	s := complete.New(loading{below, below})
	key := bytes.Repeat([]byte("a"), s.Limits().KeyBytes+1)
	for size, want := range map[int]error{len(key): kv.ErrTooLarge, len(key) - 1: nil} {
		err := s.Load(t.Context(), func(put func(k, v []byte) error) error { return put(key[:size], nil) })
		if !errors.Is(err, want) {
			t.Errorf("a key of %d bytes: %v", size, err)
		}
	}
	if err := s.Keep(t.Context(), "k", kv.Selection{Spans: []kv.Span{{}}}); err != nil {
		t.Error(err)
	}
}
