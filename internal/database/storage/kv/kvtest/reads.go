//nolint:thelper // these are the tests, not helpers of tests: a failure is to name the line that found it
package kvtest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

func testGet(t *testing.T, s kv.Store) {
	expect(t, s, "a", "")
	set(t, s, "a", "1")
	expect(t, s, "a", "1")
	expect(t, s, "a\x00", "")
	set(t, s, "a", "2")
	expect(t, s, "a", "2")
	update(t, s, writing("a"), func(txn kv.Txn) error {
		txn.Delete([]byte("a"))
		txn.Delete([]byte("a"))
		return nil
	})
	expect(t, s, "a", "")

	// An empty value is a value.
	for _, empty := range [][]byte{nil, {}} {
		update(t, s, writing("e"), func(txn kv.Txn) error {
			txn.Set([]byte("e"), empty)
			if v, err := txn.Get([]byte("e")); v == nil || err != nil {
				t.Errorf("own empty value: %v, %v", v, err)
			}
			return nil
		})
		if v, err := s.Get(t.Context(), []byte("e")); v == nil || len(v) != 0 || err != nil {
			t.Errorf("empty value: %v, %v", v, err)
		}
		snap := snapshot(t, s)
		if v, err := snap.Get([]byte("e")); v == nil || err != nil {
			t.Errorf("empty value of a snapshot: %v, %v", v, err)
		}
		closeSnapshot(t, snap)
	}
}

// testValuesOfUpdate: the values that an update reads remain as they are until it ends, however many there are.
func testValuesOfUpdate(t *testing.T, s kv.Store) {
	want := map[string]string{"empty": ""}
	for i := range 40 {
		want[fmt.Sprintf("k%02d", i)] = strings.Repeat(strconv.Itoa(i), 1+i*i)
	}
	keys := slices.Sorted(maps.Keys(want))
	update(t, s, writing(keys...), func(txn kv.Txn) error {
		for _, k := range keys {
			txn.Set([]byte(k), []byte(want[k]))
		}
		return nil
	})
	for range 2 { // the second update on the memory of the first
		update(t, s, writing(keys...), func(txn kv.Txn) error {
			got := map[string][]byte{}
			for _, k := range keys {
				value, err := txn.Get([]byte(k))
				if err != nil || value == nil {
					t.Fatalf("%s: %v, %v", k, value, err)
				}
				got[k] = value
				txn.Set([]byte(k), value)
			}
			for _, k := range keys {
				if string(got[k]) != want[k] {
					t.Errorf("%s has become %q, want %q", k, got[k], want[k])
				}
			}
			return nil
		})
	}
}

func testOwnedSlices(t *testing.T, s kv.Store) {
	k, v := []byte("key"), []byte("value")
	update(t, s, kv.Intent{Write: [][]byte{k}}, func(txn kv.Txn) error {
		mine, value := bytes.Clone(k), bytes.Clone(v)
		txn.Set(mine, value)
		clear(mine)
		clear(value)
		if got, _ := txn.Get(k); !bytes.Equal(got, v) {
			t.Errorf("after the caller reused its slices the txn reads %q", got)
		}
		return nil
	})
	got, _ := s.Get(t.Context(), k)
	clear(got)
	expect(t, s, "key", "value")
	update(t, s, kv.Intent{}, func(txn kv.Txn) error {
		record := []byte("record")
		txn.AppendLog(1, record)
		clear(record)
		return nil
	})
	for range 2 {
		records := readLog(t, s, 1, 0, 10)
		if len(records) != 1 || string(records[0].Data) != "record" {
			t.Fatalf("log: %v", records)
		}
		clear(records[0].Data)
	}
}

func testAbort(t *testing.T, s kv.Store) {
	set(t, s, "a", "1")
	abort := errors.New("no")
	err := s.Update(t.Context(), writing("a", "b"), func(txn kv.Txn) error {
		txn.Set([]byte("a"), []byte("2"))
		txn.Set([]byte("b"), []byte("2"))
		txn.Add([]byte("c"), 1)
		txn.AppendLog(1, []byte("r"))
		return abort
	})
	if err != abort { //nolint:errorlint // the contract promises the very error
		t.Errorf("Update returned %v, want fn's error as it is", err)
	}
	if got := scanStore(t, s); got != "a=1 " {
		t.Errorf("after an abort: %s", got)
	}
	if c, err := s.Counter(t.Context(), []byte("c")); c != nil || err != nil {
		t.Errorf("counter after an abort: %v, %v", c, err)
	}
	if records := readLog(t, s, 1, 0, 10); len(records) != 0 {
		t.Errorf("log after an abort: %v", records)
	}
	set(t, s, "a", "3") // the keys have been released
}

