package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/cluster"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// timedStore has times as numbers, like the engine's store.
type timedStore struct{ kv.Store }

func (s timedStore) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	return s.Store.Update(ctx, in, func(txn kv.Txn) error {
		txn.Advance(kv.SeqAt(time.Now().UnixMilli()))
		return fn(txn)
	})
}

// server is a member with the calls it received.
type server struct {
	*cluster.Member
	store   *cluster.Store
	reads   atomic.Int64 // of definitions
	leading atomic.Bool
	term    atomic.Pointer[context.Context]
	failing atomic.Bool // definitions cannot be read
	paused  atomic.Bool // the store cannot be reached
	form    byte
	logger  *slog.Logger
}

var (
	errForm   = errors.New("the form is not known")
	errPaused = errors.New("the store cannot be reached")
)

func join(t *testing.T, store kv.Store) *server {
	t.Helper()
	return joinAs(t, store, 1, nil)
}

// joinAs joins as a program that knows formats up to a version.
func joinAs(t *testing.T, store kv.Store, form byte, logger *slog.Logger) *server {
	t.Helper()
	s := &server{store: cluster.NewStore(timedStore{store}), form: form, logger: logger}
	m, err := cluster.Join(t.Context(), options(s))
	if err != nil {
		t.Fatal(err)
	}
	s.Member = m
	m.Start()
	return s
}

func options(s *server) cluster.Options {
	return cluster.Options{
		Store: pausing{s.store, s}, Fence: s.store, Logger: s.logger, Form: uint64(s.form),
		Admit: func(r kv.Reader) error {
			if stored, err := r.Get(keyenc.FormatVersion()); err != nil || stored != nil && stored[0] > s.form {
				return errors.Join(err, errForm)
			}
			return nil
		},
		Changed: func(context.Context) error {
			if s.failing.Load() {
				return errors.New("they cannot be read")
			}
			s.reads.Add(1)
			return nil
		},
		Lead:   func(ctx context.Context) { s.term.Store(&ctx); s.leading.Store(true) },
		Retire: func() { s.leading.Store(false) },
	}
}

// pausing is a server's connection to the store.
type pausing struct {
	kv.Store
	server *server
}

func (s pausing) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if s.server.paused.Load() {
		return errPaused
	}
	return s.Store.Update(ctx, in, fn)
}

// lines are the lines that a logger has written.
type lines struct {
	mu sync.Mutex
	strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Builder.Write(p)
}

func change(t *testing.T, s *server) {
	t.Helper()
	err := s.store.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error { cluster.Raise(txn); return nil })
	if err != nil {
		t.Fatal(err)
	}
}

// TestAwait tests that a change returns once every server has read it, immediately if there is no other, and does not wait for
// a crashed server.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memkv.New()
		one, two := join(t, store), join(t, store)
		defer one.Stop()
		for n := int64(1); n < 4; n++ {
			change(t, one)
			if err := one.Await(t.Context()); err != nil || two.reads.Load() != n {
				t.Fatalf("after change %d: %v, and the other server has read %d times", n, err, two.reads.Load())
			}
		}
		two.Stop() // crashes
		begun := time.Now()
		change(t, one)
		if err := one.Await(t.Context()); err != nil || two.Current() {
			t.Errorf("after a crash: %v; the crashed server takes its definitions for current: %v", err, two.Current())
		}
		if took := time.Since(begun); took < time.Second || took > 10*time.Second {
			t.Errorf("a change waited %v for a server that has crashed", took)
		}
		three := join(t, store)
		if err := three.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		begun = time.Now()
		change(t, one)
		if err := one.Await(t.Context()); err != nil || time.Since(begun) > time.Second {
			t.Errorf("a change waited %v for a server that has left, %v", time.Since(begun), err)
		}
	})
}

// lateStore has a clock that is late by some milliseconds.
type lateStore struct {
	kv.Store
	late *atomic.Int64
}

type lateTxn struct {
	kv.Txn
	late int64
}

func (s lateStore) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	return s.Store.Update(ctx, in, func(txn kv.Txn) error { return fn(lateTxn{txn, s.late.Load()}) })
}

func (t lateTxn) Advance(to kv.Seq) { t.Txn.Advance(kv.SeqAt(to.Millis() - t.late)) }

