//nolint:thelper // these are the tests, not helpers of tests: a failure is to name the line that found it
package kvtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// errUnwanted aborts a test's own update.
var errUnwanted = errors.New("kvtest: not now")

func number(v []byte) int64 {
	if v == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(v))
}

func bytesOf(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// testNoLostUpdate: read-modify-write increments are never lost.
func testNoLostUpdate(t *testing.T, s kv.Store) {
	const goroutines, each = 8, 50
	ctx := background(t)
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range each {
				err := s.Update(ctx, writing("n"), func(txn kv.Txn) error {
					v, err := txn.Get([]byte("n"))
					txn.Set([]byte("n"), bytesOf(number(v)+1))
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	v, err := s.Get(t.Context(), []byte("n"))
	if got := number(v); got != goroutines*each || err != nil {
		t.Errorf("%d increments made %d, %v", goroutines*each, got, err)
	}
}

// testNoDeadlock: overlapping intents in all orders, for writing and checking, complete.
func testNoDeadlock(t *testing.T, s kv.Store) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	ctx := background(t)
	var wg sync.WaitGroup
	for g := range 8 {
		rng := rand.New(rand.NewPCG(seed, uint64(g)))
		wg.Go(func() {
			for range 100 {
				var in kv.Intent
				for range 1 + rng.IntN(6) {
					in.Write = append(in.Write, key("k%d", rng.IntN(10)))
					in.Check = append(in.Check, key("k%d", rng.IntN(10)))
				}
				if err := s.Update(ctx, in, func(kv.Txn) error { return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// testNoWriteSkew: of two updates that each write one key only if the other is absent, only one succeeds.
func testNoWriteSkew(t *testing.T, s kv.Store) {
	ctx := background(t)
	for round := range 100 {
		a, b := key("%da", round), key("%db", round)
		takeUnless := func(mine, other []byte) error {
			in := kv.Intent{Write: [][]byte{mine}, Check: [][]byte{other}}
			return s.Update(ctx, in, func(txn kv.Txn) error {
				v, err := txn.Get(other)
				if err != nil {
					return err
				}
				if v != nil {
					return errUnwanted
				}
				txn.Set(mine, []byte("taken"))
				return nil
			})
		}
		var wg sync.WaitGroup
		var taken atomic.Int32
		for _, pair := range [][2][]byte{{a, b}, {b, a}} {
			wg.Go(func() {
				err := takeUnless(pair[0], pair[1])
				if err == nil {
					taken.Add(1)
				} else if !errors.Is(err, errUnwanted) && !errors.Is(err, kv.ErrConflict) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if taken.Load() != 1 {
			t.Fatalf("round %d: %d of two exclusive updates committed", round, taken.Load())
		}
	}
}

// testBank moves money between accounts, partly in transactions, while readers add up all accounts: the sum never changes,
// neither in a snapshot nor during an iteration of one.
func testBank(t *testing.T, s kv.Store) {
	const accounts, opening = 20, 100
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	ctx := background(t)
	all := kv.Intent{}
	for i := range accounts {
		all.Write = append(all.Write, key("account%02d", i))
	}
	update(t, s, all, func(txn kv.Txn) error {
		for _, k := range all.Write {
			txn.Set(k, bytesOf(opening))
		}
		return nil
	})
	var writers, readers sync.WaitGroup
	var stop atomic.Bool
	for g := range 6 {
		rng := rand.New(rand.NewPCG(seed, uint64(g)))
		writers.Go(func() {
			for range 200 {
				err := transfer(ctx, s, rng, all.Write, g%2 == 0)
				if err != nil && !errors.Is(err, errUnwanted) && !errors.Is(err, kv.ErrConflict) {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for !stop.Load() {
				if sum, err := total(ctx, s, all.Write); sum != accounts*opening || err != nil {
					t.Errorf("sum of all accounts is %d, %v", sum, err)
					return
				}
			}
		})
	}
	writers.Wait()
	stop.Store(true)
	readers.Wait()
	if sum, err := total(ctx, s, all.Write); sum != accounts*opening || err != nil {
		t.Errorf("in the end the sum of all accounts is %d, %v", sum, err)
	}
}

// testLedger: an acknowledged update is visible to all later reads, from any goroutine, and each account's value only grows.
func testLedger(t *testing.T, s kv.Store) {
	const accounts = 8
	ctx := background(t)
	var acknowledged [accounts]atomic.Int64
	var writers, readers sync.WaitGroup
	var stop atomic.Bool
	for i := range accounts {
		writers.Go(func() {
			for n := int64(1); n <= 200; n++ {
				k := fmt.Sprintf("ledger%d", i)
				err := s.Update(ctx, writing(k), func(txn kv.Txn) error {
					txn.Set([]byte(k), bytesOf(n))
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				acknowledged[i].Store(n)
			}
		})
	}
	for r := range 2 {
		readers.Go(func() {
			for i := 0; !stop.Load(); i = (i + 1) % accounts {
				atLeast := acknowledged[i].Load()
				v, err := readEither(ctx, s, key("ledger%d", i), r == 0)
				if number(v) < atLeast || err != nil {
					t.Errorf("account %d: read %d, %v after %d was acknowledged", i, number(v), err, atLeast)
				}
			}
		})
	}
	writers.Wait()
	stop.Store(true)
	readers.Wait()
}
