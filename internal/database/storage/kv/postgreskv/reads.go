package postgreskv

import (
	"context"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
)

// querier can read: a pool, a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// source is a set of rows to read: those of the store, or of a kept snapshot.
type source struct {
	rows     string // table
	root     []byte
	log      string // table of records, and their selection
	counters bool   // in a separate table
}

var live = source{rows: "kv", root: []byte{}, log: "log where log = $1", counters: true}

// Get returns a copy of the latest committed value.
func (s *Store) Get(ctx context.Context, key []byte) (value []byte, err error) {
	err = s.read(ctx, func(ctx context.Context) (err error) {
		value, err = live.get(ctx, s.reads, key)
		return err
	})
	return value, err
}

// Counter returns the latest committed counters of a key.
func (s *Store) Counter(ctx context.Context, key []byte) (sums []int64, err error) {
	err = s.read(ctx, func(ctx context.Context) (err error) {
		sums, err = live.counter(ctx, s.reads, key)
		return err
	})
	return sums, err
}

func (src source) get(ctx context.Context, q querier, key []byte) ([]byte, error) {
	at := locate(src.root, key)
	var value []byte
	err := q.QueryRow(ctx, "select v from "+src.rows+" where p = $1 and k = $2", at.p, at.k).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return value, err
}

func (src source) counter(ctx context.Context, q querier, key []byte) ([]int64, error) {
	if !src.counters {
		data, err := src.get(ctx, q, key)
		if err != nil {
			return nil, err
		}
		return counters.Decode(data)
	}
	rows, err := q.Query(ctx, "select n from counters where k = $1", key)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var sum []int64
	for rows.Next() {
		var shard []int64
		if err := rows.Scan(&shard); err != nil {
			return nil, err
		}
		if sum == nil {
			sum = []int64{}
		}
		if sum, err = counters.Add(sum, counters.Append(nil, shard)); err != nil {
			return nil, err
		}
	}
	return sum, rows.Err()
}

// records reads a log: at most limit records after a number, ending with the record that reaches kv.LogReadBytes.
func (src source) records(ctx context.Context, q querier, log kv.LogID, after, through kv.Seq, limit int) ([]kv.Record, error) {
	rows, err := q.Query(ctx, `select seq, data from (
			select seq, data, sum(octet_length(data)) over (order by seq rows unbounded preceding) as through
			from `+src.log+` and seq > $2 and seq <= $3 order by seq limit $4
		) as page where through - octet_length(data) < $5 order by seq`, int64(log), number(after), number(through), limit, kv.LogReadBytes)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []kv.Record
	for rows.Next() {
		var seq int64
		var data []byte
		if err := rows.Scan(&seq, &data); err != nil {
			return nil, err
		}
		list = append(list, kv.Record{Seq: kv.Seq(seq), Data: data}) //nolint:gosec // it is not negative
	}
	return list, rows.Err()
}

// number is a Seq in the database's type.
func number(s kv.Seq) int64 { return int64(min(s, math.MaxInt64)) } //nolint:gosec // it is not above

// view is a transaction that sees one moment, in its own connection.
type view struct {
	store *Store
	conn  *pgxpool.Conn
}

// openView takes a connection, on which begin starts the transaction: the first statement that reads fixes the moment. The
// view counts as a call of the store until it is closed.
func (s *Store) openView(ctx context.Context, begin func(*pgxpool.Conn) error) (v *view, err error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	err = s.retry(ctx, func() error {
		conn, err := s.views.Acquire(ctx)
		if err != nil {
			return err
		}
		if err := begin(conn); err != nil {
			_ = conn.Conn().Close(ctx)
			conn.Release()
			return err
		}
		v = &view{s, conn}
		return nil
	})
	if err != nil {
		s.leave()
		return nil, err
	}
	return v, nil
}

// close ends the view. It does not wait for the server's response.
func (v *view) close() {
	go func() {
		defer v.store.leave()
		ctx, cancel := context.WithTimeout(context.Background(), healthTime)
		defer cancel()
		if _, err := v.conn.Exec(ctx, "commit"); err != nil {
			_ = v.conn.Conn().Close(ctx)
		}
		v.conn.Release()
	}()
}

const beginView = "begin read only, isolation level repeatable read"

// Iter iterates over what was committed before the call.
func (s *Store) Iter(ctx context.Context, lo, hi []byte, o kv.IterOptions) (kv.Iterator, error) {
	var it *iterator
	v, err := s.openView(ctx, func(conn *pgxpool.Conn) error {
		it = newIterator(ctx, conn, live, lo, hi, o)
		return it.begin()
	})
	if err != nil {
		return nil, err
	}
	it.view = v
	return it, nil
}

// Snapshot returns everything committed before the call.
func (s *Store) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	return s.snapshot(ctx, func(context.Context, querier) (source, error) { return live, nil })
}

// snapshot returns a snapshot of a source that is found in it.
func (s *Store) snapshot(ctx context.Context, find func(context.Context, querier) (source, error)) (kv.Snapshot, error) {
	var src source
	v, err := s.openView(ctx, func(conn *pgxpool.Conn) (err error) {
		return inTime(ctx, func(ctx context.Context) error {
			var b pgx.Batch
			b.Queue(beginView)
			b.Queue("select 1 from meta") // fixes the moment
			if err := conn.SendBatch(ctx, &b).Close(); err != nil {
				return err
			}
			src, err = find(ctx, conn)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return &snapshot{ctx, v, src}, nil
}

// snapshot reads a source in a view.
type snapshot struct {
	ctx context.Context //nolint:containedctx // the caller's: its reads have none
	*view
	source
}

func (s *snapshot) Get(key []byte) (value []byte, err error) {
	err = inTime(s.ctx, func(ctx context.Context) (err error) {
		value, err = s.get(ctx, s.conn, key)
		return err
	})
	return value, err
}

func (s *snapshot) Counter(key []byte) (sums []int64, err error) {
	err = inTime(s.ctx, func(ctx context.Context) (err error) {
		sums, err = s.counter(ctx, s.conn, key)
		return err
	})
	return sums, err
}

func (s *snapshot) Iter(lo, hi []byte, o kv.IterOptions) kv.Iterator {
	return newIterator(s.ctx, s.conn, s.source, lo, hi, o)
}

func (s *snapshot) ReadLog(log kv.LogID, after kv.Seq, limit int) (list []kv.Record, err error) {
	if limit <= 0 {
		return nil, nil
	}
	err = inTime(s.ctx, func(ctx context.Context) (err error) {
		list, err = s.records(ctx, s.conn, log, after, math.MaxInt64, limit)
		return err
	})
	return list, err
}

func (s *snapshot) Close() error {
	s.close()
	return nil
}
