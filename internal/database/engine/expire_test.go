package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// commitTime is the duration of an update of slowCommits, as when waiting for a disk.
const commitTime = 2 * time.Millisecond

// slowCommits is a store whose updates are acknowledged late, and fail after a number of them.
type slowCommits struct {
	kv.Store
	allowed atomic.Int64
}

func (s *slowCommits) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if s.allowed.Add(-1) < 0 {
		return kv.ErrFailed
	}
	err := s.Store.Update(ctx, in, fn)
	select {
	case <-time.After(commitTime):
		return err
	case <-ctx.Done():
		return errors.Join(err, ctx.Err())
	}
}

// backlog fills a table of a store with n expired items.
func backlog(tb testing.TB, store kv.Store, n int) {
	tb.Helper()
	e, err := engine.Open(tb.Context(), kept{store}, engine.Options{TTLInterval: -1})
	if err != nil {
		tb.Fatal(err)
	}
	defer e.Close()
	if _, err := e.CreateTable(tb.Context(), musicTable("a")); err != nil {
		tb.Fatal(err)
	}
	_, err = e.UpdateTimeToLive(tb.Context(), &api.UpdateTimeToLiveInput{
		TableName:               new("Music"),
		TimeToLiveSpecification: &api.TimeToLiveSpecification{Enabled: new(true), AttributeName: new("exp")},
	})
	if err != nil {
		tb.Fatal(err)
	}
	e.Settle()
	past := time.Now().Add(-time.Hour).Unix()
	for i := range n {
		expires := attr.Number(strconv.FormatInt(past+int64(i%100), 10))
		err := putMusic(tb.Context(), e, field("pk", fmt.Sprint(i)), field("a", "x"), attr.Field{Name: "exp", Value: expires})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// TestExpireBacklog: many items expire in the time of a few sequential commits.
func TestExpireBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const items = 10_000
		store := &slowCommits{Store: memkv.New()}
		store.allowed.Store(1 << 40)
		backlog(t, store.Store, items)
		e := openOn(t, store, engine.Options{TTLInterval: -1})
		defer e.Close()
		begun := time.Now()
		if n, err := e.ExpireNow(t.Context()); n != items || err != nil {
			t.Errorf("%d items expired: %v", n, err)
		}
		if took, limit := time.Since(begun), items/100*commitTime; took > limit {
			t.Errorf("%d items took %v, want at most %v", items, took, limit)
		}
		if done := wantVerified(t, e); done.Items != 0 || done.TTLEntries != 0 || done.LogRecords != 0 {
			t.Errorf("left: %+v", done)
		}
	})
}

// TestExpireFails: items removed before a failure are counted, and the rest expires the next time.
func TestExpireFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const items, allowed = 3000, 12
		store := &slowCommits{Store: memkv.New()}
		store.allowed.Store(1 << 40)
		backlog(t, store.Store, items)
		e := openOn(t, store, engine.Options{TTLInterval: -1})
		defer e.Close()
		store.allowed.Store(allowed)
		n, err := e.ExpireNow(t.Context())
		if n != allowed*100 || !errors.Is(err, kv.ErrFailed) {
			t.Errorf("%d items expired in %d commits: %v", n, allowed, err)
		}
		store.allowed.Store(1 << 40)
		if done := wantVerified(t, e); done.Items != items-allowed*100 {
			t.Errorf("%d items are left, want %d", done.Items, items-allowed*100)
		}
		if n, err := e.ExpireNow(t.Context()); n != items-allowed*100 || err != nil {
			t.Errorf("%d of %d items expired: %v", n, items-allowed*100, err)
		}
	})
}

// TestExpireStops: closing the engine does not wait for a backlog.
func TestExpireStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const items = 5000
		store := &slowCommits{Store: memkv.New()}
		store.allowed.Store(1 << 40)
		backlog(t, store.Store, items)
		e := openOn(t, store, engine.Options{TTLInterval: time.Second})
		advance(time.Second + 10*commitTime + commitTime/2)
		begun := time.Now()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > commitTime {
			t.Errorf("Close took %v", took)
		}
		done, err := verify.Run(t.Context(), store, func(f verify.Finding) { t.Error(f) }, verify.Options{})
		if err != nil || done.Items == 0 || done.Items == items {
			t.Errorf("%d items are left: %v", done.Items, err)
		}
	})
}

// TestExpireCanceled: the same for a store that does not observe the context.
func TestExpireCanceled(t *testing.T) {
	store := memkv.New()
	backlog(t, store, 10)
	e := openOn(t, store, engine.Options{TTLInterval: -1})
	defer e.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := e.ExpireNow(ctx); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("expired %d, %v", n, err)
	}
}

