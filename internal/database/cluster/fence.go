package cluster

import (
	"context"
	"slices"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// fenceKey is the key of the fence of a store in a context: the leader of one store may be anybody to another one.
type fenceKey struct{ store *Store }

// fence is the term that the work of a leader is done in.
type fence struct {
	server string
	term   int64
}

// Store has what is done with a leader's context take effect only in its term. Updates see to that in their own transactions. What is not
// one (DeleteRange, TrimLog, kept snapshots) is checked before it begins, and may come late: it is for what nobody uses any more.
type Store struct {
	kv.Store
}

// NewStore returns the store for one server's use.
func NewStore(store kv.Store) *Store { return &Store{store} }

func (s *Store) fence(ctx context.Context) (f fence, is bool) {
	f, is = ctx.Value(fenceKey{s}).(fence)
	return f, is
}

// Update fails with ErrDeposed where the context is of a term that is over.
func (s *Store) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	f, fenced := s.fence(ctx)
	if !fenced {
		return s.Store.Update(ctx, in, fn)
	}
	in.Check = append(slices.Clip(in.Check), keyenc.Leader())
	return s.Store.Update(ctx, in, func(txn kv.Txn) error {
		if err := f.check(txn.Get); err != nil {
			return err
		}
		return fn(txn)
	})
}

func (f fence) check(get func(key []byte) ([]byte, error)) error {
	data, err := get(keyenc.Leader())
	if err != nil {
		return err
	}
	leader, err := decode[leaderRecord](data)
	if err == nil && (leader.Server != f.server || leader.Term != f.term) {
		err = ErrDeposed
	}
	return err
}

// check is for what is not a transaction.
func (s *Store) check(ctx context.Context) error {
	f, fenced := s.fence(ctx)
	if !fenced {
		return nil
	}
	return f.check(func(key []byte) ([]byte, error) { return s.Get(ctx, key) })
}

// Load writes what a leader's fill puts in many updates, each in the leader's term: it appears bit by bit, which is of no matter for work that
// begins again, and is used by nobody, until it is done.
func (s *Store) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	if _, fenced := s.fence(ctx); !fenced {
		return s.Store.Load(ctx, fill)
	}
	return kv.LoadByUpdates(ctx, s.Limits(), s.Update, fill)
}

// DeleteRange is checked before it begins.
func (s *Store) DeleteRange(ctx context.Context, lo, hi []byte) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	return s.Store.DeleteRange(ctx, lo, hi)
}

// TrimLog is checked before it begins.
func (s *Store) TrimLog(ctx context.Context, log kv.LogID, upTo kv.Seq) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	return s.Store.TrimLog(ctx, log, upTo)
}

// Keep is checked before it begins.
func (s *Store) Keep(ctx context.Context, name string, what kv.Selection) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	return s.Store.Keep(ctx, name, what)
}

// DropKept is checked before it begins.
func (s *Store) DropKept(ctx context.Context, name string) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	return s.Store.DropKept(ctx, name)
}
