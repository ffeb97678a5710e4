// Package transfer has the records of transfers between tables and buckets: exports, imports and bulk operations. A
// record is written with the request, says how far the work is, and stays for 90 days after its end. Package engine
// does the work; Open finds the records of what was under way and goes on where they say.
package transfer

import (
	"encoding/json"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Kind is one sort of transfer.
type Kind byte

// The kinds. Their values are in stored keys.
const (
	Export Kind = 'e'
	Import Kind = 'i'
	Bulk   Kind = 'b'
)

// reports is in place of a kind in the keys of what a bulk operation will report.
const reports = 'r'

// The statuses of transfers.
const (
	InProgress          = "IN_PROGRESS"
	Completed           = "COMPLETED"
	Failed              = "FAILED"
	CompletedWithErrors = "COMPLETED_WITH_ERRORS" // of a bulk operation, as the following ones
	Cancelling          = "CANCELLING"
	Cancelled           = "CANCELLED"
)

// format is the version of the stored form of a transfer.
const format = 1

// Record is the record of a transfer. Times are milliseconds since the epoch.
type Record struct {
	Format int    `json:"format"`
	Kind   Kind   `json:"kind"`
	ID     string `json:"id"` // the end of the ARN: 14 digits of milliseconds, '-', 8 hex digits
	// Table, TableID and UUID are those of the table; another table may have the name by now.
	Table   string         `json:"table"`
	TableID keyenc.TableID `json:"tableID"`
	UUID    string         `json:"uuid"`

	// Request is the request as the client sent it, Values the attribute values in it, encoded as an item.
	Request json.RawMessage `json:"request"`
	Values  []byte          `json:"values,omitempty"`
	Token   string          `json:"token,omitempty"`

	Status         string `json:"status"`
	Started        int64  `json:"started"`
	Ended          int64  `json:"ended,omitempty"` // 0 while it is under way
	FailureCode    string `json:"failureCode,omitempty"`
	FailureMessage string `json:"failureMessage,omitempty"`

	// Items were exported or imported, of Processed that were read; Errors of those were refused. Bytes is their size.
	Items     int64 `json:"items"`
	Processed int64 `json:"processed,omitempty"`
	Errors    int64 `json:"errors,omitempty"`
	Bytes     int64 `json:"bytes"`

	Exported *Exported `json:"exported,omitempty"` // of an Export
	Imported *Imported `json:"imported,omitempty"` // of an Import
	Put      *Put      `json:"put,omitempty"`      // of a Bulk
}

// Exported is what the record of an export says beside.
//
//	kept snapshot ─► _started
//	              ─► a data file at a time; each is noted with where the next one begins
//	              ─► manifests ─► COMPLETED, the snapshot is dropped
type Exported struct {
	// Descriptor is the table's definition in the kept snapshot.
	Descriptor json.RawMessage `json:"descriptor"`
	// A full export has the state of all changes before To. An incremental one has the changes with From <= time < To.
	From int64 `json:"from,omitempty"`
	To   int64 `json:"to"`

	// Begun: _started is there. Next is the key at which the next data file begins; nil with Files is past the end.
	Begun bool   `json:"begun,omitempty"`
	Next  []byte `json:"next,omitempty"`
	Files []File `json:"files,omitempty"`
}

// LogFrom is the time of the first change that the export needs of the log.
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

// Imported is what the record of an import says beside: all objects before Object are read, and so many bytes of it,
// once decompressed.
type Imported struct {
	Object string `json:"object,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	// Done: all objects are read.
	Done bool `json:"done,omitempty"`
}

// Put is what the record of a bulk operation says beside. What it reports is stored with each batch and moves to
// objects later, so that each line of a report is there once, whatever is interrupted.
//
//	_started ─► a batch at a time: items, lines to report, this record ─┬► … ─► manifests ─► COMPLETED
//	                          much to report: an object, then this record ┘
type Put struct {
	Imported // where it is

	Begun      bool  `json:"begun,omitempty"`      // _started is there
	TotalBytes int64 `json:"totalBytes,omitempty"` // of all objects
	ReadBytes  int64 `json:"readBytes,omitempty"`  // of the objects before Object
	Refused    int64 `json:"refused,omitempty"`    // items whose condition was false

	// Bytes are those put into the table and its indexes, by their names.
	Bytes       int64            `json:"bytes,omitempty"`
	LocalBytes  map[string]int64 `json:"localBytes,omitempty"`
	GlobalBytes map[string]int64 `json:"globalBytes,omitempty"`
	VectorBytes map[string]int64 `json:"vectorBytes,omitempty"`

	Reports map[string]*Report `json:"reports,omitempty"` // by OutputType
}

// Report is what a bulk operation reports of one type: the objects that are written, and the stored lines after them.
type Report struct {
	Files []File `json:"files,omitempty"`
	// Stored are under the keys of the numbers First <= n < Next.
	First uint64 `json:"first,omitempty"`
	Next  uint64 `json:"next,omitempty"`
	Lines int64  `json:"lines,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`
}

// ReportKey is where lines of a report of a type are stored.
func (x *Record) ReportKey(outputType string, n uint64) []byte {
	return keyenc.Transfer(reports, fmt.Sprintf("%s/%s/%016x", x.ID, outputType, n))
}

// Key is where the record is stored.
func (x *Record) Key() []byte { return keyenc.Transfer(byte(x.Kind), x.ID) }

// Lock is the key that whoever begins a transfer of a kind holds. There is nothing under it.
func Lock(k Kind) []byte { return keyenc.Transfer(byte(k), "") }

// UnderWay reports whether there is work left.
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

// Decode reads a stored record.
func Decode(data []byte) (*Record, error) {
	x := new(Record)
	if err := json.Unmarshal(data, x); err != nil {
		return nil, fmt.Errorf("transfer: record: %w", err)
	}
	if x.Format < 1 || x.Format > format {
		return nil, fmt.Errorf("transfer: %q is stored in format %d and this program knows formats up to %d: "+
			"open the store with the program that wrote it, or a newer one", x.ID, x.Format, format)
	}
	return x, nil
}

// Read returns the transfer of an id, nil where there is none.
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
