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

// sink is where lines go. Its methods are called by one goroutine at a time.
type sink interface {
	write(line []byte) error
	// reopen makes the sink usable again, if it can.
	reopen() error
	close() error
}

// writeWait is how long a write may take. What reads a pipe may stop, and all requests wait for the one that is being recorded.
const writeWait = 5 * time.Second

var errBlocked = fmt.Errorf("nothing has read the audit log for %v", writeWait)

// stream is a writer of somebody else's.
type stream struct {
	w io.Writer
	// late is where the end of a write is heard of that took too long; nil for none. No other is begun before.
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

// file is a file that is put aside when it is long.
type file struct {
	name string
	max  int64
	keep int
	now  func() time.Time

	f       *os.File // nil after a fault
	regular bool     // it is no device and no pipe, which are never put aside
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
	_ = s.f.SetWriteDeadline(time.Now().Add(writeWait)) // files on a disk have none, and need none
	n, err := s.f.Write(line)
	s.size += int64(n)
	if err != nil {
		return errors.Join(err, s.close())
	}
	s.torn = false
	return nil
}

// rotate puts the file aside and begins a new one.
func (s *file) rotate() error {
	aside := fmt.Sprintf("%s.%s", s.name, s.now().UTC().Format(asideForm))
	if _, err := os.Lstat(aside); err == nil {
		return nil // the clock stands still: later
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

// discard removes the oldest files that were put aside beyond those to keep. What cannot be removed now will be later.
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

// globLiteral escapes what has a meaning in patterns.
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

// reopen opens the new file before the old one is closed: where it cannot, the old one goes on, if there is one.
func (s *file) reopen() error {
	old := s.f
	if err := s.open(); err != nil {
		return err
	}
	if old != nil {
		_ = old.Close() // all that was written to it has been
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
