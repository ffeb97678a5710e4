package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// sink is the destination of lines. Its methods are not called concurrently.
type sink interface {
	write(line []byte) error
	// reopen makes the sink usable again, if possible.
	reopen() error
	close() error
}

// writeWait is how long a write may take. The reader of a pipe may stop reading, and all requests wait for the one being
// recorded.
const writeWait = 5 * time.Second

var errBlocked = fmt.Errorf("nothing has read the audit log for %v", writeWait)

// stream is a caller's writer.
type stream struct {
	w io.Writer
	// late receives the result of a write that took too long; nil if there is none. No other write starts before.
	late chan error
}

func (s *stream) write(line []byte) error {
	if s.late != nil {
		select {
		case <-s.late:
			s.late = nil
		default:
			return errBlocked
		}
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.w.Write(line)
		done <- err
	}()
	timer := time.NewTimer(writeWait)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		s.late = done
		return errBlocked
	}
}

func (*stream) reopen() error { return nil }

func (*stream) close() error { return nil }

const (
	fileMode  = 0o600
	asideForm = "20060102T150405.000000000Z"
)

// file is a file that is rotated by size.
type file struct {
	name string
	max  int64
	keep int
	now  func() time.Time

	f       *os.File // nil after a failure
	regular bool     // not a device or a pipe, which are never rotated
	size    int64
	torn    bool // the file may end within a line
}

// open opens the file; a named pipe must have a reader.
func (s *file) open() error {
	f, err := os.OpenFile(s.name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, fileMode)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	s.regular = info.Mode().IsRegular()
	if !s.regular {
		s.f, s.size, s.torn = f, 0, false
		return nil
	}
	s.f, s.size, s.torn = f, info.Size(), info.Size() > 0 && !endsLine(s.name, info.Size())
	return nil
}

// endsLine reports whether the last byte of a file ends a line.
func endsLine(name string, size int64) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	last := make([]byte, 1)
	_, err = f.ReadAt(last, size-1)
	return err == nil && last[0] == '\n'
}

func (s *file) write(line []byte) error {
	if s.f == nil {
		if err := s.open(); err != nil {
			return err
		}
	}
	if s.regular && s.max > 0 && s.size > 0 && s.size+int64(len(line)) > s.max {
		if err := s.rotate(); err != nil {
			return err
		}
	}
	if s.torn {
		line = append([]byte{'\n'}, line...)
	}
	_ = s.f.SetWriteDeadline(time.Now().Add(writeWait)) // files on a disk do not support deadlines, and need none
	n, err := s.f.Write(line)
	s.size += int64(n)
	if err != nil {
		return errors.Join(err, s.close())
	}
	s.torn = false
	return nil
}

// rotate renames the file and starts a new one.
func (s *file) rotate() error {
	aside := fmt.Sprintf("%s.%s", s.name, s.now().UTC().Format(asideForm))
	if _, err := os.Lstat(aside); err == nil {
		return nil // the clock does not advance: later
	}
	if err := os.Rename(s.name, aside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := s.reopen(); err != nil {
		return err
	}
	s.discard()
	return nil
}

// discard removes the oldest rotated files beyond those to keep. Failed removals are retried at the next rotation.
func (s *file) discard() {
	if s.keep <= 0 {
		return
	}
	names, err := filepath.Glob(globLiteral(s.name) + ".[0-9]*T[0-9]*Z")
	if err != nil || len(names) <= s.keep {
		return
	}
	slices.Sort(names)
	for _, name := range names[:len(names)-s.keep] {
		_ = os.Remove(name)
	}
}

// globLiteral escapes the special characters of patterns.
func globLiteral(name string) string {
	var b []byte
	for i := range len(name) {
		switch name[i] {
		case '*', '?', '[', '\\':
			b = append(b, '\\')
		}
		b = append(b, name[i])
	}
	return string(b)
}

// reopen opens the new file before it closes the old one: if that fails, the old one remains in use, if there is one.
func (s *file) reopen() error {
	old := s.f
	if err := s.open(); err != nil {
		return err
	}
	if old != nil {
		_ = old.Close() // everything written has reached it
	}
	return nil
}

func (s *file) close() error {
	if s.f == nil {
		return nil
	}
	err := s.f.Close()
	s.f = nil
	return err
}
