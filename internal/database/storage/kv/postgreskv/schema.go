package postgreskv

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// prepare creates the tables, or checks that this code knows them.
func (s *Store) prepare(ctx context.Context, schema string, existing bool) error {
	return pgx.BeginTxFunc(ctx, s.updates, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if err := s.create(ctx, tx, schema, existing); err != nil {
			return err
		}
		var version int
		if err := tx.QueryRow(ctx, "select version from meta").Scan(&version); err != nil {
			return err
		}
		if version != schemaVersion {
			return fmt.Errorf("the tables have version %d, but this program supports version %d: use the release that created them, or a newer one", version, schemaVersion)
		}
		return nil
	})
}

// create creates the schema and the tables if they do not exist, or rejects that, and replaces the functions.
func (s *Store) create(ctx context.Context, tx pgx.Tx, schema string, refuse bool) error {
	// Only one process creates them.
	lock := s.lock([]byte("the tables"))
	if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1)", lock); err != nil {
		return err
	}
	if err := s.requireLocks(ctx, lock); err != nil {
		return err
	}
	var schemaThere, tablesThere bool
	err := tx.QueryRow(ctx, "select exists (select 1 from pg_namespace where nspname = $1), to_regclass('meta') is not null", schema).Scan(&schemaThere, &tablesThere)
	if err == nil && refuse && !tablesThere {
		return fmt.Errorf("%w in the schema %s", kv.ErrMissing, schema)
	}
	if err == nil && !schemaThere { // to ask for it "if not exists" takes the right to make one
		_, err = tx.Exec(ctx, "create schema "+pgx.Identifier{schema}.Sanitize())
	}
	if err == nil && !tablesThere {
		err = createTables(ctx, tx)
	}
	if err == nil {
		_, err = tx.Exec(ctx, functionsSQL)
	}
	return err
}

// createTables also draws the first number, and rejects a server whose sessions cache numbers: their numbers would not be in order.
func createTables(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, schemaSQL); err != nil {
		return err
	}
	err := supported(pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { // a savepoint
		_, err := tx.Exec(ctx, storageSQL)
		return err
	}))
	if err != nil {
		return err
	}
	var first, last int64
	if err := tx.QueryRow(ctx, "select nextval('numbers')").Scan(&first); err != nil {
		return err
	}
	if err := tx.QueryRow(ctx, "select last_value from numbers").Scan(&last); err != nil {
		return err
	}
	if first != last {
		return errors.New("the server's sessions cache numbers of a sequence; in YugabyteDB, set ysql_sequence_cache_minval to 1")
	}
	return nil
}

// requireLocks rejects a server on which a lock held by one connection does not exclude another, because all isolation relies
// on that, or is not in pg_locks, which show up to where a log is complete.
func (s *Store) requireLocks(ctx context.Context, held int64) error {
	var got, gotSession, shown bool
	err := s.reads.QueryRow(ctx, `select pg_try_advisory_xact_lock($1), pg_try_advisory_lock($1), exists (select 1 from pg_locks where locktype = 'advisory' and objsubid = 1
		and database = (select oid from pg_database where datname = current_database()) and (classid::bigint << 32 | objid::bigint) = $1)`, held).Scan(&got, &gotSession, &shown)
	switch {
	case err != nil:
		return err
	case got:
		return errors.New("two connections get the same advisory lock: the server's locks have no effect, or the connections end at two servers")
	case gotSession:
		return errors.New("a session gets an advisory lock that a transaction holds: the server has no session-level advisory locks, which CockroachDB lacks up to 26.3 at least")
	case !shown:
		return errors.New("the server's pg_locks do not show an advisory lock that a connection holds")
	}
	return nil
}
