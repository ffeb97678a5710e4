package pebblekv

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// waitingDB is a pebble.DBForCompaction that allows one compaction and has some to run, like Pebble: one that it may not start at once
// waits for Schedule.
type waitingDB struct {
	pebble.DBForCompaction
	scheduler     *compactions
	before, after func() // are called once, in Schedule, before and after the lock is held

	mu      sync.Mutex
	todo    int
	waiting bool
	begun   atomic.Int32
}

func (d *waitingDB) GetAllowedWithoutPermission() int { return 1 }

func (d *waitingDB) Schedule(pebble.CompactionGrantHandle) bool {
	if before := d.before; before != nil {
		d.before = nil
		before()
	}
	d.mu.Lock()
	d.waiting = d.waiting && d.todo > 0
	starts := d.waiting
	if starts {
		d.todo--
		d.begun.Add(1)
	}
	d.mu.Unlock()
	if after := d.after; after != nil && !starts {
		d.after = nil
		after()
	}
	return starts
}

// changed starts what it may after a flush that leaves n to compact.
func (d *waitingDB) changed(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.todo += n
	for d.todo > 0 && !d.waiting {
		if starts, _ := d.scheduler.TrySchedule(); !starts {
			d.waiting = true
			return
		}
		d.todo--
		d.begun.Add(1)
	}
}

// TestCompactionLimit: a flush that leaves two to compact while one is offered starts one; the second starts when that has ended, without
// waiting for the next tick.
func TestCompactionLimit(t *testing.T) {
	for name, when := range map[string]func(d *waitingDB, flush func()){
		"before Pebble answers": func(d *waitingDB, flush func()) { d.before = flush },
		"after it declined":     func(d *waitingDB, flush func()) { d.after = flush },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCompactions(&Store{disk: &disk{}, dead: make(chan struct{})})
				d := &waitingDB{scheduler: c}
				when(d, func() { d.changed(2) })
				c.Register(2, d)
				c.start()
				synctest.Wait()
				if n := d.begun.Load(); n != 1 {
					t.Errorf("%d begun, want 1", n)
				}
				c.Done()
				synctest.Wait()
				if n := d.begun.Load(); n != 2 {
					t.Errorf("%d begun after one has ended, want 2", n)
				}
				c.Unregister()
			})
		})
	}
}

// heldSchedule is called once before Schedule has taken Pebble's locks.
type heldSchedule struct {
	pebble.DBForCompaction
	before func()
}

func (d *heldSchedule) Schedule(h pebble.CompactionGrantHandle) bool {
	if before := d.before; before != nil {
		d.before = nil
		before()
	}
	return d.DBForCompaction.Schedule(h)
}

// TestCancelledManualCompaction: a manual compaction that is picked and cancelled while another is offered does no harm, and the next one
// runs.
func TestCancelledManualCompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Store{disk: &disk{}, dead: make(chan struct{}), log: slog.New(slog.DiscardHandler), options: Options{Compactions: 1}.withDefaults()}
		c := newCompactions(s)
		options := s.options.pebbleOptions(vfs.NewMem(), pebbleLogger{s})
		options.Experimental.CompactionScheduler = c
		options.DisableAutomaticCompactions = true
		db, err := pebble.Open("db", options)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			err := errors.Join(db.Set([]byte("a"), nil, pebble.NoSync), db.Set([]byte("z"), nil, pebble.NoSync), db.Flush())
			if err != nil {
				t.Fatal(err)
			}
		}
		compact := func(ctx context.Context) error { return db.Compact(ctx, []byte("a"), []byte("zz"), true) }
		cancelled := make(chan struct{})
		c.db = &heldSchedule{c.db, func() {
			defer close(cancelled)
			ctx, cancel := context.WithCancel(t.Context())
			compacted := make(chan error)
			go func() { compacted <- compact(ctx) }()
			synctest.Wait()
			cancel()
			if err := <-compacted; !errors.Is(err, context.Canceled) {
				t.Errorf("Compact: %v, want a cancellation", err)
			}
		}}
		c.start()
		<-cancelled
		if err := compact(t.Context()); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}
