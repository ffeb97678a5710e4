package postgreskv

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ErrMissing is what Open returns, wrapped, where there are no tables of a store and none are to be made.
var ErrMissing = errors.New("there is no store in the schema")

// prepare makes the tables, or checks that this code knows them.
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
			return fmt.Errorf("the tables have version %d, and this program knows version %d: use the program that made them, or a newer one", version, schemaVersion)
		}
		return nil
	})
}

// create makes the schema and the tables where there are none, or refuses that.
func (s *Store) create(ctx context.Context, tx pgx.Tx, schema string, refuse bool) error {
	// One process makes them.
	if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1)", s.lock([]byte("the tables"))); err != nil {
		return err
	}
	var schemaThere, tablesThere bool
	err := tx.QueryRow(ctx, "select exists (select from pg_namespace where nspname = $1), to_regclass('meta') is not null", schema).Scan(&schemaThere, &tablesThere)
	if err == nil && refuse && !tablesThere {
		return fmt.Errorf("%w %s", ErrMissing, schema)
	}
	if err == nil && !schemaThere { // to ask for it "if not exists" takes the right to make one
		_, err = tx.Exec(ctx, "create schema "+pgx.Identifier{schema}.Sanitize())
	}
	if err == nil && !tablesThere {
		_, err = tx.Exec(ctx, schemaSQL)
	}
	return err
}
