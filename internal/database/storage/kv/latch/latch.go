// Package latch holds keys for updates: exclusively for those that write, shared for those that check.
//
// # Model
//
// A latch is identified by a 64-bit hash of its key with a seed of this process. Two keys with the same hash share a latch, which
// at worst causes one unnecessary wait, rarely. An update takes all its latches in ascending order of hash, so that updates
// cannot deadlock. Only latches that are held or waited for exist: a shard is a mutex and a short slice of them.
//
//	hash ──low bits──▶ shard ──▶ [ {hash, holders, waiters} {…} … ]
//
// # Invariants
//
//  1. A latch has one exclusive holder, or any number of shared ones.
//  2. Waiters are served in order of arrival. A shared waiter does not overtake an earlier exclusive one, so that
//     a change of a table's definition is not starved by writes.
//  3. A request that fails on transactions never waits for one: it fails when it finds a transaction that holds
//     the latch in an incompatible mode, on arrival or while waiting.
package latch

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// shardCount is large enough that updates of different keys rarely contend for a shard's mutex.
const shardCount = 256

// Table is a set of latches. The zero value is not usable; see New.
type Table struct {
	seed   maphash.Seed
	shards [shardCount]shard
	pool   sync.Pool // of *Held
}

// New returns a table with nothing held.
func New() *Table {
	return &Table{seed: maphash.MakeSeed()}
}

// Held is the set of latches held by one update.
type Held struct {
	table  *Table
	claims []claim
}

// claim is one latch that an update holds or wants.
type claim struct {
	hash        uint64
	exclusive   bool
	transaction bool
	failOnTxn   bool
}

// Acquire waits until all keys of in are held. It returns a *kv.ConflictError as Intent describes, or the context's error if it
// is canceled; in both cases nothing is held.
func (t *Table) Acquire(ctx context.Context, in kv.Intent) (*Held, error) {
	h := t.newHeld()
	h.claims = t.appendClaims(h.claims[:0], in)
	for i := range h.claims {
		if err := t.acquire(ctx, &h.claims[i]); err != nil {
			hash := h.claims[i].hash
			h.claims = h.claims[:i]
			h.Release()
			if errors.Is(err, kv.ErrConflict) {
				err = &kv.ConflictError{Key: t.keyOf(hash, in)}
			}
			return nil, err
		}
	}
	return h, nil
}

// keyOf returns a key of in with the hash; the caller may keep it.
func (t *Table) keyOf(hash uint64, in kv.Intent) []byte {
	for _, keys := range [2][][]byte{in.Write, in.Check} {
		for _, key := range keys {
			if maphash.Bytes(t.seed, key) == hash {
				return bytes.Clone(key)
			}
		}
	}
	return nil
}

// Release releases all latches. Held must not be used afterwards.
func (h *Held) Release() {
	for i := range h.claims {
		c := &h.claims[i]
		h.table.shard(c.hash).release(c)
	}
	h.table.pool.Put(h)
}

func (t *Table) newHeld() *Held {
	if h, ok := t.pool.Get().(*Held); ok {
		return h
	}
	return &Held{table: t, claims: make([]claim, 0, 8)}
}

func (t *Table) shard(hash uint64) *shard {
	return &t.shards[hash%shardCount]
}

// appendClaims returns the claims of an intent in ascending order of hash, one for each latch.
func (t *Table) appendClaims(claims []claim, in kv.Intent) []claim {
	c := claim{exclusive: true, transaction: in.Transaction, failOnTxn: in.FailOnTransaction}
	for _, key := range in.Write {
		c.hash = maphash.Bytes(t.seed, key)
		claims = append(claims, c)
	}
	c.exclusive = false
	for _, key := range in.Check {
		c.hash = maphash.Bytes(t.seed, key)
		claims = append(claims, c)
	}
	slices.SortFunc(claims, compareClaims)
	return slices.CompactFunc(claims, func(a, b claim) bool { return a.hash == b.hash })
}

// compareClaims sorts the exclusive one of two claims to the same latch first, so that it is the one kept.
func compareClaims(a, b claim) int {
	switch {
	case a.hash < b.hash:
		return -1
	case a.hash > b.hash:
		return 1
	case a.exclusive == b.exclusive:
		return 0
	case a.exclusive:
		return -1
	}
	return 1
}

func (t *Table) acquire(ctx context.Context, c *claim) error {
	s := t.shard(c.hash)
	w, err := s.enter(c)
	if w == nil {
		return err
	}
	begun, request := time.Now(), observe.From(ctx)
	defer func() { request.WaitedForLatch(begun) }()
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		s.abandon(w)
		return ctx.Err()
	}
}
