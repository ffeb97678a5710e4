package move_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/monotable/monotable/internal/database/move"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// TestSuspended tests that a move that was suspended while it copied, and resumes after another one has completed, changes
// nothing in the target to which servers have been writing meanwhile. (A target on a PostgreSQL server is open to both.)
func TestSuspended(t *testing.T) {
	fs := disk(t)
	from, to := open(t, fs, "/source"), open(t, fs, "/target")
	defer closeStore(t, from)
	defer closeStore(t, to)
	var said []string
	suspended, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	first := options(t, &said)
	calls := 0
	var once sync.Once
	first.Progress = func(phase move.Phase, _, _ int64) {
		if calls++; phase == move.Copy && calls == 100 {
			once.Do(func() { close(suspended); <-goOn })
		}
	}
	go func() { _, err := move.Run(t.Context(), from, to, first); ended <- err }()
	select {
	case <-suspended:
	case err := <-ended:
		t.Fatalf("ended after %d calls: %v", calls, err)
	}
	if _, err := move.Run(t.Context(), from, to, options(t, &said)); err != nil {
		t.Fatal(err)
	}
	if is, why := whole(t, to); !is {
		t.Fatal(why)
	}
	it, err := to.Iter(t.Context(), []byte("d"), []byte("e"), kv.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	it.Next()
	key := bytes.Clone(it.Key())
	it.Close()
	err = to.Update(t.Context(), kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error { txn.Set(key, []byte("acknowledged")); return nil })
	if err != nil {
		t.Fatal(err)
	}
	close(goOn)
	t.Logf("the suspended move: %v", <-ended)
	if v, err := to.Get(t.Context(), key); string(v) != "acknowledged" || err != nil {
		t.Errorf("the target has %q, %v: a server's write to it is lost", v, err)
	}
}
