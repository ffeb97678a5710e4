package pebblekv

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	loadFileBytes = 64 << 20 // approximate size of a table created by Load
	bottomLevel   = 6        // for tables of unused keys
)

// Load writes tables and ingests them at once. The data bypasses the log and the memtables.
func (s *Store) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	if err := s.writable(); err != nil {
		return err
	}
	l := &load{fs: s.files, space: s.space, dir: s.makingPath("load"), options: s.tableOptions(bottomLevel)}
	defer s.discard(l.dir)
	err := kv.Fill(ctx, s.Limits(), fill, l.add)
	if closing := l.endFile(); err == nil {
		err = closing
	}
	if err != nil {
		return err // fill's own error, unchanged
	}
	if err := s.beginCommit(); err != nil {
		return err
	}
	defer s.endCommit()
	s.commits.follower.noteRange(l.span)
	return s.ingest(ctx, l.files, nil)
}

// ingest adds table files to the database. They change the keys of some stripes or, if stripes is nil, any keys.
func (s *Store) ingest(ctx context.Context, files []string, stripes []uint32) (err error) {
	defer s.guard(&err)
	if err := errors.Join(ctx.Err(), s.writable()); err != nil || len(files) == 0 {
		return err
	}
	// In the weaker durability modes everything before must be as durable as the tables: a power failure must not lose the update
	// that announced them while keeping the tables.
	if err := s.db.LogData(nil, pebble.Sync); err != nil {
		return err
	}
	s.moment.Lock()
	defer s.moment.Unlock()
	if stripes == nil {
		s.unsynced.beginRange()
	} else {
		s.unsynced.begin(stripes)
	}
	err = s.db.Ingest(context.WithoutCancel(ctx), files)
	if failure := s.disk.failure(); failure != nil {
		return fmt.Errorf("%w: %w", kv.ErrUndetermined, errors.Join(err, failure))
	}
	// After an error with the tables themselves nothing of them is in the database.
	if stripes == nil {
		s.unsynced.endRange()
	} else {
		s.unsynced.end(stripes)
	}
	return err
}

// tableOptions returns the options of the database's own tables at a level. In those of the bottom level deletions have no
// effect.
func (s *Store) tableOptions(level int) sstable.WriterOptions {
	p := s.options.pebbleOptions(s.files, pebbleLogger{s})
	p.EnsureDefaults()
	return p.MakeWriterOptions(level, s.db.TableFormat())
}

// load is a Load in progress.
type load struct {
	fs      vfs.FS
	space   *space
	dir     string
	options sstable.WriterOptions

	files []string
	table *sstable.Writer // the last of files; nil if that is complete
	span  kv.Span         // of the keys so far
}

func (l *load) add(key, value []byte) error {
	bytes := int64(len(key) + len(value))
	if err := l.space.admit(bytes, ample); err != nil {
		return err
	}
	l.space.end(bytes) // it is about to be on disk, where the next look finds it
	if l.table == nil {
		if err := l.beginFile(); err != nil {
			return err
		}
	}
	if l.span.Lo == nil {
		l.span.Lo = slices.Clone(key)
	}
	l.span.Hi = append(append(l.span.Hi[:0], key...), 0)
	if err := l.table.Set(key, value); err != nil {
		return err
	}
	if l.table.Raw().EstimatedSize() >= loadFileBytes {
		return l.endFile()
	}
	return nil
}

func (l *load) beginFile() error {
	if err := l.fs.MkdirAll(l.dir, dirMode); err != nil {
		return err
	}
	name := l.fs.PathJoin(l.dir, fmt.Sprintf("%06d.sst", len(l.files)))
	f, err := l.fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	l.table = sstable.NewWriter(objstorageprovider.NewFileWritable(syncGradually(f)), l.options)
	l.files = append(l.files, name)
	return nil
}

// endFile completes and syncs the current table, if there is one.
func (l *load) endFile() error {
	if l.table == nil {
		return nil
	}
	err := l.table.Close()
	l.table = nil
	return err
}
