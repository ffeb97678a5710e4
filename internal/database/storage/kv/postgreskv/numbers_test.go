package postgreskv_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
)

// TestConcurrentAllocationsAdvanceOnce tests that of concurrent allocations that find the sequence behind the time, one advances it, and
// those that wait for it continue from there. If each advanced it in turn, a queue of updates would form that never ends under
// load.
func TestConcurrentAllocationsAdvanceOnce(t *testing.T) {
	address := postgrestest.URL(schema(), server)
	closeAll(t, openWith(t, address, postgreskv.Options{}))
	connect := func() *pgx.Conn {
		c, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
		return c
	}
	const lock = 42
	mover := connect()
	run(t, mover, "select pg_advisory_lock($1)", lock)
	run(t, mover, "select setval('numbers', 4095)") // long ago
	const draws = 3
	first := make(chan int64, draws)
	for range draws {
		c := connect()
		go func() {
			var n int64
			if err := c.QueryRow(t.Context(), "select draw(0, 0, $1, true)", lock).Scan(&n); err != nil {
				t.Error(err)
			}
			first <- n
		}()
	}
	for waiting := 0; waiting < draws; {
		if err := mover.QueryRow(t.Context(), "select count(*) from pg_locks where objid = $1 and not granted", lock).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	moved := time.Now().Add(time.Hour).UnixMilli()<<18 + 5
	run(t, mover, "select setval('numbers', $1)", moved)
	run(t, mover, "select pg_advisory_unlock($1)", lock)
	for range draws {
		if n := <-first; n != moved+1 {
			t.Errorf("a draw that waited has %d, want what comes after %d", n, moved)
		}
	}
	var last int64
	if err := mover.QueryRow(t.Context(), "select last_value from numbers").Scan(&last); err != nil {
		t.Fatal(err)
	}
	if last != moved {
		t.Errorf("the numbers were moved again, from %d to %d", moved, last)
	}
}
