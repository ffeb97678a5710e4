package pebblekv

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// BreakInvariant has stores that are opened from now on take an error of check, which is asked whenever their tables
// change, for a broken invariant of Pebble.
func BreakInvariant(t *testing.T, check func() error) {
	t.Helper()
	debugCheck = func(*pebble.DB) error { return check() }
	t.Cleanup(func() { debugCheck = nil })
}

// WithLargeUpdates makes updates large from a size in bytes on.
func (o Options) WithLargeUpdates(from int) Options {
	o.largeUpdate = from
	return o
}

// KeepUp runs the periodic reservation of sequence numbers now.
func (s *Store) KeepUp() { s.keepUp() }

// OwnPairs returns what Pebble holds from the logs on: keys and values.
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
