// Package loadgen sends requests on many connections concurrently and records their latencies.
//
// # Model
//
// A Connection sends one request at a time. Run drives all of them for a while, in one of two ways:
//
//   - Closed loop (Rate 0): a connection sends the next request after the response to the previous one. This shows a server's
//     capacity. It hides stalls: a server that stalls for a second receives few requests in that second, and the latencies of the
//     requests that others would have sent are missing (coordinated omission).
//   - Open loop: requests are due at random times (a Poisson process, the same in each run), and a latency is measured from the time
//     its request was due, whether or not a connection was free. This shows the latency users experience at that rate.
//
// # Invariants
//
//	L1  Prepare is never part of a latency.
//	L2  The open loop sends every request that became due, however late; none is dropped.
//	L3  Each Connection is used by one goroutine at a time.
package loadgen

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Connection sends requests sequentially. An error of either method ends the run.
type Connection interface {
	// Prepare does the unmeasured preparation for the next request.
	Prepare(ctx context.Context) error
	// Send sends the request and reads its response.
	Send(ctx context.Context) error
}

// Options of a run.
type Options struct {
	// Duration is how long to send requests. With 0, each connection sends one.
	Duration time.Duration
	// Rate is the number of requests due per second, on all connections together; 0 is the closed loop. It requires a Duration.
	Rate float64
	// Sleep waits until a request is due; nil waits with Go's timers, which can be a millisecond late. Sleep need not watch a context.
	Sleep func(time.Duration)
}

// Outcome is the result of a run.
type Outcome struct {
	latencies *hdrhistogram.Histogram // in units of resolution
	// Requests is the number of requests sent.
	Requests int
	// Elapsed is the time from the first request to the last response.
	Elapsed time.Duration
	// Busy is the time that all connections together spent in Send.
	Busy time.Duration
	// Waited is the number of open-loop requests for which no connection was free when they were due.
	Waited int
}

const (
	// resolution of a latency; longer ones are recorded to three digits, the longest as longest.
	resolution = 100 * time.Nanosecond
	longest    = 10 * time.Minute
	digits     = 3
)

// Percentile returns the latency that p percent of the requests did not exceed; 0 without requests.
func (o *Outcome) Percentile(p float64) time.Duration {
	return time.Duration(o.latencies.ValueAtPercentile(p)) * resolution
}

// Max returns the longest latency.
func (o *Outcome) Max() time.Duration { return time.Duration(o.latencies.Max()) * resolution }

// Mean returns the average latency.
func (o *Outcome) Mean() time.Duration {
	return time.Duration(o.latencies.Mean() * float64(resolution))
}

// Run sends requests on all connections until the time is over. A failing connection stops; the others continue.
func Run[C Connection](ctx context.Context, connections []C, o Options) (*Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := Each(connections, func(_ int, c C) error { return c.Prepare(ctx) }); err != nil {
		return nil, err
	}
	recorders := make([]recorder, len(connections))
	for i := range recorders {
		recorders[i].latencies = newHistogram()
	}
	out := &Outcome{latencies: newHistogram()}
	begin := time.Now()
	var err error
	if o.Rate > 0 && o.Duration > 0 {
		p := startPacer(ctx, o)
		err = Each(connections, func(i int, c C) error { return p.loop(ctx, c, &recorders[i]) })
		out.Waited = int(p.waited.Load())
	} else {
		err = Each(connections, func(i int, c C) error { return closed(ctx, c, begin.Add(o.Duration), &recorders[i]) })
	}
	out.Elapsed = time.Since(begin)
	for _, r := range recorders {
		out.latencies.Merge(r.latencies)
		out.Busy += r.busy
	}
	out.Requests = int(out.latencies.TotalCount())
	return out, err
}

// recorder records the latencies of one connection.
type recorder struct {
	latencies *hdrhistogram.Histogram
	busy      time.Duration
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(longest/resolution), digits)
}

func (r *recorder) record(latency, busy time.Duration) {
	_ = r.latencies.RecordValue(int64(min(latency, longest) / resolution)) // always in range
	r.busy += busy
}

// closed sends each request after the response to the previous one.
func closed(ctx context.Context, c Connection, until time.Time, r *recorder) error {
	for {
		sent := time.Now()
		if err := c.Send(ctx); err != nil {
			return err
		}
		now := time.Now()
		r.record(now.Sub(sent), now.Sub(sent))
		if !now.Before(until) {
			return nil
		}
		if err := errors.Join(ctx.Err(), c.Prepare(ctx)); err != nil {
			return err
		}
	}
}

// pacer emits the times at which requests are due.
type pacer struct {
	due          chan time.Time
	idle, waited atomic.Int64
}

func startPacer(ctx context.Context, o Options) *pacer {
	// One second of requests can wait in the queue. Beyond that the pacer also waits; the requests are late either way.
	p := &pacer{due: make(chan time.Time, int(o.Rate)+1)}
	sleep := o.Sleep
	if sleep == nil {
		sleep = func(d time.Duration) {
			select {
			case <-time.After(d):
			case <-ctx.Done():
			}
		}
	}
	go func() {
		defer close(p.due)
		begin := time.Now()
		for at := range arrivals(o.Rate, o.Duration) {
			if wait := time.Until(begin.Add(at)); wait > 0 {
				sleep(wait)
			}
			if int64(len(p.due)) >= p.idle.Load() {
				p.waited.Add(1)
			}
			select {
			case p.due <- begin.Add(at):
			case <-ctx.Done():
				return
			}
		}
	}()
	return p
}

// loop sends requests when they are due, or as soon afterwards as the connection is free.
func (p *pacer) loop(ctx context.Context, c Connection, r *recorder) error {
	for {
		p.idle.Add(1)
		at, more := <-p.due
		p.idle.Add(-1)
		if !more {
			return ctx.Err()
		}
		sent := time.Now()
		if err := c.Send(ctx); err != nil {
			return err
		}
		now := time.Now()
		r.record(now.Sub(at), now.Sub(sent))
		if err := c.Prepare(ctx); err != nil { // the other connections keep sending
			return err
		}
	}
}

// arrivals yields the times at which requests are due: a Poisson process, as from many independent users, the same in each run.
// It yields at least one time.
func arrivals(rate float64, duration time.Duration) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // not used for secrets
		for at := time.Duration(0); ; {
			first := at == 0
			at += time.Duration(random.ExpFloat64() / rate * float64(time.Second))
			if at >= duration && !first || !yield(at) {
				return
			}
		}
	}
}

// Each calls a function on every connection concurrently. It returns the error of the first connection that failed, with the
// number of failures, because many connections usually fail for the same reason.
func Each[C any](connections []C, do func(int, C) error) error {
	faults := make([]error, len(connections))
	var all sync.WaitGroup
	for i, c := range connections {
		all.Go(func() { faults[i] = do(i, c) })
	}
	all.Wait()
	faults = slices.DeleteFunc(faults, func(err error) bool { return err == nil })
	switch len(faults) {
	case 0:
		return nil
	case 1:
		return faults[0]
	default:
		return fmt.Errorf("%w (the first of %d connections that failed)", faults[0], len(faults))
	}
}
