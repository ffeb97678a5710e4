package run

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/monotable/monotable/systems/internal/system"
)

const (
	restMin = 100 * time.Millisecond
	restMax = 30 * time.Second
	// healthyRun is how long a worker must run before its restart delay is reset.
	healthyRun = time.Minute
)

// supervise runs workers until the context ends, and returns when all have returned. It calls failed for each failure.
func supervise(ctx context.Context, workers []system.Worker, logger *slog.Logger, failed func(worker string)) {
	var group sync.WaitGroup
	for _, w := range workers {
		group.Go(func() {
			rest := restMin
			for ctx.Err() == nil {
				begun := time.Now()
				err := runOnce(ctx, w)
				if ctx.Err() != nil {
					return
				}
				if time.Since(begun) >= healthyRun {
					rest = restMin
				}
				failed(w.Name)
				logger.ErrorContext(ctx, "worker failed", "worker", w.Name, "error", err, "again_in", rest)
				pause(ctx, rest)
				rest = min(2*rest, restMax)
			}
		})
	}
	group.Wait()
}

// scheduled is a worker that runs a schedule immediately and then at its interval.
func scheduled(of string, s system.Schedule) system.Worker {
	return system.Worker{Name: of + "/" + s.Name, Run: func(ctx context.Context) error {
		tick := time.NewTicker(s.Every)
		defer tick.Stop()
		for {
			if err := s.Run(ctx); err != nil {
				return err
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return nil
			}
		}
	}}
}

// runOnce converts a panic, or a return without an error, into an error.
func runOnce(ctx context.Context, w system.Worker) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = panicked(fault)
		}
	}()
	if err := w.Run(ctx); err != nil {
		return err
	}
	return errReturned
}

// panicked is the error of a recovered panic.
func panicked(fault any) error { return fmt.Errorf("panic: %v\n%s", fault, debug.Stack()) }

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
