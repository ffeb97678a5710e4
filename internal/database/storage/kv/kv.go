// Package kv is the contract between the engine and a store: ordered keys, snapshots, updates, counters and change logs.
//
// # Vocabulary
//
// A store is an ordered map from byte keys to byte values. An update is a function that reads and writes some of them and commits
// completely or not at all. Its intent names, before it starts, the keys that it will hold: a request of the engine knows its
// keys, so an update never has to guess, retry or deadlock. A snapshot is everything committed at one moment. A counter key holds
// sums that many updates can add to without holding the key. A change log is a sequence of records that updates append as part of
// their commit.
//
// # Invariants
//
//  1. Updates are atomic: readers, a crash and a log see either all of an update or nothing of it.
//  2. Updates with conflicting intents (one writes what the other writes or checks) run one after the other.
//     An update whose intent covers everything it reads is therefore serializable. One that reads other keys
//     is not: they can change concurrently.
//  3. Nothing that Update or a read returned is undone later, within the store's durability. A commit is
//     visible to every call made after Update has returned nil, and may be visible before it is durable.
//     Update therefore returns only when all that fn read is durable, whether or not fn wrote anything and
//     whatever error it returned, and a read returns only when what it found, or found missing, is durable.
//     Only the reads of Store.Eventual do not wait.
//  4. Within one change log, the records of updates that held a common key are in commit order, sequence
//     numbers are never reused, and a reader that continues after the last record it has seen misses none.
//  5. A store never retains or modifies a slice passed to it, nor one that it returned to keep.
//
// The engine relies on nothing else. In particular it has no locks of its own for isolation, so a store shared by several
// processes can replace an embedded one.
//
// Package kvtest is the test suite for all implementations. Checked wraps a store for tests and asserts that its callers follow
// the contract.
package kv

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors that a store returns, for errors.Is. Any other error is a failure of the underlying machine.
var (
	// ErrConflict: the intent conflicts with a transaction in progress on one of its keys (see Intent), or a checked key has
	// changed. Nothing was written.
	ErrConflict = errors.New("the update conflicts with another")
	// ErrUndetermined: it is unknown whether the commit happened. Do not retry blindly.
	ErrUndetermined = errors.New("the outcome of the commit is unknown")
	// ErrTooLarge: a key, a value or the whole update exceeds Limits. Nothing was written.
	ErrTooLarge = errors.New("a key, a value or the transaction exceeds the store's limits")
	// ErrRerun: an update must wait for memory. Its function returns this error of Txn.Reserve, and runs again after the wait.
	// Update never returns it.
	ErrRerun = errors.New("kv: the update waits for memory and reruns")
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("the store is closed")
	// ErrMissing: there is no store at the address, and none was to be made.
	ErrMissing = errors.New("there is no store")
	// ErrLocked: another process, or this one, has the directory open.
	ErrLocked = errors.New("the directory is already open")
	// ErrKeptExists: a kept snapshot with this name already exists.
	ErrKeptExists = errors.New("a kept snapshot with that name exists")
	// ErrNotKept: no kept snapshot has this name.
	ErrNotKept = errors.New("there is no kept snapshot with that name")
	// ErrFailed: after an earlier disk error the store rejects all writes until it is reopened. This call wrote nothing. Reads
	// continue, but those of data that had not reached the disk before the error also return ErrFailed.
	ErrFailed = errors.New("the store accepts no more writes after a disk error")
	// ErrUnreachable: the store's server does not respond. The store keeps trying and need not be reopened.
	ErrUnreachable = errors.New("the store's server does not respond")
	// ErrFull: the disk has no space left except the store's reserve. This call wrote nothing. Reads continue, as do updates that
	// free space (see Intent.Frees and Intent.Drops), DeleteRange, TrimLog, DropKept and Compact. Writes are accepted again as
	// soon as there is space.
	ErrFull = errors.New("the store is out of disk space")
	// ErrReadOnly: the store was opened for reading only.
	ErrReadOnly = errors.New("the store is open for reading only")
	// ErrFrozen: the store met an error after which continuing could write wrong data, and does nothing until it is reopened. Its
	// files are as they were at that moment.
	ErrFrozen = errors.New("the store is frozen after an internal fault; open it again")
)

// DamageError is the error of a store with a damaged file.
type DamageError struct {
	Dir, File string
	Cause     error
}

