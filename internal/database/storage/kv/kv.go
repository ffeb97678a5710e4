// Package kv is the contract between the engine and a store: ordered keys, snapshots, updates, counters
// and change logs.
//
// # Vocabulary
//
// A store is an ordered map from byte keys to byte values. An update is a function that reads and writes
// some of them and commits as a whole or not at all. Its intent names, before it starts, the keys that it
// will hold: a request of the engine knows its keys, so an update never has to guess, retry or deadlock.
// A snapshot is everything that was committed at one moment. A counter key holds sums that many updates
// add to without holding the key. A change log is a sequence of records that updates append to as a part
// of their commit.
//
// # Invariants
//
//  1. Updates are atomic: a reader, a crash and a log see all of an update or nothing of it.
//  2. Updates whose intents conflict (one writes what the other writes or checks) run one after the other.
//     An update that protects all it reads by its intent is therefore serializable. One that reads keys
//     outside its intent is not: the key can change under it.
//  3. Nothing that Update or a read returned is undone later, as far as the store's durability goes. A commit
//     is visible to every later call once Update has returned nil, and may be visible before it is durable.
//     Update therefore returns only when all that fn read is durable, whether fn wrote or not and whatever
//     error it returned, and a read returns only when what it found, or missed, is durable. The reads of
//     Store.Eventual alone do not wait.
//  4. Within one change log, the records of updates that held a common key stand in the order of their
//     commits, sequence numbers never repeat, and a reader that goes on after the last record it saw
//     misses none.
//  5. A store never keeps or changes a slice that it was given, nor one that it gave away for keeps.
//
// The engine relies on nothing else, above all on no lock of its own, so that a store shared by several
// processes can take the place of an embedded one.
//
// Package kvtest is the suite that every implementation passes; Checked wraps any of them for tests and
// asserts that its callers keep their part.
package kv

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Errors that a store returns and callers test for with errors.Is. Any other error is a fault of the
// machine below.
var (
	// ErrConflict: the intent met a transaction that is under way on one of its keys (see Intent), or a
	// checked key changed. Nothing was written.
	ErrConflict = errors.New("kv: conflict")
	// ErrUndetermined: nobody knows whether the commit happened. Never retry blindly.
	ErrUndetermined = errors.New("kv: outcome of the commit is unknown")
	// ErrTooLarge: a key, a value or the whole update is past Limits. Nothing was written.
	ErrTooLarge = errors.New("kv: key, value or transaction exceeds the store's limits")
	// ErrRerun: an update has to wait for memory. Its function returns this error of Txn.Reserve, and runs again after the
	// wait; Update never returns it.
	ErrRerun = errors.New("kv: update waits for memory and runs again")
	// ErrClosed: the call came after Close.
	ErrClosed = errors.New("kv: store is closed")
	// ErrMissing: there is no store at the address, and none was to be made.
	ErrMissing = errors.New("kv: there is no store")
	// ErrLocked: another process has the directory open.
	ErrLocked = errors.New("kv: directory is in use by another process")
	// ErrKeptExists: a kept snapshot of that name is there already.
	ErrKeptExists = errors.New("kv: a kept snapshot of that name exists")
	// ErrNotKept: there is no kept snapshot of that name.
	ErrNotKept = errors.New("kv: no kept snapshot of that name")
	// ErrFailed: the store met a disk error earlier and takes no more writes until it is opened again.
	// Nothing was written by this call. Reads go on, except for those that would return what had not reached
	// the disk before the error: they get ErrFailed too.
	ErrFailed = errors.New("kv: store takes no more writes after a disk error")
	// ErrUnreachable: the store is in a server that does not respond. It is asked again, and needs not be opened again.
	ErrUnreachable = errors.New("kv: the store's server does not respond")
	// ErrFull: the disk has no room left but the store's reserve. Nothing was written by this call. Reads go on, and
	// so do updates that give room back (see Intent.Frees and Intent.Drops), DeleteRange, TrimLog, DropKept and Compact. Writes are
	// accepted again as soon as there is room.
	ErrFull = errors.New("kv: store is out of disk space")
	// ErrFrozen: the store met a fault after which going on could write wrong data, and does nothing more until it
	// is opened again. What it has on disk is as it was at that moment.
	ErrFrozen = errors.New("kv: store is frozen after an internal fault; open it again")
)

