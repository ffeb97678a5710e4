package transporteapp

import (
	"cmp"
	"context"
	"hash/maphash"
	"sync"
)

// lanes is how many companies can change their counters at the same time; companies may share a lane.
const lanes = 256

// turns serialises changes to the same few items within a process: a company's counters, or a carta's. This only improves speed.
// Concurrent changes would otherwise collide in DynamoDB and be retried, and each rejection costs as much as a write.
// Transactions and conditions detect changes by other processes.
type turns struct {
	seed  maphash.Seed
	lanes [lanes]chan struct{}
}

func newTurns() *turns {
	t := &turns{seed: maphash.MakeSeed()}
	for i := range t.lanes {
		t.lanes[i] = make(chan struct{}, 1)
	}
	return t
}

// take waits for a turn, and done ends the turn.
func (t *turns) take(ctx context.Context, of string) (done func(), err error) {
	lane := t.lanes[maphash.String(t.seed, of)%lanes]
	select {
	case lane <- struct{}{}:
		return func() { <-lane }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inTurn is again, but takes turns with all work on the same thing in this process.
func (s *service) inTurn(ctx context.Context, of string, try func() error, when ...error) error {
	done, err := s.turns.take(ctx, of)
	if err != nil {
		return err
	}
	defer done()
	return again(ctx, try, when...)
}

// firstError runs several functions concurrently. It returns the first error in the functions' order, as if they ran sequentially.
func firstError(list ...func() error) error {
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, do := range list {
		all.Go(func() { errs[i] = do() })
	}
	all.Wait()
	return cmp.Or(errs...)
}
