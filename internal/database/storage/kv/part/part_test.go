package part_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// closing is a part that closes the store below.
type closing struct {
	*part.Part
	below kv.Store
}

func (c closing) Close() error { return c.below.Close() }

// within opens a part of a store that has another one, and keys of its own.
func within(t *testing.T, store kv.Store) kv.Store {
	t.Helper()
	if _, err := part.Open(t.Context(), store, "other"); err != nil {
		t.Fatal(err)
	}
	p, err := part.Open(t.Context(), store, "eu-west-1")
	if err != nil {
		t.Fatal(err)
	}
	return closing{p, store}
}

func pebble(t *testing.T) kv.Store {
	t.Helper()
	store, err := pebblekv.Open("/data", pebblekv.Options{FS: vfs.NewMem(), MemTableBytes: 1 << 20, CacheBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestContract(t *testing.T) {
	t.Run("memkv", func(t *testing.T) {
		kvtest.Run(t, func(t *testing.T) kv.Store { t.Helper(); return within(t, memkv.New()) })
	})
	t.Run("pebblekv", func(t *testing.T) {
		kvtest.Run(t, func(t *testing.T) kv.Store { t.Helper(); return within(t, pebble(t)) })
	})
}

func TestMisuse(t *testing.T) {
	kvtest.RunMisuse(t, func(t *testing.T) kv.Store { t.Helper(); return within(t, memkv.New()) })
}

// TestPartsAreIsolated does the same in a store and in two of its parts, whose names begin alike. Each sees its own only, and
// what is removed in one stays in the others.
func TestPartsAreIsolated(t *testing.T) {
	for _, below := range []kv.Store{memkv.New(), pebble(t)} {
		defer below.Close()
		stores := []kv.Store{below}
		for _, name := range []string{"eu", "eu-west"} {
			p, err := part.Open(t.Context(), below, name)
			if err != nil {
				t.Fatal(err)
			}
			stores = append(stores, p)
		}
		for i, s := range stores {
			fill(t, s, fmt.Sprint("value ", i))
		}
		for i, s := range stores {
			want := []string{"a=value " + fmt.Sprint(i), "b=value " + fmt.Sprint(i)}
			if diff := cmp.Diff(want, contents(t, s)); diff != "" {
				t.Errorf("store %d: %s", i, diff)
			}
			records, _, err := s.ReadLog(t.Context(), 7, 0, 10)
			if err != nil || len(records) != 1 || string(records[0].Data) != fmt.Sprint("value ", i) {
				t.Errorf("store %d: log %v, %v", i, records, err)
			}
		}
		empty(t, stores[1])
		for i, s := range stores {
			want := 2
			if i == 1 {
				want = 0
			}
			kept, err := s.Kept(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			own := 0
			for _, k := range kept {
				if k.Name == "kept" {
					own++
				}
			}
			if n := len(contents(t, s)); n != want || own != want/2 {
				t.Errorf("store %d has %d keys and %d kept snapshots, want %d and %d", i, n, own, want, want/2)
			}
		}
	}
}

// TestStoredForm pins where the keys and logs of parts are, and how parts are numbered; it must never change.
func TestStoredForm(t *testing.T) {
	below := memkv.New()
	for i, name := range []string{"eu", "us-west-2"} {
		p, err := part.Open(t.Context(), below, name)
		if err != nil {
			t.Fatal(err)
		}
		fill(t, p, "v")
		log := kv.LogID((i+1)<<26 | 7)
		if records, _, err := below.ReadLog(t.Context(), log, 0, 10); err != nil || len(records) != 1 {
			t.Errorf("log %d has %v, %v", log, records, err)
		}
	}
	want := []string{
		"r\x00eu=\x00\x00\x00\x01", "r\x00us-west-2=\x00\x00\x00\x02",
		"reu\x00a=v", "reu\x00b=v", "rus-west-2\x00a=v", "rus-west-2\x00b=v",
	}
	it, err := below.Iter(t.Context(), []byte("r"), []byte("s"), kv.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, walk(t, it)); diff != "" {
		t.Error(diff)
	}
	kept, err := below.Kept(t.Context())
	if err != nil || len(kept) != 2 || kept[0].Name != "r-eu-kept" || kept[1].Name != "r-us-west-2-kept" {
		t.Errorf("kept %v, %v", kept, err)
	}
}

func fill(t *testing.T, s kv.Store, value string) {
	t.Helper()
	err := s.Update(t.Context(), kv.Intent{Write: [][]byte{[]byte("a"), []byte("b")}}, func(txn kv.Txn) error {
		txn.Set([]byte("a"), []byte(value))
		txn.Set([]byte("b"), []byte(value))
		txn.AppendLog(7, []byte(value))
		return nil
	})
	if err == nil {
		err = s.Keep(t.Context(), "kept", kv.Selection{Spans: []kv.Span{{Lo: []byte("a"), Hi: []byte("c")}}, Logs: []kv.LogID{7}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func empty(t *testing.T, s kv.Store) {
	t.Helper()
	for _, remove := range []func(context.Context) error{
		func(ctx context.Context) error { return s.DeleteRange(ctx, []byte("a"), nil) },
		func(ctx context.Context) error { return s.TrimLog(ctx, 7, ^kv.Seq(0)) },
		func(ctx context.Context) error { return s.DropKept(ctx, "kept") },
	} {
		if err := remove(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// contents are the keys from a to c, read forwards, and backwards from a snapshot.
func contents(t *testing.T, s kv.Store) []string {
	t.Helper()
	it, err := s.Iter(t.Context(), []byte("a"), []byte("c"), kv.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	forward := walk(t, it)
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	backward := walk(t, snapshot.Iter([]byte("a"), []byte("c"), kv.IterOptions{Reverse: true}))
	slices.Reverse(backward)
	if diff := cmp.Diff(forward, backward); diff != "" {
		t.Errorf("forwards and backwards differ: %s", diff)
	}
	return forward
}

func walk(t *testing.T, it kv.Iterator) (pairs []string) {
	t.Helper()
	for it.Next() {
		pairs = append(pairs, string(it.Key())+"="+string(it.Value()))
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	return pairs
}

// TestPartKeepsItsLogs checks that a part finds its logs again, and that overlapping names are rejected.
func TestPartKeepsItsLogs(t *testing.T) {
	store := memkv.New()
	for _, name := range []string{"b", "a", "b", "c"} {
		p, err := part.Open(t.Context(), store, name)
		if err != nil {
			t.Fatal(err)
		}
		err = p.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error { txn.AppendLog(1, []byte(name)); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	p, err := part.Open(t.Context(), store, "b")
	if err != nil {
		t.Fatal(err)
	}
	records, _, err := p.ReadLog(t.Context(), 1, 0, 10)
	if err != nil || len(records) != 2 || string(records[0].Data)+string(records[1].Data) != "bb" {
		t.Errorf("log of b: %v, %v", records, err)
	}
	names, err := part.Names(t.Context(), store)
	if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" || err != nil {
		t.Errorf("names: %s, %v", diff, err)
	}
	for _, name := range []string{"", "A", "a/b", "a\x00b", "ä"} {
		if _, err := part.Open(t.Context(), store, name); err == nil {
			t.Errorf("a part is named %q", name)
		}
	}
	for i := range 60 {
		if _, err := part.Open(t.Context(), store, fmt.Sprint("p", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := part.Open(t.Context(), store, "onemore"); err == nil {
		t.Error("a 64th part is opened")
	}
}
