package observe

// Storage is how a store on disk fares. Totals count from its opening.
type Storage struct {
	// Sync is how long the log took to reach the disk, by sync; many commits share one.
	Sync Distribution

	// Stalls is how often all writes had to wait for the store to catch up, and StalledSeconds for how long; Stalled
	// says that they do now.
	Stalls         int64
	StalledSeconds float64
	Stalled        bool

	CacheBytes             int64
	CacheHits, CacheMisses int64

	// CompactionDebt estimates the bytes that compactions must rewrite before the store is in shape.
	CompactionDebt                 uint64
	Compactions, CompactionsFailed int64
	CompactionsRunning             int64
	CompactionSeconds              float64
	Flushes                        int64

	// LogBytesIn were written to the log, and TableBytesOut to tables, by flushes and compactions: their ratio, plus
	// one for the log itself, is the write amplification.
	LogBytesIn, LogBytesOut, TableBytesOut uint64

	// Levels are those of the tables on disk, from the newest data to the oldest. ReadAmplification is how many places a
	// read may have to look at.
	Levels            []Level
	ReadAmplification int
	LogFiles          int64

	L0Files         int64
	L0Sublevels     int64
	MemtableBytes   uint64
	Memtables       int64
	OpenSnapshots   int
	OpenIterators   int64
	TombstonesTotal uint64

	// Disk is what the store's files take, by kind.
	Disk map[string]uint64
	// FileSystem is the size of the file system that they are on, FileSystemFree what is left of it, and
	// FileSystemWritable what of that is not reserved; 0 if unknown.
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

// The kinds of files of Storage.Disk.
const (
	DiskTables   = "tables"   // live data
	DiskLog      = "log"      // the write-ahead log
	DiskObsolete = "obsolete" // files that are still being read, or about to be removed
)
