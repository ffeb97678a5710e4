package pebblekv

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"
)

// checkpoint makes dest a copy of the database as it is at one moment of the call, with all that was
// acknowledged before it, durably. It ends with ErrFull before the disk has less room than the allowed level has.
func (s *Store) checkpoint(ctx context.Context, dest string, allowed spaceLevel, o ...pebble.CheckpointOption) error {
	// What was acknowledged becomes tables first, and with that durable in every mode. Tables are linked; the log
	// would be copied, and replayed whenever the copy is opened.
	if err := s.flush(ctx); err != nil {
		return err
	}
	// Tables that Load adds are in no log. Were they to come in the middle, the copy could have an update that
	// followed them and not them.
	s.moment.Lock()
	defer s.moment.Unlock()
	log := bytesOf(s.db.Metrics().WAL.PhysicalSize)
	if err := s.space.admit(log, allowed); err != nil {
		return err
	}
	s.space.end(log) // it is about to be on the disk, where the next look finds it
	s.disk.beginCopy(allowed)
	err := s.db.Checkpoint(dest, o...)
	if err := errors.Join(err, s.disk.endCopy()); err != nil {
		return err
	}
	if err := cutLog(s.files, dest); err != nil {
		return err
	}
	// The copied log may be ahead of what a loss of power would leave of the store's own.
	if err := s.db.LogData(nil, pebble.Sync); err != nil {
		return err
	}
	return s.writable()
}

// flush turns what was committed into tables.
func (s *Store) flush(ctx context.Context) error {
	flushed, err := s.db.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-flushed:
		return ctx.Err()
	case <-s.dead:
		return s.failure()
	}
}

// logRemainder is how much behind the last whole record is worth a new file without it.
const logRemainder = 64 << 10

// cutLog ends the newest log of a checkpoint after its last whole record.
//
// Pebble copies the log block by block while it is written to. In a log that reuses the file of an old one, the
// copy of a block can end with old content, and the next block, read a moment later, have records that were
// written since: a hole, which Pebble rightly takes for damage. All that was acknowledged when the checkpoint
// began is before the hole, and nothing behind it can have been. Without a hole, the old content is only room lost:
// up to a memtable's size in each copy.
func cutLog(fs vfs.FS, dir string) error {
	logs, err := wal.Scan(wal.Dir{FS: fs, Dirname: dir})
	if err != nil || len(logs) == 0 {
		return err
	}
	newest := logs[len(logs)-1]
	length, hole, err := wholeRecords(newest)
	if err != nil {
		return err
	}
	_, name := newest.SegmentLocation(0)
	info, err := fs.Stat(name)
	if err != nil || !hole && info.Size()-length < logRemainder {
		return err
	}
	cut := name + ".new"
	if err := vfs.LimitedCopy(fs, name, cut, length); err != nil {
		return err
	}
	if err := fs.Rename(cut, name); err != nil {
		return err
	}
	return syncDirectory(fs, dir)
}

// wholeRecords returns where the last record of a log ends that has no hole before it, and whether there is a hole.
func wholeRecords(log wal.LogicalLog) (length int64, hole bool, err error) {
	if n := log.NumSegments(); n != 1 {
		return 0, false, fmt.Errorf("log %s has %d files", log, n)
	}
	r := log.OpenForRead()
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		_, offset, err := r.NextRecord()
		switch {
		case err == nil:
		case errors.Is(err, io.EOF), errors.Is(err, record.ErrUnexpectedEOF):
			return offset.Physical, false, nil
		case errors.Is(err, record.ErrInvalidChunk), errors.Is(err, record.ErrZeroedChunk):
			return offset.Physical, true, nil
		default:
			return 0, false, err
		}
	}
}