func (e *DamageError) Error() string {
	what := strings.ReplaceAll(strings.ReplaceAll(e.Cause.Error(), "pebble: ", ""), "\n", ": ")
	return fmt.Sprintf("the database in %s is damaged: %s is corrupt (%s): restore the directory from a backup", e.Dir, e.File, what)
}

func (e *DamageError) Unwrap() error { return e.Cause }

// ConflictError is the ErrConflict of an intent that conflicts with a transaction. Key is one of the contended keys.
type ConflictError struct{ Key []byte }

func (e *ConflictError) Error() string { return fmt.Sprintf("%v on key %x", ErrConflict, e.Key) }

// Is makes a ConflictError an ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// ReservedPrefix is the first byte of a store's own keys; callers' keys are below it. Keys from it to 0xF0 belong to package
// complete, those above to a Core.
const ReservedPrefix = 0xE0

// LogReadBytes is the approximate maximum size of the records returned by ReadLog, since a record can be almost as large as a
// value.
const LogReadBytes = 256 << 10

// LogID identifies a change log; the engine uses the table's id.
type LogID uint32

// Store is the full contract: a Core, and one interface for each feature that some stores implement better than a generic
// implementation on their Core. Package complete provides the generic ones.
type Store interface {
	Core
	Loader
	Sizer
	Compacter
	Splitter
	Keeper
	Disk
}

// Core is an ordered map of byte keys: what every store must implement, including stores shared by many processes. Keys are not
// empty. All methods are safe for concurrent use, and return ErrClosed after Close.
type Core interface {
	// Reads wait until what they return is durable: see invariant 3. They only wait for commits in progress that they may have
	// observed.
	Reads
	// Eventual returns the same reads without waiting for durability. What they return may be undone by a crash.
	Eventual() Reads
	// Update runs fn holding the keys of in, and atomically commits what fn wrote. When it returns, with nil or with the error of
	// fn, the commit and everything fn read are durable, as configured. fn may run more than once and must have no side effects
	// except through Txn. An error from fn aborts the update and is returned unchanged. The context cancels the wait for keys,
	// but never a commit that has started.
	Update(ctx context.Context, in Intent, fn func(Txn) error) error
	// ReadLog returns records with Seq > after in order, at most limit, and how far the log has been read: no record with after <
	// Seq <= through is missing, nor will one appear later. A reader that resumes after through misses nothing and sees nothing
	// twice. The record that reaches LogReadBytes is the last. through is at least after; if limit or LogReadBytes ended the
	// read, it is the last record's Seq. The caller owns the records.
	ReadLog(ctx context.Context, log LogID, after Seq, limit int) (records []Record, through Seq, err error)
	// TrimLog deletes records with Seq <= upTo, at a cost independent of their number; it writes nothing if there are none. A
	// store with limited space for logs trims the oldest records by itself.
	TrimLog(ctx context.Context, log LogID, upTo Seq) error
	// LogTrimmed returns the Seq of the last record that was deleted, by TrimLog or for lack of space, or 0. It survives a
	// restart.
	LogTrimmed(ctx context.Context, log LogID) (Seq, error)
	// DeleteRange removes [lo, hi), values and counters. It is not isolated from concurrent updates, so use it for keys that are
	// not in use. A nil hi is the end of the callers' keys.
	DeleteRange(ctx context.Context, lo, hi []byte) error
	// Time returns the time of the store's own clock, which its numbers follow without Txn.Advance; it may be some milliseconds
	// late. All processes that share the store have the same clock. timed is false if the store has none.
	Time(ctx context.Context) (now time.Time, timed bool, err error)
	// Health returns nil if the store accepts all kinds of updates, else an ErrFull, ErrFailed, ErrUnreachable or ErrClosed with
	// the reason. It is cheap enough for a probe.
	Health() error
	// Limits returns the store's limits, which are constant.
	Limits() Limits
	// Close waits for calls in progress and for open snapshots and iterators. Further calls do nothing.
	Close() error
}

// Loader writes keys in bulk.
type Loader interface {
	// Load writes keys that are not yet in use: fill calls put with keys in ascending order, and what it put is durable when Load
	// returns. It becomes visible at once when fill has returned nil. In a store that can only load with updates (see
	// LoadByUpdates), a large load may become visible piece by piece, and remain in part after an error or a crash. put copies
	// its arguments. Load writes only values, no counters, and is not isolated from updates of the same keys.
	Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error
}

// Sizer estimates disk usage. Recent writes may be missing from the estimates.
type Sizer interface {
	// Size estimates the disk space of the keys of [lo, hi); LogSize, that of the records of a log with Seq > after.
	Size(ctx context.Context, lo, hi []byte) (int64, error)
	LogSize(ctx context.Context, log LogID, after Seq) (int64, error)
}

