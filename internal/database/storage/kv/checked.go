package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// rehearseEvery is how often Checked runs an update's function an additional time.
const rehearseEvery = 4

// errRehearsed aborts the first of two runs of a function.
var errRehearsed = errors.New("kv: rehearsed")

// Checked wraps a store, for tests. It panics if the caller or the store violates the contract:
//
//   - a key is empty or reserved;
//   - an update sets or deletes a key that it only checks, or that another update in progress holds or writes;
//   - two updates with conflicting intents run concurrently;
//   - a value, or an iterator's key or value, is modified, or an iterator, reader or txn is used after its end;
//   - an iterator is still open when its reader ends, or one of Reads.Iter is read beyond its limit;
//   - keys are loaded out of order, or after fill has returned;
//   - a kept snapshot has an invalid name, or is dropped while it is open.
//
// Slices are scrambled when their validity ends, including those passed to the store, so that retaining one is detected. Every
// fourth update's function runs twice, as it may on a store that retries.
func Checked(s Store) Store {
	return &checked{
		Store: s, writers: map[string]*checkedTxn{}, checkers: map[string]int{}, openKept: map[string]int{},
	}
}

type checked struct {
	Store
	updates atomic.Uint64

	mu       sync.Mutex
	writers  map[string]*checkedTxn // keys held exclusively, or written as derived ones
	checkers map[string]int         // number of updates holding a key shared
	openKept map[string]int         // how often a kept snapshot is open
}

func (c *checked) Get(ctx context.Context, key []byte) ([]byte, error) {
	return checkedReads{c.Store}.Get(ctx, key)
}

func (c *checked) Counter(ctx context.Context, key []byte) ([]int64, error) {
	return checkedReads{c.Store}.Counter(ctx, key)
}

func (c *checked) Iter(ctx context.Context, lo, hi []byte, o IterOptions) (Iterator, error) {
	return checkedReads{c.Store}.Iter(ctx, lo, hi, o)
}

func (c *checked) Snapshot(ctx context.Context) (Snapshot, error) {
	return checkedReads{c.Store}.Snapshot(ctx)
}

func (c *checked) Eventual() Reads { return checkedReads{c.Store.Eventual()} }

func (c *checked) DeleteRange(ctx context.Context, lo, hi []byte) error {
	checkBounds(lo, hi)
	return c.Store.DeleteRange(ctx, lo, hi)
}

func (c *checked) Update(ctx context.Context, in Intent, fn func(Txn) error) error {
	for _, key := range in.Write {
		checkKey(key)
	}
	for _, key := range in.Check {
		checkKey(key)
	}
	in.Write, in.Check = slices.Clone(in.Write), slices.Clone(in.Check)
	defer clear(in.Write)
	defer clear(in.Check)
	if c.updates.Add(1)%rehearseEvery == 0 {
		err := c.Store.Update(ctx, in, func(txn Txn) error {
			_ = c.run(in, txn, fn)
			return errRehearsed
		})
		if !errors.Is(err, errRehearsed) {
			return err
		}
	}
	return c.Store.Update(ctx, in, func(txn Txn) error { return c.run(in, txn, fn) })
}

func (c *checked) run(in Intent, txn Txn, fn func(Txn) error) error {
	t := &checkedTxn{
		checkedReader: checkedReader{r: txn},
		txn:           txn,
		store:         c,
		checks:        map[string]bool{},
	}
	c.hold(t, in)
	defer c.releaseTxn(t)
	err := fn(t)
	t.end()
	return err
}

// hold registers the keys of the update's intent. No other update may hold a key that this one writes while fn runs.
func (c *checked) hold(t *checkedTxn, in Intent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range in.Write {
		c.claim(t, key)
	}
	for _, key := range in.Check {
		k := string(key)
		if c.writers[k] == t || t.checks[k] {
			continue
		}
		if c.writers[k] != nil {
			panic(fmt.Sprintf("kv: key %x is checked while another update writes it", key))
		}
		t.checks[k] = true
		c.checkers[k]++
	}
}

// claim registers that the update writes the key.
func (c *checked) claim(t *checkedTxn, key []byte) {
	k := string(key)
	if c.writers[k] == t {
		return
	}
	if c.writers[k] != nil || c.checkers[k] > 0 {
		panic(fmt.Sprintf("kv: key %x is written while another update holds it, or this one only checks it", key))
	}
	c.writers[k] = t
	t.writes = append(t.writes, k)
}

func (c *checked) releaseTxn(t *checkedTxn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range t.writes {
		delete(c.writers, k)
	}
	for k := range t.checks {
		if c.checkers[k]--; c.checkers[k] == 0 {
			delete(c.checkers, k)
		}
	}
}

type checkedTxn struct {
	checkedReader
	txn    Txn
	store  *checked
	writes []string
	checks map[string]bool
}

func (t *checkedTxn) Set(key, value []byte) {
	t.checkWrite(key)
	k, v := bytes.Clone(key), append([]byte{}, value...)
	t.txn.Set(k, v)
	scramble(k)
	scramble(v)
}

func (t *checkedTxn) Delete(key []byte) {
	t.checkWrite(key)
	k := bytes.Clone(key)
	t.txn.Delete(k)
	scramble(k)
}

func (t *checkedTxn) Add(key []byte, deltas ...int64) {
	t.checkLive()
	checkKey(key)
	k := bytes.Clone(key)
	t.txn.Add(k, deltas...)
	scramble(k)
}

func (t *checkedTxn) AppendLog(log LogID, record []byte) {
	t.checkLive()
	r := append([]byte{}, record...)
	t.txn.AppendLog(log, r)
	scramble(r)
}

func (t *checkedTxn) Reserve(bytes int64) error {
	t.checkLive()
	return t.txn.Reserve(bytes)
}

func (t *checkedTxn) LogSeq() Seq {
	t.checkLive()
	return t.txn.LogSeq()
}

func (t *checkedTxn) Advance(to Seq) {
	t.checkLive()
	t.txn.Advance(to)
}

func (t *checkedTxn) checkWrite(key []byte) {
	t.checkLive()
	checkKey(key)
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	t.store.claim(t, key)
}

func checkKey(key []byte) {
	if len(key) == 0 || key[0] >= ReservedPrefix {
		panic(fmt.Sprintf("kv: key %x is empty or the store's own", key))
	}
}

func checkBounds(lo, hi []byte) {
	reserved := []byte{ReservedPrefix}
	if bytes.Compare(lo, reserved) > 0 || bytes.Compare(hi, reserved) > 0 {
		panic(fmt.Sprintf("kv: range [%x, %x) reaches into the store's own keys", lo, hi))
	}
}