func testReadYourWrites(t *testing.T, s kv.Store) {
	set(t, s, "a", "old")
	// More writes than any store keeps in a plain list.
	many := kv.Intent{Write: keys("a", "b")}
	for i := range 100 {
		many.Write = append(many.Write, key("m%02d", i))
	}
	update(t, s, many, func(txn kv.Txn) error {
		read := func(k, want string) {
			t.Helper()
			if got, err := txn.Get([]byte(k)); string(got) != want || err != nil {
				t.Errorf("Get(%q) = %q, %v; want %q", k, got, err, want)
			}
		}
		read("a", "old")
		txn.Set([]byte("a"), []byte("1"))
		read("a", "1")
		txn.Delete([]byte("a"))
		read("a", "")
		txn.Set([]byte("b"), []byte("2"))
		for i := range 100 {
			txn.Set(key("m%02d", i), key("v%d", i))
			read(fmt.Sprintf("m%02d", i/2), fmt.Sprintf("v%d", i/2))
		}
		txn.Set([]byte("a"), []byte("3"))
		read("a", "3")
		read("b", "2")
		txn.Delete([]byte("b"))
		read("b", "")
		return nil
	})
	expect(t, s, "a", "3")
	expect(t, s, "b", "")
	expect(t, s, "m99", "v99")
}

func testIterBounds(t *testing.T, s kv.Store) {
	for _, k := range []string{"b", "d", "d\x00", "f"} {
		set(t, s, k, k)
	}
	tests := []struct {
		lo, hi string // "-" is nil
		want   []string
	}{
		{"-", "-", []string{"b", "d", "d\x00", "f"}},
		{"a", "z", []string{"b", "d", "d\x00", "f"}},
		{"b", "f", []string{"b", "d", "d\x00"}},
		{"b\x00", "f\x00", []string{"d", "d\x00", "f"}},
		{"c", "e", []string{"d", "d\x00"}},
		{"d", "d\x00", []string{"d"}},
		{"d\x00", "d\x00\x00", []string{"d\x00"}},
		{"-", "d", []string{"b"}},
		{"d\x00", "-", []string{"d\x00", "f"}},
		{"f", "-", []string{"f"}},
		{"-", "b", nil},
		{"g", "-", nil},
		{"c", "d", nil},
		{"d", "d", nil},
		{"e", "c", nil},
	}
	snap := snapshot(t, s)
	defer closeSnapshot(t, snap)
	for _, test := range tests {
		for _, limit := range []int{0, 1, 100} {
			want := ""
			for _, k := range test.want {
				want += k + "=" + k + " "
			}
			got := scan(t, snap, bound(test.lo), bound(test.hi), kv.IterOptions{Limit: limit})
			if got != want {
				t.Errorf("[%q, %q): %q, want %q", test.lo, test.hi, got, want)
			}
			want = ""
			for _, k := range slices.Backward(test.want) {
				want += k + "=" + k + " "
			}
			got = scan(t, snap, bound(test.lo), bound(test.hi), kv.IterOptions{Reverse: true, Limit: limit})
			if got != want {
				t.Errorf("[%q, %q) reverse: %q, want %q", test.lo, test.hi, got, want)
			}
		}
	}
}

func bound(b string) []byte {
	if b == "-" {
		return nil
	}
	return []byte(b)
}

func testIterOverOwnWrites(t *testing.T, s kv.Store) {
	for _, k := range []string{"b", "d", "f", "h"} {
		set(t, s, k, "old")
	}
	update(t, s, writing("a", "b", "c", "d", "e", "f", "h", "i"), func(txn kv.Txn) error {
		txn.Set([]byte("d"), []byte("changed"))
		txn.Delete([]byte("f"))
		txn.Set([]byte("e"), []byte("x"))
		txn.Set([]byte("e"), []byte("new"))
		txn.Set([]byte("a"), []byte("new"))
		txn.Set([]byte("c"), []byte("gone"))
		txn.Delete([]byte("c"))
		txn.Delete([]byte("i"))
		want := "a=new b=old d=changed e=new h=old "
		if got := scan(t, txn, nil, nil, kv.IterOptions{}); got != want {
			t.Errorf("forward: %s, want %s", got, want)
		}
		want = "h=old e=new d=changed b=old a=new "
		if got := scan(t, txn, nil, nil, kv.IterOptions{Reverse: true}); got != want {
			t.Errorf("reverse: %s, want %s", got, want)
		}
		if got := scan(t, txn, []byte("b"), []byte("e"), kv.IterOptions{}); got != "b=old d=changed " {
			t.Errorf("[b, e): %s", got)
		}
		txn.Delete([]byte("h"))
		if got := scan(t, txn, []byte("f"), nil, kv.IterOptions{Reverse: true}); got != "" {
			t.Errorf("[f, ∞) reverse: %s", got)
		}
		return nil
	})
}