// Compacter reclaims disk space.
type Compacter interface {
	// Compact reclaims the space of deleted and overwritten data in [lo, hi) and optimizes the layout for reads; with a nil hi
	// also for the change logs. It may take long. Reads and updates continue.
	Compact(ctx context.Context, lo, hi []byte) error
}

// Splitter prepares ranges of keys for much load.
type Splitter interface {
	// Split announces that much will be written between the given keys, in any order. A store that spreads ranges of keys over machines
	// begins a range at each of them; others do nothing. It changes no content.
	Split(ctx context.Context, keys [][]byte) error
}

// Reads are the ways to read the latest state outside of an update.
type Reads interface {
	// Get returns a copy of the latest committed value, or nil if the key does not exist.
	Get(ctx context.Context, key []byte) ([]byte, error)
	// Counter returns the latest committed counters of a key, see Txn.Add; nil if never added to.
	Counter(ctx context.Context, key []byte) ([]int64, error)
	// Iter iterates over [lo, hi) in the state of a moment that includes everything committed before the call. It must be closed.
	// A nil hi is the end of the callers' keys. For one range it is cheaper than a Snapshot. With a Limit, the caller reads no
	// more than that many entries.
	Iter(ctx context.Context, lo, hi []byte, o IterOptions) (Iterator, error)
	// Snapshot returns a consistent view of everything committed before the call. It must be closed. Any wait for durability
	// happens in the snapshot's own reads.
	Snapshot(ctx context.Context) (Snapshot, error)
}

// Keeper keeps snapshots beyond the life of a process. In an embedded store a kept snapshot shares its data with the store:
// creating it is instant whatever its size, and it only takes space for what has changed in the store since. In other stores it
// is a copy. Kept snapshots never change. Names consist of 1 to 150 characters a-z, 0-9 and '-'.
type Keeper interface {
	// Keep durably keeps the selection as of one moment during the call, including every update that was acknowledged before the
	// call. If the name exists it returns ErrKeptExists. After a crash during the call the snapshot exists completely or not at
	// all.
	Keep(ctx context.Context, name string, what Selection) error
	// OpenKept opens a kept snapshot, or returns ErrNotKept. It must be closed before the store. Reads of keys and logs outside
	// its selection are undefined.
	OpenKept(ctx context.Context, name string) (Snapshot, error)
	// Kept lists the kept snapshots by name, with the disk space that each would take on its own.
	Kept(ctx context.Context) ([]KeptSnapshot, error)
	// DropKept deletes a kept snapshot, which must not be open. Dropping a missing one does nothing.
	DropKept(ctx context.Context, name string) error
}

// Disk reports how full the store's disk is.
type Disk interface {
	// DiskUsage is zero for a store without a disk, or if the file system does not report it. It is cheap enough for a probe.
	DiskUsage() (DiskUsage, error)
}

// DiskUsage is how full a store's disk is, in bytes.
type DiskUsage struct {
	Total int64 // of the file system
	// Available is what the process can still write, Pending the part of it that the store needs for acknowledged data.
	Available, Pending int64
	// Reserve is reserved for deletions and compactions: other updates get ErrFull when Available less Pending is below it.
	Reserve int64
}

// Writable returns how much updates can still write.
func (u DiskUsage) Writable() int64 { return max(0, u.Available-u.Pending-u.Reserve) }

// Selection is a part of a store.
type Selection struct {
	Spans []Span
	Logs  []LogID
	// Frees: the selection is kept in order to remove it. Like an Intent that frees, it may use the reserve.
	Frees bool
}

// Span is the range of keys [Lo, Hi); a nil Hi is the end of the callers' keys.
type Span struct{ Lo, Hi []byte }

// KeptSnapshot is an entry of Keeper.Kept.
type KeptSnapshot struct {
	Name  string
	Bytes int64
}

// Intent names the keys of an update before it starts. A key may occur more than once; one in both lists is written. The caller may
// reuse the lists when Update has returned.
type Intent struct {
	Write [][]byte // held exclusively; fn may read and write them
	Check [][]byte // held shared: they cannot change until this update has committed or failed
	// Transaction marks an update that others must not wait for: an update with FailOnTransaction that meets one of its keys held
	// by a Transaction gets ErrConflict immediately. The transaction holds the keys until it is acknowledged. Two that only check
	// a key do not conflict. A store shared by processes may be weaker: if it is optimistic, one of two conflicting updates in
	// different processes runs fn again when the other has committed, and a Transaction is only detected within its own process.
	Transaction       bool
	FailOnTransaction bool
	// Frees marks an update that frees space, or that such updates depend on: it deletes, or changes a few small records. It may
	// use half of the reserve of a full store.
	Frees bool
	// Drops marks an update of a few small records that starts or ends the removal of a whole table, backup or the like. It is
	// only rejected for lack of space if there is none at all, because it is the only way out for a full store.
	Drops bool
}

