package engine_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// leaving is a store that a move marks when a server has its lease.
type leaving struct {
	kv.Store
	marked bool
}

func (l *leaving) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	err := l.Store.Update(ctx, in, fn)
	lo, hi := keyenc.Servers()
	if err != nil || l.marked || len(in.Write) == 0 || bytes.Compare(in.Write[0], lo) < 0 || bytes.Compare(in.Write[0], hi) >= 0 {
		return err
	}
	l.marked = true
	mark := format.Move{Stage: format.Leaving, To: "elsewhere", Version: 1}
	return l.Store.Update(ctx, kv.Intent{Write: [][]byte{keyenc.FormatVersion()}}, mark.Save)
}

// TestOpenWhileMoved: a server that is opened while a move starts sees the mark written after its lease, and gives up its lease.
func TestOpenWhileMoved(t *testing.T) {
	store := &leaving{Store: memkv.New()}
	defer store.Close()
	e, err := engine.Open(t.Context(), store, engine.Options{Shared: true})
	if err == nil {
		e.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "the database is being moved to elsewhere") || !store.marked {
		t.Errorf("%v; marked: %v", err, store.marked)
	}
	lo, hi := keyenc.Servers()
	it, err := store.Iter(t.Context(), lo, hi, kv.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	if it.Next() {
		t.Errorf("there is a lease: %s", it.Value())
	}
}
