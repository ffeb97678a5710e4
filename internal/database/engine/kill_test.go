package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// killableStore is a store that dies after a number of writes: everything after that fails, as if the process had been killed.
type killableStore struct {
	kv.Store
	left atomic.Int64
}

func (m *killableStore) dead() bool { return m.left.Add(-1) < 0 }

func (m *killableStore) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if m.dead() {
		return kv.ErrClosed
	}
	return m.Store.Update(ctx, in, fn)
}

func (m *killableStore) DeleteRange(ctx context.Context, lo, hi []byte) error {
	if m.dead() {
		return kv.ErrClosed
	}
	return m.Store.DeleteRange(ctx, lo, hi)
}

// TestKilledBetweenSteps creates and deletes indexes, TTL and the table, killed after every number of writes. A reopened store is
// consistent and completes unfinished work.
func TestKilledBetweenSteps(t *testing.T) {
	for writes := int64(0); ; writes++ {
		store := &killableStore{Store: kv.Checked(memkv.New())}
		store.left.Store(1 << 30)
		o := engine.Options{TTLInterval: -1}
		e := openOn(t, store, o)
		createTable(t, e, musicTable("b"))
		for i := range 150 {
			exp := attr.Field{Name: "exp", Value: attr.Number(fmt.Sprint(2_000_000_000 + i))}
			if err := putMusic(t.Context(), e, field("pk", fmt.Sprint(i)), field("a", "x"), field("b", "y"), exp); err != nil {
				t.Fatal(err)
			}
		}
		store.left.Store(writes)
		reached, survived := liveOn(t.Context(), e)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprintf("%d writes, %s", writes, reached), func(t *testing.T) { reopened(t, store.Store, o) })
		if survived {
			return
		}
	}
}

// liveOn changes the table step by step, and returns the last step and whether all were completed.
func liveOn(ctx context.Context, e *engine.Engine) (reached string, survived bool) {
	x, a := globalIndex("a")
	update := func(in api.UpdateTableInput) error {
		in.TableName = new("Music")
		_, err := e.UpdateTable(ctx, &in)
		return err
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"create index", func() error {
			return update(api.UpdateTableInput{
				AttributeDefinitions:        []api.AttributeDefinition{a},
				GlobalSecondaryIndexUpdates: []api.GlobalSecondaryIndexUpdate{{Create: &x}},
			})
		}},
		{"enable TTL", func() error {
			_, err := e.UpdateTimeToLive(ctx, &api.UpdateTimeToLiveInput{
				TableName:               new("Music"),
				TimeToLiveSpecification: &api.TimeToLiveSpecification{Enabled: new(true), AttributeName: new("exp")},
			})
			return err
		}},
		{"delete index", func() error {
			drop := &api.DeleteGlobalSecondaryIndexAction{IndexName: new("b")}
			return update(api.UpdateTableInput{GlobalSecondaryIndexUpdates: []api.GlobalSecondaryIndexUpdate{{Delete: drop}}})
		}},
		{"delete table", func() error {
			_, err := e.DeleteTable(ctx, &api.DeleteTableInput{TableName: new("Music")})
			return err
		}},
	} {
		reached = step.name
		err := step.do()
		e.Settle()
		if err != nil {
			return reached, false
		}
	}
	jobs, err := e.PendingJobs(ctx)
	return reached, err == nil && jobs == 1 // the change log is dropped after a day
}

// reopened opens the store left by the killed process.
func reopened(t *testing.T, store kv.Store, o engine.Options) {
	t.Helper()
	e := openOn(t, store, o)
	defer e.Close()
	e.Settle()
	wantVerified(t, e)
	jobs, err := e.PendingJobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := status(t, e); len(got) >= 6 && got[:6] == "ACTIVE" {
		if jobs != 0 {
			t.Errorf("%d jobs are left", jobs)
		}
		return
	}
	snapshot, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	for name, bounds := range map[string]func(keyenc.TableID) (lo, hi []byte){
		"items": keyenc.TableBounds, "TTL entries": keyenc.TTLTableBounds, "statistics": keyenc.StatisticsBounds,
	} {
		lo, hi := bounds(1)
		it := snapshot.Iter(lo, hi, kv.IterOptions{})
		if it.Next() {
			t.Errorf("the deleted table has %s left: %s", name, keyenc.Format(it.Key()))
		}
		if err := it.Close(); err != nil {
			t.Error(err)
		}
	}
	if jobs != 1 {
		t.Errorf("%d jobs are left, want the one that drops the change log", jobs)
	}
}
