package postgreskv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// SQLSTATE codes that a store distinguishes.
const (
	diskFull         = "53100"
	readOnly         = "25006"
	deadlock         = "40P01"
	serialization    = "40001"
	duplicate        = "23505"
	shuttingDown     = "57P01"
	crashed          = "57P02"
	cannotConnectNow = "57P03"
	idleSession      = "57P05"
	noConnection     = "53300"
	limited          = "53400"
	notSupported     = "0A000"
	syntaxError      = "42601"
)

// state is the SQLSTATE code of a server error, "" for any other.
func state(err error) string {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refused.Code
	}
	return ""
}

// translate translates an error to package kv's.
func translate(err error) error {
	if state(err) == diskFull {
		return fmt.Errorf("%w: %w", kv.ErrFull, err)
	}
	return inOneLine(err)
}

// connectError is an error of a connection in one line. pgx's has a line for each attempt: of each address, with TLS and without.
type connectError struct{ error }

func (e connectError) Unwrap() error { return e.error }

func (e connectError) Error() string {
	var different []string
	for line := range strings.Lines(e.error.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(different, line) {
			different = append(different, line)
		}
	}
	return strings.Replace(strings.Join(different, "; "), ":; ", ": ", 1)
}

func inOneLine(err error) error {
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting {
		return connectError{err}
	}
	return err
}

// supported is the error of a statement without which a store only takes more time or space: none if the server does not know it.
func supported(err error) error {
	if code := state(err); code == notSupported || code == syntaxError {
		return nil
	}
	return err
}

// busy reports whether an error means that the server accepts no connection at the moment: others use them all, or it is
// starting.
func busy(err error) bool {
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	switch state(err) {
	case noConnection, cannotConnectNow:
		return true
	case limited: // or the number of statements is
		return connecting
	default:
		return false
	}
}

// unavailable reports whether an error means that there is no connection, or that the connection or the server has ended, so
// that another one may respond.
func unavailable(err error) bool {
	if busy(err) {
		return true
	}
	switch state(err) {
	case shuttingDown, crashed, idleSession, readOnly:
		return true
	case "":
		if errors.Is(err, errNoResponse) || errors.Is(err, syscall.ETIMEDOUT) { // see dialer
			return true
		}
		if _, is := errors.AsType[*pgconn.ConnectError](err); is {
			return true
		}
		if broken, is := errors.AsType[net.Error](err); is {
			return !broken.Timeout()
		}
		return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
	default:
		return false
	}
}

// retryTime is how long a call keeps looking for a server that responds, during a failover.
const retryTime = 30 * time.Second

// retry runs a read-only function, and retries it while the server or the connection is unavailable.
func (s *Store) retry(ctx context.Context, do func() error) error {
	return s.retryWhile(ctx, unavailable, do)
}

// retryWhile runs a read-only function, and retries it while its error is of a temporary kind.
func (s *Store) retryWhile(ctx context.Context, passes func(error) bool, do func() error) (err error) {
	rest, waiting := 10*time.Millisecond, false
	defer func() { s.outage.leave(s.logger, waiting, err == nil) }()
	for begun := time.Now(); ; rest = min(2*rest, time.Second) {
		err = do()
		if err == nil || !passes(err) || time.Since(begun) > retryTime {
			return translate(err)
		}
		if errors.Is(err, errNoResponse) { // others may not respond either
			s.forget()
		}
		s.outage.enter(s.logger, waiting, inOneLine(err))
		waiting = true
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// outage is a time in which calls wait for the server. The log has its begin and its end, not each of the calls: there may be
// hundreds, and each tries again every second.
type outage struct {
	logged atomic.Bool // it has begun, and not ended

	mu      sync.Mutex
	waiting int // calls
	begun   time.Time
}

// outageRest is the time after the begin of an outage before the next one is logged: while only new connections are refused, some calls
// wait and others do not.
const outageRest = 10 * time.Second

// enter is called before a call tries again; waiting says that it was called for it before.
func (o *outage) enter(logger *slog.Logger, waiting bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !waiting {
		o.waiting++
	}
	logger.Debug("the PostgreSQL server does not respond; retrying", "error", err)
	if !o.logged.Load() && time.Since(o.begun) >= outageRest {
		o.begun = time.Now()
		o.logged.Store(true)
		logger.Warn("the PostgreSQL server does not respond; waiting for it", "error", err)
	}
}

// leave is called when a call ends, whether it has waited or not.
func (o *outage) leave(logger *slog.Logger, waited, responded bool) {
	if !waited && !o.logged.Load() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if waited {
		o.waiting--
	}
	if responded && o.waiting == 0 && o.logged.Swap(false) {
		logger.Info("the PostgreSQL server responds again", "after", time.Since(o.begun).Round(time.Millisecond))
	}
}

// errNoResponse is the error of a read without a response.
var errNoResponse = fmt.Errorf("the PostgreSQL server has not responded for %v", readTime)

// inTime runs a read with the timeout readTime. After a timeout it closes the connection.
func inTime(ctx context.Context, do func(context.Context) error) error {
	own, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	err := do(own)
	if err == nil || own.Err() == nil || ctx.Err() != nil {
		return err
	}
	return errNoResponse
}

// read is call for reads in one connection, in one or two round trips.
func (s *Store) read(ctx context.Context, do func(context.Context) error) error {
	return s.call(ctx, func() error { return inTime(ctx, do) })
}

// call is retry as one call of the store.
func (s *Store) call(ctx context.Context, do func() error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	return s.retry(ctx, do)
}
