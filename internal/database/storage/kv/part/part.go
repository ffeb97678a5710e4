// Package part divides a store: a part is a store whose keys, change logs and kept snapshots are within another store, separate
// from its other keys and from those of other parts.
//
//	key K of part eu-west-1        'r' eu-west-1 0x00 K
//	log L of the part of number N  N<<26 | L
//	kept snapshot S of the part    r-eu-west-1-S
//	number of the part             'r' 0x00 eu-west-1 ─► 4 bytes big endian
//
// The keys of a part are in the space 'r', which nothing else uses. Numbers are assigned in order, from 1, and never reused for
// another name. So the log ids of a part can be up to 1<<26 - 1, and so can those of the enclosing store.
//
// A part fulfills the whole contract of package kv, as far as the enclosing store does: latches, snapshots, durability and the
// numbers of log records are that store's. Closing a part does nothing: the owner of the store closes it after its parts.
package part

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	space = 'r'
	// logBits is the width of a log's id within a part, and countMax the number of parts that the remaining bits allow.
	logBits  = 26
	countMax = 1<<(32-logBits) - 1
)

var validName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9-]{1,40}$`) })

// Part is a part of a store.
type Part struct {
	kv.Store
	reads
	name string
}

// Open returns the part with a name, creating it if necessary. There may be up to 63.
func Open(ctx context.Context, store kv.Store, name string) (*Part, error) {
	if !validName().MatchString(name) {
		return nil, fmt.Errorf("the name %q is not valid: want up to 40 characters a-z, 0-9 and -", name)
	}
	number, err := numberOf(ctx, store, name)
	if err != nil {
		return nil, err
	}
	m := mapping{prefix: append(append([]byte{space}, name...), 0), log: kv.LogID(number << logBits)}
	return &Part{Store: store, reads: reads{store, m}, name: name}, nil
}

// Names lists the parts of a store.
func Names(ctx context.Context, store kv.Store) ([]string, error) {
	lo := []byte{space, 0}
	it, err := store.Iter(ctx, lo, []byte{space, 1}, kv.IterOptions{})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var names []string
	for it.Next() {
		names = append(names, string(it.Key()[len(lo):]))
	}
	return names, it.Err()
}

// CopyNames copies the names and numbers of a store's parts to a store without parts.
func CopyNames(ctx context.Context, from, to kv.Store) error {
	lo, hi := []byte{space, 0}, []byte{space, 1}
	it, err := from.Iter(ctx, lo, hi, kv.IterOptions{})
	if err != nil {
		return err
	}
	defer it.Close()
	var intent kv.Intent
	var values [][]byte
	for it.Next() {
		intent.Write, values = append(intent.Write, bytes.Clone(it.Key())), append(values, bytes.Clone(it.Value()))
	}
	if err := it.Err(); err != nil || len(values) == 0 {
		return err
	}
	return to.Update(ctx, intent, func(txn kv.Txn) error {
		for i, key := range intent.Write {
			txn.Set(key, values[i])
		}
		return nil
	})
}

// numberOf returns the number of a part, assigning one if necessary.
func numberOf(ctx context.Context, store kv.Store, name string) (number uint32, err error) {
	key, counter := append([]byte{space, 0}, name...), []byte{space, 0} // part names are not empty
	intent := kv.Intent{Write: [][]byte{key, counter}, Frees: true}
	err = store.Update(ctx, intent, func(txn kv.Txn) error {
		data, err := txn.Get(key)
		if err != nil {
			return err
		}
		if len(data) == 4 {
			number = binary.BigEndian.Uint32(data)
			return nil
		}
		if number, err = nextNumber(txn); err != nil {
			return err
		}
		txn.Set(key, binary.BigEndian.AppendUint32(nil, number))
		return nil
	})
	return number, err
}

func nextNumber(r kv.Reader) (uint32, error) {
	it := r.Iter([]byte{space, 0}, []byte{space, 1}, kv.IterOptions{})
	defer it.Close()
	highest := uint32(0)
	for it.Next() {
		if len(it.Value()) != 4 {
			return 0, fmt.Errorf("the number of part %q is corrupted: %x", it.Key()[2:], it.Value())
		}
		highest = max(highest, binary.BigEndian.Uint32(it.Value()))
	}
	if highest >= countMax {
		return 0, fmt.Errorf("a store has at most %d parts", countMax)
	}
	return highest + 1, it.Err()
}

// Inner returns a store's key as its part sees it; the slice aliases key. A key outside of parts is returned unchanged.
func Inner(key []byte) []byte {
	if len(key) < 2 || key[0] != space || key[1] == 0 {
		return key
	}
	if _, inner, is := bytes.Cut(key, []byte{0}); is {
		return inner
	}
	return key
}

// Name is the part's.
func (p *Part) Name() string { return p.name }

// Around returns the enclosing store.
func (p *Part) Around() kv.Store { return p.Store }

// Outer returns the enclosing store's keys for keys of the part. Together with Within it allows one update of that store to write
// in several parts.
func (p *Part) Outer(keys [][]byte) [][]byte { return p.keys(keys) }

// Within returns the part's view of a transaction of the enclosing store.
func (p *Part) Within(below kv.Txn) kv.Txn { return &txn{reader{below, p.mapping}, below} }

// Reading returns the part's view of a state of the enclosing store.
func (p *Part) Reading(below kv.Reader) kv.Reader { return &reader{below, p.mapping} }

// Close does nothing: the enclosing store is shared.
func (p *Part) Close() error { return nil }

// Limits implements kv.Store.
func (p *Part) Limits() kv.Limits {
	l := p.Store.Limits()
	l.KeyBytes -= len(p.prefix)
	return l
}

// Get implements kv.Store.
func (p *Part) Get(ctx context.Context, key []byte) ([]byte, error) { return p.reads.Get(ctx, key) }

// Counter implements kv.Store.
func (p *Part) Counter(ctx context.Context, key []byte) ([]int64, error) {
	return p.reads.Counter(ctx, key)
}

// Iter implements kv.Store.
func (p *Part) Iter(ctx context.Context, lo, hi []byte, o kv.IterOptions) (kv.Iterator, error) {
	return p.reads.Iter(ctx, lo, hi, o)
}

// Snapshot implements kv.Store.
func (p *Part) Snapshot(ctx context.Context) (kv.Snapshot, error) { return p.reads.Snapshot(ctx) }

// Eventual implements kv.Store.
func (p *Part) Eventual() kv.Reads { return reads{p.Store.Eventual(), p.mapping} }

// Update implements kv.Store.
func (p *Part) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	in.Write, in.Check = p.keys(in.Write), p.keys(in.Check)
	err := p.Store.Update(ctx, in, func(below kv.Txn) error { return fn(p.Within(below)) })
	if conflict, ok := err.(*kv.ConflictError); ok { //nolint:errorlint // one that fn returned, wrapped or not, stays as it is
		return &kv.ConflictError{Key: bytes.TrimPrefix(conflict.Key, p.prefix)}
	}
	return err
}

// ReadLog implements kv.Store.
func (p *Part) ReadLog(ctx context.Context, log kv.LogID, after kv.Seq, limit int) ([]kv.Record, kv.Seq, error) {
	return p.Store.ReadLog(ctx, p.log|log, after, limit)
}

// TrimLog implements kv.Store.
func (p *Part) TrimLog(ctx context.Context, log kv.LogID, upTo kv.Seq) error {
	return p.Store.TrimLog(ctx, p.log|log, upTo)
}

// LogTrimmed implements kv.Store.
func (p *Part) LogTrimmed(ctx context.Context, log kv.LogID) (kv.Seq, error) {
	return p.Store.LogTrimmed(ctx, p.log|log)
}

// LogSize implements kv.Store.
func (p *Part) LogSize(ctx context.Context, log kv.LogID, after kv.Seq) (int64, error) {
	return p.Store.LogSize(ctx, p.log|log, after)
}

// DeleteRange implements kv.Store.
func (p *Part) DeleteRange(ctx context.Context, lo, hi []byte) error {
	return p.Store.DeleteRange(ctx, p.key(lo), p.end(hi))
}

// Size implements kv.Store.
func (p *Part) Size(ctx context.Context, lo, hi []byte) (int64, error) {
	return p.Store.Size(ctx, p.key(lo), p.end(hi))
}

// Compact implements kv.Store. The space of change logs is only reclaimed by compacting the enclosing store.
func (p *Part) Compact(ctx context.Context, lo, hi []byte) error {
	return p.Store.Compact(ctx, p.key(lo), p.end(hi))
}

// Split implements kv.Store.
func (p *Part) Split(ctx context.Context, keys [][]byte) error {
	return p.Store.Split(ctx, p.keys(keys))
}

// Load implements kv.Store.
func (p *Part) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	return p.Store.Load(ctx, func(put func(key, value []byte) error) error {
		return fill(func(key, value []byte) error { return put(p.loadKey(key), value) })
	})
}

// loadKey returns the enclosing store's key for a key being loaded. A reserved key is unchanged, so that the store rejects it.
func (p *Part) loadKey(key []byte) []byte {
	if len(key) == 0 || key[0] >= kv.ReservedPrefix {
		return key
	}
	return p.key(key)
}

// kept returns the enclosing store's name of a kept snapshot.
func (p *Part) kept(name string) string {
	if !kv.ValidKeptName(name) {
		return name // so that the store rejects it
	}
	return p.keptPrefix() + name
}

func (p *Part) keptPrefix() string { return "r-" + p.name + "-" }

// Keep implements kv.Store.
func (p *Part) Keep(ctx context.Context, name string, what kv.Selection) error {
	below := kv.Selection{Frees: what.Frees}
	for _, s := range what.Spans {
		below.Spans = append(below.Spans, kv.Span{Lo: p.key(s.Lo), Hi: p.end(s.Hi)})
	}
	for _, log := range what.Logs {
		below.Logs = append(below.Logs, p.log|log)
	}
	return p.Store.Keep(ctx, p.kept(name), below)
}

// OpenKept implements kv.Store.
func (p *Part) OpenKept(ctx context.Context, name string) (kv.Snapshot, error) {
	s, err := p.Store.OpenKept(ctx, p.kept(name))
	if err != nil {
		return nil, err
	}
	return &snapshot{reader{s, p.mapping}, s}, nil
}

// Kept implements kv.Store.
func (p *Part) Kept(ctx context.Context) ([]kv.KeptSnapshot, error) {
	all, err := p.Store.Kept(ctx)
	var own []kv.KeptSnapshot
	for _, k := range all {
		if name, ok := strings.CutPrefix(k.Name, p.keptPrefix()); ok {
			own = append(own, kv.KeptSnapshot{Name: name, Bytes: k.Bytes})
		}
	}
	return own, err
}

// DropKept implements kv.Store.
func (p *Part) DropKept(ctx context.Context, name string) error {
	return p.Store.DropKept(ctx, p.kept(name))
}
