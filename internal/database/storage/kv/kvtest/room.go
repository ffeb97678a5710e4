//nolint:thelper // these are the tests, not helpers of tests: a failure is to name the line that found it
package kvtest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// noise is incompressible data.
func noise(rng *rand.Rand, n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	return data
}

func size(t *testing.T, s kv.Store, lo, hi string) int64 {
	t.Helper()
	n, err := s.Size(t.Context(), []byte(lo), []byte(hi))
	if err != nil {
		t.Fatalf("Size: %v", err)
	}
	return n
}

// expectAbout compares an estimate with the truth.
func expectAbout(t *testing.T, what string, got, want int64) {
	t.Helper()
	if got < want/2 || got > want*2 {
		t.Errorf("%s is estimated at %d bytes, and is %d", what, got, want)
	}
}

func testSize(t *testing.T, s kv.Store) {
	const n, each = 1000, 1000
	rng := rand.New(rand.NewPCG(1, 2))
	for name, got := range map[string]int64{"all": size(t, s, "a", "z"), "a range that is none": size(t, s, "z", "a")} {
		if got != 0 {
			t.Errorf("of an empty store, %s is estimated at %d bytes", name, got)
		}
	}
	err := s.Load(t.Context(), func(put func(key, value []byte) error) error {
		for i := range n {
			if err := put(key("m%04d", i), noise(rng, each)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	expectAbout(t, "all of it", size(t, s, "a", "z"), n*each)
	expectAbout(t, "a half", size(t, s, "a", "m0500"), n*each/2)
	expectAbout(t, "a tenth", size(t, s, "m0300", "m0400"), n*each/10)
	if got := size(t, s, "n", "z"); got > each {
		t.Errorf("a range without keys is estimated at %d bytes", got)
	}
	all, err := s.Size(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	expectAbout(t, "the whole store", all, n*each)
}

func testLogSize(t *testing.T, s kv.Store) {
	const n, each = 200, 5000
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		update(t, s, writing("k"), func(txn kv.Txn) error {
			txn.Set([]byte("k"), nil)
			txn.AppendLog(kv.LogID(1+i%2*8), noise(rng, each))
			return nil
		})
	}
	compact(t, s) // flushes data in memory, which is not estimated
	half := readLog(t, s, 1, 0, n)[n/4].Seq
	for _, c := range []struct {
		log   kv.LogID
		after kv.Seq
		want  int64
	}{{1, 0, n * each / 2}, {9, 0, n * each / 2}, {1, half, n * each / 4}} {
		got, err := s.LogSize(t.Context(), c.log, c.after)
		if err != nil {
			t.Fatal(err)
		}
		expectAbout(t, "a log", got, c.want)
	}
	if got, err := s.LogSize(t.Context(), 1, math.MaxUint64); got != 0 || err != nil {
		t.Errorf("after the last number, a log is estimated at %d bytes, %v", got, err)
	}
	if got, err := s.LogSize(t.Context(), 5, 0); got > 5*each || err != nil { // a block on either side
		t.Errorf("an unwritten log is estimated at %d bytes, %v", got, err)
	}
}

func compact(t *testing.T, s kv.Store) {
	t.Helper()
	if err := s.Compact(t.Context(), nil, nil); err != nil {
		t.Fatalf("Compact: %v", err)
	}
}

func testCompact(t *testing.T, s kv.Store) {
	compact(t, s)
	const n, each = 1000, 1000
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 3 { // overwrite, then delete
		for i := 0; i < n; i += 100 {
			update(t, s, kv.Intent{}, func(txn kv.Txn) error {
				for at := i; at < i+100; at++ {
					if round == 2 && at != 500 {
						txn.Delete(key("m%04d", at))
					} else {
						txn.Set(key("m%04d", at), noise(rng, each))
					}
				}
				txn.Add([]byte("n"), 1)
				return nil
			})
		}
	}
	if err := s.Compact(t.Context(), []byte("m"), []byte("n")); err != nil {
		t.Fatal(err)
	}
	if got := size(t, s, "m", "n"); got > 20*each {
		t.Errorf("after Compact one value of %d bytes is estimated at %d", each, got)
	}
	if v, err := s.Get(t.Context(), []byte("m0500")); len(v) != each || err != nil {
		t.Errorf("Get returns %d bytes, %v", len(v), err)
	}
	expectCounters(t, s, "n", 3*n/100)
	if err := s.Compact(t.Context(), []byte("n"), []byte("m")); err != nil {
		t.Errorf("of an invalid range: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Compact(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// testSplit: reads and writes on both sides of a split find what they did before, whether the keys exist or not.
func testSplit(t *testing.T, s kv.Store) {
	for i := range 40 {
		set(t, s, string(key("s%02d", i)), "before")
	}
	for _, at := range [][][]byte{{key("s30"), key("s10"), key("s105")}, {key("s10"), key("s10"), key("s20")}, nil} {
		if err := s.Split(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	update(t, s, writing("s05", "s15", "s25", "s35"), func(txn kv.Txn) error {
		for _, k := range keys("s05", "s15", "s25", "s35") {
			txn.Set(k, []byte("after"))
		}
		return nil
	})
	it, err := s.Iter(t.Context(), key("s"), key("t"), kv.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for i := range 40 {
		want := "before"
		if i%10 == 5 {
			want = "after"
		}
		if !it.Next() || string(it.Key()) != string(key("s%02d", i)) || string(it.Value()) != want {
			t.Fatalf("key %d is %q with %q, want %q: %v", i, it.Key(), it.Value(), want, it.Err())
		}
	}
	if it.Next() {
		t.Errorf("there is also %q", it.Key())
	}
}
