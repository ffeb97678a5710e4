package observe

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// SampleFor is how long a table is observed after the last Sample.Watch.
	SampleFor = 15 * time.Second
	// SampleTables is the maximum number of watched tables.
	SampleTables = 8
	// sampleMax and sampleBytes limit the requests that are kept of each table, and their inputs.
	sampleMax   = 1000
	sampleBytes = 4 << 20
)

// SampledRequest is a request on a watched table.
type SampledRequest struct {
	ID, Operation string
	At            time.Time
	Took          time.Duration
	// ReadUnits and WriteUnits are the consumed capacity, including that of other tables of the same request.
	ReadUnits, WriteUnits float64
	Failure               Failure
	// Input is the request's JSON with long texts cut; nil if it is too large to be kept.
	Input []byte
}

// Sample keeps the latest requests on tables that are being observed, so that they can be shown individually. While none is,
// it costs a request one atomic load. The zero value observes nothing.
type Sample struct {
	// watched is replaced whenever a table is added or removed; nil while nothing is watched.
	watched atomic.Pointer[map[string]*sampled]
	mu      sync.Mutex // of changes of watched
}

// sampled is a watched table with its latest requests. Request n is in ring[n%sampleMax], for first <= n < next.
type sampled struct {
	mu          sync.Mutex
	until       time.Time
	ring        [sampleMax]SampledRequest
	first, next uint64
	bytes       int // of the inputs in ring
}

// On reports whether any table is watched.
func (s *Sample) On() bool { return s.watched.Load() != nil }

// Watch returns the kept requests on a table from number after on, the oldest first, and the number to continue from. The
// difference of two such numbers is the number of requests, including those that were not kept. The first call starts to
// observe the table; watched is false if SampleTables others are being observed. now is the time.
func (s *Sample) Watch(table string, after uint64, now time.Time) (found []SampledRequest, next uint64, watched bool) {
	t := s.watch(table, now)
	if t == nil {
		return nil, 0, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = now.Add(SampleFor)
	for n := max(after, t.first); n < t.next; n++ {
		found = append(found, t.ring[n%sampleMax])
	}
	return found, t.next, true
}

// watch returns an observed table, adding it if needed, and removes those that are no longer observed.
func (s *Sample) watch(table string, now time.Time) *sampled {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	known := s.watched.Load()
	if known == nil {
		known = &map[string]*sampled{}
	}
	if t := (*known)[table]; t != nil || len(*known) >= SampleTables {
		return t
	}
	t := &sampled{until: now.Add(SampleFor)}
	more := maps.Clone(*known)
	more[table] = t
	s.watched.Store(&more)
	return t
}

// expire removes the tables that are no longer observed. mu is held.
func (s *Sample) expire(now time.Time) {
	known := s.watched.Load()
	if known == nil {
		return
	}
	left := maps.Clone(*known)
	maps.DeleteFunc(left, func(_ string, t *sampled) bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		return now.After(t.until)
	})
	switch {
	case len(left) == 0:
		s.watched.Store(nil)
	case len(left) < len(*known):
		s.watched.Store(&left)
	}
}

// Add keeps a request for each of its observed tables, replacing the oldest if there is no room. It keeps Input, which must
// not be changed afterwards. now is the time.
func (s *Sample) Add(r *Request, q SampledRequest, now time.Time) {
	known := s.watched.Load()
	if known == nil || r.Table == nil {
		return
	}
	q.ID, q.ReadUnits, q.WriteUnits = r.ID, r.ReadUnits, r.WriteUnits
	tables := append(slices.Clip(r.More), r.Table)
	expired := false
	for name, t := range *known {
		t.mu.Lock()
		switch {
		case now.After(t.until):
			expired = true
		case slices.ContainsFunc(tables, func(of *Table) bool { return of.Name == name }):
			t.add(q)
		}
		t.mu.Unlock()
	}
	if expired {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.expire(now)
	}
}

// add keeps a request. mu is held.
func (t *sampled) add(q SampledRequest) {
	for t.next-t.first == sampleMax || t.first < t.next && t.bytes+len(q.Input) > sampleBytes {
		oldest := &t.ring[t.first%sampleMax]
		t.bytes -= len(oldest.Input)
		*oldest = SampledRequest{}
		t.first++
	}
	t.ring[t.next%sampleMax] = q
	t.bytes += len(q.Input)
	t.next++
}
