//go:build tikv

package tikvkv

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// errAgain is the error of an attempt that has changed nothing, because it conflicted with another update or was
// too late.
var errAgain = errors.New("tikvkv: the update restarts")

// again runs do until it does not return errAgain, with pauses.
func (s *Store) again(ctx context.Context, do func() error) error {
	pause := time.Millisecond
	for {
		err := do()
		if !errors.Is(err, errAgain) {
			return err
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		}
		pause = min(2*pause, 64*time.Millisecond)
	}
}

// classify translates the error of a commit.
func classify(err error) error {
	var conflict *tikverr.ErrWriteConflict
	var latched *tikverr.ErrWriteConflictInLatch
	var retryable *tikverr.ErrRetryable
	var large *tikverr.ErrTxnTooLarge
	var entry *tikverr.ErrEntryTooLarge
	switch {
	case err == nil:
		return nil
	case errors.Is(err, tikverr.ErrResultUndetermined) || tikverr.IsErrorUndetermined(err):
		return fmt.Errorf("%w: %v", kv.ErrUndetermined, err) //nolint:errorlint // an error that does not say that the update may be retried
	case errors.As(err, &conflict), errors.As(err, &latched), errors.As(err, &retryable):
		return fmt.Errorf("%w: %w", errAgain, err)
	case errors.As(err, &large), errors.As(err, &entry):
		return fmt.Errorf("%w: %w", kv.ErrTooLarge, err)
	default:
		return err
	}
}

// translate translates an error to package kv's.
func translate(err error) error {
	var driver *tikverr.ErrPDServerTimeout
	switch {
	case err == nil, errors.Is(err, kv.ErrUndetermined):
		return err
	case errors.Is(err, tikverr.ErrTiKVDiskFull):
		return fmt.Errorf("%w: %w", kv.ErrFull, err)
	case errors.As(err, &driver), errors.Is(err, tikverr.ErrTiKVServerTimeout), errors.Is(err, tikverr.ErrRegionUnavailable),
		errors.Is(err, tikverr.ErrTiKVServerBusy), errors.Is(err, tikverr.ErrResolveLockTimeout), status.Code(err) == codes.Unavailable,
		errors.Is(err, errSlow):
		return fmt.Errorf("%w: %w", kv.ErrUnreachable, err)
	default:
		return err
	}
}

// errSlow is the cause when a call ends because the cluster has not responded.
var errSlow = fmt.Errorf("the TiKV cluster has not responded for %v", callTime)

// call runs a read with a timeout.
func (s *Store) call(ctx context.Context, do func(context.Context) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	return inTime(ctx, do)
}

// inTime limits the time in which the client library retries, with other leaders and regions.
func inTime(ctx context.Context, do func(context.Context) error) error {
	own, cancel := context.WithTimeoutCause(ctx, callTime, errSlow)
	defer cancel()
	err := do(own)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case own.Err() != nil:
		return translate(errSlow)
	}
	return translate(err)
}

// notFound turns the error for an absent key into nil.
func notFound(err error) error {
	if tikverr.IsErrNotFound(err) {
		return nil
	}
	return err
}
