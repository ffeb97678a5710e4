package pebblekv

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// A store that meets a fault after which going on could write wrong data is frozen: Pebble says that an invariant of
// its own is broken, or something panics in the middle of a commit. From then on nothing reaches the disk (see
// disk), and every call returns kv.ErrFrozen. No recover further up can undo that. A call under way returns it too,
// unless it is inside Pebble and needs a lock there that is not given back any more: then it never returns, and Close does
// not wait for it.

// fatality is the panic that unwinds a caller's goroutine from Pebble to the store's method, which returns the error.
type fatality struct{ err error }

// freeze ends the store's work for good, and returns the error of all calls from now on.
func (s *Store) freeze(cause error) error {
	err := fmt.Errorf("%w: %w", kv.ErrFrozen, cause)
	if s.frozen.CompareAndSwap(nil, &err) {
		s.disk.freeze(err)
		close(s.dead)
		s.log.Error("store: a fault that cannot be recovered from; the store is frozen until it is opened again", "error", cause)
		if s.options.OnFatal != nil {
			s.options.OnFatal(err)
		}
	}
	return *s.frozen.Load()
}

// failure returns the error of a frozen store, nil if it is not frozen.
func (s *Store) failure() error {
	if err := s.frozen.Load(); err != nil {
		return *err
	}
	return nil
}

// fatal handles what Pebble cannot go on after, and does not return. A goroutine of Pebble's own stands still: were it
// unwound, it would give back locks that it may not hold. A caller's has to be unwound, to catch or guard. If it does
// not hold a lock that Pebble gives back meanwhile, the Go runtime ends the process.
func (s *Store) fatal(message string) {
	err := s.freeze(errors.New(message))
	if startedByPebble() {
		select {}
	}
	panic(fatality{err})
}

// catch is deferred by methods that read: it turns a fatality into the method's error.
func (s *Store) catch(err *error) {
	switch reason := recover().(type) {
	case nil:
	case fatality:
		*err = reason.err
	default:
		panic(reason)
	}
}

// guard is deferred around what changes the database. Whatever panics there may have done half of its work, so that the
// store is frozen.
func (s *Store) guard(err *error) {
	switch reason := recover().(type) {
	case nil:
	case fatality:
		*err = fmt.Errorf("%w: %w", kv.ErrUndetermined, reason.err)
	default:
		fault := s.freeze(fmt.Errorf("panic: %v\n%s", reason, debug.Stack()))
		*err = fmt.Errorf("%w: %w", kv.ErrUndetermined, fault)
	}
}

const (
	ownModule    = "github.com/monotable/monotable/"
	pebbleModule = "github.com/cockroachdb/pebble/"
)

// startedByPebble reports whether Pebble started this goroutine: none of our functions has called Pebble's.
func startedByPebble() bool {
	pcs := make([]uintptr, 1<<12)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	inPebble := false
	for {
		frame, more := frames.Next()
		switch {
		case strings.HasPrefix(frame.Function, pebbleModule):
			inPebble = true
		case inPebble && strings.HasPrefix(frame.Function, ownModule):
			return false
		}
		if !more {
			return true
		}
	}
}