// testIterAgainstModel compares random ranges with a sorted list, committed and in progress.
func testIterAgainstModel(t *testing.T, s kv.Store) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	model := map[string]string{}
	randomKey := func() []byte {
		k := make([]byte, 1+rng.IntN(3))
		for i := range k {
			k[i] = "\x00a\x7f\xdf"[rng.IntN(4)]
		}
		return k
	}
	for round := range 60 {
		var in kv.Intent
		for range 1 + rng.IntN(30) {
			in.Write = append(in.Write, randomKey())
		}
		values := rng.Perm(len(in.Write))
		deletes := rng.IntN(3)
		update(t, s, in, func(txn kv.Txn) error {
			for i, k := range in.Write {
				if values[i]%3 < deletes {
					txn.Delete(k)
					delete(model, string(k))
				} else {
					v := fmt.Sprintf("%d.%d", round, values[i])
					txn.Set(k, []byte(v))
					model[string(k)] = v
				}
			}
			compareWithModel(t, txn, model, randomKey(), randomKey(), round%2 == 0)
			return nil
		})
		snap := snapshot(t, s)
		compareWithModel(t, snap, model, randomKey(), randomKey(), round%2 == 1)
		closeSnapshot(t, snap)
	}
}

// testRangeReadAgain reads the same few ranges again and again, some of them with a limit, between changes of various kinds.
func testRangeReadAgain(t *testing.T, s kv.Store) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	model := map[string]string{}
	randomKey := func() string { return fmt.Sprintf("partition%d/%d", rng.IntN(2), rng.IntN(8)) }
	change := func(round int) {
		switch k := randomKey(); rng.IntN(6) {
		case 0, 1, 2:
			set(t, s, k, strconv.Itoa(round))
			model[k] = strconv.Itoa(round)
		case 3:
			update(t, s, writing(k), func(txn kv.Txn) error { txn.Delete([]byte(k)); return nil })
			delete(model, k)
		case 4:
			if err := s.DeleteRange(t.Context(), []byte(k), []byte("partition1/5")); err != nil {
				t.Fatal(err)
			}
			maps.DeleteFunc(model, func(existing, _ string) bool { return existing >= k && existing < "partition1/5" })
		}
	}
	for round := range 300 {
		if rng.IntN(3) == 0 {
			change(round)
		}
		lo, hi := fmt.Sprintf("partition%d/%d", round%2, rng.IntN(3)), fmt.Sprintf("partition%d/%d", round%2, 5+rng.IntN(3))
		o := kv.IterOptions{Reverse: rng.IntN(2) == 0, Limit: rng.IntN(4)}
		reads := kv.Reads(s)
		if rng.IntN(2) == 0 {
			reads = s.Eventual()
		}
		it, err := reads.Iter(t.Context(), []byte(lo), []byte(hi), o)
		if err != nil {
			t.Fatal(err)
		}
		want := modelRange(model, lo, hi, o)
		if rng.IntN(4) == 0 {
			change(round) // the iterator must not see it
		}
		var got []string
		for (o.Limit == 0 || len(got) < o.Limit) && it.Next() {
			got = append(got, string(it.Key())+"="+string(it.Value()))
		}
		if err := errors.Join(it.Err(), it.Close()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d: [%q, %q) %+v (-want +got):\n%s", round, lo, hi, o, diff)
		}
	}
}

func compareWithModel(t *testing.T, r kv.Reader, model map[string]string, lo, hi []byte, reverse bool) {
	t.Helper()
	o := kv.IterOptions{Reverse: reverse}
	want := strings.Join(append(modelRange(model, string(lo), string(hi), o), ""), " ")
	got := scan(t, r, lo, hi, o)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("[%q, %q) reverse %v (-want +got):\n%s", lo, hi, reverse, diff)
	}
}

