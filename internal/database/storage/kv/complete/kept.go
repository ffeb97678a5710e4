package complete

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
)

// OpenKept implements kv.Keeper.
func (s *Store) OpenKept(ctx context.Context, name string) (kv.Snapshot, error) {
	if native, has := s.Core.(kv.Keeper); has {
		return native.OpenKept(ctx, name)
	}
	below, err := s.Core.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	r, err := get(below, recordKey(name))
	if err == nil && r.state != whole {
		err = fmt.Errorf("%w: %s", kv.ErrNotKept, name)
	}
	if err != nil {
		below.Close()
		return nil, err
	}
	return &kept{below, r.id}, nil
}

// kept is a copy, read in a snapshot of the core.
type kept struct {
	below kv.Snapshot
	id    uint64
}

func (k *kept) key(key []byte) []byte { return append(copyPrefix(entries, k.id), key...) }

// Get implements kv.Reader.
func (k *kept) Get(key []byte) ([]byte, error) { return k.below.Get(k.key(key)) }

// Counter implements kv.Reader.
func (k *kept) Counter(key []byte) ([]int64, error) {
	data, err := k.Get(key)
	if err != nil {
		return nil, err
	}
	return counters.Decode(data)
}

// Iter implements kv.Reader.
func (k *kept) Iter(lo, hi []byte, o kv.IterOptions) kv.Iterator {
	return iterator{k.below.Iter(k.key(lo), k.key(end(hi)), o)}
}

// iterator strips the copy's prefix from keys.
type iterator struct{ kv.Iterator }

func (it iterator) Key() []byte { return it.Iterator.Key()[len(copyPrefix(entries, 0)):] }

// ReadLog implements kv.Snapshot.
func (k *kept) ReadLog(log kv.LogID, from kv.Seq, limit int) (read []kv.Record, err error) {
	prefix := logPrefix(k.id, log)
	if from == kv.Seq(^uint64(0)) {
		return nil, nil
	}
	it := k.below.Iter(binary.BigEndian.AppendUint64(prefix, uint64(from)+1), after(prefix), kv.IterOptions{Limit: limit})
	defer it.Close()
	for size := 0; len(read) < limit && size < kv.LogReadBytes && it.Next(); {
		seq := binary.BigEndian.Uint64(it.Key()[len(prefix):])
		read = append(read, kv.Record{Seq: kv.Seq(seq), Data: append([]byte{}, it.Value()...)})
		size += len(it.Value())
	}
	return read, it.Err()
}

// Close implements kv.Snapshot.
func (k *kept) Close() error { return k.below.Close() }
