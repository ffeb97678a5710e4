// Package job defines the records of background work that outlives the request that caused it: what to do, for which table, and
// the progress. Package engine does the work; package verify reads the records to know what a store may temporarily contain.
package job

import (
	"encoding/json"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Kind is a kind of work.
type Kind byte

// The kinds. Their values are part of stored keys.
const (
	Backfill  Kind = 'b' // create a new index's entries, then make it readable
	DropIndex Kind = 'i' // remove a deleted index's entries, then its definition
	BuildTTL  Kind = 't' // create the items' TTL entries, then mark TTL as enabled
	DropTTL   Kind = 'u' // remove the TTL entries, then mark TTL as disabled
	DropTable Kind = 'd' // remove everything of a deleted table except its change log
	DropLog   Kind = 'l' // remove a deleted table's change log when its retention is over
	Restore   Kind = 'r' // fill a table from a kept snapshot, then open it for use
	Replica   Kind = 'g' // fill a new replica from that of another Region, then open it for use
	Leave     Kind = 'e' // deliver a replica's last changes, then remove it from its global table
)

// format is the version of a job's stored form.
const format = 1

// Record is the record of a job. It is written in the transaction that makes the work necessary and removed in the one that
// completes it, so a restart finds the remaining work.
type Record struct {
	Format int            `json:"format"`
	Kind   Kind           `json:"kind"`
	Table  keyenc.TableID `json:"table"`
	Name   string         `json:"name"` // the table's name, which another table may have by now
	Index  keyenc.IndexID `json:"index,omitempty"`
	// NotBefore is when the work may start, in milliseconds since the epoch.
	NotBefore int64 `json:"notBefore,omitempty"`
	// Cursor is the key of the last item that a backfill has processed.
	Cursor []byte `json:"cursor,omitempty"`
	// Backup is the id of the backup that gets a deleted table's data before it is removed, or "".
	Backup string `json:"backup,omitempty"`
	// Region is the source of a Replica.
	Region string `json:"region,omitempty"`
	// Restore is set for a Restore.
	Restore *Restoration `json:"restore,omitempty"`
}

// Restoration is the part of a record that is specific to a restore.
//
//	kept snapshot ─► items and index entries under the new table's id, in the order of keys
//	              ─► counters                                                     copied
//	kept log      ─► backwards to the time: what each change replaced             undone
//	              ─► the table is ACTIVE, or UPDATING while an index is built
//
// Until everything is copied, a restart begins the restore again. From then on each step stores its progress in its own
// transaction.
type Restoration struct {
	Kept   string         `json:"kept"`   // the kept snapshot
	Source keyenc.TableID `json:"source"` // the table in the snapshot
	// At is the time to restore, in milliseconds; 0 for a backup, which is restored as it is.
	At int64 `json:"at,omitempty"`
	// Dropped are the local indexes of the source that the table does not have.
	Dropped []keyenc.IndexID `json:"dropped,omitempty"`

	Copied bool `json:"copied,omitempty"`
	// Undone is the number of the change from which on all changes are undone, or 0.
	Undone kv.Seq `json:"undone,omitempty"`
}

// Key returns the key of the record.
func (j *Record) Key() []byte { return keyenc.Job(j.Table, j.Index, byte(j.Kind)) }

// Save writes the record within a transaction that holds the table or the record.
func (j *Record) Save(txn kv.Txn) error {
	j.Format = format
	data, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("job: %w", err)
	}
	txn.Set(j.Key(), data)
	return nil
}

func decode(data []byte) (Record, error) {
	var j Record
	if err := json.Unmarshal(data, &j); err != nil {
		return Record{}, fmt.Errorf("job: record: %w", err)
	}
	if j.Format < 1 || j.Format > format {
		return Record{}, fmt.Errorf("a job on table %q is stored in format %d and this program knows formats up to %d: "+
			"open the store with the program that wrote it, or a newer one", j.Name, j.Format, format)
	}
	return j, nil
}

// Read returns the record with a key, or nil.
func Read(r kv.Reader, key []byte) (*Record, error) {
	data, err := r.Get(key)
	if err != nil || data == nil {
		return nil, err
	}
	j, err := decode(data)
	return &j, err
}

// Stored returns the stored jobs that are wanted.
func Stored(r kv.Reader, wanted func(Record) bool) ([]Record, error) {
	lo, hi := keyenc.Jobs()
	it := r.Iter(lo, hi, kv.IterOptions{})
	defer it.Close()
	var found []Record
	for it.Next() {
		j, err := decode(it.Value())
		if err != nil {
			return nil, err
		}
		if wanted(j) {
			found = append(found, j)
		}
	}
	return found, it.Err()
}
