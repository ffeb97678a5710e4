package pebblekv

import (
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/descriptors"
)

// Durability is what an acknowledged update survives.
type Durability uint8

const (
	// Sync syncs the write-ahead log before an update is acknowledged; concurrent updates share one fsync. Acknowledged updates
	// are never lost.
	Sync Durability = iota
	// Interval syncs the log every Options.Interval. A crash, even of the process alone, loses at most the updates of that
	// period, and always the most recent ones.
	Interval
	// None writes the log when its buffer is full. A crash, even of the process alone, loses the most recent updates. A clean
	// Close loses nothing, in any mode.
	None
)

// Options configure a store. The zero value is valid.
type Options struct {
	// Durability of an acknowledged update. Default Sync.
	Durability Durability
	// Interval between syncs with Durability Interval. Default 100 ms.
	Interval time.Duration
	// Logger logs background events. Default slog.Default().
	Logger *slog.Logger
	// CacheBytes is the maximum size of the cache of uncompressed blocks, which is allocated as needed. Default 256 MiB. In
	// addition, single values and short ranges are each cached in up to a sixteenth of it.
	CacheBytes int64
	// MemTableBytes is the size of a memtable in steady state, less on a disk below 2 GiB. Default 32 MiB. A store starts with a
	// small one and doubles it as writes come in. After a crash about as much of the log is replayed.
	MemTableBytes int
	// DiskReserve is how many bytes of the disk are kept free: below that, updates that do not free space get kv.ErrFull. Default
	// 0: 2% of the disk, but at least 256 MiB, and at most 8 GiB or a quarter of the disk. Negative: none, so that a full disk
	// stops all writes.
	DiskReserve int64
	// BatchBytes is the maximum memory of all updates in progress, excluding one of the largest size. Further updates wait,
	// before they hold their keys. Default 256 MiB.
	BatchBytes int64
	// Compactions is the maximum number of concurrent compactions. Default 2. All but one only start when the others fall behind.
	Compactions int
	// OnBackgroundWork is called when a flush or a compaction begins, and with false when it ends, from several goroutines at once.
	// It must return at once. Default: no call.
	OnBackgroundWork func(begins bool)
	// OnCommit is called for each update that writes, before it waits for the disk, from several goroutines at once. It must return
	// at once. Default: no call.
	OnCommit func()
	// OnFatal is called once, on any goroutine, when the store has met an error after which continuing could write wrong data.
	// The store is then frozen. A server exits its process.
	OnFatal func(error)
	// MasterKey, 32 bytes, opens the data keys of an encrypted directory; PreviousMasterKey is the former one when it is being
	// changed.
	MasterKey, PreviousMasterKey []byte
	// Encrypt encrypts a new directory, and rejects an existing one that is not encrypted.
	Encrypt bool
	// largeUpdate overrides the constant of that name in tests.
	largeUpdate int
	// smallDisk is set by Open: see memTableBytes.
	smallDisk bool
	// ReadOnly opens an existing store without changing anything in its directory. The log is replayed in memory; writes get
	// kv.ErrReadOnly.
	ReadOnly bool
	// FS is the file system. Default the machine's. Tests use one that crashes or fails.
	FS vfs.FS
}

func (o Options) withDefaults() Options {
	if o.Interval <= 0 {
		o.Interval = 100 * time.Millisecond
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.OnBackgroundWork == nil {
		o.OnBackgroundWork = func(bool) {}
	}
	if o.OnCommit == nil {
		o.OnCommit = func() {}
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
	// memTableShare is how many memtables or logs of that size fit on the disk: on a small disk they must fit into the reserve.
	memTableShare = 64
)

// memTableBytes returns the size of a memtable on the disk of dir, and whether that disk is below 2 GiB.
func (o Options) memTableBytes(dir string) (bytes int, smallDisk bool) {
	bytes = memTableMax
	if o.MemTableBytes > 0 {
		bytes = max(o.MemTableBytes, memTableMin) // Pebble panics if it cannot allocate the first one
	}
	usage, err := o.FS.GetDiskUsage(dir)
	if err != nil {
		return bytes, false
	}
	room := int(min(max(usage.TotalBytes/memTableShare, memTableMin), memTableMax)) //nolint:gosec // it is in range
	return min(bytes, room), room < memTableMax
}

// l0Threshold is twice the number of sublevels of level 0 at which Pebble compacts it. A compaction rewrites most of the next level,
// because keys are written at random, so more sublevels save writes, and fewer keep reads fast: see bench/README.md. They also keep
// deleted data for longer, for which a disk below 2 GiB has no room.
func (o Options) l0Threshold() int {
	if o.smallDisk {
		return 4
	}
	return 8
}

// debugCheck is called by Pebble when its tables change; an error counts as a violated invariant. It is set by tests.
var debugCheck func(*pebble.DB) error

// pebbleOptions returns Pebble's options, without a lock, for a database's workload: items of about a kilobyte with a few index
// entries each, read singly or twenty in a row, overwritten at random.
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
		// Allow a burst while the previous memtable is being flushed.
		MemTableStopWritesThreshold: 4,

		// A high limit keeps writes from stopping completely.
		L0CompactionThreshold:      o.l0Threshold(),
		L0StopWritesThreshold:      32,
		LBaseMaxBytes:              64 << 20,
		FlushSplitBytes:            2 << 20,
		CompactionConcurrencyRange: func() (lower, upper int) { return 1, o.Compactions },

		// The tables below a deleted range are only removed after the range has been flushed.
		FlushDelayDeleteRange: time.Second,

		// Without regular syncs the log of the weaker modes would reach the disk in bursts.
		BytesPerSync:    1 << 20,
		WALBytesPerSync: 1 << 20,
	}
	for i := range p.Levels {
		p.Levels[i].BlockSize = 8 << 10
		p.Levels[i].IndexBlockSize = 256 << 10 // one level of index is faster than two
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	p.Experimental.L0CompactionConcurrency = 8
	return p
}
