package server

import (
	"bytes"
	"context"
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// memory limits the total memory of requests in flight. It consists of five pools, each with a quarter or an eighth of
// Options.Memory, so that clients that are slow in one phase of a request cannot starve the other phases:
//
//	requests  entryBytes for each request whose body has begun to arrive
//	bodies    the part of a body beyond entryBytes, while it arrives and is decompressed; slow ones have a separate pool
//	work      the memory of large operations: those with an input beyond entryBytes, or that read more than api.LargeRead
//	responses the part of a response beyond entryBytes, until its client has read it
//
// A request without enough memory waits in line for a short time and is then throttled. Large operations also take turns, to
// leave CPU to small ones, which never wait.
type memory struct {
	requests, bodies, slowBodies, work, responses pool

	// Turns of operations that read a lot, and of those with a very large input; in numbers, not bytes.
	reads, inputs pool
	// long counts operations that keep a processor for long, without a limit.
	long pool
}

const (
	defaultMemory = 512 << 20

	// entryBytes is what a request may use for its body and its response without a reservation.
	entryBytes = 16 << 10

	// A body that takes longer than slowAfter counts as slow if it arrives at less than quickBytes a second.
	slowAfter  = time.Second
	quickBytes = 1 << 20

	// turnBytes is the input size from which an operation takes a turn, because it takes a while.
	turnBytes = 1 << 20

	// The maximum waits for memory. Bodies and responses depend on clients; work ends by itself.
	bodyWait     = 2 * time.Second
	workWait     = 5 * time.Second
	responseWait = time.Second
)

// newMemory divides the bytes. onLong, which may be nil, is called when a long operation begins, and with false when it ends.
func newMemory(bytes, turns int64, onLong func(begins bool)) *memory {
	m := new(memory)
	for _, p := range []*pool{&m.requests, &m.bodies, &m.work} {
		p.init(max(bytes/4, entryBytes))
	}
	for _, p := range []*pool{&m.slowBodies, &m.responses} {
		p.init(max(bytes/8, entryBytes))
	}
	for _, p := range []*pool{&m.reads, &m.inputs} {
		p.init(turns)
		p.queue = queuePerTurn * turns
	}
	m.long.init(math.MaxInt64)
	m.long.report = onLong
	return m
}

// inUse returns the number of reserved bytes.
func (m *memory) inUse() int64 {
	return m.requests.used.Load() + m.bodies.used.Load() + m.slowBodies.used.Load() + m.work.used.Load() + m.responses.used.Load()
}

// pool is an amount of memory from which requests reserve.
type pool struct {
	size int64
	used atomic.Int64
	free *semaphore.Weighted

	queue   int64 // how many may wait; 0 means any number
	waiting atomic.Int64

	report func(begins bool) // called for each reservation; may be nil
}

func (p *pool) init(size int64) {
	p.size, p.free = size, semaphore.NewWeighted(size)
}

// reservation is one request's part of a pool. It never exceeds the pool: a request larger than the pool gets all of it.
type reservation struct {
	pool *pool
	held int64
}

// grow raises the reservation to n bytes. It waits at most the given time for memory, and not at all for 0.
func (r *reservation) grow(ctx context.Context, p *pool, n int64, wait time.Duration) error {
	more := min(n, p.size) - r.held
	if more <= 0 {
		return nil
	}
	if !p.free.TryAcquire(more) {
		defer p.waiting.Add(-1)
		if n := p.waiting.Add(1); wait == 0 || p.queue > 0 && n > p.queue {
			return apierr.Overloaded.With()
		}
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		if p.free.Acquire(ctx, more) != nil {
			return apierr.Overloaded.With()
		}
	}
	p.used.Add(more)
	r.pool = p
	r.held += more
	if p.report != nil {
		p.report(true)
	}
	return nil
}

// release returns the reservation.
func (r *reservation) release() {
	if r.held > 0 {
		r.pool.used.Add(-r.held)
		r.pool.free.Release(r.held)
		r.held = 0
		if r.pool.report != nil {
			r.pool.report(false)
		}
	}
}

// queuePerTurn limits how many large operations wait for each one that runs. More would be throttled in the end, and keep small
// ones out while they wait.
const queuePerTurn = 16

// copies is how many copies of read or decoded data are in memory: as stored, as JSON, and while a buffer grows.
const copies = 3

// largeInput waits for the memory of an operation whose input exceeds a request's basic share.
func (x *exchange) largeInput(ctx context.Context, body []byte) error {
	if len(body) <= entryBytes {
		return nil
	}
	if len(body) > turnBytes {
		if err := x.inputTurn.grow(ctx, &x.server.memory.inputs, 1, workWait); err != nil {
			return err
		}
		if err := x.long.grow(ctx, &x.server.memory.long, 1, 0); err != nil {
			return err
		}
	}
	return x.work.grow(ctx, &x.server.memory.work, decodedBytes(body), workWait)
}

// largeRead waits for the turn and the memory of an operation that reads items of a total size. It holds its turn while it waits
// for memory, so whoever holds memory has had its turn.
func (x *exchange) largeRead(ctx context.Context, bytes int64, long bool) error {
	if err := x.readTurn.grow(ctx, &x.server.memory.reads, 1, workWait); err != nil {
		return err
	}
	if long {
		if err := x.long.grow(ctx, &x.server.memory.long, 1, 0); err != nil {
			return err
		}
	}
	return x.work.grow(ctx, &x.server.memory.work, x.work.held+copies*bytes, workWait)
}

// decodedBytes estimates the memory of an input: its texts are copied, encoded and written, and each value, marked by a brace or
// a comma, takes a few words.
func decodedBytes(body []byte) int64 {
	const valueBytes = 64
	values := bytes.Count(body, []byte{'{'}) + bytes.Count(body, []byte{','})
	return copies*int64(len(body)) + valueBytes*int64(values)
}
