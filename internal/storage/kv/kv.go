// Package kv is the contract between the engine and a store: ordered keys, snapshots, transactions, a
// change log.
package kv

import (
	"context"
	"errors"
)

// Errors that a store returns and callers test for.
var (
	// ErrConflict: the intent met a transaction that is under way on one of its keys (see Intent), or a
	// checked key changed. Nothing was written.
	ErrConflict = errors.New("kv: conflict")
	// ErrUndetermined: nobody knows whether the commit happened. Never retry blindly.
	ErrUndetermined = errors.New("kv: outcome of the commit is unknown")
	ErrTooLarge     = errors.New("kv: key, value or transaction exceeds the store's limits")
	ErrClosed       = errors.New("kv: store is closed")
	// ErrLocked: another process has the directory open.
	ErrLocked = errors.New("kv: directory is in use by another process")
)

// LogID names one change log; the engine uses a table's id. Seq orders the records of one log and never
// repeats or goes back, also across restarts and crashes; 0 is before the first.
type (
	LogID uint32
	Seq   uint64
)

// Store is an ordered map of byte keys. Keys whose first byte is 0xF0 or above are the store's own.
// All methods may be called at once from any goroutine.
type Store interface {
	// Get returns a copy of the latest committed value, nil where the key is absent.
	Get(ctx context.Context, key []byte) ([]byte, error)
	// Counter returns the latest committed counters of a key, see Txn.Add; nil where never added to.
	Counter(ctx context.Context, key []byte) ([]int64, error)
	// Snapshot returns a consistent view of everything committed before the call. It must be closed.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Update runs fn with the keys of in held, and commits what fn wrote, atomically. When it returns nil
	// the commit is as durable as the store was opened to make it. fn may run more than once and must
	// have no side effects but through Txn; an error from fn aborts and is returned as it is.
	Update(ctx context.Context, in Intent, fn func(Txn) error) error
	// ReadLog returns records with Seq > after in order, at most limit, and never skips one that could
	// still commit. Records are owned by the caller.
	ReadLog(ctx context.Context, log LogID, after Seq, limit int) ([]Record, error)
	// TrimLog forgets records with Seq <= upTo.
	TrimLog(ctx context.Context, log LogID, upTo Seq) error
	// DeleteRange removes [lo, hi). It is not isolated from concurrent updates: for keys nobody uses.
	DeleteRange(ctx context.Context, lo, hi []byte) error
	Limits() Limits
	Close() error
}

// Intent names the keys of an update before it starts.
type Intent struct {
	Write [][]byte // held exclusively; fn may read and write them
	Check [][]byte // held shared: cannot change until this update has committed or failed
	// Transaction marks a holder that others must not wait for: an update with FailOnTransaction that
	// meets one of its keys held by a Transaction gets ErrConflict at once instead of waiting.
	Transaction       bool
	FailOnTransaction bool
}

// Reader reads one consistent state.
type Reader interface {
	// Get returns the value, nil where absent. Valid until the Reader ends.
	Get(key []byte) ([]byte, error)
	Counter(key []byte) ([]int64, error)
	// Iter iterates over [lo, hi). It must be closed.
	Iter(lo, hi []byte, o IterOptions) Iterator
}

// IterOptions: the zero value goes forward.
type IterOptions struct {
	Reverse bool
	// Limit is a hint of how many entries will be read; 0 is unknown.
	Limit int
}

// Iterator starts before its first entry. Key and Value are valid until the next call of Next or Close.
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
	Close() error
}

// Txn reads its own writes. Only keys of the intent's Write may be set or deleted, except keys that are
// derived from one of them and from nothing else (index entries, TTL entries): whoever holds the item
// holds those. Keys read outside the intent are not protected.
type Txn interface {
	Reader
	Set(key, value []byte)
	Delete(key []byte)
	// Add adds deltas to the counters at key, element by element. Adds commute: they need no intent.
	// Counter inside the same Txn need not see them.
	Add(key []byte, deltas ...int64)
	// AppendLog appends a record to a log at commit. Records of updates that shared a Write key stand in
	// the log in the order of their commits; those of one update stand together in call order.
	AppendLog(log LogID, record []byte)
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
