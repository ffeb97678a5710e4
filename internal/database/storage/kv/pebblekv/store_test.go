package pebblekv_test

import (
	"bytes"
	"flag"
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

func TestContractEncrypted(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Store {
		t.Helper()
		return open(t, t.TempDir(), encrypting(pebblekv.Options{}))
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

func TestContractLogs(t *testing.T) {
	for name, o := range map[string]pebblekv.Options{"plain": {}, "encrypted": encrypting(pebblekv.Options{})} {
		t.Run(name, func(t *testing.T) {
			kvtest.RunLogs(t, func(t *testing.T) kvtest.LogStore {
				t.Helper()
				return open(t, t.TempDir(), o)
			})
		})
	}
}

func TestMisuse(t *testing.T) {
	kvtest.RunMisuse(t, func(t *testing.T) kv.Store {
		t.Helper()
		return open(t, t.TempDir(), pebblekv.Options{})
	})
}

// encrypted encrypts the stores of all tests: the suite's second configuration.
var encrypted = flag.Bool("encrypted", false, "encrypt the stores of the tests")

var master = bytes.Repeat([]byte{7}, 32)

func encrypting(o pebblekv.Options) pebblekv.Options {
	o.Encrypt = true
	if o.MasterKey == nil {
		o.MasterKey = master
	}
	return o
}

func tryOpen(dir string, o pebblekv.Options) (*pebblekv.Store, error) {
	if *encrypted {
		o = encrypting(o)
	}
	return pebblekv.Open(dir, o)
}

func open(t *testing.T, dir string, o pebblekv.Options) *pebblekv.Store {
	t.Helper()
	s, err := tryOpen(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
