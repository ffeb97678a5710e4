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

// checkpoint durably copies the database to dest as of one moment during the call, including everything acknowledged before the
// call. It fails with ErrFull before the disk has less space than the allowed level requires.
func (s *Store) checkpoint(ctx context.Context, dest string, allowed spaceLevel, o ...pebble.CheckpointOption) error {
	if !s.space.roomToFlush() { // a flush that fails ends all writing
		return s.space.refusal()
	}
	// Flush acknowledged data to tables first, which also makes it durable in every mode. Tables are linked; the log would be
	// copied, and replayed whenever the copy is opened.
	if err := s.flush(ctx); err != nil {
		return err
	}
	// Tables added by Load are in no log. If they were added during the checkpoint, the copy could have an update that followed
	// them without having the tables.
	s.moment.Lock()
	defer s.moment.Unlock()
	log := bytesOf(s.db.Metrics().WAL.PhysicalSize)
	if err := s.space.admit(log, allowed); err != nil {
		return err
	}
	s.space.end(log) // it is about to be on disk, where the next look finds it
	s.disk.beginCopy(allowed)
	err := s.db.Checkpoint(dest, o...)
	if err := errors.Join(err, s.disk.endCopy()); err != nil {
		return err
	}
	if err := cutLog(s.files, dest); err != nil {
		return err
	}
	// The copied log may be ahead of what would survive a power failure in the store's own.
	if err := s.db.LogData(nil, pebble.Sync); err != nil {
		return err
	}
	return s.writable()
}

// flush flushes committed data to tables.
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

// logRemainder is how much data after the last whole record makes it worth rewriting the file without it.
const logRemainder = 64 << 10

// cutLog truncates the newest log of a checkpoint after its last whole record.
//
// Pebble copies the log block by block while it is being written. If the log reuses the file of an old one, the copy of a block
// can end with old content, while the next block, read a moment later, has newer records: a gap, which Pebble rightly treats as
// corruption. Everything acknowledged when the checkpoint started is before the gap, and nothing after it can have been. Without
// a gap, the old content only wastes space: up to a memtable's size in each copy.
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

// wholeRecords returns the end of the last record of a log before any gap, and whether there is a gap.
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
