package postgreskv

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// ranges are the rows of a range of keys: its own, and those after its branches.
func (src source) ranges(ctx context.Context, q querier, lo, hi []byte) ([]within, error) {
	todo := []within{{p: src.root, lo: lo, hi: hi}}
	for i := 0; i < len(todo); i++ { // grows
		w := &todo[i]
		first, last, through := w.bounds()
		sql, args := "select k from "+src.rows+" where flags & 1 <> 0 and p = $1 and k >= $2", []any{w.p, first}
		switch {
		case through:
			sql, args = sql+" and k <= $3", append(args, last)
		case last != nil:
			sql, args = sql+" and k < $3", append(args, last)
		}
		rows, err := q.Query(ctx, sql, args...)
		if err != nil {
			return nil, err
		}
		segments, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err != nil {
			return nil, err
		}
		for _, segment := range segments {
			todo = append(todo, todo[i].beyond(segment))
		}
	}
	return todo, nil
}

// where selects the rows of a range whose keys are in it. Its parameters come first.
func (w *within) where() (sql string, args []any) {
	sql, args = between(2, w.lo, w.hi)
	return "p = $1 and " + sql, append([]any{w.p}, args...)
}

// between selects the k in [lo, hi), with parameters first and the next one. A range without an end is a separate statement:
// with a parameter that says whether there is an end, the index would not be used.
func between(first int, lo, hi []byte) (sql string, args []any) {
	sql, args = fmt.Sprintf("k >= $%d", first), []any{append([]byte{}, lo...)}
	if hi != nil {
		sql, args = fmt.Sprintf("%s and k < $%d", sql, first+1), append(args, hi)
	}
	return sql, args
}

// DeleteRange removes [lo, hi). Branch rows stay: they are few, and the same keys often return.
func (s *Store) DeleteRange(ctx context.Context, lo, hi []byte) error {
	return s.write(ctx, func(ctx context.Context, tx pgx.Tx) error {
		list, err := live.ranges(ctx, tx, lo, hi)
		if err != nil {
			return err
		}
		for i := range list {
			where, args := list[i].where()
			if _, err := tx.Exec(ctx, "delete from kv where flags & 1 = 0 and "+where, args...); err != nil {
				return err
			}
			if len(list) == 1 { // no branches
				continue
			}
			if _, err := tx.Exec(ctx, "update kv set v = null where flags & 1 <> 0 and "+where, args...); err != nil {
				return err
			}
		}
		where, args := between(1, lo, hi)
		_, err = tx.Exec(ctx, "delete from counters where "+where, args...)
		return err
	})
}

// loadBytes is the approximate amount that Load sends at a time.
const loadBytes = 1 << 20

// Load writes what fill puts, in one transaction.
func (s *Store) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	// There is no retry, because fill may not be able to run twice.
	err := s.transact(ctx, pgx.ReadCommitted, func(tx pgx.Tx) error {
		l := &load{ctx: ctx, tx: tx}
		if err := kv.Fill(ctx, s.Limits(), fill, l.add); err != nil {
			return err
		}
		return errors.Join(ctx.Err(), l.send())
	})
	return translate(err)
}

// load is a running Load.
type load struct {
	ctx          context.Context //nolint:containedctx // that of Load
	tx           pgx.Tx
	keys, values [][]byte
	bytes        int
}

func (l *load) add(key, value []byte) error {
	l.keys, l.values = append(l.keys, append([]byte{}, key...)), append(l.values, append([]byte{}, value...))
	if l.bytes += len(key) + len(value); l.bytes < loadBytes {
		return nil
	}
	return l.send()
}

// send writes what has been put since the previous call.
func (l *load) send() error {
	var b pgx.Batch
	var keys, values [][]byte
	for i, k := range l.keys {
		if len(k) >= segmentBytes {
			queueLong(&b, live.rows, live.root, k, l.values[i])
			continue
		}
		keys, values = append(keys, k), append(values, l.values[i])
	}
	b.Queue(`insert into kv (p, k, v) select ''::bytea, k, v from unnest($1::bytea[], $2::bytea[]) as u(k, v) on conflict (p, k) do update set v = excluded.v`, keys, values)
	l.keys, l.values, l.bytes = nil, nil, 0
	return l.tx.SendBatch(l.ctx, &b).Close()
}

// Size is the length of the keys and values of a range, which it reads completely.
func (s *Store) Size(ctx context.Context, lo, hi []byte) (n int64, err error) {
	err = s.call(ctx, func() (err error) {
		n, err = live.size(ctx, s.reads, lo, hi)
		return err
	})
	return n, err
}

func (src source) size(ctx context.Context, q querier, lo, hi []byte) (sum int64, err error) {
	list, err := src.ranges(ctx, q, lo, hi)
	if err != nil {
		return 0, err
	}
	for i := range list {
		where, args := list[i].where()
		var n int64
		err := q.QueryRow(ctx, "select coalesce(sum(octet_length(k) + octet_length(v)), 0) from "+src.rows+" where "+where, args...).Scan(&n)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// Compact lets the server reuse the space of deleted and overwritten rows, in the whole store.
func (s *Store) Compact(ctx context.Context, _, hi []byte) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	done, err := s.takeTurn(ctx)
	if err != nil {
		return err
	}
	defer done()
	tables := "kv, counters"
	if hi == nil {
		tables += ", log"
	}
	_, err = s.updates.Exec(ctx, "vacuum (analyze) "+tables)
	return translate(supported(err))
}

// Split does nothing: PostgreSQL writes on one machine.
func (s *Store) Split(context.Context, [][]byte) error { return nil }
