package pebblekv

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// BreakInvariant makes stores opened from now on treat an error of check, which is called whenever their tables change, as a
// violated invariant of Pebble.
func BreakInvariant(t *testing.T, check func() error) {
	t.Helper()
	debugCheck = func(*pebble.DB) error { return check() }
	t.Cleanup(func() { debugCheck = nil })
}

// WithLargeUpdates sets the size from which updates are large.
func (o Options) WithLargeUpdates(from int) Options {
	o.largeUpdate = from
	return o
}

// KeepUp runs the periodic reservation of sequence numbers now.
func (s *Store) KeepUp() { s.keepUp() }

// OwnPairs returns Pebble's keys and values from the logs on.
func (s *Store) OwnPairs(t *testing.T) [][2][]byte {
	t.Helper()
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{logPrefix}})
	if err != nil {
		t.Fatal(err)
	}
	var pairs [][2][]byte
	for it.First(); it.Valid(); it.Next() {
		pairs = append(pairs, [2][]byte{bytes.Clone(it.Key()), bytes.Clone(it.Value())})
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	return pairs
}