// modelRange returns the entries of a range as key=value.
func modelRange(model map[string]string, lo, hi string, o kv.IterOptions) (entries []string) {
	keys := slices.Sorted(maps.Keys(model))
	if o.Reverse {
		slices.Reverse(keys)
	}
	for _, k := range keys {
		if k >= lo && k < hi && (o.Limit == 0 || len(entries) < o.Limit) {
			entries = append(entries, k+"="+model[k])
		}
	}
	return entries
}

func testSnapshotStandsStill(t *testing.T, s kv.Store) {
	set(t, s, "a", "1")
	set(t, s, "b", "1")
	update(t, s, kv.Intent{}, func(txn kv.Txn) error {
		txn.Add([]byte("n"), 1)
		return nil
	})
	snap := snapshot(t, s)
	iterators := map[string]kv.Iterator{"snapshot": snap.Iter(nil, []byte("n"), kv.IterOptions{})}
	var err error
	if iterators["store"], err = s.Iter(t.Context(), nil, []byte("n"), kv.IterOptions{}); err != nil {
		t.Fatal(err)
	}
	update(t, s, writing("a", "b", "c"), func(txn kv.Txn) error {
		txn.Set([]byte("a"), []byte("2"))
		txn.Delete([]byte("b"))
		txn.Set([]byte("c"), []byte("2"))
		txn.Add([]byte("n"), 1)
		return nil
	})
	if err := s.DeleteRange(t.Context(), []byte("a"), []byte("b")); err != nil {
		t.Fatal(err)
	}
	if got := scan(t, snap, nil, []byte("n"), kv.IterOptions{}); got != "a=1 b=1 " {
		t.Errorf("the snapshot became %s", got)
	}
	for of, it := range iterators {
		var seen []string
		for it.Next() {
			seen = append(seen, string(it.Key())+"="+string(it.Value()))
		}
		if err := it.Close(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"a=1", "b=1"}, seen); diff != "" {
			t.Errorf("an iterator of the %s made before the update (-want +got):\n%s", of, diff)
		}
	}
	if v, err := snap.Get([]byte("c")); v != nil || err != nil {
		t.Errorf("the snapshot reads %q, %v", v, err)
	}
	if c, err := snap.Counter([]byte("n")); err != nil || !slices.Equal(c, []int64{1}) {
		t.Errorf("the snapshot counts %v, %v", c, err)
	}
	closeSnapshot(t, snap)
	expect(t, s, "c", "2")
}

func testSnapshotFromManyGoroutines(t *testing.T, s kv.Store) {
	for i := range 100 {
		set(t, s, fmt.Sprintf("k%02d", i), "v")
	}
	ctx := background(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				snap, err := s.Snapshot(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				it := snap.Iter(key("k%02d", g), nil, kv.IterOptions{Reverse: i%2 == 0})
				n := 0
				for it.Next() {
					n++
				}
				if n != 100-g {
					t.Errorf("%d entries, want %d", n, 100-g)
				}
				_ = it.Close()
				_ = snap.Close()
			}
		})
	}
	wg.Wait()
}

func testDeleteRange(t *testing.T, s kv.Store) {
	for _, k := range []string{"a", "b", "b\x00", "c", "d"} {
		set(t, s, k, "1")
	}
	update(t, s, kv.Intent{}, func(txn kv.Txn) error {
		txn.Add([]byte("bn"), 7)
		txn.AppendLog(1, []byte("r"))
		return nil
	})
	for _, r := range []struct{ lo, hi, want string }{
		{"c", "c", "a=1 b=1 b\x00=1 "},
		{"d", "b", "a=1 b=1 b\x00=1 "},
		{"b", "c", "a=1 "},
	} {
		if err := s.DeleteRange(t.Context(), []byte(r.lo), []byte(r.hi)); err != nil {
			t.Fatal(err)
		}
		snap := snapshot(t, s)
		if got := scan(t, snap, nil, []byte("bn"), kv.IterOptions{}); got != r.want {
			t.Errorf("after DeleteRange(%q, %q): %q, want %q", r.lo, r.hi, got, r.want)
		}
		closeSnapshot(t, snap)
	}
	if c, err := s.Counter(t.Context(), []byte("bn")); c != nil || err != nil {
		t.Errorf("counters outlive their range: %v, %v", c, err)
	}
	if err := s.DeleteRange(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if got := scanStore(t, s); got != "" {
		t.Errorf("after deleting everything: %q", got)
	}
	if records := readLog(t, s, 1, 0, 10); len(records) != 1 {
		t.Errorf("the log went with the callers' keys")
	}
	set(t, s, "a", "2")
	expect(t, s, "a", "2")
}
