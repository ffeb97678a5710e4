package engine

import (
	"context"
	"slices"
	"sync"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// observedStore is the store as the engine uses it. For every update it
//
//   - advances the store's numbers to the time of the clock, or the clock to that of the numbers if the store has its own time, so
//     that the number of a change is its time, and the clock does not go back after a crash;
//   - counts the records that it appends to change logs, and wakes their followers;
//   - notifies the TTL sweep of an entry earlier than what has been swept;
//   - remembers the sizes of item collections that it reads.
//
// All updates pass through it, so no operation can forget any of this.
type observedStore struct {
	kv.Store
	clock        *clock
	appendCounts *appendCounts
	sweeps       *sweeps
	collections  *collectionSizes
	txns         *sync.Pool // of *observedTxn
}

func newObservedStore(store kv.Store, c *clock, l *appendCounts, s *sweeps) observedStore {
	collections := new(collectionSizes)
	return observedStore{store, c, l, s, collections, &sync.Pool{New: func() any { return &observedTxn{collections: collections} }}}
}

// Update notifies listeners of the commit when the store has acknowledged it.
func (s observedStore) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	seen := s.txns.Get().(*observedTxn)
	err := s.Store.Update(ctx, in, func(txn kv.Txn) error {
		seen.begin(txn, s.clock)
		if err := fn(seen); err != nil {
			return err
		}
		seen.advance()
		return nil
	})
	seen.settle(s.appendCounts, s.sweeps, err)
	s.txns.Put(seen)
	return err
}

// observedTxn records what an update does.
type observedTxn struct {
	kv.Txn
	clock    *clock
	appended []appended
	expiries []expiry
	upcoming kv.Seq // the result of LogSeq, once called

	collections *collectionSizes
}

// appended is the number of records that an update appended to a table's log.
type appended struct {
	table   keyenc.TableID
	records uint64
}

// expiry is the earliest TTL entry that an update wrote to a table.
type expiry struct {
	table   keyenc.TableID
	seconds int64
}

func (t *observedTxn) begin(txn kv.Txn, c *clock) {
	t.Txn, t.clock, t.appended, t.expiries, t.upcoming = txn, c, t.appended[:0], t.expiries[:0], 0
	if txn != nil && c.timed() {
		t.upcoming = txn.LogSeq()
		c.follow(t.upcoming)
	}
}

// advance advances the store's numbers to the current time.
func (t *observedTxn) advance() {
	if !t.clock.timed() {
		t.Advance(t.clock.seq())
	}
}

// settle reports what an update that ended with err has done.
func (t *observedTxn) settle(l *appendCounts, s *sweeps, err error) {
	for _, x := range t.expiries { // even if it is unknown whether they were written
		s.lower(x.table, x.seconds)
	}
	if err == nil {
		for _, a := range t.appended {
			l.notify(a.table, a.records)
		}
	}
	t.begin(nil, nil)
}

// LogSeq implements kv.Txn: numbers below it are of now or earlier. It is constant during an update.
func (t *observedTxn) LogSeq() kv.Seq {
	if t.upcoming == 0 {
		t.advance()
		t.upcoming = t.Txn.LogSeq()
	}
	return t.upcoming
}

// Counter implements kv.Txn. The size of an item collection may be a remembered one.
func (t *observedTxn) Counter(key []byte) ([]int64, error) {
	if keyenc.IsCollection(key) {
		return t.collections.counter(key, t.Txn.Counter)
	}
	return t.Txn.Counter(key)
}

// Add implements kv.Txn. The remembered size of an item collection grows with it.
func (t *observedTxn) Add(key []byte, deltas ...int64) {
	if keyenc.IsCollection(key) && len(deltas) > 0 {
		t.collections.add(key, deltas[0])
	}
	t.Txn.Add(key, deltas...)
}

// AppendLog implements kv.Txn.
func (t *observedTxn) AppendLog(log kv.LogID, record []byte) {
	table := keyenc.TableID(log)
	at := slices.IndexFunc(t.appended, func(a appended) bool { return a.table == table })
	if at < 0 {
		at, t.appended = len(t.appended), append(t.appended, appended{table: table})
	}
	t.appended[at].records++
	t.Txn.AppendLog(log, record)
}

// Set implements kv.Txn.
func (t *observedTxn) Set(key, value []byte) {
	if table, seconds, ok := keyenc.ExpiryOf(key); ok {
		at := slices.IndexFunc(t.expiries, func(x expiry) bool { return x.table == table })
		if at < 0 {
			at, t.expiries = len(t.expiries), append(t.expiries, expiry{table, seconds})
		}
		t.expiries[at].seconds = min(t.expiries[at].seconds, seconds)
	}
	t.Txn.Set(key, value)
}
