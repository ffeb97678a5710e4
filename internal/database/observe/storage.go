package observe

// Storage describes the state of a store on disk. Totals count from its opening.
type Storage struct {
	// Sync is the distribution of the durations of log syncs; many commits share one.
	Sync Distribution

	// Stalls is how often all writes had to wait for the store to catch up, and StalledSeconds the total time; Stalled means that
	// they are waiting now.
	Stalls         int64
	StalledSeconds float64
	Stalled        bool

	CacheBytes             int64
	CacheHits, CacheMisses int64

	// CompactionDebt estimates the bytes that compactions still have to rewrite.
	CompactionDebt                 uint64
	Compactions, CompactionsFailed int64
	CompactionsRunning             int64
	CompactionSeconds              float64
	Flushes                        int64

	// LogBytesIn is what updates wrote, LogBytesOut what the log wrote for that, and TableBytesOut what flushes, compactions and
	// large updates wrote to tables. The sum of the last two, divided by the first, is the write amplification.
	LogBytesIn, LogBytesOut, TableBytesOut uint64

	// Levels are those of the tables on disk, from the newest data to the oldest. ReadAmplification is how many places a
	// read may have to look at.
	Levels            []Level
	ReadAmplification int
	LogFiles          int64

	L0Files       int64
	L0Sublevels   int64
	MemtableBytes uint64
	Memtables     int64
	OpenSnapshots int
	OpenIterators int64

	// Disk is the size of the store's files, by kind.
	Disk map[string]uint64
	// FileSystem is the size of their file system, FileSystemFree its free space, and FileSystemWritable the part of that which
	// is not reserved; 0 if unknown.
	FileSystem, FileSystemFree, FileSystemWritable int64
}

// Level is one level of the tables on disk. In and Out count from the opening: Out is what flushes and compactions wrote
// to the level, In what they had to take in for it.
type Level struct {
	Files, Bytes int64
	In, Out      uint64
	// Score is how much a compaction of the level is needed; from 1 on it is due.
	Score float64
}

// The kinds of files in Storage.Disk.
const (
	DiskTables   = "tables"   // live data
	DiskLog      = "log"      // the write-ahead log
	DiskObsolete = "obsolete" // files that are still being read or about to be removed
)
