package postgreskv

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// ReadLog returns at most limit records after a number.
func (s *Store) ReadLog(ctx context.Context, log kv.LogID, after kv.Seq, limit int) (records []kv.Record, through kv.Seq, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		complete, err := s.complete(ctx, s.reads)
		if err != nil || after >= complete || limit <= 0 {
			records, through = nil, after
			return err
		}
		// A separate statement, which sees what was committed before it started; everything below complete was.
		records, err = live.records(ctx, s.reads, log, after, complete, limit)
		through = complete
		if n := len(records); n > 0 && (n == limit || bytesOf(records) >= kv.LogReadBytes) {
			through = records[n-1].Seq
		}
		return err
	})
	return records, through, err
}

func bytesOf(records []kv.Record) (n int) {
	for _, r := range records {
		n += len(r.Data)
	}
	return n
}

// complete returns a number at and below which nothing will be appended to any log any more: the last one allocated or, while
// updates are running, the number at which they started.
func (s *Store) complete(ctx context.Context, q querier) (kv.Seq, error) {
	var b pgx.Batch
	b.Queue("select last_value from numbers")
	b.Queue(`select min(classid::bigint << 32 | objid::bigint) from pg_locks where locktype = 'advisory' and objsubid = 1
		and database = (select oid from pg_database where datname = current_database())
		and (classid::bigint << 32 | objid::bigint) >> 56 = $1::bigint >> 56`, s.appendLock)
	results := q.SendBatch(ctx, &b)
	var drawn int64
	var begun *int64
	err := errors.Join(results.QueryRow().Scan(&drawn), results.QueryRow().Scan(&begun), results.Close())
	if err != nil {
		return 0, err
	}
	complete := drawn
	if begun != nil { // whole blocks of 64, see functions.sql
		complete = min(complete, (*begun&(1<<tagShift-1))<<6|63)
	}
	s.raiseFloor(kv.Seq(complete) + 1) //nolint:gosec // it is not negative
	return kv.Seq(complete), nil       //nolint:gosec // the same
}

// raiseFloor records that this process must not allocate a number below n any more. The server's sequence alone does not
// ensure that: after a failover it may be behind what an update without a commit has seen.
func (s *Store) raiseFloor(n kv.Seq) {
	for last := s.floor.Load(); uint64(n) > last && !s.floor.CompareAndSwap(last, uint64(n)); last = s.floor.Load() {
	}
}

func (s *Store) seqFloor() kv.Seq { return kv.Seq(s.floor.Load()) }

// TrimLog removes records up to a number.
func (s *Store) TrimLog(ctx context.Context, log kv.LogID, upTo kv.Seq) error {
	return s.write(ctx, func(ctx context.Context, tx pgx.Tx) error {
		complete, err := s.complete(ctx, tx) // nothing is appended below the removed records
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `with gone as (delete from log where log = $1 and seq <= $2 returning seq)
			insert into trimmed (log, seq) select $1::bigint, max(seq) from gone having max(seq) is not null
			on conflict (log) do update set seq = greatest(trimmed.seq, excluded.seq)`, int64(log), number(min(upTo, complete)))
		return err
	})
}

// LogTrimmed returns the number of the last record that has been removed.
func (s *Store) LogTrimmed(ctx context.Context, log kv.LogID) (kv.Seq, error) {
	var seq int64
	err := s.ask(ctx, &seq, "select coalesce((select seq from trimmed where log = $1), 0)", int64(log))
	return kv.Seq(seq), err //nolint:gosec // it is not negative
}

// LogSize is the length of a log's records after a number.
func (s *Store) LogSize(ctx context.Context, log kv.LogID, after kv.Seq) (n int64, err error) {
	if after > math.MaxInt64 {
		after = math.MaxInt64
	}
	err = s.call(ctx, func() error { // a long log takes long
		const sql = "select coalesce(sum(octet_length(data)), 0) from log where log = $1 and seq > $2"
		return s.reads.QueryRow(ctx, sql, int64(log), number(after)).Scan(&n)
	})
	return n, err
}

// ask reads one number.
func (s *Store) ask(ctx context.Context, n *int64, sql string, args ...any) error {
	return s.read(ctx, func(ctx context.Context) error { return s.reads.QueryRow(ctx, sql, args...).Scan(n) })
}

// write runs a transaction that is not an update's. It may run more than once, with the effect of one run.
func (s *Store) write(ctx context.Context, do func(context.Context, pgx.Tx) error) error {
	return s.call(ctx, func() error {
		return s.transact(ctx, pgx.ReadCommitted, func(tx pgx.Tx) error { return do(ctx, tx) })
	})
}

// transact runs a transaction in a connection for updates, and fails if a standby may not have it.
func (s *Store) transact(ctx context.Context, level pgx.TxIsoLevel, do func(pgx.Tx) error) error {
	done, err := s.takeTurn(ctx)
	if err != nil {
		return err
	}
	defer done()
	conn, err := s.updates.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	defer allowLateAcks(conn.Conn())()
	before := warnings(conn.Conn().PgConn())
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: level}, func(tx pgx.Tx) error {
		return do(tx)
	})
	if err == nil && warnings(conn.Conn().PgConn()) > before {
		return errUnconfirmed
	}
	return err
}

// takeTurn waits until fewer than half of the connections for updates do work that takes as long as there is data, such as copying
// a table for its backup. The others remain for updates: a server whose updates all wait loses its lease.
func (s *Store) takeTurn(ctx context.Context) (done func(), err error) {
	select {
	case s.long <- struct{}{}:
		return func() { <-s.long }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// errUnconfirmed is the error of a commit that may be on the primary only.
var errUnconfirmed = errors.New("the PostgreSQL server has committed with a warning: its synchronous standby may not have the commit")

// Time is the time of the server's clock, on which numbers are based.
func (s *Store) Time(ctx context.Context) (now time.Time, timed bool, err error) {
	var micros int64
	err = s.ask(ctx, &micros, "select (extract(epoch from clock_timestamp()) * 1000000)::bigint")
	return time.UnixMicro(micros), s.timed, err
}
