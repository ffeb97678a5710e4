package kv_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// TestCheckedPanics: what a caller must not do is noticed.
func TestCheckedPanics(t *testing.T) {
	a, b := []byte("a"), []byte("b")
	inUpdate := func(fn func(kv.Txn)) func(*testing.T, kv.Store) {
		return func(t *testing.T, s kv.Store) {
			t.Helper()
			in := kv.Intent{Write: [][]byte{a}, Check: [][]byte{b}}
			_ = s.Update(t.Context(), in, func(txn kv.Txn) error {
				fn(txn)
				return nil
			})
		}
	}
	inSnapshot := func(fn func(kv.Snapshot)) func(*testing.T, kv.Store) {
		return func(t *testing.T, s kv.Store) {
			t.Helper()
			snap, err := s.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			fn(snap)
		}
	}
	inLoad := func(keys ...string) func(*testing.T, kv.Store) {
		return func(t *testing.T, s kv.Store) {
			t.Helper()
			_ = s.Load(t.Context(), func(put func(key, value []byte) error) error {
				for _, k := range keys {
					_ = put([]byte(k), a)
				}
				return nil
			})
		}
	}
	tests := []struct {
		name string
		want string
		run  func(t *testing.T, s kv.Store)
	}{
		{"empty key", "empty or the store's own", inUpdate(func(txn kv.Txn) { txn.Set(nil, a) })},
		{"reserved key", "empty or the store's own", inUpdate(func(txn kv.Txn) { txn.Add([]byte{kv.ReservedPrefix}, 1) })},
		{"reserved range", "reaches into", inUpdate(func(txn kv.Txn) { txn.Iter(a, []byte{0xFF}, kv.IterOptions{}) })},
		{"write of a checked key", "only checks it", inUpdate(func(txn kv.Txn) { txn.Set(b, a) })},
		{"iterator left open", "1 iterators open", inUpdate(func(txn kv.Txn) { txn.Iter(nil, nil, kv.IterOptions{}) })},
		{"changed value", "was changed", inUpdate(func(txn kv.Txn) {
			v, _ := txn.Get(a)
			v[0]++
		})},
		{"write of a key that another update holds", "another update holds it", func(t *testing.T, s kv.Store) {
			t.Helper()
			held, free := make(chan struct{}), make(chan struct{})
			go func() {
				_ = s.Update(t.Context(), kv.Intent{Write: [][]byte{[]byte("other")}}, func(kv.Txn) error {
					close(held)
					<-free
					return nil
				})
			}()
			<-held
			defer close(free)
			inUpdate(func(txn kv.Txn) { txn.Delete([]byte("other")) })(t, s)
		}},
		{"txn after its end", "after its end", func(t *testing.T, s kv.Store) {
			t.Helper()
			var kept kv.Txn
			inUpdate(func(txn kv.Txn) { kept = txn })(t, s)
			kept.Set(a, a)
		}},
		{"snapshot after Close", "after its end", inSnapshot(func(s kv.Snapshot) {
			_ = s.Close()
			_, _ = s.Get(a)
		})},
		{"log of a snapshot after Close", "after its end", inSnapshot(func(s kv.Snapshot) {
			_ = s.Close()
			_, _ = s.ReadLog(1, 0, 1)
		})},
		{"LogSeq after the end", "after its end", func(t *testing.T, s kv.Store) {
			t.Helper()
			var kept kv.Txn
			inUpdate(func(txn kv.Txn) { kept = txn })(t, s)
			kept.LogSeq()
		}},
		{"load out of order", "is loaded after key 62", inLoad("a", "b", "b")},
		{"load of a reserved key", "empty or the store's own", inLoad("a", "\xF0")},
		{"load of an empty key", "empty or the store's own", inLoad("")},
		{"put after fill", "after the end of fill", func(t *testing.T, s kv.Store) {
			t.Helper()
			var kept func(key, value []byte) error
			_ = s.Load(t.Context(), func(put func(key, value []byte) error) error { kept = put; return nil })
			_ = kept(a, a)
		}},
		{"size of a reserved range", "reaches into", func(t *testing.T, s kv.Store) {
			t.Helper()
			_, _ = s.Size(t.Context(), a, []byte{0xF1})
		}},
		{"compaction of a reserved range", "reaches into", func(t *testing.T, s kv.Store) {
			t.Helper()
			_ = s.Compact(t.Context(), []byte{0xF1}, nil)
		}},
		{"keep of a reserved range", "reaches into", func(t *testing.T, s kv.Store) {
			t.Helper()
			_ = s.Keep(t.Context(), "k", kv.Selection{Spans: []kv.Span{{Lo: a, Hi: b}, {Hi: []byte{0xF1}}}})
		}},
		{"keep under a bad name", "cannot be the name", func(t *testing.T, s kv.Store) {
			t.Helper()
			_ = s.Keep(t.Context(), "../k", kv.Selection{})
		}},
		{"drop of a kept snapshot that is open", "while it is open", func(t *testing.T, s kv.Store) {
			t.Helper()
			_ = s.Keep(t.Context(), "k", kv.Selection{})
			one, _ := s.OpenKept(t.Context(), "k")
			_, _ = s.OpenKept(t.Context(), "k")
			_ = one.Close()
			_ = s.DropKept(t.Context(), "k")
		}},
		{"iterator after Close", "used after Close", inSnapshot(func(s kv.Snapshot) {
			it := s.Iter(nil, nil, kv.IterOptions{})
			_ = it.Close()
			it.Next()
		})},
		{"iterator before Next", "without a current entry", inSnapshot(func(s kv.Snapshot) {
			_ = s.Iter(nil, nil, kv.IterOptions{}).Key()
		})},
		{"changed key of an iterator", "was changed", inSnapshot(func(s kv.Snapshot) {
			it := s.Iter(nil, nil, kv.IterOptions{})
			it.Next()
			it.Key()[0]++
			it.Next()
		})},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := kv.Checked(memkv.New())
			err := s.Update(t.Context(), kv.Intent{Write: [][]byte{a}}, func(txn kv.Txn) error {
				txn.Set(a, []byte("value"))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), test.want) {
					t.Errorf("panic %v, want %q", r, test.want)
				}
			}()
			test.run(t, s)
		})
	}
}

// TestCheckedStoreScramblesRetainedSlices: a slice that is kept too long changes under its holder.
func TestCheckedStoreScramblesRetainedSlices(t *testing.T) {
	s := kv.Checked(memkv.New())
	key := []byte("key")
	var kept []byte
	runs := 0
	for range 8 {
		err := s.Update(t.Context(), kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
			runs++
			txn.Set(key, []byte("value"))
			v, err := txn.Get(key)
			kept = v
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if string(kept) == "value" {
		t.Error("a value outlived its txn")
	}
	if runs != 10 {
		t.Errorf("8 updates ran their function %d times, want two rehearsals", runs)
	}
}
