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

// TestLocksNotShown tests that a server whose pg_locks do not show advisory locks is rejected.
func TestLocksNotShown(t *testing.T) {
	run(t, administrator(t, server), "create database blind")
	in := strings.Replace(postgrestest.URL(schema(), server), "/postgres?", "/blind?", 1)
	c, err := pgx.Connect(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.WithoutCancel(t.Context()))
	run(t, c, "set allow_system_table_mods = on")
	run(t, c, "create or replace view pg_catalog.pg_locks as select * from pg_lock_status() where locktype <> 'advisory'")
	if s, err := postgreskv.Open(t.Context(), in, postgreskv.Options{}); err == nil || !contains(err, "pg_locks do not show") {
		t.Errorf("%v, %v", s, err)
	}
}
