package engine

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// appendCounts counts the records that commits append to change logs, and notifies listeners.
type appendCounts struct {
	regions *Regions // whose commits can delay each other's logs, because they share the store's numbers

	listening atomic.Int32
	counts    sync.Map // keyenc.TableID → *atomic.Uint64

	mu        sync.Mutex
	listeners map[*listener]struct{}
}

// listener is woken by the commits of its table, or of all tables of all Regions. A wake without a waiter is kept; several are
// merged into one.
type listener struct {
	table keyenc.TableID
	all   atomic.Bool
	woken chan struct{}
}

// listen returns a listener for every commit acknowledged after the call.
func (l *appendCounts) listen(table keyenc.TableID) *listener {
	added := &listener{table: table, woken: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listeners == nil {
		l.listeners = map[*listener]struct{}{}
	}
	l.listeners[added] = struct{}{}
	l.listening.Add(1)
	return added
}

func (l *appendCounts) dismiss(gone *listener) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.listeners, gone)
	l.listening.Add(-1)
}

// notify counts records of a table and wakes its listeners.
func (l *appendCounts) notify(table keyenc.TableID, records uint64) {
	l.counter(table).Add(records)
	if l.listening.Load() > 0 {
		l.wake(func(registered *listener) bool { return registered.table == table || registered.all.Load() })
	}
	for _, other := range l.regions.appendCounts() {
		if other != l && other.listening.Load() > 0 {
			other.wake(func(registered *listener) bool { return registered.all.Load() })
		}
	}
}

// count returns how many records were appended to the table's log since the engine was opened.
func (l *appendCounts) count(table keyenc.TableID) uint64 { return l.counter(table).Load() }

func (l *appendCounts) counter(table keyenc.TableID) *atomic.Uint64 {
	n, ok := l.counts.Load(table)
	if !ok {
		n, _ = l.counts.LoadOrStore(table, new(atomic.Uint64))
	}
	return n.(*atomic.Uint64)
}

// listenedTo reports whether a table has listeners.
func (l *appendCounts) listenedTo(table keyenc.TableID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for registered := range l.listeners {
		if registered.table == table {
			return true
		}
	}
	return false
}

// wakeAll wakes all listeners, because other servers may have committed.
func (l *appendCounts) wakeAll() {
	if l.listening.Load() > 0 {
		l.wake(func(*listener) bool { return true })
	}
}

func (l *appendCounts) wake(match func(*listener) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for registered := range l.listeners {
		if !match(registered) {
			continue
		}
		select {
		case registered.woken <- struct{}{}:
		default:
		}
	}
}

// wait waits for a wake, the end of ctx or the closing of the engine.
func (l *listener) wait(ctx context.Context, closing <-chan struct{}) error {
	select {
	case <-l.woken:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-closing:
		return kv.ErrClosed
	}
}
