package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// addVectorIndex adds the index of a name to the table Music.
func addVectorIndex(t *testing.T, e *engine.Engine, name string) error {
	t.Helper()
	for _, x := range vectorIndexes() {
		if *x.IndexName == name {
			_, err := e.UpdateTable(t.Context(), &api.UpdateTableInput{
				TableName: new("Music"), AttributeDefinitions: vectorDefinitions(), VectorIndexUpdates: []api.VectorIndexUpdate{{Create: &x}},
			})
			return err
		}
	}
	t.Fatalf("no index %s", name)
	return nil
}

func dropVectorIndex(t *testing.T, e *engine.Engine, name string) error {
	t.Helper()
	_, err := e.UpdateTable(t.Context(), &api.UpdateTableInput{
		TableName:          new("Music"),
		VectorIndexUpdates: []api.VectorIndexUpdate{{Delete: &api.DeleteVectorIndexAction{IndexName: &name}}},
	})
	return err
}

// TestVectorBackfillUnderWrites builds and drops vector indexes while items are added, changed and deleted, with restarts in
// between, and verifies every entry at the end.
func TestVectorBackfillUnderWrites(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			open := s.open(t)
			start := func() *engine.Engine {
				e, err := engine.Open(t.Context(), kv.Checked(open()), engine.Options{TTLInterval: -1})
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
			e := start()
			createTable(t, e, musicTable())
			rng := rand.New(rand.NewPCG(seed, 0))
			for i := range 200 {
				if err := putMusic(t.Context(), e, randomVectorItem(rng, i)...); err != nil {
					t.Fatal(err)
				}
			}
			for round, name := range []string{"cosine", "euclidean", "dot"} {
				var writers sync.WaitGroup
				for w := range 2 {
					random := rand.New(rand.NewPCG(seed, uint64(10*round+w+1)))
					writers.Go(func() { writeVectors(t, e, random) })
				}
				if err := addVectorIndex(t, e, name); err != nil {
					t.Error(err)
				}
				writers.Wait()
				if err := e.Close(); err != nil { // possibly in the middle of the backfill
					t.Fatal(err)
				}
				e = start()
				e.Settle()
				if done := wantVerified(t, e); done.IndexEntries == 0 {
					t.Error("there are no entries")
				}
			}
			for _, name := range []string{"cosine", "euclidean", "dot"} {
				if err := dropVectorIndex(t, e, name); err != nil {
					t.Error(err)
				}
				e.Settle()
			}
			if done := wantVerified(t, e); done.IndexEntries != 0 {
				t.Errorf("deleted indexes have %d entries", done.IndexEntries)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func writeVectors(t *testing.T, e *engine.Engine, random *rand.Rand) {
	t.Helper()
	for range 200 {
		it := randomVectorItem(random, random.IntN(300))
		var err error
		if random.IntN(4) == 0 {
			pk, _ := it.Get("pk")
			_, err = e.DeleteItem(t.Context(), &api.DeleteItemInput{TableName: new("Music"), Key: attr.Item{{Name: "pk", Value: pk}}})
		} else {
			err = putMusic(t.Context(), e, it...)
		}
		if err != nil {
			t.Error(err)
			return
		}
	}
}

// TestVectorIndexKilled builds and drops a vector index, killed after every number of writes. A reopened store completes
// unfinished work.
func TestVectorIndexKilled(t *testing.T) {
	for writes := int64(0); ; writes++ {
		store := &killableStore{Store: kv.Checked(memkv.New())}
		store.left.Store(1 << 30)
		o := engine.Options{TTLInterval: -1}
		e := openOn(t, store, o)
		createTable(t, e, musicTable())
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range 150 {
			if err := putMusic(t.Context(), e, randomVectorItem(rng, i)...); err != nil {
				t.Fatal(err)
			}
		}
		store.left.Store(writes)
		err := addVectorIndex(t, e, "cosine")
		e.Settle()
		if err == nil {
			err = dropVectorIndex(t, e, "cosine")
			e.Settle()
		}
		survived := err == nil && store.left.Load() > 0
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = openOn(t, store.Store, o)
		e.Settle()
		wantVerified(t, e)
		if jobs, err := e.PendingJobs(t.Context()); err != nil || jobs != 0 {
			t.Errorf("%d writes: %d jobs are left, %v", writes, jobs, err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if survived {
			return
		}
	}
}

// TestVerifierFindsWrongVectors: an entry with a different component, and one without an item, are found.
func TestVerifierFindsWrongVectors(t *testing.T) {
	store := kv.Checked(memkv.New())
	e := openEngine(t, store)
	createTable(t, e, vectorTable())
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 20 {
		it := randomVectorItem(rng, i).With("v", attr.List(randomVector(rng)))
		if err := putMusic(t.Context(), e, it...); err != nil {
			t.Fatal(err)
		}
	}
	wantVerified(t, e)
	lo, hi := keyenc.IndexBounds(1, 1)
	snapshot, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	it := snapshot.Iter(lo, hi, kv.IterOptions{})
	if !it.Next() {
		t.Fatal("the index has no entries")
	}
	key, value := append([]byte(nil), it.Key()...), append([]byte(nil), it.Value()...)
	for _, closing := range []func() error{it.Close, snapshot.Close} {
		if err := closing(); err != nil {
			t.Fatal(err)
		}
	}
	value[0]++
	if err := store.Update(t.Context(), kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error { txn.Set(key, value); return nil }); err != nil {
		t.Fatal(err)
	}
	var found []string
	if _, err := e.Verify(t.Context(), func(f verify.Finding) { found = append(found, fmt.Sprint(f)) }, nil); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || !strings.Contains(found[0], "it has another vector") {
		t.Errorf("found %q", found)
	}
}
