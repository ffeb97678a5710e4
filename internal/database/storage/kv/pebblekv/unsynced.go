package pebblekv

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/monotable/monotable/internal/database/observe"
)

const (
	// stripeCount makes it rare that a read waits for a commit of other keys: one of 650 does while 100 keys
	// are being committed.
	stripeCount = 1 << 16
	// rangePrefix is how much the keys of a range must have in common for it to be watched by itself. It is
	// what the entries of one partition of a table or index begin with: space, table, index and hash.
	rangePrefix = 1 + 4 + 2 + 2
)

// unsynced knows what was committed and may be visible, but is not known to be synced.
//
// A commit is counted before it can be visible, in a stripe for each of its keys and for the beginning of each, and
// is taken out when it is synced. A reader looks at the stripes of what it read after it has read. If they are
// zero, all commits that it can have seen are durable. If they are not, it has the log synced: the commits that
// it saw stand in the log before that request. A stripe is shared by all keys of one hash: a wait too many at times,
// never one too few.
//
// A commit that fails stays counted, so that no reader ever takes it for durable.
//
// The nil unsynced belongs to stores that promise no durability, and to reads that do not wait: it is always empty.
type unsynced struct {
	seed    maphash.Seed
	commits atomic.Int64 // commits under way
	ranges  atomic.Int64 // those of them that may change any key: a range deletion, tables being loaded
	stripes [stripeCount]atomic.Int32
}

func newUnsynced() *unsynced { return &unsynced{seed: maphash.MakeSeed()} }

// appendStripes appends to a commit's stripes those of a key that it changes.
func (u *unsynced) appendStripes(stripes []uint32, key []byte) []uint32 {
	if u == nil {
		return stripes
	}
	stripes = append(stripes, u.stripe(key))
	if len(key) > rangePrefix {
		stripes = append(stripes, u.stripe(key[:rangePrefix]))
	}
	return stripes
}

func (u *unsynced) stripe(key []byte) uint32 {
	return uint32(maphash.Bytes(u.seed, key) % stripeCount)
}

// begin counts a commit that is about to be applied.
func (u *unsynced) begin(stripes []uint32) {
	if u == nil {
		return
	}
	u.commits.Add(1)
	for _, s := range stripes {
		u.stripes[s].Add(1)
	}
}

// end takes out a commit that is synced.
func (u *unsynced) end(stripes []uint32) {
	if u == nil {
		return
	}
	for _, s := range stripes {
		u.stripes[s].Add(-1)
	}
	u.commits.Add(-1)
}

// beginRange counts a change of unknown keys that is about to be applied.
func (u *unsynced) beginRange() {
	if u != nil {
		u.commits.Add(1)
		u.ranges.Add(1)
	}
}

// endRange takes out a change that is synced.
func (u *unsynced) endRange() {
	if u != nil {
		u.ranges.Add(-1)
		u.commits.Add(-1)
	}
}

// any reports whether anything is under way.
func (u *unsynced) any() bool { return u != nil && u.commits.Load() != 0 }

// hasKey reports whether a key, which has been read, may have been changed by a commit under way.
func (u *unsynced) hasKey(key []byte) bool {
	return u.any() && (u.stripes[u.stripe(key)].Load() != 0 || u.ranges.Load() != 0)
}

// hasRange is hasKey for any key of [lo, hi).
func (u *unsynced) hasRange(lo, hi []byte) bool {
	switch {
	case !u.any():
		return false
	case len(lo) < rangePrefix || len(hi) < rangePrefix || !bytes.Equal(lo[:rangePrefix], hi[:rangePrefix]):
		return true
	}
	return u.stripes[u.stripe(lo[:rangePrefix])].Load() != 0 || u.ranges.Load() != 0
}

// settleFor is settle for a request, which learns how long it took.
func (s *Store) settleFor(request *observe.Request) error {
	begun := time.Now()
	err := s.settle()
	request.WaitedForSync(begun)
	return err
}

// settle waits until everything that was visible before the call is durable.
func (s *Store) settle() (err error) {
	defer s.catch(&err)
	if err := s.writable(); err != nil {
		return err
	}
	if err := s.db.LogData(nil, pebble.Sync); err != nil {
		return err
	}
	return s.writable()
}
