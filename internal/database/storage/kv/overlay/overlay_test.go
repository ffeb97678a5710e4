package overlay_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/overlay"
)

func TestGet(t *testing.T) {
	var w overlay.Writes
	for round := range 2 { // the second one on the space of the first
		for i := range 100 { // past the length from which an index is kept
			k := fmt.Appendf(nil, "k%d", i)
			if _, ok := w.Get(k); ok {
				t.Fatalf("round %d: %s exists before it was written", round, k)
			}
			w.Set(k, []byte("v"))
			w.Delete([]byte("k0"))
			w.Set([]byte("last"), fmt.Append(nil, i))
			if v, ok := w.Get(k); i > 0 && (!ok || string(v) != "v") {
				t.Fatalf("%s = %q, %v", k, v, ok)
			}
			if v, ok := w.Get([]byte("k0")); v != nil || !ok {
				t.Fatalf("deleted key = %q, %v", v, ok)
			}
			if v, _ := w.Get([]byte("last")); string(v) != fmt.Sprint(i) {
				t.Fatalf("last = %q, want %d", v, i)
			}
		}
		if w.Len() != 300 {
			t.Errorf("Len = %d", w.Len())
		}
		w.Reset()
	}
}

// list is a store's iterator over a fixed list that may end with an error.
type list struct {
	keys   []string
	at     int
	err    error
	closed bool
}

func (l *list) Next() bool    { l.at++; return l.at <= len(l.keys) }
func (l *list) Key() []byte   { return []byte(l.keys[l.at-1]) }
func (l *list) Value() []byte { return []byte("store") }
func (l *list) Close() error  { l.closed = true; return nil }
func (l *list) Err() error {
	if l.at > len(l.keys) {
		return l.err
	}
	return nil
}

// TestIter merges all ways in which a small set of writes can meet a small store.
func TestIter(t *testing.T) {
	names := []string{"a", "b", "c"}
	for state := range 1 << 9 { // for each key: in the store or not; not written, set, deleted, deleted then set
		var w overlay.Writes
		var stored []string
		want := ""
		for i, name := range names {
			bits := state >> (3 * i)
			value := ""
			if bits&1 != 0 {
				stored = append(stored, name)
				value = "store"
			}
			if bits&4 != 0 {
				w.Delete([]byte(name))
				value = ""
			}
			if bits&2 != 0 {
				w.Set([]byte(name), []byte("own"))
				value = "own"
			}
			if value != "" {
				want += name + "=" + value + " "
			}
		}
		if got := walk(t, &w, stored, false); got != want {
			t.Errorf("state %09b: %q, want %q", state, got, want)
		}
		reversed := bytes.Split(bytes.TrimSpace([]byte(want)), []byte(" "))
		slices.Reverse(reversed)
		slices.Reverse(stored)
		if got := walk(t, &w, stored, true); got != string(bytes.TrimLeft(append(bytes.Join(reversed, []byte(" ")), ' '), " ")) {
			t.Errorf("state %09b in reverse: %q, forward it is %q", state, got, want)
		}
	}
}

func walk(t *testing.T, w *overlay.Writes, stored []string, reverse bool) string {
	t.Helper()
	base := &list{keys: stored}
	it := w.Iter(base, nil, nil, kv.IterOptions{Reverse: reverse})
	got := ""
	for it.Next() {
		got += string(it.Key()) + "=" + string(it.Value()) + " "
	}
	if err := errors.Join(it.Err(), it.Close()); err != nil || !base.closed {
		t.Errorf("%v, store's iterator closed: %v", err, base.closed)
	}
	return got
}

// TestIterError: an error of the store ends the iteration, and the update's writes behind it are not given out
// as if nothing stood before them.
func TestIterError(t *testing.T) {
	var w overlay.Writes
	w.Set([]byte("a"), []byte("own"))
	w.Set([]byte("z"), []byte("own"))
	broken := errors.New("broken")
	it := w.Iter(&list{keys: []string{"b"}, err: broken}, nil, nil, kv.IterOptions{})
	n := 0
	for it.Next() {
		n++
	}
	if n != 2 || !errors.Is(it.Err(), broken) {
		t.Errorf("%d entries, error %v", n, it.Err())
	}
}
