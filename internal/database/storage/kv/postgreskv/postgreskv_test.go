package postgreskv_test

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
)

var server *postgrestest.Server

func TestMain(m *testing.M) {
	if kvtest.IsProcess() {
		os.Exit(m.Run())
	}
	os.Exit(postgrestest.Run(func(s *postgrestest.Server) int {
		server = s
		return m.Run()
	}))
}

var schemas atomic.Int32

// schema is a unique name.
func schema() string { return fmt.Sprint("test", schemas.Add(1)) }

func open(t *testing.T) kv.Store {
	t.Helper()
	return openIn(t, schema())
}

func openIn(t *testing.T, schema string) kv.Store {
	t.Helper()
	s, err := postgreskv.Open(t.Context(), postgrestest.URL(schema, server), postgreskv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContract(t *testing.T) { kvtest.Run(t, open) }

func TestMisuse(t *testing.T) { kvtest.RunMisuse(t, open) }

// TestContractShared uses three handles, like three processes.
func TestContractShared(t *testing.T) {
	kvtest.RunShared(t, func(t *testing.T) []kv.Store {
		t.Helper()
		in := schema()
		return []kv.Store{openIn(t, in), openIn(t, in), openIn(t, in)}
	})
}

func TestContractChecked(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Store {
		t.Helper()
		return kv.Checked(open(t))
	})
}

func TestContractLogs(t *testing.T) {
	kvtest.RunLogs(t, func(t *testing.T) kvtest.LogStore {
		t.Helper()
		return open(t).(*postgreskv.Store)
	})
}

// TestErrorHidesPassword tests that the error of opening names the store and not its password, whose characters may have a
// meaning elsewhere in a URL.
func TestErrorHidesPassword(t *testing.T) {
	for _, password := range []string{"secret", "1#secret", "#secret", "1%3Fsecret", "%23secret", "%2Fsecret"} {
		_, err := postgreskv.Open(t.Context(), "postgres://monotable:"+password+"@127.0.0.1:1/tables", postgreskv.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "postgres://monotable@127.0.0.1:1/tables: ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("with the password %s: %v", password, err)
		}
	}
	for _, password := range []string{"p@secret/?secret", "secret/w", "secret?w", "%secret", "secret[@[secret"} {
		_, err := postgreskv.Open(t.Context(), "postgres://monotable:"+password+"@127.0.0.1:1/tables", postgreskv.Options{})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("with the password %s: %v", password, err)
		}
	}
}

// TestDescribe tests that the description of a URL identifies the store and has no password.
func TestDescribe(t *testing.T) {
	t.Setenv("PGPASSWORD", "")
	for address, want := range map[string]string{
		"postgres://monotable:secret@db1,db2/tables":                              "postgres://monotable@db1,db2/tables",
		"postgresql://monotable@db1:5432,db2:5433/tables?password=secret":         "postgres://monotable@db1,db2:5433/tables",
		"postgres://monotable@db1/tables?search_path=other&connect_timeout=3":     "postgres://monotable@db1/tables?search_path=other",
		"postgres://monotable@db1/tables?search_path=monotable&sslmode=disable":   "postgres://monotable@db1/tables",
		"postgres://monotable@/tables?host=/run/postgresql&password=secret":       "postgres://monotable@/tables?host=/run/postgresql",
		"postgres://monotable:secret@db1:many/tables?password=secret&port=secret": "a PostgreSQL database",
	} {
		if got := postgreskv.Describe(address); got != want {
			t.Errorf("%s is described as %s, want %s", address, got, want)
		}
	}
}