// ConflictError is the ErrConflict of an intent that met a transaction. It names the key that it met it on;
// where it met several, one of them.
type ConflictError struct{ Key []byte }

func (e *ConflictError) Error() string { return fmt.Sprintf("%v on key %x", ErrConflict, e.Key) }

// Is makes a ConflictError an ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// ReservedPrefix is the first byte at which a store's own keys begin: callers' keys are below it. Those below 0xF0 are package complete's, the others a
// Core's own.
const ReservedPrefix = 0xE0

// LogReadBytes is about how many bytes of records ReadLog returns at most, for a record can be almost as large as a value.
const LogReadBytes = 256 << 10

// LogID names one change log; the engine uses a table's id.
type LogID uint32

// Store is what the engine works with: a Core, and what some stores do better than by means of their Core, as one interface for each thing. Package
// complete does the rest for a store that lacks some of them.
type Store interface {
	Core
	Loader
	Sizer
	Compacter
	Keeper
	Disk
}

// Core is an ordered map of byte keys: what every store owes, also one that many processes share. Keys are not empty. All methods may be called
// at once from any goroutine, and return ErrClosed after Close.
type Core interface {
	// Reads wait until what they return is durable: see invariant 3. The wait is for commits under way that
	// the read may have met, and for nothing else.
	Reads
	// Eventual returns the same reads without the wait. What they return may be undone by a crash.
	Eventual() Reads
	// Update runs fn with the keys of in held, and commits what fn wrote, atomically. When it returns, with
	// nil or with the error of fn, the commit and all that fn read is as durable as the store was opened to
	// make it. fn may run more than once and must
	// have no side effects but through Txn; an error from fn aborts and is returned as it is. The context
	// ends the wait for keys, never a commit that has begun.
	Update(ctx context.Context, in Intent, fn func(Txn) error) error
	// ReadLog returns records with Seq > after in order, at most limit, and how far that is: no record with
	// after < Seq <= through is missing, nor will one ever appear. A reader that resumes after through misses
	// nothing and sees nothing twice. The record with which LogReadBytes are reached is the last, too. through is at
	// least after; where limit or LogReadBytes ended the records, it is the last one's Seq. Records are owned by the
	// caller.
	ReadLog(ctx context.Context, log LogID, after Seq, limit int) (records []Record, through Seq, err error)
	// TrimLog forgets records with Seq <= upTo, whatever their number at the same price; it writes nothing where
	// there are none. A store whose room for logs is bounded does so by itself, and forgets the oldest.
	TrimLog(ctx context.Context, log LogID, upTo Seq) error
	// LogTrimmed returns the Seq of the last record that was forgotten, by TrimLog or for want of room; 0 where
	// nothing was. It survives a restart.
	LogTrimmed(ctx context.Context, log LogID) (Seq, error)
	// DeleteRange removes [lo, hi), values and counters. It is not isolated from concurrent updates: for
	// keys nobody uses. A nil hi is the end of the callers' keys.
	DeleteRange(ctx context.Context, lo, hi []byte) error
	// Time returns the time of a clock of the store's own, by which its numbers are times without Txn.Advance, some milliseconds late at
	// most; all processes that share the store have this one clock. timed is false for a store that has none.
	Time(ctx context.Context) (now time.Time, timed bool, err error)
	// Health returns nil if the store takes updates of every kind, else an ErrFull, ErrFailed, ErrUnreachable or
	// ErrClosed that says why not. It is cheap enough for a probe.
	Health() error
	// Limits returns what the store can take; it does not change.
	Limits() Limits
	// Close waits for calls under way and for open snapshots and iterators. Closing again does nothing.
	Close() error
}

// Loader writes keys in bulk.
type Loader interface {
	// Load writes keys that nobody uses yet: fill calls put with keys in ascending order, and what
	// it put is durable when Load returns. It appears all at once when fill has returned nil; a large load may appear bit by bit, and stay there in
	// part after an error or a crash, in a store that has no better way than updates (see LoadByUpdates). put copies what it
	// is given. Load writes values only, no counters, and is not isolated from updates of the same keys.
	Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error
}

// Sizer estimates how much room things take. What was written a moment ago may be missing from the estimates.
type Sizer interface {
	// Size estimates how many bytes of the store's room the keys of [lo, hi) take; LogSize, the records of a
	// log with Seq > after.
	Size(ctx context.Context, lo, hi []byte) (int64, error)
	LogSize(ctx context.Context, log LogID, after Seq) (int64, error)
}

