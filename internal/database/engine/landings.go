package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// landings tells listeners of commits that appended to change logs.
type landings struct {
	listening atomic.Int32

	mu        sync.Mutex
	listeners map[*listener]struct{}
}

// listener is woken by the commits of its table, or of all tables. A wake that nobody waits for is kept; many
// are one.
type listener struct {
	table keyenc.TableID
	all   atomic.Bool
	woken chan struct{}
}

// listen returns a listener that hears of every commit acknowledged after the call.
func (l *landings) listen(table keyenc.TableID) *listener {
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

func (l *landings) dismiss(gone *listener) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.listeners, gone)
	l.listening.Add(-1)
}

func (l *landings) listened() bool { return l.listening.Load() > 0 }

// tell wakes those who listen to a table.
func (l *landings) tell(table keyenc.TableID) {
	if l.listened() {
		l.wake(func(heard *listener) bool { return heard.table == table || heard.all.Load() })
	}
}

func (l *landings) wake(whom func(*listener) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for heard := range l.listeners {
		if !whom(heard) {
			continue
		}
		select {
		case heard.woken <- struct{}{}:
		default:
		}
	}
}

// wait waits for a wake, the end of ctx or the engine's closing.
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

// heardStore is a store that tells of its commits. While nobody listens, that costs two loads of a counter.
type heardStore struct {
	kv.Store
	landings *landings
}

// Update tells of the commit when the store has acknowledged it.
func (s heardStore) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if !s.landings.listened() {
		err := s.Store.Update(ctx, in, fn)
		if err == nil && s.landings.listened() { // since a moment ago: the tables have gone unnoticed
			s.landings.wake(func(*listener) bool { return true })
		}
		return err
	}
	heard := heardTxn{}
	err := s.Store.Update(ctx, in, func(txn kv.Txn) error {
		heard = heardTxn{Txn: txn, logs: heard.logs[:0]}
		return fn(&heard)
	})
	if err == nil {
		for _, log := range heard.logs {
			s.landings.tell(keyenc.TableID(log))
		}
	}
	return err
}

// heardTxn notes to which logs it appends.
type heardTxn struct {
	kv.Txn
	logs []kv.LogID
}

// AppendLog implements kv.Txn.
func (t *heardTxn) AppendLog(log kv.LogID, record []byte) {
	if !slices.Contains(t.logs, log) {
		t.logs = append(t.logs, log)
	}
	t.Txn.AppendLog(log, record)
}
