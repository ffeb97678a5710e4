package pebblekv_test

import (
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv/crashfs"
)

// memoryDisk loses what was not synced when it crashes.
type memoryDisk struct {
	options pebblekv.Options
	fs      *crashfs.FS
}

func (d memoryDisk) Open(t *testing.T) kv.Store {
	t.Helper()
	return d.open(t, "/srv/db")
}

func (d memoryDisk) open(t *testing.T, dir string) *pebblekv.Store {
	t.Helper()
	return open(t, dir, d.storeOptions())
}

func (d memoryDisk) storeOptions() pebblekv.Options {
	o := d.options
	o.FS = d.fs
	o.Logger = slog.New(slog.DiscardHandler)
	return o
}

// crash returns the disk after a power failure.
func (d memoryDisk) crash(random *rand.Rand) memoryDisk {
	return memoryDisk{d.options, d.fs.Crash(random)}
}

func (d memoryDisk) Crash(t *testing.T, seed uint64) kvtest.Disk {
	t.Helper()
	return d.crash(rand.New(rand.NewPCG(seed, 0)))
}

func (d memoryDisk) HoldSyncs(*testing.T) (release func()) { return d.fs.HoldSyncs() }

func (d memoryDisk) CrashDuring(t *testing.T, seed uint64, fn func()) []kvtest.Disk {
	t.Helper()
	var disks []kvtest.Disk
	for _, disk := range d.crashDuring(seed, fn) {
		disks = append(disks, disk)
	}
	return disks
}

// crashDuring crashes before every write operation, up to a number of them, and at the end.
func (d memoryDisk) crashDuring(seed uint64, fn func()) []memoryDisk {
	const most = 150
	random := rand.New(rand.NewPCG(seed, 0))
	var mu sync.Mutex
	var disks []memoryDisk
	d.fs.BeforeWrites(func() {
		mu.Lock()
		defer mu.Unlock()
		if len(disks) < most {
			disks = append(disks, d.crash(random))
		}
	})
	fn()
	d.fs.BeforeWrites(nil)
	mu.Lock()
	defer mu.Unlock()
	return append(disks, d.crash(random))
}

// someUpdates makes the suite's updates of several keys large ones, but not those of one key.
const someUpdates = 60

func TestDisk(t *testing.T) {
	for name, o := range map[string]pebblekv.Options{
		"Sync":            {},
		"SyncSmallTables": {MemTableBytes: 64 << 10}, // flushes and compactions all the time
		"SyncLarge":       pebblekv.Options{}.WithLargeUpdates(1),
		"SyncSomeLarge":   pebblekv.Options{MemTableBytes: 64 << 10}.WithLargeUpdates(someUpdates),
		"Interval":        {Durability: pebblekv.Interval, Interval: 1},
		"IntervalLarge":   pebblekv.Options{Durability: pebblekv.Interval, Interval: 1}.WithLargeUpdates(someUpdates),
		"None":            {Durability: pebblekv.None},
		"Encrypted":       encrypting(pebblekv.Options{}),
		"EncryptedSmall":  encrypting(pebblekv.Options{MemTableBytes: 64 << 10}.WithLargeUpdates(someUpdates)),
		"EncryptedNone":   encrypting(pebblekv.Options{Durability: pebblekv.None}),
	} {
		t.Run(name, func(t *testing.T) {
			newDisk := func(*testing.T) kvtest.Disk { return memoryDisk{o, crashfs.New()} }
			durable := o.Durability == pebblekv.Sync
			kvtest.RunDisk(t, durable, newDisk)
			if !strings.HasSuffix(name, "Large") && name != "EncryptedSmall" { // large updates are not visible before they are durable
				kvtest.RunUnsynced(t, durable, newDisk)
			}
		})
	}
}

// TestLogSeqIsNotReusedAfterPowerFailure: a number that LogSeq returned is not assigned again after a power failure, even if nothing is
// written.
func TestLogSeqIsNotReusedAfterPowerFailure(t *testing.T) {
	for _, durability := range []pebblekv.Durability{pebblekv.Sync, pebblekv.Interval, pebblekv.None} {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		d := memoryDisk{pebblekv.Options{Durability: durability}, crashfs.New()}
		s := d.open(t, "/srv/db")
		logSeq := func(s kv.Store, to kv.Seq) (seq kv.Seq) {
			t.Helper()
			err := s.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error {
				txn.Advance(to)
				seq = txn.LogSeq()
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return seq
		}
		seen := logSeq(s, kv.SeqAt(1_800_000_000_000))
		s.KeepUp()
		crashed := d.crash(rand.New(rand.NewPCG(seed, 0)))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = crashed.open(t, "/srv/db")
		if got := logSeq(s, 0); got < seen || got > seen+1000<<18 {
			t.Errorf("%v: LogSeq was %d, after a power cut it is %d", durability, seen, got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
