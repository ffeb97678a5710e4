package engine

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// jobKind is one sort of work that goes on after the request that caused it.
type jobKind byte

// The kinds. Their values are in stored keys.
const (
	jobBackfill  jobKind = 'b' // give a new index its entries, then make it readable
	jobDropIndex jobKind = 'i' // remove a deleted index's entries, then its definition
	jobBuildTTL  jobKind = 't' // give the items their TTL entries, then call TTL enabled
	jobDropTTL   jobKind = 'u' // remove the TTL entries, then call TTL disabled
	jobDropTable jobKind = 'd' // remove all that a deleted table held but its change log
	jobDropLog   jobKind = 'l' // remove a deleted table's change log, when it is too old to be read
	jobRestore   jobKind = 'r' // fill a table from a kept snapshot, then open it for use
)

// jobFormat is the version of the stored form of a job.
const jobFormat = 1

// errJobMoot: what the job was for is gone or done.
var errJobMoot = errors.New("engine: job is moot")

// job is the record of a piece of work. It is written in the transaction that makes the work necessary and
// removed in the one that ends it, so a restart finds what there is left to do.
type job struct {
	Format int            `json:"format"`
	Kind   jobKind        `json:"kind"`
	Table  keyenc.TableID `json:"table"`
	Name   string         `json:"name"` // the table's; another table may have it by now
	Index  keyenc.IndexID `json:"index,omitempty"`
	// NotBefore is when the work may begin, in milliseconds since the epoch.
	NotBefore int64 `json:"notBefore,omitempty"`
	// Cursor is the key of the last item that a backfill has dealt with.
	Cursor []byte `json:"cursor,omitempty"`
	// Backup is the id of the backup that is to have a deleted table's data before they go; "" is none.
	Backup string `json:"backup,omitempty"`
	// Restore is there for a jobRestore.
	Restore *restoration `json:"restore,omitempty"`
}

func (j *job) key() []byte { return keyenc.Job(j.Table, j.Index, byte(j.Kind)) }

// save writes the record within a transaction that holds the table or the record.
func (j *job) save(txn kv.Txn) error {
	j.Format = jobFormat
	data, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("engine: job: %w", err)
	}
	txn.Set(j.key(), data)
	return nil
}

func decodeJob(data []byte) (job, error) {
	var j job
	if err := json.Unmarshal(data, &j); err != nil {
		return job{}, fmt.Errorf("engine: job record: %w", err)
	}
	if j.Format < 1 || j.Format > jobFormat {
		return job{}, fmt.Errorf("engine: a job on table %q is stored in format %d and this program knows formats up to %d: "+
			"open the store with the program that wrote it, or a newer one", j.Name, j.Format, jobFormat)
	}
	return j, nil
}
