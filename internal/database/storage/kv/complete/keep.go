package complete

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// The spaces of this package's keys.
const (
	records = kv.ReservedPrefix + iota
	entries
	logs
)

// state is the state of a copy.
type state byte

const (
	copying state = iota + 1
	whole
	dropping
)

// abandoned is how long an incomplete copy may make no progress.
const abandoned = time.Minute

// pieceBytes is the approximate size of one update of a copy.
const pieceBytes = 1 << 20

var errTaken = errors.New("the copy was dropped, or considered abandoned, while it was being made")

// record is the record of a kept snapshot.
//
//	┌────┬───────┬───────┬───────┐
//	│ id │ state │ moved │ bytes │   moved: the time of the last progress, in milliseconds; big endian
//	└────┴───────┴───────┴───────┘
//	  8    1       8       8
type record struct {
	id    uint64
	state state
	moved time.Time
	bytes int64
}

func (r record) encode() []byte {
	data := append(binary.BigEndian.AppendUint64(nil, r.id), byte(r.state))
	data = binary.BigEndian.AppendUint64(data, uint64(r.moved.UnixMilli())) //nolint:gosec // the same 64 bits
	return binary.BigEndian.AppendUint64(data, uint64(r.bytes))             //nolint:gosec // the same 64 bits
}

// recordBytes is the length of a record.
const recordBytes = 25

func decode(data []byte) (record, error) {
	if len(data) != recordBytes {
		return record{}, fmt.Errorf("the record %x of a kept snapshot is corrupted", data)
	}
	return record{
		id:    binary.BigEndian.Uint64(data),
		state: state(data[8]),
		moved: time.UnixMilli(int64(binary.BigEndian.Uint64(data[9:]))), //nolint:gosec // the same 64 bits
		bytes: int64(binary.BigEndian.Uint64(data[17:])),                //nolint:gosec // the same 64 bits
	}, nil
}

func recordKey(name string) []byte { return append([]byte{records}, name...) }

// copyPrefix returns the prefix of a copy's keys in one of its spaces.
func copyPrefix(space byte, id uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{space}, id)
}

func logPrefix(id uint64, log kv.LogID) []byte {
	return binary.BigEndian.AppendUint32(copyPrefix(logs, id), uint32(log))
}