// Compacter gives room back.
type Compacter interface {
	// Compact gives back the room of what was deleted or overwritten in [lo, hi) and lays out the rest for
	// reading; with a nil hi, in the change logs too. It may take long, and reads and updates go on meanwhile.
	Compact(ctx context.Context, lo, hi []byte) error
}

// Reads are the ways to read the latest state outside of an update.
type Reads interface {
	// Get returns a copy of the latest committed value, nil where the key is absent.
	Get(ctx context.Context, key []byte) ([]byte, error)
	// Counter returns the latest committed counters of a key, see Txn.Add; nil where never added to.
	Counter(ctx context.Context, key []byte) ([]int64, error)
	// Iter iterates over [lo, hi) of everything committed before the call, as it was at one moment. It must
	// be closed. A nil hi is the end of the callers' keys. For one range it is cheaper than a Snapshot.
	Iter(ctx context.Context, lo, hi []byte, o IterOptions) (Iterator, error)
	// Snapshot returns a consistent view of everything committed before the call. It must be closed. The
	// wait for durability, if there is one, is in the snapshot's own reads.
	Snapshot(ctx context.Context) (Snapshot, error)
}

// Keeper keeps snapshots beyond the life of a process. In an embedded store a kept snapshot shares its data with the store: it is
// made in an instant whatever its size, and costs room only for what the store has changed since. Elsewhere it is a copy. Kept
// snapshots never change. Names are 1 to 150 of the characters a-z, 0-9 and '-'.
type Keeper interface {
	// Keep keeps what the selection held at one moment during the call, and every update that was acknowledged
	// before it, durably. A name that is taken is refused with ErrKeptExists. After a crash during the call
	// there is nothing under that name, or all of it.
	Keep(ctx context.Context, name string, what Selection) error
	// OpenKept opens a kept snapshot; it must be closed before the store. ErrNotKept where there is none.
	// What it answers for keys and logs outside its selection is not defined.
	OpenKept(ctx context.Context, name string) (Snapshot, error)
	// Kept lists the kept snapshots by name, with the room that each would take by itself.
	Kept(ctx context.Context) ([]KeptSnapshot, error)
	// DropKept forgets a kept snapshot, which nobody may have open. Dropping what is not there does nothing.
	DropKept(ctx context.Context, name string) error
}

// Disk tells how full the disk of a store is.
type Disk interface {
	// DiskUsage is zero for a store that has no disk, or whose file system does not tell. It is cheap enough for a probe.
	DiskUsage() (DiskUsage, error)
}

// DiskUsage is how full the disk of a store is, in bytes.
type DiskUsage struct {
	Total int64 // of the file system
	Used  int64 // by all files, of this store and others
	// Available is what the process can still write, Pending the part of it that the store needs for what it has
	// acknowledged.
	Available, Pending int64
	// Reserve is kept for deletions and compactions: other updates get ErrFull when Available less Pending is below it.
	Reserve int64
}

// Writable is how much updates may still write.
func (u DiskUsage) Writable() int64 { return max(0, u.Available-u.Pending-u.Reserve) }

// Selection is a part of a store.
type Selection struct {
	Spans []Span
	Logs  []LogID
	// Frees: the selection is kept so that it can be removed. Like an Intent that frees, it may use the reserve.
	Frees bool
}

// Span is the range of keys [Lo, Hi); a nil Hi is the end of the callers' keys.
type Span struct{ Lo, Hi []byte }

// KeptSnapshot is an entry of Keeper.Kept.
type KeptSnapshot struct {
	Name  string
	Bytes int64
}

// Intent names the keys of an update before it starts. A key may stand in it more than once; one that is
// in both lists is written.
type Intent struct {
	Write [][]byte // held exclusively; fn may read and write them
	Check [][]byte // held shared: cannot change until this update has committed or failed
	// Transaction marks a holder that others must not wait for: an update with FailOnTransaction that
	// meets one of its keys held by a Transaction gets ErrConflict at once instead of waiting. The keys
	// are in the transaction's hands until it is acknowledged. Two that only check a key do not meet.
	// Processes that share a store may do without: where it is optimistic, one of two updates that meet across processes runs fn
	// again when the other has committed, and a Transaction is met within its own process only.
	Transaction       bool
	FailOnTransaction bool
	// Frees marks an update that gives room back, or that such updates need: it deletes, or changes a few small
	// records. It may use half of the reserve of a store that is out of space.
	Frees bool
	// Drops marks an update of a few small records that begins or ends the removal of a whole table, backup or the
	// like. It is never refused for want of space: it is the way out of a store that refuses everything else.
	Drops bool
}

