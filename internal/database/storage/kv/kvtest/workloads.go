package kvtest

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// transfer moves a random amount between two random accounts.
func transfer(ctx context.Context, s kv.Store, rng *rand.Rand, accounts [][]byte, transaction bool) error {
	from, to := accounts[rng.IntN(len(accounts))], accounts[rng.IntN(len(accounts))]
	amount := rng.Int64N(30)
	in := kv.Intent{Write: [][]byte{from, to}, Transaction: transaction, FailOnTransaction: true}
	return s.Update(ctx, in, func(txn kv.Txn) error {
		v, err := txn.Get(from)
		if err != nil {
			return err
		}
		if number(v) < amount {
			return errUnwanted
		}
		txn.Set(from, bytesOf(number(v)-amount))
		if v, err = txn.Get(to); err != nil {
			return err
		}
		txn.Set(to, bytesOf(number(v)+amount))
		return nil
	})
}

// total adds up all accounts in one snapshot, by key and by iteration; -1 if the two differ.
func total(ctx context.Context, s kv.Store, accounts [][]byte) (int64, error) {
	snap, err := s.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = snap.Close() }()
	var byKey, byIter int64
	for _, k := range accounts {
		v, err := snap.Get(k)
		if err != nil {
			return 0, err
		}
		byKey += number(v)
	}
	it := snap.Iter([]byte("account"), []byte("accounu"), kv.IterOptions{Reverse: byKey%2 == 0})
	for it.Next() {
		byIter += number(it.Value())
	}
	err = it.Err()
	_ = it.Close()
	if err == nil && byKey != byIter {
		err = fmt.Errorf("read one by one they add up to %d, iterated over to %d", byKey, byIter)
	}
	return byKey, err
}

// readEither reads a key from the store or from a snapshot of it.
func readEither(ctx context.Context, s kv.Store, k []byte, direct bool) ([]byte, error) {
	if direct {
		return s.Get(ctx, k)
	}
	snap, err := s.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	v, err := snap.Get(k)
	v = append([]byte{}, v...)
	_ = snap.Close()
	if len(v) == 0 {
		v = nil
	}
	return v, err
}
