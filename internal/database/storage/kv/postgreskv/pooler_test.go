package postgreskv_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
)

// pooler starts PgBouncer between the test and the server, and returns its port.
func pooler(t *testing.T, lines string) int {
	t.Helper()
	path := "/usr/sbin/pgbouncer"
	if _, err := os.Stat(path); err != nil {
		t.Skip("there is no PgBouncer")
	}
	dir, err := os.MkdirTemp("", "pgbouncer") //nolint:usetesting // the server's user may not enter the test user's directory
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	socket := filepath.Dir(server.Socket())
	config := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\npostgres = host=%s user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir = %s\nauth_type = any\n%s\n",
		socket, port, dir, lines)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	_ = os.Chmod(dir, 0o777)
	cmd := exec.CommandContext(t.Context(), path, config)
	cmd.Stderr = os.Stderr
	if os.Getuid() == 0 { // which it refuses to run as
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid)}}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for begun := time.Now(); time.Since(begun) < time.Minute; {
		c, err := pgx.Connect(t.Context(), "postgres://postgres@127.0.0.1:"+strconv.Itoa(port)+"/postgres?connect_timeout=2")
		if err == nil {
			_ = c.Close(context.WithoutCancel(t.Context()))
			return port
		}
		<-time.After(50 * time.Millisecond)
	}
	t.Fatal("PgBouncer does not come up")
	return 0
}

// TestPooler tests that a pooler that multiplexes connections is rejected, even if it is configured to ignore
// unsupported settings.
func TestPooler(t *testing.T) {
	for lines, want := range map[string]string{
		"pool_mode = transaction": "unsupported startup parameter",
		"pool_mode = session":     "unsupported startup parameter",
		"pool_mode = transaction\nignore_startup_parameters = search_path,idle_in_transaction_session_timeout": "connect to the server directly",
		"pool_mode = session\nignore_startup_parameters = search_path,idle_in_transaction_session_timeout":     "connect to the server directly",
	} {
		address := "postgres://postgres@127.0.0.1:" + strconv.Itoa(pooler(t, lines)) + "/postgres?search_path=" + schema()
		if s, err := postgreskv.Open(t.Context(), address, postgreskv.Options{}); err == nil || !contains(err, want) {
			t.Errorf("%s: %v, %v; want %q", lines, s, err, want)
		}
	}
}

// TestTwoServers tests that connections that end at two servers, which do not share locks, are rejected.
func TestTwoServers(t *testing.T) {
	other, err := postgrestest.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Remove()
	ends := []string{server.Socket(), other.Socket()}
	front, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	go func() {
		for i := 0; ; i++ {
			client, err := front.Accept()
			if err != nil {
				return
			}
			end, err := (&net.Dialer{}).DialContext(t.Context(), "unix", ends[i%2])
			if err != nil {
				t.Error(err)
				return
			}
			for _, way := range [][2]net.Conn{{client, end}, {end, client}} {
				go func() {
					_, _ = io.Copy(way[0], way[1])
					_ = way[0].Close()
				}()
			}
		}
	}()
	address := "postgres://postgres@" + front.Addr().String() + "/postgres?sslmode=disable&search_path=" + schema()
	if s, err := postgreskv.Open(t.Context(), address, postgreskv.Options{}); err == nil || !contains(err, "two connections get the same advisory lock") {
		t.Errorf("%v, %v", s, err)
	}
}

// database makes another database in the server, whose catalog a test may change, and returns a store's address in it and a connection.
func database(t *testing.T, name string) (address string, c *pgx.Conn) {
	t.Helper()
	run(t, administrator(t, server), "create database "+name)
	address = strings.Replace(postgrestest.URL(schema(), server), "/postgres?", "/"+name+"?", 1)
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	run(t, c, "set allow_system_table_mods = on")
	return address, c
}

// rejects tests that a store cannot be opened.
func rejects(t *testing.T, address, want string) {
	t.Helper()
	if s, err := postgreskv.Open(t.Context(), address, postgreskv.Options{}); err == nil || !contains(err, want) {
		t.Errorf("%v, %v; want %q", s, err, want)
	}
}

// TestSessionLocks tests that a server is rejected whose locks exclude transactions, but not sessions, as CockroachDB's.
func TestSessionLocks(t *testing.T) {
	address, c := database(t, "sessions")
	run(t, c, "alter function pg_try_advisory_lock(bigint) rename to its_try_advisory_lock")
	run(t, c, "create function pg_catalog.pg_try_advisory_lock(bigint) returns boolean language sql volatile as 'select true'")
	rejects(t, address, "a session gets an advisory lock that a transaction holds")
}

// TestSequenceCache tests that a server is rejected whose sessions cache numbers of sequences, as YugabyteDB's do by default.
func TestSequenceCache(t *testing.T) {
	address, c := database(t, "ahead")
	run(t, c, "create function public.cache() returns event_trigger language plpgsql as 'begin alter sequence numbers cache 100; end'")
	run(t, c, "create event trigger cache on ddl_command_end when tag in ('CREATE SEQUENCE') execute function public.cache()")
	rejects(t, address, "cache numbers of a sequence")
}

// TestStorage tests that PostgreSQL does not compress values, and that a store works in a server that cannot be told so.
func TestStorage(t *testing.T) {
	plain, c := database(t, "plain")
	run(t, c, "create function public.refuse() returns event_trigger language plpgsql as 'begin raise sqlstate ''0A000''; end'")
	run(t, c, "create event trigger refuse on ddl_command_start when tag in ('ALTER TABLE') execute function public.refuse()")
	for address, want := range map[string]string{postgrestest.URL(schema(), server): "eeee", plain: "xxxx"} {
		s := openWith(t, address, postgreskv.Options{})
		if err := set(t.Context(), s, "k", "v"); err != nil {
			t.Error(err)
		}
		c, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		var storage string
		err = c.QueryRow(t.Context(), `select string_agg(attstorage, '') from pg_attribute
			where attrelid in ('kv'::regclass, 'kept_kv'::regclass, 'log'::regclass, 'kept_log'::regclass) and attname in ('v', 'data')`).Scan(&storage)
		if err != nil || storage != want {
			t.Errorf("%s: %q, %v; want %q", address, storage, err, want)
		}
		_ = c.Close(t.Context())
		closeAll(t, s)
	}
}

// TestLocksNotShown tests that a server whose pg_locks do not show advisory locks is rejected.
func TestLocksNotShown(t *testing.T) {
	address, c := database(t, "blind")
	run(t, c, "create or replace view pg_catalog.pg_locks as select * from pg_lock_status() where locktype <> 'advisory'")
	rejects(t, address, "pg_locks do not show")
}
