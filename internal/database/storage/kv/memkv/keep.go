package memkv

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// kept is a snapshot that the store holds on to.
type kept struct {
	snapshot
	what  kv.Selection
	bytes func() int64 // computed on demand, because it walks through everything
}

// Keep keeps what the store holds now.
func (s *Store) Keep(ctx context.Context, name string, what kv.Selection) error {
	if !kv.ValidKeptName(name) {
		return fmt.Errorf("memkv: %q cannot be the name of a kept snapshot", name)
	}
	if s.closed.Load() {
		return kv.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	what = clone(what)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[name] != nil {
		return fmt.Errorf("%w: %s", kv.ErrKeptExists, name)
	}
	k := &kept{snapshot: snapshot{s.frozen()}, what: what}
	// Keep only the selected logs: the others would retain trimmed records.
	k.state = &state{k.tree, new(logs)}
	for _, log := range what.Logs {
		if records, ok := s.logs.Get(log); ok {
			k.logs.Set(log, records)
		}
	}
	k.bytes = sync.OnceValue(k.size)
	s.kept[name] = k
	return nil
}

// OpenKept opens a kept snapshot.
func (s *Store) OpenKept(_ context.Context, name string) (kv.Snapshot, error) {
	if s.closed.Load() {
		return nil, kv.ErrClosed
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	k := s.kept[name]
	if k == nil {
		return nil, fmt.Errorf("%w: %s", kv.ErrNotKept, name)
	}
	return k.snapshot, nil
}

// Kept lists the kept snapshots.
func (s *Store) Kept(context.Context) ([]kv.KeptSnapshot, error) {
	if s.closed.Load() {
		return nil, kv.ErrClosed
	}
	s.mu.RLock()
	all := maps.Clone(s.kept)
	s.mu.RUnlock()
	list := make([]kv.KeptSnapshot, 0, len(all))
	for name, k := range all {
		list = append(list, kv.KeptSnapshot{Name: name, Bytes: k.bytes()})
	}
	slices.SortFunc(list, func(a, b kv.KeptSnapshot) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// DropKept forgets a kept snapshot.
func (s *Store) DropKept(_ context.Context, name string) error {
	if s.closed.Load() {
		return kv.ErrClosed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, name)
	return nil
}

// size returns the total length of the selection.
func (k *kept) size() int64 {
	var n int64
	for _, span := range k.what.Spans {
		n += size(k.tree, span.Lo, span.Hi)
	}
	for _, log := range k.what.Logs {
		n += logSize(k.logs, log, 0)
	}
	return n
}

func clone(what kv.Selection) kv.Selection {
	what.Logs = slices.Clone(what.Logs)
	what.Spans = slices.Clone(what.Spans)
	for i, span := range what.Spans {
		what.Spans[i] = kv.Span{Lo: bytes.Clone(span.Lo), Hi: bytes.Clone(span.Hi)}
	}
	return what
}
