// Package part divides a store: a part is a store of its own whose keys, change logs and kept snapshots lie within another
// store, apart from its other keys and from those of other parts.
//
//	key K of part eu-west-1        'r' eu-west-1 0x00 K
//	log L of the part of number N  N<<26 | L
//	kept snapshot S of the part    r-eu-west-1-S
//	number of the part             'r' 0x00 eu-west-1 ─► 4 bytes big endian
//
// The keys of a part are in the space 'r', which nothing else uses. Numbers are given out in order, from 1, and never
// again to another name. So a part may have logs up to 1<<26 - 1, and so may the store around the parts.
//
// A part keeps all that package kv promises, as far as the store below does: latches, snapshots, durability and the
// numbers of log records are that store's. Closing a part does nothing: who opened the store closes it after its parts.
package part

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	space = 'r'
	// logBits is the width of a log's id within a part, and countMax what remains for the part's number.
	logBits  = 26
	countMax = 1<<(32-logBits) - 1
)

var validName = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)

// Part is a part of a store.
type Part struct {
	kv.Store
	reads
	name   string
	number uint32
}

// Open returns the part of a name, which is made where there is none. There may be 63.
func Open(ctx context.Context, store kv.Store, name string) (*Part, error) {
	if !validName.MatchString(name) {
		return nil, fmt.Errorf("part: the name %q has other characters than a-z, 0-9 and -, or more than 40", name)
	}
	number, err := numberOf(ctx, store, name)
	if err != nil {
		return nil, err
	}
	m := mapping{prefix: append(append([]byte{space}, name...), 0), log: kv.LogID(number << logBits)}
	return &Part{Store: store, reads: reads{store, m}, name: name, number: number}, nil
}

// Within returns a key of a part as the part has it; the slice is the key's own. A key of no part it returns as it is.
func Within(key []byte) []byte {
	if len(key) > 1 && key[0] == space && key[1] != 0 {
		if _, rest, is := bytes.Cut(key, []byte{0}); is {
			return rest
		}
	}
	return key
}

// Names lists the parts that a store has.
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

// CopyNames gives a store that has no parts the names of another one's parts, with their numbers.
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

// numberOf is the number of a part, which is given one if it has none.
func numberOf(ctx context.Context, store kv.Store, name string) (number uint32, err error) {
	key, counter := append([]byte{space, 0}, name...), []byte{space, 0} // no part has an empty name
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
			return 0, fmt.Errorf("part: the number of part %q is damaged: %x", it.Key()[2:], it.Value())
		}
		highest = max(highest, binary.BigEndian.Uint32(it.Value()))
	}
	if highest >= countMax {
		return 0, fmt.Errorf("part: a store has at most %d parts", countMax)
	}
	return highest + 1, it.Err()
}

// Inner is a key of a store as the part that it is in has it. A key that is in no part is returned as it is.
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

// Around is the store that the part is in.
func (p *Part) Around() kv.Store { return p.Store }

// Outer are the keys of the store around the part that keys of the part are. With Within they let one update of that store
// write in several parts.
func (p *Part) Outer(keys [][]byte) [][]byte { return p.keys(keys) }

// Within is the part's view of a transaction of the store around it.
func (p *Part) Within(below kv.Txn) kv.Txn { return &txn{reader{below, p.mapping}, below} }

// Close does nothing: the store below is others', too.
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

// Compact implements kv.Store. The room of change logs is given back with that of the whole store.
func (p *Part) Compact(ctx context.Context, lo, hi []byte) error {
	return p.Store.Compact(ctx, p.key(lo), p.end(hi))
}

// Load implements kv.Store.
func (p *Part) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	return p.Store.Load(ctx, func(put func(key, value []byte) error) error {
		return fill(func(key, value []byte) error { return put(p.loadKey(key), value) })
	})
}

// loadKey is the key below of one that is loaded. One that may not be loaded stays as it is, for the store to refuse.
func (p *Part) loadKey(key []byte) []byte {
	if len(key) == 0 || key[0] >= kv.ReservedPrefix {
		return key
	}
	return p.key(key)
}

// kept is the name below of a kept snapshot.
func (p *Part) kept(name string) string {
	if !kv.ValidKeptName(name) {
		return name // for the store to refuse
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
