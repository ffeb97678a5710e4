//go:build tikv

package tikvkv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/tikv"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Spaces of keys, see the package comment.
const (
	valueSpace   = 'v'
	counterSpace = 'c'
	logSpace     = 'l'
	trimSpace    = 't'
	guardSpace   = 'g'
	metaSpace    = 'm'
	turnSpace    = 'x'
)

// Kinds of rows in valueSpace, by their first byte. TiKV has no empty values.
const (
	isValue   = 0
	isCounter = 1 // its generation follows
)

// shards is the maximum number of shards of a counter.
const shards = 1024

func (s *Store) key(space byte, rest ...byte) []byte {
	k := make([]byte, 0, len(s.prefix)+1+len(rest))
	return append(append(append(k, s.prefix...), space), rest...)
}

// end is the end of a space.
func (s *Store) end(space byte) []byte { return s.key(space + 1) }

// shardKey is the key of a counter's shard. The length of the key comes first, so that the shards of one counter are
// adjacent.
func (s *Store) shardKey(key []byte, shard uint16) []byte {
	k := s.key(counterSpace, binary.BigEndian.AppendUint16(nil, uint16(len(key)))...) //nolint:gosec // it is within the limits
	return binary.BigEndian.AppendUint16(append(k, key...), shard)
}

func (s *Store) recordKey(log kv.LogID, seq kv.Seq) []byte {
	return binary.BigEndian.AppendUint64(s.key(logSpace, binary.BigEndian.AppendUint32(nil, uint32(log))...), uint64(seq))
}

func (s *Store) trimKey(log kv.LogID) []byte {
	return s.key(trimSpace, binary.BigEndian.AppendUint32(nil, uint32(log))...)
}

// seqOf is the number in a record's key.
func seqOf(key []byte) kv.Seq { return kv.Seq(binary.BigEndian.Uint64(key[len(key)-8:])) }

// value is the value of a row, nil if it has none.
func value(row []byte) []byte {
	if len(row) == 0 || row[0] != isValue {
		return nil
	}
	return row[1:]
}

// meta is the row that every update reads.
type meta struct {
	window time.Duration
	offset uint64 // added to timestamps, modulo 2^64
	since  uint64 // when the update that set the offset started
}

const metaVersion = 1

func (m meta) encode() []byte {
	b := binary.BigEndian.AppendUint32([]byte{metaVersion}, uint32(m.window.Milliseconds())) //nolint:gosec // seconds
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, m.offset), m.since)
}

func decodeMeta(row []byte) (meta, error) {
	if len(row) != 21 || row[0] != metaVersion {
		return meta{}, fmt.Errorf("the store has a format that this program does not support (%x)", row)
	}
	return meta{
		window: time.Duration(binary.BigEndian.Uint32(row[1:])) * time.Millisecond,
		offset: binary.BigEndian.Uint64(row[5:]), since: binary.BigEndian.Uint64(row[13:]),
	}, nil
}

// number is the number of a timestamp.
func (m meta) number(ts uint64) kv.Seq { return kv.Seq(ts + m.offset) }

// before is the timestamp at a duration before another one.
func before(ts uint64, d time.Duration) uint64 {
	return ts - oracle.ComposeTS(d.Milliseconds(), 0)
}

// prepare creates the store if it does not exist.
func (s *Store) prepare(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return s.again(ctx, func() error {
		start, err := s.now(ctx)
		if err != nil {
			return err
		}
		tx, err := s.client.Begin(tikv.WithStartTS(start))
		if err != nil {
			return err
		}
		row, err := tx.Get(ctx, s.key(metaSpace))
		if err = notFound(err); err != nil {
			return err
		}
		if row != nil {
			m, err := decodeMeta(row)
			s.window = m.window
			return err
		}
		if o.Existing {
			return kv.ErrMissing
		}
		m := meta{window: o.Window, since: start}
		if o.Untimed {
			m.offset = -start
		}
		if err := tx.Set(s.key(metaSpace), m.encode()); err != nil {
			return err
		}
		if err := tx.Delete(s.key(valueSpace, make([]byte, limits.KeyBytes)...)); err != nil {
			return err
		}
		s.window = m.window
		if err := classify(tx.Commit(ctx)); err != nil && !errors.Is(err, errAgain) {
			return fmt.Errorf("%w (the store has keys of up to %d bytes: TiKV needs storage.max-key-size = \"64KB\" in its configuration)", err, limits.KeyBytes)
		} else if err != nil {
			return err
		}
		return nil
	})
}
