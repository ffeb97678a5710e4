package pebblekv

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// A store that meets an error after which continuing could write wrong data is frozen: Pebble reports that an internal invariant
// is violated, or something panics during a commit. From then on nothing reaches the disk (see disk), and every call returns
// kv.ErrFrozen. No recover further up can undo that. Calls in progress return it, too, unless they are inside Pebble waiting for
// a lock that is never released: then they never return, and Close does not wait for them.

// fatalPanic is the panic that unwinds a caller's goroutine from Pebble to the store's method, which returns the error.
type fatalPanic struct{ err error }

// freeze stops the store for good, and returns the error of all further calls.
func (s *Store) freeze(cause error) error {
	err := fmt.Errorf("%w: %w", kv.ErrFrozen, cause)
	if s.frozen.CompareAndSwap(nil, &err) {
		s.disk.freeze(err)
		close(s.dead)
		s.log.Error("store: unrecoverable failure; the store is frozen until it is reopened", "error", cause)
		if s.options.OnFatal != nil {
			s.options.OnFatal(err)
		}
	}
	return *s.frozen.Load()
}

// failure returns the error of a frozen store, or nil.
func (s *Store) failure() error {
	if err := s.frozen.Load(); err != nil {
		return *err
	}
	return nil
}

// fatal handles an error after which Pebble cannot continue, and does not return. A goroutine of Pebble's own is blocked forever:
// unwinding it would release locks that it may not hold. A caller's goroutine has to be unwound, to catch or guard. If that
// releases a lock that it does not hold, the Go runtime exits the process.
func (s *Store) fatal(message string) {
	err := s.freeze(errors.New(message))
	if startedByPebble() {
		select {}
	}
	panic(fatalPanic{err})
}

// catch is deferred by methods that read: it converts a fatality to the method's error, and explains damaged files.
func (s *Store) catch(err *error) {
	switch reason := recover().(type) {
	case nil:
		*err = s.explain(*err)
	case fatalPanic:
		*err = reason.err
	default:
		panic(reason)
	}
}

// guard is deferred around changes of the database. A panic there may have left a change half done, so it freezes the store.
func (s *Store) guard(err *error) {
	switch reason := recover().(type) {
	case nil:
	case fatalPanic:
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

// startedByPebble reports whether Pebble started this goroutine: none of our functions is on the stack below Pebble's.
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