// Reader reads one consistent state. It is not safe for concurrent use.
type Reader interface {
	// Get returns the value, or nil if there is none. The value is valid until the Reader ends and must not be modified.
	Get(key []byte) ([]byte, error)
	// Counter returns the counters of a key, or nil if never added to.
	Counter(key []byte) ([]int64, error)
	// Iter iterates over [lo, hi). It must be closed before the Reader ends. A nil hi is the end of the callers' keys. Counter
	// keys appear with their sums in the form of package counters.
	Iter(lo, hi []byte, o IterOptions) Iterator
}

// IterOptions configure an iteration; the zero value iterates forward.
type IterOptions struct {
	Reverse bool
	// Limit is a hint of how many entries will be read; 0 means unknown. For Reads.Iter it is the maximum.
	Limit int
}

// Iterator starts before its first entry. Key and Value are valid until the next call of Next or Close, and must not be modified.
// Once Next has returned false it always returns false.
type Iterator interface {
	Next() bool
	Key() []byte
	Value() []byte
	// Err returns the error that ended the iteration early, or nil.
	Err() error
	Close() error
}

// Snapshot is a Reader that lives until Close.
type Snapshot interface {
	Reader
	// ReadLog returns records with Seq > after in order, at most limit: exactly those of the commits in the snapshot. The record
	// that reaches LogReadBytes is the last. If it returns none, there are no more.
	ReadLog(log LogID, after Seq, limit int) ([]Record, error)
	Close() error
}

// Txn reads its own writes; an Iter sees those made before it was opened. Only keys of the intent's Write may be set or deleted,
// and keys derived from exactly one of them (index entries, TTL entries): holding the item implies holding those. Keys read
// outside the intent are not protected. A Txn ends when fn returns.
type Txn interface {
	Reader
	// Set and Delete copy their arguments.
	Set(key, value []byte)
	Delete(key []byte)
	// Add adds deltas to the counters at key, element by element. Adds commute, so they need no intent. Counter in the same Txn
	// need not see them. A key has either a value or counters.
	Add(key []byte, deltas ...int64)
	// AppendLog appends a record to a log at commit. Records of updates with a common Write key are in commit order; those of one
	// update are adjacent, in call order.
	AppendLog(log LogID, record []byte)
	// Reserve announces memory that fn is about to allocate, in addition to earlier announcements. A store that limits the memory
	// of updates returns ErrRerun if there is not enough: fn must release what it has read and created, and return the error. The
	// keys are released while the store waits for the memory. Then fn runs again, with the memory reserved. Writes of fn up to
	// the same amount are covered by the announcement.
	Reserve(bytes int64) error
	// LogSeq returns a number that divides all logs in time. Below it are the records of updates that were acknowledged before
	// this one started, or that held one of its Write keys before it. Not below it are this update's own records, and those of
	// updates that hold one of its Write keys after it or start after it is acknowledged. It is at least the number of the last
	// Advance.
	LogSeq() Seq
	// Advance advances the store's numbers, if this update writes anything or calls LogSeq: its records get numbers of at least
	// to, as do all records and LogSeq results that follow. After a restart the store continues at or above the highest Advance
	// among its surviving updates.
	Advance(to Seq)
}

// Record is one record of a change log.
type Record struct {
	Seq  Seq
	Data []byte
}

// Limits are the maximum sizes of a store; callers check them before writing.
type Limits struct {
	KeyBytes, ValueBytes, TxnBytes int
}

// EmbeddedLimits returns the limits of the in-process stores. A value can hold a change record with two items of maximum size (18
// MB each, if they are full of numbers like 1E-130, which are stored in plain decimal). An update can hold the largest
// transaction of other items: 4 MB of them, the same in each of 25 indexes, 8 MB of change records, and 30 MB of the longest
// keys, old and new.
func EmbeddedLimits() Limits {
	return Limits{KeyBytes: 64 << 10, ValueBytes: 48 << 20, TxnBytes: 160 << 20}
}
