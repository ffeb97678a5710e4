// Package transfer defines the records of transfers between tables and buckets: exports, imports and bulk operations. A record is
// created with the request, contains the progress, and is kept for 90 days after the end. Package engine does the work; Open
// finds the records of unfinished transfers and resumes them.
package transfer

import (
	"encoding/json"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Kind is a kind of transfer.
type Kind byte

// The kinds. Their values are part of stored keys.
const (
	Export Kind = 'e'
	Import Kind = 'i'
	Bulk   Kind = 'b'
)

// reports replaces the kind in the keys of a bulk operation's report lines.
const reports = 'r'

// The statuses of transfers.
const (
	InProgress          = "IN_PROGRESS"
	Completed           = "COMPLETED"
	Failed              = "FAILED"
	CompletedWithErrors = "COMPLETED_WITH_ERRORS" // only of a bulk operation, like the following ones
	Cancelling          = "CANCELLING"
	Cancelled           = "CANCELLED"
)

// format is the version of a transfer's stored form.
const format = 1

// Record is the record of a transfer. Times are milliseconds since the epoch.
type Record struct {
	Format int    `json:"format"`
	Kind   Kind   `json:"kind"`
	ID     string `json:"id"` // the end of the ARN: 14 digits of milliseconds, '-', 8 hex digits
	// Table, TableID and UUID identify the table; another table may have the name by now.
	Table   string         `json:"table"`
	TableID keyenc.TableID `json:"tableID"`
	UUID    string         `json:"uuid"`

	// Request is the client's request, Values the attribute values in it, encoded as an item.
	Request json.RawMessage `json:"request"`
	Values  []byte          `json:"values,omitempty"`
	Token   string          `json:"token,omitempty"`

	Status         string `json:"status"`
	Started        int64  `json:"started"`
	Ended          int64  `json:"ended,omitempty"` // 0 while in progress
	FailureCode    string `json:"failureCode,omitempty"`
	FailureMessage string `json:"failureMessage,omitempty"`

	// Items is the number of exported or imported items, Processed of items read, and Errors of rejected items. Bytes is their
	// size.
	Items     int64 `json:"items"`
	Processed int64 `json:"processed,omitempty"`
	Errors    int64 `json:"errors,omitempty"`
	Bytes     int64 `json:"bytes"`

	Exported *Exported `json:"exported,omitempty"` // of an Export
	Imported *Imported `json:"imported,omitempty"` // of an Import
	Put      *Put      `json:"put,omitempty"`      // of a Bulk
}

// Exported is the part of a record that is specific to an export.
//
//	kept snapshot ─► _started
//	              ─► one data file after the other; each is recorded with the start of the next
//	              ─► manifests ─► COMPLETED, the snapshot is dropped
type Exported struct {
	// Descriptor is the table's definition in the kept snapshot.
	Descriptor json.RawMessage `json:"descriptor"`
	// A full export has the state before To. An incremental one has the changes with From <= time < To.
	From int64 `json:"from,omitempty"`
	To   int64 `json:"to"`

	// Begun: _started has been written. Next is the key at which the next data file starts; if it is nil and there are Files, all
	// are written.
	Begun bool   `json:"begun,omitempty"`
	Next  []byte `json:"next,omitempty"`
	Files []File `json:"files,omitempty"`
}

// LogFrom returns the time of the first change in the log that the export needs.
func (x *Exported) LogFrom() int64 {
	if x.From != 0 {
		return x.From
	}
	return x.To
}

// File is a data file of an export.
type File struct {
	Key   string `json:"key"`
	Items int64  `json:"items"`
	MD5   []byte `json:"md5"`
	ETag  string `json:"etag"`
}

// Imported is the part of a record that is specific to an import: all objects before Object have been read, and a number of bytes
// of Object, after decompression.
type Imported struct {
	Object string `json:"object,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	// Done: all objects have been read.
	Done bool `json:"done,omitempty"`
}

// Put is the part of a record that is specific to a bulk operation. Its report lines are stored with each batch and moved to
// objects later, so that each line occurs once even after interruptions.
//
//	_started ─► one batch after the other: items, report lines, this record ─┬► … ─► manifests ─► COMPLETED
//	                                many lines: an object, then this record ┘
type Put struct {
	Imported // the progress

	Begun      bool  `json:"begun,omitempty"`      // _started has been written
	TotalBytes int64 `json:"totalBytes,omitempty"` // of all objects
	ReadBytes  int64 `json:"readBytes,omitempty"`  // of the objects before Object
	Refused    int64 `json:"refused,omitempty"`    // items whose condition was false

	// Bytes is the size of what was put into the table and, by name, its indexes.
	Bytes       int64            `json:"bytes,omitempty"`
	LocalBytes  map[string]int64 `json:"localBytes,omitempty"`
	GlobalBytes map[string]int64 `json:"globalBytes,omitempty"`
	VectorBytes map[string]int64 `json:"vectorBytes,omitempty"`

	Reports map[string]*Report `json:"reports,omitempty"` // by OutputType
}

// Report is a bulk operation's report of one type: the written objects, and the stored lines that follow them.
type Report struct {
	Files []File `json:"files,omitempty"`
	// The stored lines have the numbers First <= n < Next.
	First uint64 `json:"first,omitempty"`
	Next  uint64 `json:"next,omitempty"`
	Lines int64  `json:"lines,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`
}

// ReportKey returns the key of report lines of a type.
func (x *Record) ReportKey(outputType string, n uint64) []byte {
	return keyenc.Transfer(reports, fmt.Sprintf("%s/%s/%016x", x.ID, outputType, n))
}

// Key returns the key of the record.
func (x *Record) Key() []byte { return keyenc.Transfer(byte(x.Kind), x.ID) }

// Lock returns the key that starting a transfer of a kind holds. It never has a value.
func Lock(k Kind) []byte { return keyenc.Transfer(byte(k), "") }

// UnderWay reports whether the transfer is unfinished.
func (x *Record) UnderWay() bool { return x.Ended == 0 }

// Save writes the record within a transaction that holds its key.
func (x *Record) Save(txn kv.Txn) error {
	x.Format = format
	data, err := json.Marshal(x)
	if err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	txn.Set(x.Key(), data)
	return nil
}

// Decode decodes a stored record.
func Decode(data []byte) (*Record, error) {
	x := new(Record)
	if err := json.Unmarshal(data, x); err != nil {
		return nil, fmt.Errorf("transfer: record: %w", err)
	}
	if x.Format < 1 || x.Format > format {
		return nil, fmt.Errorf("transfer %q is stored in format %d and this program knows formats up to %d: "+
			"open the store with the program that wrote it, or a newer one", x.ID, x.Format, format)
	}
	return x, nil
}

// Read returns the transfer with an id, or nil.
func Read(r kv.Reader, k Kind, id string) (*Record, error) {
	data, err := r.Get(keyenc.Transfer(byte(k), id))
	if err != nil || data == nil || id == "" {
		return nil, err
	}
	return Decode(data)
}

// All returns the transfers of a kind that are wanted, the oldest first.
func All(r kv.Reader, k Kind, wanted func(*Record) bool) ([]*Record, error) {
	lo, hi := keyenc.Transfers(byte(k))
	it := r.Iter(lo, hi, kv.IterOptions{})
	defer it.Close()
	var all []*Record
	for it.Next() {
		x, err := Decode(it.Value())
		if err != nil {
			return nil, err
		}
		if wanted(x) {
			all = append(all, x)
		}
	}
	return all, it.Err()
}
