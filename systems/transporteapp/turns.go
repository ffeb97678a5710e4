package transporteapp

import (
	"cmp"
	"context"
	"hash/maphash"
	"sync"
)

// lanes is how many companies, or a few more that share a lane, change their counters at once.
const lanes = 256

// turns lets those of one process who change the same few items, a company's counters or a carta's, go one after another. It
// is for speed alone: who meets in DynamoDB is refused there and tries again, and each refusal costs as much as a write. What
// other processes do, transactions and conditions see.
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

// take waits for a turn; done ends it.
func (t *turns) take(ctx context.Context, of string) (done func(), err error) {
	lane := t.lanes[maphash.String(t.seed, of)%lanes]
	select {
	case lane <- struct{}{}:
		return func() { <-lane }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inTurn is again, while nobody else of this process does what is of the same thing.
func (s *service) inTurn(ctx context.Context, of string, try func() error, when ...error) error {
	done, err := s.turns.take(ctx, of)
	if err != nil {
		return err
	}
	defer done()
	return again(ctx, try, when...)
}

// together does several things at once. Its error is the first one of theirs in their order, as if they were done one after the
// other.
func together(list ...func() error) error {
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, do := range list {
		all.Go(func() { errs[i] = do() })
	}
	all.Wait()
	return cmp.Or(errs...)
}