// BenchmarkExpire removes expired items from a store on disk, where each commit is synced.
func BenchmarkExpire(b *testing.B) {
	dir := b.TempDir()
	open := func(d pebblekv.Durability) kv.Store {
		store, err := pebblekv.Open(dir, pebblekv.Options{Durability: d, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		return store
	}
	store := open(pebblekv.None)
	backlog(b, store, b.N)
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
	e, err := engine.Open(b.Context(), open(pebblekv.Sync), engine.Options{TTLInterval: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	b.ResetTimer()
	if n, err := e.ExpireNow(b.Context()); n != b.N || err != nil {
		b.Errorf("%d of %d expired: %v", n, b.N, err)
	}
}

// sweeping is a store that records where iterations over TTL entries start.
type sweeping struct {
	kv.Store
	begins []int64 // seconds
}

func (s *sweeping) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	snapshot, err := s.Store.Snapshot(ctx)
	return &sweepingSnapshot{snapshot, s}, err
}

type sweepingSnapshot struct {
	kv.Snapshot
	store *sweeping
}

func (s *sweepingSnapshot) Iter(lo, hi []byte, o kv.IterOptions) kv.Iterator {
	if _, seconds, ok := keyenc.ExpiryOf(lo); ok {
		s.store.begins = append(s.store.begins, seconds)
	}
	return s.Snapshot.Iter(lo, hi, o)
}

// TestSweepResumes: a sweep starts where the previous one ended, not at the tombstones of removed entries. An item that later
// gets an earlier time still expires.
func TestSweepResumes(t *testing.T) {
	var c clock
	c.set(noon)
	store := &sweeping{Store: memkv.New()}
	open := func() *engine.Engine { return openOn(t, store, engine.Options{Now: c.now, TTLInterval: -1}) }
	e := open()
	createTable(t, e, musicTable())
	send(t, e, "update-time-to-live", `{"TableName":"Music","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"exp"}}`)
	e.Settle()
	put := func(pk string, at time.Time) {
		t.Helper()
		send(t, e, "put-item", fmt.Sprintf(`{"TableName":"Music","Item":{"pk":{"S":"%s"},"exp":{"N":"%d"}}}`, pk, at.Unix()))
	}
	sweep := func(expired int, from time.Time) {
		t.Helper()
		store.begins = nil
		if n, err := e.ExpireNow(t.Context()); n != expired || err != nil {
			t.Errorf("%d items expired, %v; want %d", n, err, expired)
		}
		if len(store.begins) == 0 || store.begins[0] != from.Unix() {
			t.Errorf("the sweep began at %v, want %d", store.begins, from.Unix())
		}
	}
	ages := noon.AddDate(-5, 0, 0)
	for i := range 250 {
		put(fmt.Sprint(i), noon.Add(-time.Duration(i)*time.Minute))
	}
	sweep(250, ages)
	sweep(0, noon.Add(time.Second))
	c.set(noon.Add(10 * time.Second))
	put("now", c.now())
	sweep(1, noon.Add(time.Second))
	sweep(0, noon.Add(11*time.Second))

	past := noon.AddDate(-1, 0, 0)
	put("past", past)
	put("later past", past.Add(time.Hour))
	put("future", noon.Add(time.Hour))
	sweep(2, past)
	sweep(0, noon.Add(11*time.Second))
	send(t, e, "batch-write-item", fmt.Sprintf(`{"RequestItems":{"Music":[{"PutRequest":{"Item":{"pk":{"S":"b"},"exp":{"N":"%d"}}}}]}}`, past.Unix()))
	sweep(1, past)
	send(t, e, "transact-write-items", fmt.Sprintf(`{"TransactItems":[{"Put":{"TableName":"Music","Item":{"pk":{"S":"t"},"exp":{"N":"%d"}}}}]}`, past.Unix()))
	sweep(1, past)

	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open()
	sweep(0, ages.Add(10*time.Second))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSweepMissesNothing: everything written during sweeps has expired after one more.
func TestSweepMissesNothing(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openOn(t, s.open(t)(), engine.Options{TTLInterval: -1})
			defer e.Close()
			createTable(t, e, musicTable())
			send(t, e, "update-time-to-live", `{"TableName":"Music","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"exp"}}`)
			e.Settle()
			begin := time.Now().Unix()
			together(5, func(worker int) {
				for i := range 200 {
					if worker == 0 {
						if _, err := e.ExpireNow(t.Context()); err != nil {
							t.Error(err)
						}
						continue
					}
					exp := attr.Number(strconv.FormatInt(begin-int64(i*worker%50), 10))
					if err := putMusic(t.Context(), e, field("pk", fmt.Sprintf("%d.%d", worker, i)), attr.Field{Name: "exp", Value: exp}); err != nil {
						t.Error(err)
					}
				}
			})
			if _, err := e.ExpireNow(t.Context()); err != nil {
				t.Error(err)
			}
			if done := wantVerified(t, e); done.Items != 0 || done.TTLEntries != 0 {
				t.Errorf("left: %+v", done)
			}
		})
	}
}
