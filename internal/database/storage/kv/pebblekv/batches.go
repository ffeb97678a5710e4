package pebblekv

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// smallBatch is what every update may use without a reservation; the caller limits the number of concurrent updates.
const smallBatch = 16 << 10

// batchMemory limits the memory of all updates in progress: their batches, and what their callers reserve with Txn.Reserve.
//
// An update learns how much memory it needs while it holds latches. It must not wait for memory then, because the updates waiting
// for its keys would indirectly wait for memory, too. If the memory is not available, the update is undone, waits without
// latches, and runs again with its memory reserved. An update that needs more than the total runs when it has all of it. So all
// updates together use at most the total and one largest update, and an update with a reservation waits only for latches.
type batchMemory struct {
	size int64
	free *semaphore.Weighted
}

func newBatchMemory(bytes int64) *batchMemory {
	return &batchMemory{bytes, semaphore.NewWeighted(bytes)}
}

// batchShare is the memory of a batchMemory held by one update.
type batchShare struct {
	memory *batchMemory
	held   int64
	wanted int64 // what the update must wait for before running again; 0 while it has enough
}

// covers reports whether an update may use a number of bytes with its current share.
func (s *batchShare) covers(bytes int64) bool {
	return bytes <= smallBatch+s.held || s.held == s.memory.size
}

// grow raises the share to a number of bytes if they are available. Otherwise it sets wanted.
func (s *batchShare) grow(bytes int64) bool {
	more := min(bytes, s.memory.size) - s.held
	if more > 0 && !s.memory.free.TryAcquire(more) {
		s.wanted = bytes
		return false
	}
	s.held += max(more, 0)
	return true
}

// wait raises the share to a number of bytes, or to the total, for an update that holds nothing yet.
func (s *batchShare) wait(ctx context.Context, bytes int64) error {
	bytes = min(bytes, s.memory.size)
	if bytes == 0 { // Acquire would queue
		return nil
	}
	if err := s.memory.free.Acquire(ctx, bytes); err != nil {
		return err
	}
	s.held = bytes
	return nil
}

// release returns the share.
func (s *batchShare) release() {
	if s.held > 0 {
		s.memory.free.Release(s.held)
	}
	s.held, s.wanted = 0, 0
}
