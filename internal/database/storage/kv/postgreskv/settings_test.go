package postgreskv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
)

// administrator is a separate connection.
func administrator(t *testing.T, s *postgrestest.Server) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), postgrestest.URL("pg_catalog", s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	return c
}

func run(t *testing.T, c *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := c.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// untilOneWaits returns once a session of the server waits for a lock.
func untilOneWaits(t *testing.T, c *pgx.Conn) {
	t.Helper()
	for waits := false; !waits; {
		if err := c.QueryRow(t.Context(), "select exists (select from pg_locks where not granted)").Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
}

func openWith(t *testing.T, address string, o postgreskv.Options) *postgreskv.Store {
	t.Helper()
	s, err := postgreskv.Open(t.Context(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeAll(t *testing.T, stores ...kv.Store) {
	t.Helper()
	for _, s := range stores {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func writes(keys ...string) (in kv.Intent) {
	for _, k := range keys {
		in.Write = append(in.Write, []byte(k))
	}
	return in
}

func set(ctx context.Context, s kv.Store, k, v string) error {
	return s.Update(ctx, writes(k), func(txn kv.Txn) error {
		txn.Set([]byte(k), []byte(v))
		return nil
	})
}

// TestDefaultsOfServer tests that an update sees the values of its keys when it got them, and a snapshot is stable as long as
// it is open, regardless of the defaults that the server's operators have set.
func TestDefaultsOfServer(t *testing.T) {
	strict, err := postgrestest.Start("default_transaction_isolation = 'serializable'", "idle_in_transaction_session_timeout = '100ms'",
		"statement_timeout = '200ms'", "lock_timeout = '1ms'")
	if err != nil {
		t.Fatal(err)
	}
	defer strict.Remove()
	admin := administrator(t, strict)
	run(t, admin, "set statement_timeout = 0")
	one := openWith(t, postgrestest.URL("defaults", strict), postgreskv.Options{})
	two := openWith(t, postgrestest.URL("defaults", strict), postgreskv.Options{})
	if err := set(t.Context(), one, "k", "old"); err != nil {
		t.Fatal(err)
	}
	snap, err := one.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 1)
	err = one.Update(t.Context(), writes("k"), func(txn kv.Txn) error {
		go func() {
			var v []byte
			err := two.Update(t.Context(), kv.Intent{Check: [][]byte{[]byte("k")}}, func(txn kv.Txn) (err error) {
				v, err = txn.Get([]byte("k"))
				return err
			})
			seen <- fmt.Sprintf("%s, %v", v, err)
		}()
		untilOneWaits(t, admin)
		run(t, admin, "select pg_sleep(0.3)")
		txn.Set([]byte("k"), []byte("new"))
		return nil
	})
	if got := <-seen; got != "new, <nil>" || err != nil {
		t.Errorf("after it has waited for a key, an update sees %s; %v", got, err)
	}
	run(t, admin, "select pg_sleep(0.3)")
	if v, err := snap.Get([]byte("k")); string(v) != "old" || err != nil {
		t.Errorf("a snapshot that stood still has %q, %v", v, err)
	}
	if err := snap.Close(); err != nil {
		t.Error(err)
	}
	closeAll(t, one, two)
}

// TestFailedUpdateReleasesNumberLock tests that an update that the server rejects while it advances the numbers prevents no one else from
// doing so.
func TestFailedUpdateReleasesNumberLock(t *testing.T) {
	in := schema()
	one, two := openIn(t, in), openIn(t, in)
	advance := func(s kv.Store, to kv.Seq) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		return s.Update(ctx, kv.Intent{}, func(txn kv.Txn) error {
			txn.Advance(to)
			txn.AppendLog(1, []byte("r"))
			return nil
		})
	}
	if err := advance(one, math.MaxUint64); err == nil {
		t.Error("there is a number after the last one")
	}
	for _, s := range []kv.Store{two, one} {
		if err := advance(s, 0); err != nil {
			t.Errorf("after that: %v", err)
		}
	}
	closeAll(t, one, two)
}

// TestStoppedProcess tests that a process that is stopped in an update, as by SIGSTOP, does not keep others from its keys.
// When it resumes, its update restarts or fails.
func TestStoppedProcess(t *testing.T) {
	address := postgrestest.URL(schema(), server)
	appends := func(s kv.Store, v string, meanwhile func()) error {
		return s.Update(t.Context(), writes("k"), func(txn kv.Txn) error {
			old, err := txn.Get([]byte("k"))
			meanwhile()
			txn.Set([]byte("k"), append(bytes.Clone(old), v...))
			return err
		})
	}
	stopped := openWith(t, address, postgreskv.Options{Pause: 500 * time.Millisecond})
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	first := sync.OnceFunc(func() { close(begun); <-goOn })
	go func() { ended <- appends(stopped, "stopped ", first) }()
	<-begun
	other := openWith(t, address, postgreskv.Options{})
	if err := appends(other, "other ", func() {}); err != nil {
		t.Errorf("while one process is suspended, another one: %v", err)
	}
	close(goOn)
	want := "other stopped "
	if err := <-ended; err != nil {
		want = "other "
	}
	if v, err := other.Get(t.Context(), []byte("k")); string(v) != want || err != nil {
		t.Errorf("k = %q, %v; want %q", v, err, want)
	}
	closeAll(t, stopped, other)
}

// TestRole tests that a role that owns its schema and has no other rights can have a store in it.
func TestRole(t *testing.T) {
	admin, in := administrator(t, server), schema()
	run(t, admin, "create role "+in+" login")
	run(t, admin, "create schema "+in+" authorization "+in)
	address := strings.Replace(postgrestest.URL(in, server), "postgres@", in+"@", 1)
	s := openWith(t, address, postgreskv.Options{})
	if err := set(t.Context(), s, "k", "v"); err != nil {
		t.Error(err)
	}
	closeAll(t, s)
	if s, err := postgreskv.Open(t.Context(), strings.Replace(address, "search_path="+in, "search_path=elsewhere", 1), postgreskv.Options{}); err == nil || !contains(err, "permission denied") {
		t.Errorf("in a schema that it may not make: %v, %v", s, err)
	}
}

// TestNameOfSchema tests that the schema with exactly the given name is used.
func TestNameOfSchema(t *testing.T) {
	name := "In Two-Words " + schema()
	s := openIn(t, strings.ReplaceAll(name, " ", "%20"))
	var there bool
	if err := administrator(t, server).QueryRow(t.Context(), "select exists (select from pg_tables where schemaname = $1 and tablename = 'kv')", name).Scan(&there); err != nil || !there {
		t.Errorf("its tables are there: %v, %v", there, err)
	}
	closeAll(t, s)
	if s, err := postgreskv.Open(t.Context(), postgrestest.URL("monotable,public", server), postgreskv.Options{}); err == nil || !contains(err, "want the name of one schema") {
		t.Errorf("two schemas: %v, %v", s, err)
	}
}

// TestQueryModes tests that the modes in which pgx asks PostgreSQL for the types of parameters work, and that the others are
// rejected.
func TestQueryModes(t *testing.T) {
	for mode, works := range map[string]bool{"cache_statement": true, "cache_describe": true, "describe_exec": true, "exec": false, "simple_protocol": false} {
		address := postgrestest.URL(schema(), server) + "&default_query_exec_mode=" + mode
		s, err := postgreskv.Open(t.Context(), address, postgreskv.Options{})
		if works != (err == nil) || !works && !contains(err, "default_query_exec_mode is "+strings.ReplaceAll(mode, "_", " ")) {
			t.Errorf("%s: %v", mode, err)
		}
		if err != nil {
			continue
		}
		if err := set(t.Context(), s, "k", "v"); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		closeAll(t, s)
	}
}

// TestNumbersOutliveServer tests that numbers that a crash of the server removes from its sequence are not allocated again, if
// an update that wrote nothing has reported one to its caller.
func TestNumbersOutliveServer(t *testing.T) {
	lazy, err := postgrestest.Start("wal_writer_delay = '10s'") // so that only awaited data is on the disk
	if err != nil {
		t.Fatal(err)
	}
	defer lazy.Remove()
	s := openWith(t, postgrestest.URL("numbers", lazy), postgreskv.Options{})
	var logSeq kv.Seq
	err = s.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error {
		txn.Advance(1 << 60)
		logSeq = txn.LogSeq()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	lazy.Kill()
	if err := lazy.Restart(); err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error {
		txn.AppendLog(1, []byte("r"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	records, _, err := s.ReadLog(t.Context(), 1, 0, 1)
	if err != nil || len(records) != 1 || records[0].Seq < logSeq {
		t.Errorf("after an update returned %d, a record has %v, %v", logSeq, records, err)
	}
	closeAll(t, s)
}

// TestPagesAreBounded tests that an iterator fetches a few large values at a time, however many its caller wants.
func TestPagesAreBounded(t *testing.T) {
	const values, valueBytes = 64, 1 << 20
	s := open(t)
	value := bytes.Repeat([]byte("v"), valueBytes)
	err := s.Load(t.Context(), func(put func(key, value []byte) error) error {
		for i := range values {
			if err := put(key("k%03d", i), value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, reverse := range []bool{false, true} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		it, err := s.Iter(t.Context(), nil, nil, kv.IterOptions{Limit: 1 << 20, Reverse: reverse})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for n < 2 && it.Next() {
			n++
		}
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > values/4*valueBytes {
			t.Errorf("reverse %v: two values of %d bytes took %d", reverse, valueBytes, after.TotalAlloc-before.TotalAlloc)
		}
		for it.Next() {
			n++
		}
		if err := errors.Join(it.Err(), it.Close()); n != values || err != nil {
			t.Errorf("reverse %v: %d values, %v", reverse, n, err)
		}
	}
	closeAll(t, s)
}

// TestReadsBesideSnapshots tests that other reads and updates continue, however many snapshots are open.
func TestReadsBesideSnapshots(t *testing.T) {
	s := openWith(t, postgrestest.URL(schema(), server), postgreskv.Options{Connections: 2})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var snapshots []kv.Snapshot
	for range 2 {
		snap, err := s.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		snapshots = append(snapshots, snap)
	}
	if err := set(ctx, s, "k", "v"); err != nil {
		t.Error(err)
	}
	v, err := s.Get(ctx, []byte("k"))
	_, _, err2 := s.ReadLog(ctx, 1, 0, 1)
	if err := errors.Join(err, err2, s.TrimLog(ctx, 1, 1), s.Health()); err != nil || string(v) != "v" {
		t.Errorf("%q, %v", v, err)
	}
	for _, snap := range snapshots {
		if err := snap.Close(); err != nil {
			t.Error(err)
		}
	}
	closeAll(t, s)
}

// TestConnectErrorInOneLine: pgx has a line for each attempt to connect, of which the error has each different one once.
func TestConnectErrorInOneLine(t *testing.T) {
	for _, hosts := range []string{"127.0.0.1:1", "127.0.0.1:1,127.0.0.2:1"} {
		_, err := postgreskv.Open(t.Context(), "postgres://ana@"+hosts+"/shop", postgreskv.Options{})
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "`user=ana database=shop`: 127.0.0.1:1 (127.0.0.1): ") {
			t.Fatal(err)
		}
		for host := range strings.SplitSeq(hosts, ",") {
			if n := strings.Count(err.Error(), host+" ("); n != 1 {
				t.Errorf("%s occurs %d times: %v", host, n, err)
			}
		}
	}
}
