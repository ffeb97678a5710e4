package postgreskv

import (
	"context"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Logs lists the logs that have records or have been trimmed. It reads one record of each.
func (s *Store) Logs(ctx context.Context) (list []kv.LogID, err error) {
	err = s.call(ctx, func() error {
		rows, err := s.reads.Query(ctx, `with recursive logs as (
				select min(log) as log from log
				union all
				select (select min(l.log) from log l where l.log > logs.log) from logs where logs.log is not null
			)
			select log from logs where log is not null union select log from trimmed order by log`)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (kv.LogID, error) {
			var log int64
			err := row.Scan(&log)
			return kv.LogID(log), err //nolint:gosec // it was one
		})
		return err
	})
	return list, err
}

// LoadLog empties the log and writes the records in one transaction.
func (s *Store) LoadLog(ctx context.Context, log kv.LogID, trimmed kv.Seq, fill func(put func(kv.Record) error) error) error {
	return s.loadLog(ctx, log, trimmed, math.MaxInt64, fill)
}

// ExtendLog also writes the records in one transaction.
func (s *Store) ExtendLog(ctx context.Context, log kv.LogID, trimmed kv.Seq, fill func(put func(kv.Record) error) error) error {
	return s.loadLog(ctx, log, trimmed, trimmed, fill)
}

// loadLog removes the records of a log up to a number, records how far it has been trimmed, and adds records.
func (s *Store) loadLog(ctx context.Context, log kv.LogID, trimmed, upTo kv.Seq, fill func(put func(kv.Record) error) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	// There is no retry, because fill may not be able to run twice.
	err := s.transact(ctx, pgx.ReadCommitted, func(tx pgx.Tx) error {
		last, err := forget(ctx, tx, log, trimmed, upTo)
		if err != nil {
			return err
		}
		l := &logLoad{ctx: ctx, tx: tx, log: int64(log)}
		if err := kv.FillLog(ctx, s.Limits(), last, fill, l.add); err != nil {
			return err
		}
		return errors.Join(ctx.Err(), l.send())
	})
	return translate(err)
}

// forget removes the records of a log up to a number, and records how far it has been trimmed. It returns the number that all
// further ones must exceed.
func forget(ctx context.Context, tx pgx.Tx, log kv.LogID, trimmed, upTo kv.Seq) (kv.Seq, error) {
	if _, err := tx.Exec(ctx, "delete from log where log = $1 and seq <= $2", int64(log), number(upTo)); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, "delete from trimmed where log = $1", int64(log)); err != nil {
		return 0, err
	}
	if trimmed > 0 {
		if _, err := tx.Exec(ctx, "insert into trimmed (log, seq) values ($1, $2)", int64(log), number(trimmed)); err != nil {
			return 0, err
		}
	}
	var last int64
	err := tx.QueryRow(ctx, "select coalesce(max(seq), 0) from log where log = $1", int64(log)).Scan(&last)
	return max(trimmed, kv.Seq(last)), err //nolint:gosec // it is not negative
}

// logLoad is a running loadLog.
type logLoad struct {
	ctx   context.Context //nolint:containedctx // that of loadLog
	tx    pgx.Tx
	log   int64
	seqs  []int64
	data  [][]byte
	bytes int
}

func (l *logLoad) add(r kv.Record) error {
	l.seqs, l.data = append(l.seqs, number(r.Seq)), append(l.data, append([]byte{}, r.Data...))
	if l.bytes += len(r.Data); l.bytes < loadBytes {
		return nil
	}
	return l.send()
}

// send writes what has been put since the previous call.
func (l *logLoad) send() error {
	_, err := l.tx.Exec(l.ctx, "insert into log (log, seq, data) select $1::bigint, s, d from unnest($2::bigint[], $3::bytea[]) as u(s, d)", l.log, l.seqs, l.data)
	l.seqs, l.data, l.bytes = nil, nil, 0
	return err
}
