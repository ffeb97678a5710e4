package server

import (
	"bytes"
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// memory bounds what requests in flight take, together. It is five pools, of a quarter or an eighth of Options.Memory
// each, so that clients that are slow in one phase of a request cannot starve the other phases:
//
//	requests  entryBytes for each request whose body has begun to arrive
//	bodies    what is beyond entryBytes of a body as it arrives and is decompressed; slow ones have a pool of their own
//	work      what a large operation may take: one with an input beyond entryBytes, or that reads more than api.LargeRead
//	responses what is beyond entryBytes of a response until its client has read it
//
// A request that finds no room waits in line, for a short time. Then it is throttled. Large operations also take turns, so
// that they leave the processor to small ones, which never wait.
type memory struct {
	requests, bodies, slowBodies, work, responses pool

	// Turns of operations that read much, and of those with a very large input; counted and not in bytes.
	reads, inputs pool
}

const (
	defaultMemory = 512 << 20

	// entryBytes is what a request may take without a reservation for its body and its response.
	entryBytes = 16 << 10

	// A body that takes longer than slowAfter counts as slow if it arrives with less than quickBytes a second.
	slowAfter  = time.Second
	quickBytes = 1 << 20

	// turnBytes is the input from which on an operation takes a turn: it is busy with it for a while.
	turnBytes = 1 << 20

	// The longest waits for room. Bodies arrive from outside and responses leave for outside; work ends by itself.
	bodyWait     = 2 * time.Second
	workWait     = 5 * time.Second
	responseWait = time.Second
)

// newMemory divides the bytes. turn, which may be nil, is called when a turn is taken, and with false when it is given back.
func newMemory(bytes, turns int64, turn func(taken bool)) *memory {
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
		p.turn = turn
	}
	return m
}

// inUse is the number of reserved bytes.
func (m *memory) inUse() int64 {
	return m.requests.used.Load() + m.bodies.used.Load() + m.slowBodies.used.Load() + m.work.used.Load() + m.responses.used.Load()
}

// pool is an amount of memory that requests reserve parts of.
type pool struct {
	size int64
	used atomic.Int64
	free *semaphore.Weighted

	queue   int64 // how many may wait; 0 is any number
	waiting atomic.Int64

	turn func(taken bool) // nil where nobody is notified
}

func (p *pool) init(size int64) {
	p.size, p.free = size, semaphore.NewWeighted(size)
}

// reservation is what one request holds of a pool. It never holds more than the pool has: a request larger than the pool
// has it to itself.
type reservation struct {
	pool *pool
	held int64
}

// grow raises the reservation to n bytes. It waits for room for at most the given time, and not at all for 0.
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
	if p.turn != nil {
		p.turn(true)
	}
	return nil
}

// release gives the reservation back.
func (r *reservation) release() {
	if r.held > 0 {
		r.pool.used.Add(-r.held)
		r.pool.free.Release(r.held)
		r.held = 0
		if r.pool.turn != nil {
			r.pool.turn(false)
		}
	}
}

// queuePerTurn bounds how many large operations wait for each one that runs. More would be throttled in the end, and keep
// small ones out while they wait.
const queuePerTurn = 16

// copies is how often what is read, or decoded, is in memory: as stored, as JSON, and while a buffer grows.
const copies = 3

// largeInput waits for what the operation takes of an input that does not fit into a request's own part.
func (x *exchange) largeInput(ctx context.Context, body []byte) error {
	if len(body) <= entryBytes {
		return nil
	}
	if len(body) > turnBytes {
		if err := x.inputTurn.grow(ctx, &x.server.memory.inputs, 1, workWait); err != nil {
			return err
		}
	}
	return x.work.grow(ctx, &x.server.memory.work, decodedBytes(body), workWait)
}

// largeRead waits for the turn and the memory of an operation that reads items of some bytes. It holds its turn while it
// waits for memory; who holds memory has had its turn.
func (x *exchange) largeRead(ctx context.Context, bytes int64) error {
	if err := x.readTurn.grow(ctx, &x.server.memory.reads, 1, workWait); err != nil {
		return err
	}
	return x.work.grow(ctx, &x.server.memory.work, x.work.held+copies*bytes, workWait)
}

// decodedBytes estimates what an input takes: its texts are copied, encoded and written, and each value, marked by a brace
// or a comma, takes a few words.
func decodedBytes(body []byte) int64 {
	const valueBytes = 64
	values := bytes.Count(body, []byte{'{'}) + bytes.Count(body, []byte{','})
	return copies*int64(len(body)) + valueBytes*int64(values)
}
