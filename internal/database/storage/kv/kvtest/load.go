//nolint:thelper // these are the tests, not helpers of tests: a failure is to name the line that found it
package kvtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// load loads n keys "PREFIX000000" and so on, each with its own key as its value, from reused buffers.
func load(t *testing.T, s kv.Store, prefix string, n int) {
	t.Helper()
	err := s.Load(t.Context(), func(put func(key, value []byte) error) error {
		var k []byte
		for i := range n {
			k = fmt.Appendf(k[:0], "%s%06d", prefix, i)
			if err := put(k, k); err != nil {
				return err
			}
		}
		clear(k)
		return nil
	})
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
}

// loaded counts the loaded keys, and fails unless there are none or n.
func loaded(t *testing.T, r kv.Reader, prefix string, n int) bool {
	t.Helper()
	it := r.Iter([]byte(prefix), append([]byte(prefix), 0x7F), kv.IterOptions{})
	i := 0
	for ; it.Next(); i++ {
		want := fmt.Appendf(nil, "%s%06d", prefix, i)
		if !bytes.Equal(it.Key(), want) || !bytes.Equal(it.Value(), want) {
			t.Errorf("entry %d is %s=%s, want %s", i, it.Key(), it.Value(), want)
			break
		}
	}
	if err := errors.Join(it.Err(), it.Close()); err != nil {
		t.Error(err)
	}
	if i != 0 && i != n {
		t.Errorf("%d of %d loaded keys are there", i, n)
	}
	return i == n
}

func testLoad(t *testing.T, s kv.Store) {
	set(t, s, "a", "before")
	set(t, s, "l000001x", "between")
	set(t, s, "z", "after")
	before := snapshot(t, s)
	old, err := s.Iter(t.Context(), nil, nil, kv.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	load(t, s, "l", 2)
	load(t, s, "m", 3000)
	want := "a=before l000001x=between z=after "
	if got := scan(t, before, nil, nil, kv.IterOptions{}); got != want {
		t.Errorf("a snapshot from before holds %s", got)
	}
	for n := 0; old.Next(); n++ {
		if n == 3 {
			t.Error("an iterator from before sees more")
		}
	}
	if err := errors.Join(old.Err(), old.Close()); err != nil {
		t.Error(err)
	}
	closeSnapshot(t, before)
	now := snapshot(t, s)
	if !loaded(t, now, "m", 3000) {
		t.Error("nothing is loaded")
	}
	want = "a=before l000000=l000000 l000001=l000001 l000001x=between "
	if got := scan(t, now, nil, []byte("m"), kv.IterOptions{}); got != want {
		t.Errorf("the store holds %s", got)
	}
	closeSnapshot(t, now)
	expect(t, s, "m002999", "m002999")
	set(t, s, "m000007", "updated")
	expect(t, s, "m000007", "updated")
	update(t, s, writing("m000008"), func(txn kv.Txn) error {
		v, err := txn.Get([]byte("m000008"))
		if string(v) != "m000008" {
			t.Errorf("an update reads %q", v)
		}
		txn.Delete([]byte("m000008"))
		return err
	})
	expect(t, s, "m000008", "")
}

func testLoadNothing(t *testing.T, s kv.Store) {
	load(t, s, "l", 0)
	if got := scanStore(t, s); got != "" {
		t.Errorf("the store holds %s", got)
	}
}

func testLoadFails(t *testing.T, s kv.Store) {
	set(t, s, "a", "1")
	broken := errors.New("broken")
	for _, test := range []struct {
		want   error
		middle func(cancel context.CancelFunc) error
	}{
		{broken, func(context.CancelFunc) error { return broken }},
		{context.Canceled, func(cancel context.CancelFunc) error { cancel(); return nil }},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		err := s.Load(ctx, func(put func(key, value []byte) error) error {
			for i := range 100 {
				if i == 50 {
					if err := test.middle(cancel); err != nil {
						return err
					}
				}
				if err := put(key("l%03d", i), []byte("v")); err != nil {
					return err
				}
			}
			return nil
		})
		cancel()
		if !errors.Is(err, test.want) {
			t.Errorf("Load returns %v, want %v", err, test.want)
		}
	}
	if got := scanStore(t, s); got != "a=1 " {
		t.Errorf("the store holds %s", got)
	}
	load(t, s, "l", 10)
}

// testLoadOverDeleted: earlier deletions do not affect loaded keys.
func testLoadOverDeleted(t *testing.T, s kv.Store) {
	for range 3 {
		load(t, s, "l", 100)
		update(t, s, writing("l000050"), func(txn kv.Txn) error {
			txn.Delete([]byte("l000050"))
			return nil
		})
		if err := s.DeleteRange(t.Context(), []byte("l"), []byte("m")); err != nil {
			t.Fatal(err)
		}
		if got := scanStore(t, s); got != "" {
			t.Fatalf("after DeleteRange the store holds %s", got)
		}
	}
	load(t, s, "l", 100)
	snap := snapshot(t, s)
	defer closeSnapshot(t, snap)
	if !loaded(t, snap, "l", 100) {
		t.Error("nothing is loaded")
	}
}

// testLoadAtOnce: readers see either all of a load or nothing, while updates continue.
func testLoadAtOnce(t *testing.T, s kv.Store) {
	ctx := background(t)
	done := make(chan struct{})
	var wg sync.WaitGroup
	until := func(step func(i int) error) {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				if err := step(i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	until(func(i int) error {
		k := key("%c%d", 'k'+rune(i%10), i) // on both sides of the loaded keys
		return s.Update(ctx, kv.Intent{Write: [][]byte{k}}, func(txn kv.Txn) error {
			txn.Set(k, k)
			return nil
		})
	})
	until(func(int) error {
		snap, err := s.Snapshot(ctx)
		if err != nil {
			return err
		}
		for n := range 5 {
			loaded(t, snap, fmt.Sprintf("load%d-", n), 500)
		}
		return snap.Close()
	})
	for n := range 5 {
		load(t, s, fmt.Sprintf("load%d-", n), 500)
		snap := snapshot(t, s)
		if !loaded(t, snap, fmt.Sprintf("load%d-", n), 500) {
			t.Errorf("load %d returned and is not to be seen", n)
		}
		closeSnapshot(t, snap)
	}
	close(done)
	wg.Wait()
}

func testLoadLimits(t *testing.T, s kv.Store) {
	l := s.Limits()
	try := func(k, v []byte) error {
		return s.Load(t.Context(), func(put func(key, value []byte) error) error {
			return errors.Join(put([]byte("a"), nil), put(k, v))
		})
	}
	k := bytes.Repeat([]byte("k"), l.KeyBytes)
	if err := try(append(k, 'k'), nil); !errors.Is(err, kv.ErrTooLarge) {
		t.Errorf("key of %d bytes: %v", l.KeyBytes+1, err)
	}
	v := bytes.Repeat([]byte("v"), l.ValueBytes)
	if err := try(k, append(v, 'v')); !errors.Is(err, kv.ErrTooLarge) {
		t.Errorf("value of %d bytes: %v", l.ValueBytes+1, err)
	}
	expect(t, s, "a", "")
	if err := try(k, v); err != nil {
		t.Errorf("key and value at the limits: %v", err)
	}
	if got, err := s.Get(t.Context(), k); len(got) != len(v) || err != nil {
		t.Errorf("the largest value came back with %d bytes, %v", len(got), err)
	}
	if got, err := s.Get(t.Context(), []byte("a")); got == nil || len(got) != 0 || err != nil {
		t.Errorf("an empty value came back as %v, %v", got, err)
	}
}
