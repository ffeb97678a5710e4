package pebblekv_test

import (
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/storage/kv"
	"github.com/monotable/monotable/internal/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/storage/kv/pebblekv"
)

// memoryDisk loses what was not synced when it crashes.
type memoryDisk struct {
	fs      *vfs.MemFS
	options pebblekv.Options
}

func (d memoryDisk) Open(t *testing.T) kv.Store {
	t.Helper()
	o := d.options
	o.FS = d.fs
	o.Logger = slog.New(slog.DiscardHandler)
	return open(t, "/srv/db", o)
}

func (d memoryDisk) Crash(t *testing.T, seed uint64) kvtest.Disk {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	clone := d.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(100), RNG: rng})
	return memoryDisk{clone, d.options}
}

func TestDisk(t *testing.T) {
	for name, o := range map[string]pebblekv.Options{
		"Sync":            {},
		"SyncSmallTables": {MemTableBytes: 64 << 10}, // flushes and compactions all the time
		"Interval":        {Durability: pebblekv.Interval, Interval: 1},
		"None":            {Durability: pebblekv.None},
	} {
		t.Run(name, func(t *testing.T) {
			kvtest.RunDisk(t, o.Durability == pebblekv.Sync, func(*testing.T) kvtest.Disk {
				return memoryDisk{vfs.NewCrashableMem(), o}
			})
		})
	}
}
