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

// Stats is what a database holds and the room it takes. Rows and Bytes are counted with every write, Bytes by
// DynamoDB's accounting; Disk is an estimate of the bytes on disk, which is smaller where data compress and
// misses what was written a moment ago.
type Stats struct {
	// Tables are those of Options.Region by name, and then those of other Regions by REGION/TABLE.
	Tables []TableStats `json:"tables"`
	// DeletedLogs are the change logs of deleted tables, which stay for a day.
	DeletedLogs Room `json:"deleted_logs"`
	// Total is of all tables and logs, and of what the database keeps for itself.
	Total Size `json:"total"`
	// Kept are the backups of tables, and the like. Each is counted as if it were alone, but shares its files
	// with the tables until these change.
	Kept []KeptStats `json:"kept"`
	// Directory is the length of all files in the database's directory, each counted once; 0 in memory.
	Directory int64 `json:"directory_bytes"`
}

// TableStats is what a table holds.
type TableStats struct {
	Name      string       `json:"name"`
	Status    string       `json:"status"` // as DescribeTable tells it
	Items     Size         `json:"items"`
	Indexes   []IndexStats `json:"indexes"`
	Expiries  Room         `json:"expiries"` // the order in which items expire
	ChangeLog Room         `json:"change_log"`
	Total     Size         `json:"total"` // of all the above; Rows and Bytes are of the items
}

// IndexStats is what an index holds.
type IndexStats struct {
	Name string `json:"name"`
	Size
}

// Size is how much there is of something.
type Size struct {
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
	Room
}

// Room is the disk that something takes.
type Room struct {
	Disk int64 `json:"disk_bytes"`
}

// KeptStats is the room of a kept state of a table: of a backup, or of what a restore under way needs.
type KeptStats struct {
	Name   string `json:"name"`
	Table  string `json:"table,omitempty"`  // of a backup
	Backup string `json:"backup,omitempty"` // its name
	Room
}

// Stats returns what the database holds.
func (db *DB) Stats(ctx context.Context) (Stats, error) {
	s, err := readStats(ctx, db.store, db.now())
	if err != nil {
		return Stats{}, fmt.Errorf("monotable: stats: %w", err)
	}
	return newStats(s, db.dir)
}

// ReadStats is [DB.Stats] for a directory that no process has open. Of o, which may be nil, only the master key counts.
func ReadStats(ctx context.Context, dir string, o *Options) (Stats, error) {
	store, err := openStore(dir, o)
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

// readStats reads what a store holds, and what the parts of it do that are Regions, served or not.
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

// filesUnder adds up the lengths of all files below a directory, once each however many names it has. Files
// may come and go meanwhile.
func filesUnder(dir string) (total int64, err error) {
	type kind struct {
		length   int64
		modified time.Time
	}
	seen := map[kind][]fs.FileInfo{} // names of one file agree in both
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