// TestLateClock tests that a server whose lease was renewed while the store's clock was late does not use its definitions for longer than
// others wait for it, by the clock that is in time again.
func TestLateClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lateStore{memkv.New(), new(atomic.Int64)}
		one, two := join(t, store), join(t, store)
		defer one.Stop()
		defer two.Stop()
		store.late.Store(900)
		<-time.After(3 * time.Second)
		two.paused.Store(true)
		store.late.Store(0)
		change(t, one)
		if err := one.Await(t.Context()); err != nil || two.Current() {
			t.Errorf("%v; the server that others do not wait for is current: %v", err, two.Current())
		}
	})
}

// TestUnreadableDefinitionsLoseLease tests that a server that cannot read the definitions loses its lease, and Await does not wait for it.
func TestUnreadableDefinitionsLoseLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memkv.New()
		one, two := join(t, store), join(t, store)
		defer one.Stop()
		defer two.Stop()
		if !two.Current() {
			t.Error("a server that has just joined is not current")
		}
		two.failing.Store(true)
		change(t, one)
		if err := one.Await(t.Context()); err != nil || two.Current() {
			t.Errorf("%v; the server that cannot read is current: %v", err, two.Current())
		}
		two.failing.Store(false)
		<-time.After(time.Second)
		if !two.Current() {
			t.Error("the server that can read again is not current")
		}
	})
}

// TestLeader tests that one server leads, and another takes over within seconds after a crash, or at once when it leaves.
func TestLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memkv.New()
		servers := []*server{join(t, store), join(t, store), join(t, store)}
		leader := func() (found *server) {
			t.Helper()
			for _, s := range servers {
				if s != nil && s.leading.Load() {
					if found != nil {
						t.Fatal("two servers lead")
					}
					found = s
				}
			}
			return found
		}
		first := leader()
		if first != servers[0] {
			t.Fatal("the first server does not lead")
		}
		if err := first.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second)
		second := leader()
		if second == nil || second == first {
			t.Fatalf("no server leads after the leader has left: %v", second)
		}
		second.Stop()
		<-time.After(7 * time.Second)
		if third := leader(); third == nil || third == second {
			t.Errorf("no server leads after the leader has crashed: %v", third)
		}
		for _, s := range servers {
			s.Stop()
		}
	})
}

// TestFence tests that a leader's updates after its term have no effect, even if its context was valid when they started.
func TestFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memkv.New()
		one := join(t, store)
		<-time.After(time.Millisecond)
		term := context.WithoutCancel(*one.term.Load()) // as if it was checked before the server was paused
		write := func(ctx context.Context, key string) error {
			return one.store.Update(ctx, kv.Intent{}, func(txn kv.Txn) error { txn.Set([]byte(key), []byte("v")); return nil })
		}
		load := func(ctx context.Context, key string) error {
			return one.store.Load(ctx, func(put func(key, value []byte) error) error { return put([]byte(key), []byte("v")) })
		}
		if err := errors.Join(write(term, "a"), load(term, "b")); err != nil {
			t.Fatal(err)
		}
		one.Stop()
		two := join(t, store)
		defer two.Stop()
		<-time.After(10 * time.Second)
		if !two.leading.Load() {
			t.Fatal("the second server does not lead")
		}
		for name, err := range map[string]error{
			"update": write(term, "c"), "load": load(term, "c"), "delete": one.store.DeleteRange(term, []byte("a"), []byte("b")),
			"trim": one.store.TrimLog(term, 1, 9), "keep": one.store.Keep(term, "k", kv.Selection{}), "drop": one.store.DropKept(term, "k"),
		} {
			if !errors.Is(err, cluster.ErrDeposed) {
				t.Errorf("%s after the term: %v", name, err)
			}
		}
		if err := write(t.Context(), "d"); err != nil {
			t.Errorf("a request of the server: %v", err)
		}
		var found string
		for _, key := range []string{"a", "b", "c", "d"} {
			if v, err := store.Get(t.Context(), []byte(key)); err != nil {
				t.Error(err)
			} else if v != nil {
				found += key
			}
		}
		if found != "abd" {
			t.Errorf("there are %q, want a, b and d", found)
		}
	})
}

