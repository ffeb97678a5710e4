// Package backup defines the records of backups: kept snapshots of tables, with the facts that the API reports without reading
// the snapshot. Package engine creates and restores backups; package verify checks that their snapshots exist.
package backup

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// The types and statuses of backups.
const (
	OfUser   = "USER"
	OfSystem = "SYSTEM"

	Creating  = "CREATING"
	Available = "AVAILABLE"
	Deleted   = "DELETED"
)

// A kept snapshot belongs to a backup, to the restore of a table to a point in time, or to an export.
const (
	keptOfBackup  = "backup-"  // followed by the backup's id
	keptOfRestore = "restore-" // followed by the new table's UUID
	keptOfExport  = "export-"  // followed by the export's id
)

// KeptOf returns the name of a backup's kept snapshot.
func KeptOf(id string) string { return keptOfBackup + id }

// KeptOfRestore returns the name of the kept snapshot from which the table with a UUID is restored to a point in time.
func KeptOfRestore(uuid string) string { return keptOfRestore + uuid }

// KeptOfExport returns the name of the kept snapshot of an export.
func KeptOfExport(id string) string { return keptOfExport + id }

const (
	idPattern   = `[0-9]{14}-[0-9a-f]{8}` // of a backup or an export
	uuidPattern = `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`
)

var (
	ownName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:(?:` + keptOfBackup + `|` + keptOfExport + `)` + idPattern + `|` + keptOfRestore + uuidPattern + `)$`)
	})
	foreignName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:.*-)?(?:` + idPattern + `|` + uuidPattern + `)$`)
	})
)

// OwnsSnapshot reports whether a kept snapshot is named for a backup, a restore or an export. It checks the whole name: among the
// kept snapshots of a Region are those of others whose names begin with its own (package kv/part), so that a backup of the Region
// eu-backup is called backup-backup-… in the Region eu.
func OwnsSnapshot(name string) bool { return ownName().MatchString(name) }

// MayBeForeign reports whether a kept snapshot that the Region does not own may be of another, see OwnsSnapshot.
func MayBeForeign(name string) bool { return foreignName().MatchString(name) }

// format is the version of a backup's stored form.
const format = 1

// Record is the record of a backup: a kept snapshot of a table, and the facts that the API reports without reading it. Times are
// milliseconds since the epoch.
type Record struct {
	Format  int    `json:"format"`
	ID      string `json:"id"` // the end of the ARN: 14 digits of milliseconds, '-', 8 hex digits
	Name    string `json:"name"`
	Type    string `json:"type"`
	Created int64  `json:"created"`
	Expires int64  `json:"expires,omitempty"` // 0 means never
	// Making means that the data is not kept yet. The backup of a deleted table starts like this: the record is written with the
	// deletion, and the job that removes the table's data keeps it first.
	Making bool  `json:"making,omitempty"`
	Items  int64 `json:"items"`
	Bytes  int64 `json:"bytes"`
	// Descriptor is the table's descriptor at the time of the backup.
	Descriptor json.RawMessage `json:"table"`

	Table *catalog.Descriptor `json:"-"` // the decoded Descriptor
}

// New returns the record of a user's backup of a table defined as d.
func New(id, name string, created time.Time, d *catalog.Descriptor) (*Record, error) {
	descriptor, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	return &Record{ID: id, Name: name, Type: OfUser, Created: created.UnixMilli(), Descriptor: descriptor, Table: d}, nil
}

// Key returns the key of the record.
func (b *Record) Key() []byte { return keyenc.Backup(b.ID) }

// Kept returns the name of the backup's kept snapshot.
func (b *Record) Kept() string { return KeptOf(b.ID) }

// Selection returns what a backup of a table keeps: items and entries, counters, and the descriptor, all as of the same moment.
// TTL entries are not restored.
func Selection(d *catalog.Descriptor) kv.Selection {
	descriptor := keyenc.TableDescriptor(d.Name)
	what := kv.Selection{Spans: []kv.Span{{Lo: descriptor, Hi: append(slices.Clone(descriptor), 0)}}}
	for _, bounds := range []func(keyenc.TableID) (lo, hi []byte){keyenc.TableBounds, keyenc.StatisticsBounds} {
		lo, hi := bounds(d.ID)
		what.Spans = append(what.Spans, kv.Span{Lo: lo, Hi: hi})
	}
	return what
}

// Count sets the number and size of the items from the kept snapshot.
func (b *Record) Count(kept kv.Snapshot) error {
	counters, err := kept.Counter(keyenc.Statistics(b.Table.ID, 0))
	if len(counters) >= 2 {
		b.Items, b.Bytes = counters[0], counters[1]
	}
	return err
}

// Expired reports whether the backup has expired.
func (b *Record) Expired(now time.Time) bool { return b.Expires != 0 && b.Expires <= now.UnixMilli() }

// Save writes the record within a transaction that holds its key.
func (b *Record) Save(txn kv.Txn) error {
	b.Format = format
	data, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	txn.Set(b.Key(), data)
	return nil
}

// Decode decodes a stored record.
func Decode(data []byte) (*Record, error) {
	b := new(Record)
	if err := json.Unmarshal(data, b); err != nil {
		return nil, fmt.Errorf("backup: record: %w", err)
	}
	if b.Format < 1 || b.Format > format {
		return nil, fmt.Errorf("backup %q is stored in format %d and this program knows formats up to %d: "+
			"open the store with the program that wrote it, or a newer one", b.ID, b.Format, format)
	}
	var err error
	if b.Table, err = catalog.DecodeDescriptor(b.Descriptor); err != nil {
		return nil, fmt.Errorf("backup: %q: %w", b.ID, err)
	}
	return b, nil
}

// Status returns CREATING or AVAILABLE.
func (b *Record) Status() string {
	if b.Making {
		return Creating
	}
	return Available
}

// Each calls see for every backup from a key on, the oldest first, until it returns false.
func Each(r kv.Reader, from []byte, see func(*Record) bool) error {
	lo, hi := keyenc.Backups()
	if from != nil {
		lo = from
	}
	it := r.Iter(lo, hi, kv.IterOptions{})
	defer it.Close()
	for it.Next() {
		b, err := Decode(it.Value())
		if err != nil {
			return err
		}
		if !see(b) {
			break
		}
	}
	return it.Err()
}
