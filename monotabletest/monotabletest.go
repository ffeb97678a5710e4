// Package monotabletest gives each test its own database.
//
//	func TestOrders(t *testing.T) {
//		client := monotabletest.New(t).Client()
//		…
//	}
//
// Each call of New opens an empty database in memory in well under 2 ms and closes it when the test ends, so tests that
// use it may run in parallel.
//
// With MONOTABLE_TEST_STORE=postgres://… in the environment, the databases are in PostgreSQL instead, each in its own schema,
// which is dropped when the test ends. Use it to test code that runs on PostgreSQL in production. With tikv://…, in a build with the
// tag tikv, they are in a TiKV cluster for tests, each under its own prefix, and stay there.
package monotabletest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable"
)

// StoreVariable is the environment variable with the URL of the PostgreSQL database or TiKV cluster to use for tests.
const StoreVariable = "MONOTABLE_TEST_STORE"

// New opens an empty database in memory and closes it when the test ends.
func New(tb testing.TB) *monotable.DB {
	tb.Helper()
	return NewWith(tb, nil)
}

// NewWith is New with options, such as a fake clock or a delay of index reads.
func NewWith(tb testing.TB, o *monotable.Options) *monotable.DB {
	tb.Helper()
	db, err := open(tb, o)
	if err != nil {
		tb.Fatalf("open a database: %v", err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("close the database: %v", err)
		}
	})
	return db
}

func open(tb testing.TB, o *monotable.Options) (*monotable.DB, error) {
	tb.Helper()
	store := os.Getenv(StoreVariable)
	if store == "" {
		return monotable.OpenMemory(o)
	}
	name := "test_" + strings.ToLower(rand.Text())
	address, err := Within(store, name)
	if err != nil {
		return nil, err
	}
	if !OnTiKV(store) {
		tb.Cleanup(func() { drop(tb, store, name) })
	}
	return monotable.OpenStore(tb.Context(), address, o)
}

// OnTiKV reports whether a store is in a TiKV cluster.
func OnTiKV(store string) bool { return strings.HasPrefix(store, "tikv://") }

// Within returns the URL of a separate database in a store: in a schema of PostgreSQL, or under a prefix of a TiKV cluster.
func Within(store, name string) (address string, err error) {
	u, err := url.Parse(store)
	if err != nil {
		return "", fmt.Errorf("%s: %w", StoreVariable, err)
	}
	q := u.Query()
	if OnTiKV(store) {
		q.Set("prefix", name)
	} else {
		q.Set("search_path", name)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// drop removes a database's schema from PostgreSQL.
func drop(tb testing.TB, store, schema string) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	conn, err := pgx.Connect(ctx, store)
	if err == nil {
		_, err = conn.Exec(ctx, "drop schema if exists "+schema+" cascade")
		err = errors.Join(err, conn.Close(ctx))
	}
	if err != nil {
		tb.Errorf("drop the schema of a database: %v", err)
	}
}
