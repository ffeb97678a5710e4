package pebblekv

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// smallBatch is what the batch of every update may take without asking: how many there are is for the caller to bound.
const smallBatch = 16 << 10

// batchMemory bounds the memory of the batches of updates under way, all together. An update cannot tell beforehand how
// large its batch will be, and holds latches while it writes, so it reserves memory as its batch grows; waiting for each
// other's memory, two updates could both stop for good. So there is an overdraft, which one update has at a time: it goes on
// to its end without asking, within the limits of an update. There is always one that can go on, and what all take is at
// most the memory and one largest update.
type batchMemory struct {
	free      *semaphore.Weighted
	overdraft chan struct{} // holds a token while an update has it
}

func newBatchMemory(bytes int64) *batchMemory {
	return &batchMemory{free: semaphore.NewWeighted(bytes), overdraft: make(chan struct{}, 1)}
}

// batchShare is what one update holds of a batchMemory.
type batchShare struct {
	held      int64
	overdrawn bool
}

// covers reports whether a batch of some bytes fits into the share as it is.
func (s *batchShare) covers(bytes int64) bool {
	return s.overdrawn || bytes <= smallBatch+s.held
}

// grow makes the share cover a batch of some bytes, and as many again for what a growing batch copies. It waits for the
// overdraft where the memory is used up.
func (m *batchMemory) grow(ctx context.Context, s *batchShare, bytes int64) error {
	more := 2*bytes - s.held
	if m.free.TryAcquire(more) {
		s.held += more
		return nil
	}
	select {
	case m.overdraft <- struct{}{}:
		s.overdrawn = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// release gives the share back.
func (m *batchMemory) release(s *batchShare) {
	if s.held > 0 {
		m.free.Release(s.held)
	}
	if s.overdrawn {
		<-m.overdraft
	}
	*s = batchShare{}
}
