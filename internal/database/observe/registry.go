package observe

import (
	"maps"
	"sync"
	"sync/atomic"
)

// registry holds counts by name. A lookup takes no lock; adding a name copies the map. The zero value is empty.
type registry[T any] struct {
	byName atomic.Pointer[map[string]*T]
	mu     sync.Mutex // held to change the map
}

func (r *registry[T]) all() map[string]*T {
	if byName := r.byName.Load(); byName != nil {
		return *byName
	}
	return nil
}

// get returns the counts of a name, creating them if the limit allows; else it returns nil.
func (r *registry[T]) get(name string, limit int, create func(name string) *T) *T {
	if v := r.all()[name]; v != nil {
		return v
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	byName := r.all()
	if v := byName[name]; v != nil || len(byName) >= limit {
		return v
	}
	next := maps.Clone(byName)
	if next == nil {
		next = map[string]*T{}
	}
	v := create(name)
	next[name] = v
	r.byName.Store(&next)
	return v
}

// retain removes the names for which keep is false.
func (r *registry[T]) retain(keep func(name string, v *T) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := maps.Clone(r.all())
	maps.DeleteFunc(next, func(name string, v *T) bool { return !keep(name, v) })
	r.byName.Store(&next)
}
