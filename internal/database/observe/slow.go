package observe

import (
	"slices"
	"sync"
	"time"
)

const (
	// SlowDefault is the default duration from which a request is slow.
	SlowDefault = 100 * time.Millisecond
	// slowMax is the number of slow requests kept, slowTables the number of tables named for each.
	slowMax    = 200
	slowTables = 5
)

// SlowRequest is a slow request, with its waits. The rest of Took is computation and, unless reads are timed
// (Request.Detailed), reading.
type SlowRequest struct {
	ID, Operation string
	Tables        []string // at most slowTables
	At            time.Time
	Took          time.Duration
	// Latch is the wait for items that other requests were writing, Sync that for the log to reach the disk, Read the
	// time in reads of the store.
	Latch, Sync, Read time.Duration
	Failure           Failure
}

// SlowRequests keeps the latest slow requests, at most slowMax. The zero value is empty.
type SlowRequests struct {
	mu   sync.Mutex
	ring [slowMax]SlowRequest
	n    int // ever added
}

// Add keeps a request, replacing the oldest if there is no room.
func (s *SlowRequests) Add(r *Request, operation string, at time.Time, took time.Duration, failure Failure) {
	kept := SlowRequest{
		ID: r.ID, Operation: operation, At: at, Took: took, Latch: r.Latch.Total, Sync: r.Sync.Total, Read: r.Read.Total, Failure: failure,
	}
	if r.Table != nil {
		kept.Tables = append(kept.Tables, r.Table.Name)
	}
	for _, t := range r.More[:min(len(r.More), slowTables-1)] {
		kept.Tables = append(kept.Tables, t.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ring[s.n%slowMax] = kept
	s.n++
}

// Latest returns the kept requests, the newest first, and the number since the start.
func (s *SlowRequests) Latest() (latest []SlowRequest, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := s.n - 1; i >= max(0, s.n-slowMax); i-- {
		latest = append(latest, s.ring[i%slowMax])
	}
	return slices.Clip(latest), s.n
}
