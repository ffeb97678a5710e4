package pebblekv

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// smallBatch is what every update may take without a reservation: the caller bounds how many updates there are.
const smallBatch = 16 << 10

// batchMemory bounds the memory of all updates under way: their batches, and what their callers reserve with Txn.Reserve.
//
// An update learns how much it needs while it holds latches. It never waits for memory then, because the updates that wait
// for its keys would wait for memory, too. If what it needs is not free, it is undone, waits without latches, and runs
// again with its memory reserved. An update that needs more than there is runs when it has all of it. So all updates
// together take at most the memory and one largest update, and one that has its reservation waits only for latches.
type batchMemory struct {
	size int64
	free *semaphore.Weighted
}

func newBatchMemory(bytes int64) *batchMemory {
	return &batchMemory{bytes, semaphore.NewWeighted(bytes)}
}

// batchShare is what one update holds of a batchMemory.
type batchShare struct {
	memory *batchMemory
	held   int64
	wanted int64 // what the update must wait for and run again; 0 while it has what it needs
}

// covers reports whether an update may take some bytes with the share as it is.
func (s *batchShare) covers(bytes int64) bool {
	return bytes <= smallBatch+s.held || s.held == s.memory.size
}

// grow raises the share to some bytes if they are free. Otherwise it notes that they are wanted.
func (s *batchShare) grow(bytes int64) bool {
	more := min(bytes, s.memory.size) - s.held
	if more > 0 && !s.memory.free.TryAcquire(more) {
		s.wanted = bytes
		return false
	}
	s.held += max(more, 0)
	return true
}

// wait makes the share hold some bytes, or all there is, for an update that holds nothing yet.
func (s *batchShare) wait(ctx context.Context, bytes int64) error {
	bytes = min(bytes, s.memory.size)
	if bytes == 0 { // Acquire would wait in line
		return nil
	}
	if err := s.memory.free.Acquire(ctx, bytes); err != nil {
		return err
	}
	s.held = bytes
	return nil
}

// release gives the share back.
func (s *batchShare) release() {
	if s.held > 0 {
		s.memory.free.Release(s.held)
	}
	s.held, s.wanted = 0, 0
}
