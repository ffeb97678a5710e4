package pebblekv

import (
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/descriptors"
)

// Durability is what an acknowledged update has survived.
type Durability uint8

const (
	// Sync brings the write-ahead log to stable storage before an update is acknowledged; updates under way at
	// the same time share one fsync. Nothing acknowledged is ever lost.
	Sync Durability = iota
	// Interval brings the log to stable storage every Options.Interval. A crash, of the process alone too,
	// loses at most the updates of that time, and always the latest ones.
	Interval
	// None writes the log when its buffer is full. A crash, of the process alone too, loses the latest
	// updates. A clean Close loses nothing, in this mode as in all.
	None
)

// Options of a store. The zero value works.
type Options struct {
	// Durability of an acknowledged update; Sync by default.
	Durability Durability
	// Interval between syncs with Durability Interval; 100 ms by default.
	Interval time.Duration
	// Logger gets what happens in the background; slog.Default() by default.
	Logger *slog.Logger
	// CacheBytes is the most that the cache of uncompressed blocks takes; 256 MiB by default. It is not
	// taken before it is needed.
	CacheBytes int64
	// MemTableBytes is the size of a memtable in steady state, less on a disk below 2 GiB; 32 MiB by default. A
	// store begins with a small one and doubles it as writes come. After a crash about as much of the log is read
	// again.
	MemTableBytes int
	// DiskReserve is how many bytes of the disk are left free: below that, updates that do not give room back get
	// kv.ErrFull. 0 is the default, a 50th of the disk, but at least 256 MiB, and at most 8 GiB or a quarter of the
	// disk; negative is none, which lets a full disk end all writing.
	DiskReserve int64
	// BatchBytes is the most memory that updates under way take together, with one more of the largest size; 256 MiB by
	// default. Beyond it updates wait for each other, before they hold their keys.
	BatchBytes int64
	// Compactions is how many compactions may run at once; 2 by default. All but one start only when those before them
	// fall behind.
	Compactions int
	// OnFatal is called once, on any goroutine, when the store has met a fault after which going on could write
	// wrong data. The store is frozen then. A server ends its process.
	OnFatal func(error)
	// MasterKey, 32 bytes, opens the data keys of a directory that is encrypted; PreviousMasterKey does where that did until now.
	MasterKey, PreviousMasterKey []byte
	// Encrypt has a new directory encrypted, and one that is not encrypted refused.
	Encrypt bool
	// largeUpdate replaces the constant of that name in tests.
	largeUpdate int
	// FS is the file system; the machine's by default. Tests hand in one that crashes or fails.
	FS vfs.FS
}

func (o Options) withDefaults() Options {
	if o.Interval <= 0 {
		o.Interval = 100 * time.Millisecond
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = 256 << 20
	}
	if o.BatchBytes <= 0 {
		o.BatchBytes = 256 << 20
	}
	if o.Compactions <= 0 {
		o.Compactions = 2
	}
	if o.largeUpdate <= 0 {
		o.largeUpdate = largeUpdate
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	return o
}

const (
	memTableMin, memTableMax = 256 << 10, 32 << 20
	// memTableShare is how many memtables and logs of one the disk has room for: on a small disk they must fit into
	// the reserve.
	memTableShare = 64
)

// memTableBytes is the size of a memtable on the disk of dir.
func (o Options) memTableBytes(dir string) int {
	most := memTableMax
	if o.MemTableBytes > 0 {
		most = o.MemTableBytes
	}
	usage, err := o.FS.GetDiskUsage(dir)
	if err != nil {
		return most
	}
	return min(most, int(min(max(usage.TotalBytes/memTableShare, memTableMin), memTableMax))) //nolint:gosec // it is in range
}

// debugCheck is called by Pebble when its tables change. An error stands for a broken invariant. Tests set it.
var debugCheck func(*pebble.DB) error

// pebbleOptions returns Pebble's options, without a lock, for a database's workload: items of about a kilobyte with a few
// index entries each, read one by one or twenty in a row, overwritten at random.
func (o Options) pebbleOptions(fs vfs.FS, logger pebble.Logger) *pebble.Options {
	p := &pebble.Options{
		FS:                 fs,
		FormatMajorVersion: pebble.FormatTableFormatV6,
		Merger:             counterMerger(),
		Logger:             logger,
		DebugCheck:         debugCheck,
		CacheSize:          o.CacheBytes,
		MaxOpenFiles:       descriptors.ForStore(),

		MemTableSize: uint64(o.MemTableBytes),
		// Room for a burst while the memtable before is being flushed.
		MemTableStopWritesThreshold: 4,

		// Few sublevels keep point reads quick; a high limit keeps writes from stopping dead.
		L0CompactionThreshold:      4,
		L0StopWritesThreshold:      32,
		LBaseMaxBytes:              256 << 20,
		FlushSplitBytes:            2 << 20,
		CompactionConcurrencyRange: func() (lower, upper int) { return 1, o.Compactions },

		// Only when a deleted range has left the memtable are the tables below it removed.
		FlushDelayDeleteRange: time.Second,

		// Without syncs of its own the log of the weaker modes would reach the disk in bursts.
		BytesPerSync:    1 << 20,
		WALBytesPerSync: 1 << 20,
	}
	for i := range p.Levels {
		p.Levels[i].BlockSize = 8 << 10
		p.Levels[i].IndexBlockSize = 256 << 10 // one level of index is quicker than two
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	p.Experimental.L0CompactionConcurrency = 8
	return p
}
