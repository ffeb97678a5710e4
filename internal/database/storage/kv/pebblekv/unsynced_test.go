package pebblekv_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// syncedLog delays syncs of the log, and then lets them succeed or fail.
type syncedLog struct {
	held atomic.Pointer[chan error]
}

func (l *syncedLog) String() string { return "(synced log)" }

func (l *syncedLog) MaybeError(op errorfs.Op) error {
	held := l.held.Load()
	if held == nil || !slices.Contains([]errorfs.OpKind{errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo}, op.Kind) {
		return nil
	}
	err := <-*held
	*held <- err // for the next
	return err
}

// hold returns a function that ends this sync and all later ones, with an error or nil.
func (l *syncedLog) hold() (end func(error)) {
	held := make(chan error, 1)
	l.held.Store(&held)
	return func(err error) { held <- err }
}

// begun opens a store whose update of the key "a" is visible, and whose log is not synced until end is called.
func begun(t *testing.T) (s *pebblekv.Store, updated <-chan error, end func(error)) {
	t.Helper()
	disk := new(syncedLog)
	s = open(t, "/db", pebblekv.Options{
		FS: badFS{errorfs.Wrap(vfs.NewMem(), disk)}, Logger: slog.New(slog.DiscardHandler),
	})
	for i := range 10 {
		set(t, s, other(i), "v")
	}
	end = disk.hold()
	done := make(chan error, 1)
	go func() {
		done <- s.Update(context.WithoutCancel(t.Context()), intent("a"), func(txn kv.Txn) error {
			txn.Set([]byte("a"), []byte("v"))
			return nil
		})
	}()
	waitVisible(t, s, "a")
	return s, done, end
}

// waitVisible returns when a key is visible.
func waitVisible(t *testing.T, s kv.Store, key string) {
	t.Helper()
	for {
		value, err := s.Eventual().Get(t.Context(), []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		if value != nil {
			return
		}
		runtime.Gosched()
	}
}

func other(i int) string { return fmt.Sprintf("partition%d-other", i) }

// TestReadsOfOtherKeysDoNotWait: while a commit waits for its sync, other keys and ranges can be read. Some of them may share a
// stripe with the commit, but not all.
func TestReadsOfOtherKeysDoNotWait(t *testing.T) {
	s, updated, end := begun(t)
	read := make(chan error, 20)
	for i := range 10 {
		go func() {
			_, err := s.Get(context.WithoutCancel(t.Context()), []byte(other(i)))
			read <- err
		}()
		go func() {
			lo := []byte(other(i))
			it, err := s.Iter(context.WithoutCancel(t.Context()), lo, append(lo, 0), kv.IterOptions{})
			if err == nil {
				err = it.Close()
			}
			read <- err
		}()
	}
	for range 11 { // of both kinds one at least
		if err := <-read; err != nil {
			t.Error(err)
		}
	}
	end(nil)
	for range 9 {
		if err := <-read; err != nil {
			t.Error(err)
		}
	}
	if err := <-updated; err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestFailedSync: when the sync of a commit fails, everyone waiting for what it wrote gets an error, and so does every later
// reader of that; everything else can be read.
func TestFailedSync(t *testing.T) {
	s, updated, end := begun(t)
	ask := []func() error{
		func() error { _, err := s.Get(t.Context(), []byte("a")); return err },
		func() error {
			_, err := s.Iter(t.Context(), []byte("a"), []byte("b"), kv.IterOptions{})
			return err
		},
		func() error {
			return s.Update(t.Context(), intent("a"), func(txn kv.Txn) error { _, err := txn.Get([]byte("a")); return err })
		},
		func() error {
			snap, err := s.Snapshot(t.Context())
			if err != nil {
				return err
			}
			it := snap.Iter(nil, nil, kv.IterOptions{})
			for it.Next() {
				t.Errorf("%s is read", it.Key())
			}
			return errors.Join(it.Err(), it.Close(), snap.Close())
		},
	}
	waiting := make(chan error, len(ask))
	for _, a := range ask {
		go func() { waiting <- a() }()
	}
	end(syscall.EIO)
	if err := <-updated; !errors.Is(err, kv.ErrUndetermined) || !errors.Is(err, syscall.EIO) {
		t.Errorf("the update: %v", err)
	}
	for range ask {
		if err := <-waiting; !errors.Is(err, kv.ErrFailed) || !errors.Is(err, syscall.EIO) {
			t.Errorf("a call that waited: %v", err)
		}
	}
	for i, a := range ask {
		if err := a(); !errors.Is(err, kv.ErrFailed) {
			t.Errorf("later, call %d: %v", i, err)
		}
	}
	if value, err := s.Eventual().Get(t.Context(), []byte("a")); string(value) != "v" || err != nil {
		t.Errorf("an eventual read: %q, %v", value, err)
	}
	read := 0
	for i := range 10 {
		if value, err := s.Get(t.Context(), []byte(other(i))); string(value) == "v" && err == nil {
			read++
		}
	}
	if read == 0 {
		t.Error("no other key can be read")
	}
	if err := s.Close(); !errors.Is(err, kv.ErrFailed) {
		t.Errorf("Close: %v", err)
	}
}
