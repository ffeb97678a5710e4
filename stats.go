package monotable

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
)

// Stats is the contents and size of a database. Rows and Bytes are maintained by every write, Bytes by DynamoDB's accounting.
// Disk estimates the bytes on disk: it is smaller if the data compresses, and excludes the most recent writes.
type Stats struct {
	// Tables are the tables of Options.Region by name, followed by those of other Regions as REGION/TABLE.
	Tables []TableStats `json:"tables"`
	// DeletedLogs are the change logs of deleted tables, which are kept for a day.
	DeletedLogs Room `json:"deleted_logs"`
	// Total includes all tables, logs, and the database's own records.
	Total Size `json:"total"`
	// Kept are backups of tables and similar states. Each is counted in full, but shares files with the tables until these
	// change.
	Kept []KeptStats `json:"kept"`
	// Directory is the total length of all files in the database's directory, each counted once; 0 in memory.
	Directory int64 `json:"directory_bytes"`
}

// TableStats is the contents and size of a table.
type TableStats struct {
	Name      string       `json:"name"`
	Status    string       `json:"status"` // as in DescribeTable
	Items     Size         `json:"items"`
	Indexes   []IndexStats `json:"indexes"`
	Expiries  Room         `json:"expiries"` // the index of expiry times
	ChangeLog Room         `json:"change_log"`
	Total     Size         `json:"total"` // of all the above; Rows and Bytes count items only
}

// IndexStats is the size of an index.
type IndexStats struct {
	Name string `json:"name"`
	Size
}

// Size is a number of rows and bytes, and the space they take.
type Size struct {
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
	Room
}

// Room is disk space.
type Room struct {
	Disk int64 `json:"disk_bytes"`
}

// KeptStats is the disk space of a kept state of a table: a backup, or the source of a restore in progress.
type KeptStats struct {
	Name   string `json:"name"`
	Table  string `json:"table,omitempty"`  // of a backup
	Backup string `json:"backup,omitempty"` // its name
	Room
}

// Stats returns the contents and size of the database.
func (db *DB) Stats(ctx context.Context) (Stats, error) {
	s, err := readStats(ctx, db.store, db.now())
	if err != nil {
		return Stats{}, fmt.Errorf("monotable: stats: %w", err)
	}
	return newStats(s, db.dir)
}

// ReadStats is [DB.Stats] for a directory that no process has open. Only the master key of o is used; o may be nil.
func ReadStats(ctx context.Context, dir string, o *Options) (Stats, error) {
	store, err := openStore(dir, o, true)
	if err != nil {
		return Stats{}, err
	}
	read, err := readStats(ctx, store, time.Now())
	var s Stats
	if err == nil {
		s, err = newStats(read, dir)
	}
	return s, errors.Join(err, store.Close())
}

// readStats reads the stats of a store and of all Regions in it, whether or not they are served.
func readStats(ctx context.Context, store kv.Store, now time.Time) (engine.Stats, error) {
	all, err := engine.ReadStats(ctx, store, now)
	if err != nil {
		return engine.Stats{}, err
	}
	names, err := part.Names(ctx, store)
	for _, name := range names {
		p, opened := part.Open(ctx, store, name)
		if opened != nil {
			return engine.Stats{}, errors.Join(err, opened)
		}
		more, failed := engine.ReadStats(ctx, p, now)
		if err = errors.Join(err, failed); err != nil {
			break
		}
		all.Merge(name, &more)
	}
	return all, err
}

func newStats(read engine.Stats, dir string) (Stats, error) {
	s := Stats{
		Tables: []TableStats{}, Kept: []KeptStats{},
		DeletedLogs: Room{read.DeletedLogs}, Total: Size{Room: Room{read.Room}},
	}
	for i := range read.Tables {
		t := newTableStats(&read.Tables[i])
		s.Total.Rows += t.Total.Rows
		s.Total.Bytes += t.Total.Bytes
		s.Tables = append(s.Tables, t)
	}
	for _, k := range read.Kept {
		s.Kept = append(s.Kept, KeptStats{k.Name, k.Table, k.Backup, Room{k.Bytes}})
	}
	var err error
	if dir != "" {
		s.Directory, err = filesUnder(dir)
	}
	return s, err
}

func newTableStats(read *engine.TableStats) TableStats {
	size := func(x engine.IndexStats) Size { return Size{x.Rows, x.Bytes, Room{x.Room}} }
	t := TableStats{
		Name: read.Name, Status: string(read.Status), Items: size(read.Items), Indexes: []IndexStats{},
		Expiries: Room{read.TTL}, ChangeLog: Room{read.Log}, Total: size(read.Items),
	}
	t.Total.Disk += read.TTL + read.Log
	for _, x := range read.Indexes {
		t.Indexes = append(t.Indexes, IndexStats{x.Name, size(x)})
		t.Total.Disk += x.Room
	}
	return t
}

// filesUnder returns the total length of all files below a directory, counting each once however many links it has. Files may be
// added and removed during the walk.
func filesUnder(dir string) (total int64, err error) {
	type kind struct {
		length   int64
		modified time.Time
	}
	seen := map[kind][]fs.FileInfo{} // links to the same file have the same kind
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.Type().IsRegular() {
			return nil
		}
		var info fs.FileInfo
		if err == nil {
			info, err = entry.Info()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		k := kind{info.Size(), info.ModTime()}
		for _, other := range seen[k] {
			if os.SameFile(info, other) {
				return nil
			}
		}
		seen[k] = append(seen[k], info)
		total += info.Size()
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("monotable: the files under %s: %w", dir, err)
	}
	return total, nil
}
