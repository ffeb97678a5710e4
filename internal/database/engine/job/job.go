// Package job has the records of work that goes on after the request that caused it: what is to be done, for
// which table, and how far it is. Package engine does the work; package verify reads the records to know what
// a store may hold for the moment.
package job

import (
	"encoding/json"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Kind is one sort of work.
type Kind byte

// The kinds. Their values are in stored keys.
const (
	Backfill  Kind = 'b' // give a new index its entries, then make it readable
	DropIndex Kind = 'i' // remove a deleted index's entries, then its definition
	BuildTTL  Kind = 't' // give the items their TTL entries, then call TTL enabled
	DropTTL   Kind = 'u' // remove the TTL entries, then call TTL disabled
	DropTable Kind = 'd' // remove all that a deleted table held but its change log
	DropLog   Kind = 'l' // remove a deleted table's change log, when it is too old to be read
	Restore   Kind = 'r' // fill a table from a kept snapshot, then open it for use
	Replica   Kind = 'g' // fill a new replica from that of another Region, then open it for use
	Leave     Kind = 'e' // deliver a replica's last changes, then take it out of its global table
)

// format is the version of the stored form of a job.
const format = 1

// Record is the record of a piece of work. It is written in the transaction that makes the work necessary and
// removed in the one that ends it, so a restart finds what there is left to do.
type Record struct {
	Format int            `json:"format"`
	Kind   Kind           `json:"kind"`
	Table  keyenc.TableID `json:"table"`
	Name   string         `json:"name"` // the table's; another table may have it by now
	Index  keyenc.IndexID `json:"index,omitempty"`
	// NotBefore is when the work may begin, in milliseconds since the epoch.
	NotBefore int64 `json:"notBefore,omitempty"`
	// Cursor is the key of the last item that a backfill has dealt with.
	Cursor []byte `json:"cursor,omitempty"`
	// Backup is the id of the backup that is to have a deleted table's data before they go; "" is none.
	Backup string `json:"backup,omitempty"`
	// Region is the one that a Replica is filled from.
	Region string `json:"region,omitempty"`
	// Restore is there for a Restore.
	Restore *Restoration `json:"restore,omitempty"`
}

// Restoration is what the record of a restore says of it, beside the new table.
//
//	kept snapshot ─► items and index entries under the new table's id, in the order of keys
//	              ─► counters                                                     copied
//	kept log      ─► backwards to the time: what each change replaced             undone
//	              ─► the table is ACTIVE, or UPDATING while an index is built
//
// Until it is copied nothing of it counts: whoever finds it so begins again. From then on each step notes in its
// own transaction how far it is.
type Restoration struct {
	Kept   string         `json:"kept"`   // the kept snapshot
	Source keyenc.TableID `json:"source"` // the table in it
	// At is the time to restore, in milliseconds; 0 for a backup, which is restored as it is.
	At int64 `json:"at,omitempty"`
	// Dropped are the local indexes of the source that the table does not have.
	Dropped []keyenc.IndexID `json:"dropped,omitempty"`

	Copied bool `json:"copied,omitempty"`
	// Undone is the number of the change from which on all are undone; 0 while none is.
	Undone kv.Seq `json:"undone,omitempty"`
}

// Key is where the record is stored.
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
		return Record{}, fmt.Errorf("job: a job on table %q is stored in format %d and this program knows formats up to %d: "+
			"open the store with the program that wrote it, or a newer one", j.Name, j.Format, format)
	}
	return j, nil
}

// Read returns the record under a key; nil where there is none.
func Read(r kv.Reader, key []byte) (*Record, error) {
	data, err := r.Get(key)
	if err != nil || data == nil {
		return nil, err
	}
	j, err := decode(data)
	return &j, err
}

// Stored returns the jobs that the store has records of and that are wanted.
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
