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
	// stripeCount makes it rare for a commit to affect other keys: reads of them must wait while it is in progress, and what was cached
	// of them is no longer valid. A put with two index entries counts in six stripes, so 1,000 puts per second leave a cached value valid
	// for about three minutes. The stripes take 8 MiB.
	stripeCount = 1 << 20
	// stripeBlock is the number of stripes allocated together. The allocator clears all memory of an allocation of which any has been used
	// before: in one piece, that was all 8 MiB, and 30 % of the processor time until the first response.
	stripeBlock = 1 << 15
	// rangePrefix is the length of the common prefix that lets a range be tracked by itself. It is the prefix of all entries of
	// one partition of a table or index: space, table, index and hash. In a part of a store with a long name it is that name.
	rangePrefix = 1 + 4 + 2 + 2
)

// unsynced tracks what has been committed and may be visible, but is not known to be synced.
//
// A commit is counted before it can be visible, in a stripe for each of its keys and for the prefix of each, and removed when it
// is synced. After reading, a reader checks the stripes of what it has read. If they are zero, all commits that it can have seen
// are durable. If they are not, it syncs the log: the commits that it saw are in the log before that request. A stripe is shared
// by all keys with the same hash, so there may be unnecessary waits, but never a missing one.
//
// A commit that fails remains counted, so that no reader ever considers it durable.
//
// A nil unsynced is always empty. It is used by stores that promise no durability, and by reads that do not wait.
type unsynced struct {
	seed    maphash.Seed
	commits atomic.Int64 // commits in progress
	ranges  tally        // those that may change any key: range deletions, loads of tables
	stripes [stripeCount / stripeBlock]*[stripeBlock]tally
}

func newUnsynced() *unsynced {
	u := &unsynced{seed: maphash.MakeSeed()}
	for i := range u.stripes {
		u.stripes[i] = new([stripeBlock]tally)
	}
	return u
}

func (u *unsynced) tally(stripe uint32) *tally {
	return &u.stripes[stripe/stripeBlock][stripe%stripeBlock]
}

// tally counts keys of commits: those in progress in the lowest tallyBits, of which all updates in progress cannot have as many,
// and all that have ever begun in the other bits.
type tally struct{ n atomic.Uint64 }

const tallyBits = 28

func (t *tally) begin()    { t.n.Add(1<<tallyBits + 1) }
func (t *tally) end()      { t.n.Add(^uint64(0)) } // minus one
func (t *tally) any() bool { return inProgress(t.n.Load()) }

func inProgress(n uint64) bool { return n&(1<<tallyBits-1) != 0 }

// progress is the state of a stripe's tally and of the one for all keys. It changes whenever a commit begins or ends, and never
// returns to an earlier state.
type progress struct{ stripe, ranges uint64 }

// begun counts the commits of the stripe that have begun.
func (p progress) begun() uint64 { return p.stripe >> tallyBits }

// progress also reports whether no commit is in progress.
func (u *unsynced) progress(stripe uint32) (now progress, quiet bool) {
	now = progress{u.tally(stripe).n.Load(), u.ranges.n.Load()}
	return now, !inProgress(now.stripe) && !inProgress(now.ranges)
}

// rangesProgress is the part of progress that is the same for all stripes.
func (u *unsynced) rangesProgress() uint64 {
	if u == nil {
		return 0
	}
	return u.ranges.n.Load()
}

// appendStripes appends the stripes of a key that a commit changes.
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
		u.tally(s).begin()
	}
}

// end removes a commit that is synced.
func (u *unsynced) end(stripes []uint32) {
	if u == nil {
		return
	}
	for _, s := range stripes {
		u.tally(s).end()
	}
	u.commits.Add(-1)
}

// beginOther counts a change of the store's own keys that is about to be applied.
func (u *unsynced) beginOther() {
	if u != nil {
		u.commits.Add(1)
	}
}

// endOther removes a change that is synced.
func (u *unsynced) endOther() {
	if u != nil {
		u.commits.Add(-1)
	}
}

// beginRange counts a change of unknown keys that is about to be applied.
func (u *unsynced) beginRange() {
	if u != nil {
		u.commits.Add(1)
		u.ranges.begin()
	}
}

// endRange removes a change that is synced.
func (u *unsynced) endRange() {
	if u != nil {
		u.ranges.end()
		u.commits.Add(-1)
	}
}

// any reports whether any commit is in progress.
func (u *unsynced) any() bool { return u != nil && u.commits.Load() != 0 }

// hasKey reports whether a key, which has been read, may have been changed by a commit in progress.
func (u *unsynced) hasKey(key []byte) bool {
	return u.any() && (u.tally(u.stripe(key)).any() || u.ranges.any())
}

// hasRange is hasKey for any key of [lo, hi).
func (u *unsynced) hasRange(lo, hi []byte) bool {
	if !u.any() {
		return false
	}
	prefix, ok := commonPrefix(lo, hi)
	return !ok || u.tally(u.stripe(prefix)).any() || u.ranges.any()
}

// commonPrefix returns the prefix of all keys of [lo, hi) by which commits are counted, if they have the same.
func commonPrefix(lo, hi []byte) (prefix []byte, ok bool) {
	if len(lo) < rangePrefix || len(hi) < rangePrefix || !bytes.Equal(lo[:rangePrefix], hi[:rangePrefix]) {
		return nil, false
	}
	return lo[:rangePrefix], true
}

// settleFor is settle for a request, in which it records the duration.
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
