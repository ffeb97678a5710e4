package pebblekv_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

func TestContract(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Store {
		t.Helper()
		return open(t, t.TempDir(), pebblekv.Options{})
	})
}

func TestContractLarge(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Store {
		t.Helper()
		return open(t, "/db", pebblekv.Options{FS: vfs.NewMem()}.WithLargeUpdates(1))
	})
}

func TestContractChecked(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Store {
		t.Helper()
		return kv.Checked(open(t, t.TempDir(), pebblekv.Options{Durability: pebblekv.None}))
	})
}

func TestMisuse(t *testing.T) {
	kvtest.RunMisuse(t, func(t *testing.T) kv.Store {
		t.Helper()
		return open(t, t.TempDir(), pebblekv.Options{})
	})
}

func open(t *testing.T, dir string, o pebblekv.Options) *pebblekv.Store {
	t.Helper()
	s, err := pebblekv.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