// Reader reads one consistent state. It is for one goroutine at a time.
type Reader interface {
	// Get returns the value, nil where absent. Valid until the Reader ends; not to be changed.
	Get(key []byte) ([]byte, error)
	// Counter returns the counters of a key, nil where never added to.
	Counter(key []byte) ([]int64, error)
	// Iter iterates over [lo, hi). It must be closed, before the Reader ends. A nil hi is the end of the
	// callers' keys. Counter keys appear with their sums in the form of package counters.
	Iter(lo, hi []byte, o IterOptions) Iterator
}

// IterOptions say how to iterate; the zero value goes forward.
type IterOptions struct {
	Reverse bool
	// Limit is a hint of how many entries will be read; 0 is unknown.
	Limit int
}

// Iterator starts before its first entry. Key and Value are valid until the next call of Next or Close,
// and not to be changed. Once Next returned false it goes on doing so.
type Iterator interface {
	Next() bool
	Key() []byte
	Value() []byte
	// Err returns what ended the iteration early, nil at its natural end.
	Err() error
	Close() error
}

// Snapshot is a Reader that lives until Close.
type Snapshot interface {
	Reader
	// ReadLog returns records with Seq > after in order, at most limit: those of all commits that the snapshot
	// has, and of no other. The record with which LogReadBytes are reached is the last, too. There are no more
	// records after the position if it returns none.
	ReadLog(log LogID, after Seq, limit int) ([]Record, error)
	Close() error
}

// Txn reads its own writes; an Iter sees those made before it was opened. Only keys of the intent's Write
// may be set or deleted, except keys that are derived from one of them and from nothing else (index
// entries, TTL entries): whoever holds the item holds those. Keys read outside the intent are not
// protected. A Txn ends when fn returns.
type Txn interface {
	Reader
	// Set and Delete copy what they are given.
	Set(key, value []byte)
	Delete(key []byte)
	// Add adds deltas to the counters at key, element by element. Adds commute: they need no intent.
	// Counter inside the same Txn need not see them. A key has either values or counters.
	Add(key []byte, deltas ...int64)
	// AppendLog appends a record to a log at commit. Records of updates that shared a Write key stand in
	// the log in the order of their commits; those of one update stand together in call order.
	AppendLog(log LogID, record []byte)
	// Reserve announces memory that fn is about to take, on top of what it has announced before. A store that bounds the
	// memory of updates returns ErrRerun if there is none: fn lets go of what it has read and made, and returns the
	// error. The keys are free while the store waits for the memory. Then fn runs again, with the memory reserved.
	// What fn writes counts as announced up to the same amount.
	Reserve(bytes int64) error
	// LogSeq returns a number that divides all logs in time: records of updates that were acknowledged before
	// this one began, or that held one of its Write keys before it, are below; this one's own, and those of
	// updates that hold one of its Write keys after it or begin when it is acknowledged, are not. It is at least
	// the number of the last Advance.
	LogSeq() Seq
	// Advance moves the store's numbers forward, if this update writes anything or calls LogSeq: its records get
	// numbers of at least to, and so do all records and calls of LogSeq that follow. After a restart the store
	// continues at or above the highest Advance among the updates that it still has.
	Advance(to Seq)
}

// Record is one record of a change log.
type Record struct {
	Seq  Seq
	Data []byte
}

// Limits are what the store can take; a caller checks before it writes.
type Limits struct {
	KeyBytes, ValueBytes, TxnBytes int
}

// EmbeddedLimits are the limits of the stores in this tree that run inside the process. A value has room for
// a change record with two of the largest items (18 MB each, if they are full of numbers like 1E-130, which
// are kept in plain decimal). An update has room for the largest transaction of other items: 4 MB of them, the same
// in each of 25 indexes, 8 MB of change records, and 30 MB of the longest keys, old and new.
func EmbeddedLimits() Limits {
	return Limits{KeyBytes: 64 << 10, ValueBytes: 48 << 20, TxnBytes: 160 << 20}
}
