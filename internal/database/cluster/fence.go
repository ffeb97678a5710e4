package cluster

import (
	"context"
	"slices"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// fenceKey is the context key of a store's fence: the leader of one store need not lead another.
type fenceKey struct{ store *Store }

// fence is the term in which a leader works.
type fence struct {
	server string
	term   int64
}

// Store makes operations with a leader's context take effect only in its term. Updates check that in their own transactions.
// Other operations (DeleteRange, TrimLog, kept snapshots) check before they start, and may come late: they only concern data
// that is no longer in use.
type Store struct {
	kv.Store
}

// NewStore returns the store for one server's use.
func NewStore(store kv.Store) *Store { return &Store{store} }

func (s *Store) fence(ctx context.Context) (f fence, is bool) {
	f, is = ctx.Value(fenceKey{s}).(fence)
	return f, is
}

// Update fails with ErrDeposed if the context belongs to a term that is over.
func (s *Store) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	keys, check := s.Term(ctx)
	if keys == nil {
		return s.Store.Update(ctx, in, fn)
	}
	in.Check = append(slices.Clip(in.Check), keys...)
	return s.Store.Update(ctx, in, func(txn kv.Txn) error {
		if err := check(txn); err != nil {
			return err
		}
		return fn(txn)
	})
}

// Term is for updates of a store around this one: if the context belongs to a term, they have to check the keys, and their
// transaction the term. A nil Store has no terms.
func (s *Store) Term(ctx context.Context) (keys [][]byte, check func(kv.Reader) error) {
	f, fenced := s.fence(ctx)
	if !fenced {
		return nil, func(kv.Reader) error { return nil }
	}
	return [][]byte{keyenc.Leader()}, func(r kv.Reader) error { return f.check(r.Get) }
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

// check is for operations that are not transactions.
func (s *Store) check(ctx context.Context) error {
	f, fenced := s.fence(ctx)
	if !fenced {
		return nil
	}
	return f.check(func(key []byte) ([]byte, error) { return s.Get(ctx, key) })
}

// Load writes in many updates, each in the leader's term: the data appears gradually, which does not matter for work that can
// restart and whose result is not used before it is complete.
func (s *Store) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	if _, fenced := s.fence(ctx); !fenced {
		return s.Store.Load(ctx, fill)
	}
	return kv.LoadByUpdates(ctx, s.Limits(), s.Update, fill)
}

// DeleteRange checks the term before it starts.
func (s *Store) DeleteRange(ctx context.Context, lo, hi []byte) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	return s.Store.DeleteRange(ctx, lo, hi)
}

// TrimLog checks the term before it starts.
func (s *Store) TrimLog(ctx context.Context, log kv.LogID, upTo kv.Seq) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	return s.Store.TrimLog(ctx, log, upTo)
}

// Keep checks the term before it starts.
func (s *Store) Keep(ctx context.Context, name string, what kv.Selection) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	return s.Store.Keep(ctx, name, what)
}

// DropKept checks the term before it starts.
func (s *Store) DropKept(ctx context.Context, name string) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	return s.Store.DropKept(ctx, name)
}
