package pebblekv

import (
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
