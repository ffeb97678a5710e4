//go:build unix

package audit

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestNamedPipe tests that a pipe without a reader is an error without a wait, also if its reader disappears, and that a pipe
// is not rotated.
func TestNamedPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{File: name, MaxBytes: 1, Now: clock(), Logger: slog.New(slog.DiscardHandler)}
	if _, err := Open(o); err == nil {
		t.Fatal("opened without a reader")
	}
	reader, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(recordPut(t, l, "one"), reader.Close()); err != nil {
		t.Fatal(err)
	}
	if recordPut(t, l, "two") == nil {
		t.Error("written without a reader")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
