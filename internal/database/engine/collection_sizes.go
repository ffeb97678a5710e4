package engine

import (
	"sync"
	"time"
)

const (
	// collectionSizeAge is the maximum age of a remembered size.
	collectionSizeAge = time.Second
	// nearCollectionBytes is the size above which collections are not remembered, because writes may have to be rejected. Below
	// it, a collection would have to grow by a gigabyte within collectionSizeAge to exceed the limit.
	nearCollectionBytes = maxCollectionBytes - 1<<30
	// rememberedCollections is the maximum number of remembered sizes. An entry takes about 200 bytes plus its partition key.
	rememberedCollections = 4096
)

// collectionSizes remembers the sizes of item collections for a moment. A size is a counter to which each write adds a term, and
// a store may have to sum all terms since its last flush to read it: 0.7 ms after 30,000 writes.
//
// A remembered size grows with this server's own writes. It may lack recent writes by other servers, and include writes that were not
// committed. The zero value remembers nothing. It is safe for concurrent use.
type collectionSizes struct {
	mu    sync.Mutex
	known map[string]collectionSize // by counter key
}

type collectionSize struct {
	counters []int64
	read     time.Time
}

// counter returns the remembered counters of a collection or, if there are none, the result of read. The caller must not change
// them.
func (s *collectionSizes) counter(key []byte, read func(key []byte) ([]int64, error)) ([]int64, error) {
	now := time.Now()
	s.mu.Lock()
	size, ok := s.known[string(key)]
	s.mu.Unlock()
	if ok && now.Sub(size.read) < collectionSizeAge {
		return size.counters, nil
	}
	counters, err := read(key)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(counters) > 0 && counters[0] >= nearCollectionBytes {
		delete(s.known, string(key))
		return counters, nil
	}
	if s.known == nil {
		s.known = make(map[string]collectionSize)
	} else if len(s.known) >= rememberedCollections {
		clear(s.known)
	}
	s.known[string(key)] = collectionSize{counters, now}
	return counters, nil
}

// add adds a write's growth to a remembered size.
func (s *collectionSizes) add(key []byte, growth int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size, ok := s.known[string(key)]
	if !ok {
		return
	}
	grown := int64(0)
	if len(size.counters) > 0 {
		grown = size.counters[0]
	}
	if grown += growth; grown >= nearCollectionBytes {
		delete(s.known, string(key))
		return
	}
	size.counters = []int64{max(grown, 0)} // readers may still hold the previous slice
	s.known[string(key)] = size
}