// TestManyServers tests that servers come and go while one of them changes definitions: after each change, all active ones
// have read it.
func TestManyServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memkv.New()
		changer := join(t, store)
		defer changer.Stop()
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				for round := range 5 {
					s := join(t, store)
					<-time.After(time.Duration(n*700+round*300) * time.Millisecond)
					if (n+round)%2 == 0 {
						s.Stop()
					} else if err := s.Leave(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		watched := join(t, store)
		defer watched.Stop()
		for n := range 50 {
			before := watched.reads.Load()
			change(t, changer)
			if err := changer.Await(t.Context()); err != nil {
				t.Fatal(err)
			}
			if watched.reads.Load() == before {
				t.Fatalf("change %d has not been read", n)
			}
		}
		all.Wait()
	})
}

// silent is a store whose calls get no response while it is silent, as when its connections are lost.
type silent struct {
	kv.Store
	is atomic.Bool
}

func (s *silent) respond(ctx context.Context) error {
	if s.is.Load() {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (s *silent) Counter(ctx context.Context, key []byte) ([]int64, error) {
	if err := s.respond(ctx); err != nil {
		return nil, err
	}
	return s.Store.Counter(ctx, key)
}

func (s *silent) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if err := s.respond(ctx); err != nil {
		return err
	}
	return s.Store.Update(ctx, in, fn)
}

// TestStoreThatDoesNotRespond tests that a call to which the store never responds does not keep a server from calling again.
func TestStoreThatDoesNotRespond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &silent{Store: memkv.New()}
		one := join(t, store)
		defer one.Stop()
		store.is.Store(true)
		<-time.After(10 * time.Second)
		if one.Current() || one.leading.Load() {
			t.Error("a server whose store does not respond is current, or leads")
		}
		store.is.Store(false) // the pending calls stay unanswered
		<-time.After(10 * time.Second)
		if !one.Current() || !one.leading.Load() {
			t.Error("after the store responds again, the server is not current, or does not lead")
		}
	})
}

// late is a store whose updates, and reads of the leader's lease, wait for gates while there are any.
type late struct {
	kv.Store
	updates, reads atomic.Pointer[chan struct{}]
}

func await(ctx context.Context, gate *atomic.Pointer[chan struct{}]) error {
	if open := gate.Load(); open != nil {
		select {
		case <-*open:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

func (s *late) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if err := await(ctx, &s.updates); err != nil {
		return err
	}
	return s.Store.Update(ctx, in, fn)
}

func (s *late) Get(ctx context.Context, key []byte) ([]byte, error) {
	if err := await(ctx, &s.reads); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, key)
}

// TestLateRenewal tests that a server whose lease has expired, and that renews it with definitions it checked before, is not
// current until it has checked again: a change in between did not wait for it.
func TestLateRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memkv.New()
		behind := &late{Store: store}
		one, two := join(t, store), join(t, behind)
		defer one.Stop()
		defer two.Stop()
		updates, reads := make(chan struct{}), make(chan struct{})
		behind.updates.Store(&updates)
		behind.reads.Store(&reads)
		<-time.After(10 * time.Second)
		synctest.Wait() // it has checked the version and is about to renew
		if two.Current() {
			t.Fatal("a server that cannot renew its lease is current")
		}
		before := two.reads.Load()
		change(t, one)
		if err := one.Await(t.Context()); err != nil {
			t.Fatal(err)
		}
		if two.reads.Load() != before {
			t.Fatal("the change was not between a look and a renewal")
		}
		close(updates)
		synctest.Wait() // it has renewed its lease, and its next check is to come
		if two.Current() && two.reads.Load() == before {
			t.Error("a server that does not know an acknowledged change is current")
		}
		close(reads)
		<-time.After(time.Second)
		if !two.Current() || two.reads.Load() == before {
			t.Error("a second later, it is not current, or has not read the change")
		}
		change(t, one)
		begun := time.Now()
		if err := one.Await(t.Context()); err != nil || time.Since(begun) > time.Second {
			t.Errorf("another change takes %v, %v", time.Since(begun), err)
		}
	})
}

