package postgreskv

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
)

// PostgreSQL does not keep old states, so a kept snapshot is a copy, which the server makes in one transaction: its time and
// space are proportional to the data.

// kept is the source of a kept snapshot.
func kept(id int64) source {
	return source{
		rows: "kept_kv",
		root: binary.BigEndian.AppendUint64(nil, uint64(id)), //nolint:gosec // it is not negative
		log:  fmt.Sprintf("kept_log where kept = %d and log = $1", id),
	}
}

// Keep copies the content of the store at one moment.
func (s *Store) Keep(ctx context.Context, name string, what kv.Selection) error {
	if !kv.ValidKeptName(name) {
		return fmt.Errorf("postgreskv: %q cannot be the name of a kept snapshot", name)
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	err := s.transact(ctx, pgx.RepeatableRead, func(tx pgx.Tx) error {
		var id int64
		if err := tx.QueryRow(ctx, "insert into kept (name, bytes) values ($1, 0) returning id", name).Scan(&id); err != nil {
			return err
		}
		n, err := copyRows(ctx, tx, kept(id), what.Spans)
		if err != nil {
			return err
		}
		var logged int64
		err = tx.QueryRow(ctx, `with copies as (insert into kept_log select $1::bigint, log, seq, data from log where log = any($2) returning octet_length(data) as n)
			select coalesce(sum(n), 0) from copies`, id, logsOf(what)).Scan(&logged)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "update kept set bytes = $2 where id = $1", id, n+logged)
		return err
	})
	if state(err) == duplicate {
		return fmt.Errorf("%w: %s", kv.ErrKeptExists, name)
	}
	return translate(err)
}

func logsOf(what kv.Selection) []int64 {
	logs := make([]int64, 0, len(what.Logs))
	for _, log := range what.Logs {
		logs = append(logs, int64(log))
	}
	return logs
}

// copyRows copies the content of spans and returns its length. A row that leads to longer keys is copied if one of them is.
func copyRows(ctx context.Context, tx pgx.Tx, to source, spans []kv.Span) (sum int64, err error) {
	for _, span := range spans {
		list, err := live.ranges(ctx, tx, span.Lo, span.Hi)
		if err != nil {
			return 0, err
		}
		where, args := list[0].where()
		// Counters are kept as their sums.
		var n int64
		err = tx.QueryRow(ctx, fmt.Sprintf(`with copies as (insert into kept_kv (p, k, v) select $%d::bytea, k, v from kv where v is not null and %s
			on conflict do nothing returning octet_length(k) + octet_length(v) as n) select coalesce(sum(n), 0) from copies`, len(args)+1, where), append(args, to.root)...).Scan(&n)
		if err != nil {
			return 0, err
		}
		if err := copyCounters(ctx, tx, to, span); err != nil {
			return 0, err
		}
		long, err := copyLong(ctx, tx, to, list[1:])
		if err != nil {
			return 0, err
		}
		sum += n + long
	}
	return sum, nil
}

func copyCounters(ctx context.Context, tx pgx.Tx, to source, span kv.Span) error {
	where, args := between(1, span.Lo, span.Hi)
	rows, err := tx.Query(ctx, "select k, n from counters where "+where, args...)
	if err != nil {
		return err
	}
	sums := map[string][]int64{}
	for rows.Next() {
		var k []byte
		var n []int64
		if err := rows.Scan(&k, &n); err != nil {
			return err
		}
		if sums[string(k)], err = counters.Add(sums[string(k)], counters.Append(nil, n)); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil || len(sums) == 0 {
		return err
	}
	var keys, values [][]byte
	for k, sum := range sums {
		keys, values = append(keys, []byte(k)), append(values, counters.Append([]byte{}, sum))
	}
	_, err = tx.Exec(ctx, "insert into kept_kv (p, k, v) select $1::bytea, k, v from unnest($2::bytea[], $3::bytea[]) as u(k, v) on conflict do nothing", to.root, keys, values)
	return err
}

// copyLong copies the keys with more than one segment, one by one: they are rare.
func copyLong(ctx context.Context, tx pgx.Tx, to source, list []within) (sum int64, err error) {
	for i := range list {
		where, args := list[i].where()
		rows, err := tx.Query(ctx, "select k, v from kv where v is not null and "+where, args...)
		if err != nil {
			return 0, err
		}
		var b pgx.Batch
		for rows.Next() {
			var k, v []byte
			if err := rows.Scan(&k, &v); err != nil {
				return 0, err
			}
			queueLong(&b, to.rows, to.root, append(append([]byte{}, list[i].prefix...), k...), v)
			sum += int64(len(list[i].prefix) + len(k) + len(v))
		}
		if err := errors.Join(rows.Err(), tx.SendBatch(ctx, &b).Close()); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// OpenKept opens a kept snapshot.
func (s *Store) OpenKept(ctx context.Context, name string) (kv.Snapshot, error) {
	return s.snapshot(ctx, func(ctx context.Context, q querier) (source, error) {
		var id int64
		err := q.QueryRow(ctx, "select id from kept where name = $1", name).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return source{}, fmt.Errorf("%w: %s", kv.ErrNotKept, name)
		}
		return kept(id), err
	})
}

// Kept lists the kept snapshots.
func (s *Store) Kept(ctx context.Context) (list []kv.KeptSnapshot, err error) {
	err = s.call(ctx, func() error {
		rows, err := s.reads.Query(ctx, "select name, bytes from kept")
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[kv.KeptSnapshot])
		slices.SortFunc(list, func(a, b kv.KeptSnapshot) int { return cmp.Compare(a.Name, b.Name) })
		return err
	})
	return list, err
}

// DropKept removes a kept snapshot.
func (s *Store) DropKept(ctx context.Context, name string) error {
	return s.write(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, "delete from kept where name = $1 returning id", name).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		src := kept(id)
		list, err := src.ranges(ctx, tx, nil, nil)
		if err != nil {
			return err
		}
		for i := range list {
			if _, err := tx.Exec(ctx, "delete from kept_kv where p = $1", list[i].p); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, "delete from kept_log where kept = $1", id)
		return err
	})
}
