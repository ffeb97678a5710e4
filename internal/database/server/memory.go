package server

import (
	"bytes"
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// memory bounds what requests in flight take, together. It is four pools, each a quarter of Options.Memory, so that clients
// that are slow in one phase of a request cannot starve the other phases:
//
//	requests  entryBytes for each request whose body has begun to arrive
//	bodies    what is beyond entryBytes of a body as it arrives and is decompressed
//	work      what an operation may take with its decoded input, estimated before it starts
//	responses what is beyond entryBytes of a response until its client has read it
//
// A request that finds no room waits in line, for a short time. Then it is throttled.
type memory struct {
	requests, bodies, work, responses pool
}

const (
	defaultMemory = 512 << 20

	// entryBytes is what a request may take without a reservation for its body and its response.
	entryBytes = 32 << 10

	// The longest waits for room. Bodies arrive from outside and responses leave for outside; work ends by itself.
	bodyWait     = 2 * time.Second
	workWait     = 5 * time.Second
	responseWait = time.Second
)

func newMemory(bytes int64) *memory {
	m := new(memory)
	for _, p := range []*pool{&m.requests, &m.bodies, &m.work, &m.responses} {
		p.size = max(bytes/4, entryBytes)
		p.free = semaphore.NewWeighted(p.size)
	}
	return m
}

// inUse is the number of reserved bytes.
func (m *memory) inUse() int64 {
	return m.requests.used.Load() + m.bodies.used.Load() + m.work.used.Load() + m.responses.used.Load()
}

// pool is an amount of memory that requests reserve parts of.
type pool struct {
	size int64
	used atomic.Int64
	free *semaphore.Weighted
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
		if wait == 0 {
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
	return nil
}

// release gives the reservation back.
func (r *reservation) release() {
	if r.held > 0 {
		r.pool.used.Add(-r.held)
		r.pool.free.Release(r.held)
		r.held = 0
	}
}

// What operations take beside their input, as far as their names and inputs tell. An item may have 400 KB, is copied from
// the store, and grows when it is written as JSON; a page has 1 MB; TransactGetItems reads 4 MB; BatchGetItem 16 MB.
const (
	smallWork = 64 << 10
	itemWork  = 1 << 20
	pageWork  = 3 << 20
	// keyWork is for each value of a batch, below what the largest items would need: few batches are of large items.
	keyWork          = 256 << 10
	transactReadWork = 10 << 20
	batchReadWork    = 40 << 20
)

// workOf estimates the memory that an operation takes once its input is there, before it is decoded. An operation reserves
// once: two that wait for each other's room could not go on.
func workOf(operation string, body []byte) int64 {
	values := int64(bytes.Count(body, []byte{'{'}) + bytes.Count(body, []byte{','}))
	carried := smallWork + decodedBytes(len(body), values)
	switch operation {
	case "Query", "Scan", "GetRecords":
		return carried + pageWork
	case "GetItem", "UpdateItem":
		return carried + itemWork
	case "PutItem", "DeleteItem":
		if bytes.Contains(body, []byte("ALL_OLD")) {
			return carried + itemWork
		}
		return carried
	case "BatchGetItem":
		return carried + min(values*keyWork, batchReadWork)
	case "TransactGetItems", "TransactWriteItems":
		return carried + min(values*keyWork, transactReadWork)
	default:
		return carried
	}
}

// decodedBytes estimates what an input takes: its texts are copied, encoded and written, and each value, marked by a brace
// or a comma, takes a few words.
func decodedBytes(body int, values int64) int64 {
	const valueBytes = 64
	return 3*int64(body) + valueBytes*values
}