// Keep implements kv.Keeper.
func (s *Store) Keep(ctx context.Context, name string, what kv.Selection) error {
	if native, has := s.Core.(kv.Keeper); has {
		return native.Keep(ctx, name, what)
	}
	if !kv.ValidKeptName(name) {
		return fmt.Errorf("%q cannot be the name of a kept snapshot", name)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.drop(ctx, name, func(is record) bool { return is.state != whole }); err != nil {
		return err
	}
	if err := s.sweep(ctx); err != nil {
		return err
	}
	c := &copier{store: s, name: name, frees: what.Frees, record: record{state: copying}}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	c.record.id = binary.BigEndian.Uint64(id[:])
	err := c.change(ctx, func(_ kv.Txn, is record) error {
		if is.state != 0 {
			return fmt.Errorf("%w: %s", kv.ErrKeptExists, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.run(ctx, what) // after an error, nobody sees what it left
}

// copier makes one copy.
type copier struct {
	store  *Store
	name   string
	frees  bool
	record record
	piece  [][2][]byte // the writes of the next update
	size   int
}

// change updates the copier's record, if fn, which gets the current record, allows it.
func (c *copier) change(ctx context.Context, fn func(txn kv.Txn, is record) error) error {
	now, err := c.store.now(ctx)
	if err != nil {
		return err
	}
	c.record.moved = now
	key := recordKey(c.name)
	return c.store.Core.Update(ctx, kv.Intent{Write: [][]byte{key}, Frees: c.frees}, func(txn kv.Txn) error {
		is, err := get(txn, key)
		if err == nil {
			err = fn(txn, is)
		}
		if err != nil {
			return err
		}
		txn.Set(key, c.record.encode())
		return nil
	})
}

// get reads a record; a missing one has no state.
func get(r kv.Reader, key []byte) (record, error) {
	data, err := r.Get(key)
	if err != nil || data == nil {
		return record{}, err
	}
	return decode(data)
}

// now returns the time by which all processes decide what is abandoned.
func (s *Store) now(ctx context.Context) (time.Time, error) {
	now, timed, err := s.Time(ctx)
	if err == nil && !timed {
		now = time.Now()
	}
	return now, err
}

// run copies the selection.
func (c *copier) run(ctx context.Context, what kv.Selection) error {
	snap, err := c.store.Core.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snap.Close()
	for _, span := range what.Spans {
		if err := c.span(ctx, snap, span); err != nil {
			return err
		}
	}
	for _, log := range what.Logs {
		if err := c.log(ctx, snap, log); err != nil {
			return err
		}
	}
	if err := c.flush(ctx); err != nil {
		return err
	}
	c.record.state = whole
	return c.flush(ctx)
}

func (c *copier) span(ctx context.Context, snap kv.Reader, span kv.Span) error {
	it := snap.Iter(span.Lo, end(span.Hi), kv.IterOptions{})
	defer it.Close()
	for it.Next() {
		if err := c.add(ctx, append(copyPrefix(entries, c.record.id), it.Key()...), it.Value()); err != nil {
			return err
		}
	}
	return it.Err()
}

func (c *copier) log(ctx context.Context, snap kv.Snapshot, log kv.LogID) error {
	for after := kv.Seq(0); ; {
		read, err := snap.ReadLog(log, after, math.MaxInt)
		if err != nil || len(read) == 0 {
			return err
		}
		for _, r := range read {
			if err := c.add(ctx, binary.BigEndian.AppendUint64(logPrefix(c.record.id, log), uint64(r.Seq)), r.Data); err != nil {
				return err
			}
			after = r.Seq
		}
	}
}

func (c *copier) add(ctx context.Context, key, value []byte) error {
	c.piece = append(c.piece, [2][]byte{key, append([]byte{}, value...)})
	c.size += len(key) + len(value)
	if c.size < pieceBytes {
		return ctx.Err()
	}
	return c.flush(ctx)
}

// flush writes what has been added, unless the copy no longer belongs to the copier.
func (c *copier) flush(ctx context.Context) error {
	c.record.bytes += int64(c.size)
	err := c.change(ctx, func(txn kv.Txn, is record) error {
		if is.id != c.record.id || is.state != copying {
			return errTaken
		}
		for _, e := range c.piece {
			txn.Set(e[0], e[1])
		}
		return nil
	})
	c.piece, c.size = nil, 0
	return err
}

// Kept implements kv.Keeper.
func (s *Store) Kept(ctx context.Context) ([]kv.KeptSnapshot, error) {
	if native, has := s.Core.(kv.Keeper); has {
		return native.Kept(ctx)
	}
	all, err := s.records(ctx)
	list := []kv.KeptSnapshot{}
	for _, k := range all {
		if k.state == whole {
			list = append(list, kv.KeptSnapshot{Name: k.name, Bytes: k.bytes})
		}
	}
	return list, err
}

// named is a record with its name.
type named struct {
	name string
	record
}

func (s *Store) records(ctx context.Context) (list []named, err error) {
	it, err := s.Core.Iter(ctx, []byte{records}, []byte{entries}, kv.IterOptions{})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	for it.Next() {
		r, err := decode(it.Value())
		if err != nil {
			return nil, err
		}
		list = append(list, named{string(it.Key()[1:]), r})
	}
	return list, it.Err()
}

// sweep removes abandoned copies.
func (s *Store) sweep(ctx context.Context) error {
	all, err := s.records(ctx)
	for i := range all {
		found := all[i]
		if found.state == whole {
			continue
		}
		now, err := s.now(ctx)
		if err != nil {
			return err
		}
		if now.Sub(found.moved) < abandoned {
			continue
		}
		if err := s.drop(ctx, found.name, func(is record) bool { return is == found.record }); err != nil {
			return err
		}
	}
	return err
}

// DropKept implements kv.Keeper.
func (s *Store) DropKept(ctx context.Context, name string) error {
	if native, has := s.Core.(kv.Keeper); has {
		return native.DropKept(ctx, name)
	}
	return s.drop(ctx, name, func(record) bool { return true })
}

// drop removes the copy with a name if its record satisfies which. From the first update on it is invisible, and nothing is added
// to it.
func (s *Store) drop(ctx context.Context, name string, which func(record) bool) error {
	key := recordKey(name)
	intent := kv.Intent{Write: [][]byte{key}, Drops: true}
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	var found record
	err = s.Core.Update(ctx, intent, func(txn kv.Txn) (err error) {
		if found, err = get(txn, key); err != nil || found.state == 0 || !which(found) {
			found.state = 0
			return err
		}
		found.state, found.moved = dropping, now
		txn.Set(key, found.encode())
		return nil
	})
	if err != nil || found.state == 0 {
		return err
	}
	for _, space := range []byte{entries, logs} {
		prefix := copyPrefix(space, found.id)
		if err := s.Core.DeleteRange(ctx, prefix, after(prefix)); err != nil {
			return err
		}
	}
	return s.Core.Update(ctx, intent, func(txn kv.Txn) error {
		is, err := get(txn, key)
		if err == nil && is.id == found.id {
			txn.Delete(key)
		}
		return err
	})
}

// after returns the exclusive upper bound of the keys with a prefix.
func after(prefix []byte) []byte {
	hi := bytes.Clone(prefix)
	for i := len(hi) - 1; ; i-- { // stops at the space, which is not 0xFF
		if hi[i]++; hi[i] != 0 {
			return hi[:i+1]
		}
	}
}