// TestFormat tests that records of another program version are not misread.
func TestFormat(t *testing.T) {
	store := memkv.New()
	one := join(t, store)
	one.Stop()
	err := store.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error {
		txn.Set([]byte("lsother"), []byte(fmt.Sprintf(`{"format":2,"until":%d}`, time.Now().Add(time.Hour).UnixMilli())))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Await(t.Context()); err == nil {
		t.Error("a record of a later format is taken for one of this format")
	}
}

// TestLaterFormatWaitsForEarlierServers tests that a program with a later format must not start writing while a server with an earlier one has a lease.
// Once it has, that server, which may resume from a pause, gets no lease and does not read definitions, so that Await does not
// wait for it.
func TestLaterFormatWaitsForEarlierServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memkv.New()
		var log lines
		old := joinAs(t, store, 1, slog.New(slog.NewTextHandler(&log, nil)))
		// begin does what format.Claim does.
		begin := func() error {
			return timedStore{store}.Update(t.Context(), kv.Intent{Write: [][]byte{keyenc.FormatVersion()}}, func(txn kv.Txn) error {
				if err := cluster.Older(txn, 2); err != nil {
					return err
				}
				txn.Set(keyenc.FormatVersion(), []byte{2})
				return nil
			})
		}
		for range 20 {
			if err := begin(); err == nil || !strings.Contains(err.Error(), "(number of servers: 1): stop all of them first") {
				t.Fatalf("a later format while a server with an earlier one runs: %v", err)
			}
			<-time.After(300 * time.Millisecond)
		}
		old.paused.Store(true)
		<-time.After(6 * time.Second)
		if err := begin(); err != nil {
			t.Fatalf("a later form when the lease of the earlier one has ended: %v", err)
		}
		reads := old.reads.Load()
		recent := joinAs(t, store, 2, nil)
		defer recent.Stop()
		change(t, recent)
		old.paused.Store(false)
		<-time.After(2 * time.Second)
		if err := recent.Await(t.Context()); err != nil || !recent.Current() {
			t.Errorf("the later server: %v", err)
		}
		if old.Current() || !errors.Is(old.Failure(), errForm) || old.reads.Load() != reads {
			t.Errorf("the earlier server is current: %v, %v, and it has read %d times more", old.Current(), old.Failure(), old.reads.Load()-reads)
		}
		old.Stop()
		if n := strings.Count(log.String(), errForm.Error()); n != 1 || !strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("the log says it %d times:\n%s", n, &log)
		}
		if _, err := cluster.Join(t.Context(), options(old)); !errors.Is(err, errForm) {
			t.Errorf("a server of an earlier form joins: %v", err)
		}
	})
}

// TestPausedLeader tests that a stalled update of the leader prevents no server from renewing its lease.
func TestPausedLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memkv.New()
		one, two := join(t, store), join(t, store)
		defer one.Stop()
		defer two.Stop()
		term, goOn, ended := *one.term.Load(), make(chan struct{}), make(chan error)
		go func() {
			ended <- one.store.Update(term, kv.Intent{}, func(kv.Txn) error { <-goOn; return nil })
		}()
		synctest.Wait()
		one.Stop() // the whole server is paused
		for range 20 {
			<-time.After(time.Second)
			if !two.Current() {
				t.Fatal("a server has lost its lease because the leader is suspended")
			}
			change(t, two)
			if err := two.Await(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		close(goOn)
		<-ended
		<-time.After(3 * time.Second)
		if !two.leading.Load() {
			t.Error("no server has taken over the work")
		}
	})
}

// TestFencesOfStores tests that a server that leads in one store is not fenced in others.
func TestFencesOfStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, other := join(t, memkv.New()), join(t, memkv.New())
		defer one.Stop()
		defer other.Stop()
		err := other.store.Update(*one.term.Load(), kv.Intent{}, func(txn kv.Txn) error { txn.Set([]byte("k"), []byte("v")); return nil })
		if err != nil {
			t.Errorf("the leader of one store in another one: %v", err)
		}
	})
}

// TestServers tests that all servers that share the store are listed with their leases; one leads, and one that crashed is not
// serving.
func TestServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memkv.New()
		a, b := join(t, store), join(t, store)
		list := func() map[string]cluster.Server {
			all, _, err := cluster.Servers(t.Context(), timedStore{store})
			if err != nil {
				t.Fatal(err)
			}
			byID := map[string]cluster.Server{}
			for _, s := range all {
				byID[s.ID] = s
			}
			return byID
		}
		found := list()
		if x, y := found[a.ID()], found[b.ID()]; len(found) != 2 || !x.Serves || !x.Leads || x.Term != 1 || !x.Current || !y.Serves || y.Leads {
			t.Errorf("two servers, the first of which leads: %+v", found)
		}
		a.Stop()
		<-time.After(time.Minute)
		if x, y := list()[a.ID()], list()[b.ID()]; x.Serves || x.Leads || !y.Serves || !y.Leads || y.Term != 2 {
			t.Errorf("after the first has crashed: %+v %+v", x, y)
		}
		b.Stop()
	})
}
