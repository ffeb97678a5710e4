//go:build tikv

package tikvkv_test

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/complete"
	"github.com/monotable/monotable/internal/database/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv"
	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv/tikvtest"
)

var (
	cluster *tikvtest.Cluster
	names   atomic.Int64
)

func TestMain(m *testing.M) {
	if kvtest.IsProcess() {
		os.Exit(m.Run())
	}
	os.Exit(tikvtest.Run(func(c *tikvtest.Cluster) int {
		cluster = c
		return m.Run()
	}))
}

// address is the address of a store that no other test uses.
func address() string {
	return cluster.Address(fmt.Sprint("test", names.Add(1)))
}

const (
	// testWindow is short, because tests that read logs often wait for it.
	testWindow = 300 * time.Millisecond
	// largeWindow is for tests of updates that take longer than that on a busy machine.
	largeWindow = 10 * time.Second
)

func open(t *testing.T) kv.Store {
	t.Helper()
	return openAt(t, address())
}

func openAt(t *testing.T, address string) kv.Store {
	t.Helper()
	return complete.New(openCore(t, address))
}

func openCore(t *testing.T, address string) *tikvkv.Store {
	t.Helper()
	// Some keys of the suite are steady, most are not.
	steady := func(key []byte) bool { return key[0] == 'c' || key[0] == 'b' }
	o := tikvkv.Options{Window: testWindow, Steady: steady}
	if strings.HasSuffix(t.Name(), "/Limits") {
		o.Window = largeWindow
	}
	s, err := tikvkv.Open(t.Context(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContract(t *testing.T) { kvtest.Run(t, open) }

func TestMisuse(t *testing.T) { kvtest.RunMisuse(t, open) }

// TestContractLogs tests operations that change logs while copying, as in package move.
func TestContractLogs(t *testing.T) {
	kvtest.RunLogs(t, func(t *testing.T) kvtest.LogStore {
		t.Helper()
		return complete.NewWithLogs(openCore(t, address()))
	})
}

// TestContractShared uses three handles, like three processes.
func TestContractShared(t *testing.T) {
	kvtest.RunOptimistic(t, func(t *testing.T) []kv.Store {
		t.Helper()
		at := address()
		return []kv.Store{openAt(t, at), openAt(t, at), openAt(t, at)}
	})
}
