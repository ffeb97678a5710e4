package engine_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
)

// TestGSIDelay: index reads lag behind, table reads do not.
func TestGSIDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const delay = 80 * time.Millisecond
		e := newEngine(t, engine.Options{GSIDelay: delay})
		createTable(t, e, musicTable("a"))
		advance(time.Second)
		if err := putMusic(t.Context(), e, field("pk", "1"), field("a", "x")); err != nil {
			t.Fatal(err)
		}
		count := func(index *string) int64 {
			t.Helper()
			out, err := e.Scan(t.Context(), &api.ScanInput{TableName: new("Music"), IndexName: index})
			if err != nil {
				t.Fatal(err)
			}
			return *out.Count
		}
		if table, index := count(nil), count(new("a")); table != 1 || index != 0 {
			t.Errorf("at once: %d in the table, %d in the index; want 1, 0", table, index)
		}
		advance(delay - time.Millisecond)
		if n := count(new("a")); n != 0 {
			t.Errorf("before the delay is over the index shows %d", n)
		}
		advance(delay/8 + time.Millisecond)
		if n := count(new("a")); n != 1 {
			t.Errorf("after the delay the index shows %d", n)
		}
	})
}

// TestGSIDelayClockSetBack: index reads lag by the delay after the machine's clock was set back, too.
func TestGSIDelayClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const delay = 80 * time.Millisecond
		var back atomic.Int64
		e := newEngine(t, engine.Options{GSIDelay: delay, Now: func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }})
		createTable(t, e, musicTable("a"))
		advance(time.Second)
		back.Store(int64(time.Hour))
		if err := putMusic(t.Context(), e, field("pk", "1"), field("a", "x")); err != nil {
			t.Fatal(err)
		}
		advance(2 * delay)
		out, err := e.Scan(t.Context(), &api.ScanInput{TableName: new("Music"), IndexName: new("a")})
		if err != nil || *out.Count != 1 {
			t.Errorf("after the delay the index shows %v, %v", out, err)
		}
	})
}

// soloReaders is a store whose snapshots do not allow concurrent use, and are slow.
type soloReaders struct {
	kv.Store
	violations atomic.Int64
}

func (s *soloReaders) Eventual() kv.Reads { return soloReads{s.Store.Eventual(), s} }

type soloReads struct {
	kv.Reads
	of *soloReaders
}

func (r soloReads) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	snapshot, err := r.Reads.Snapshot(ctx)
	return &soloReader{Snapshot: snapshot, of: r.of}, err
}

type soloReader struct {
	kv.Snapshot
	of   *soloReaders
	used atomic.Int64
}

func (r *soloReader) Iter(lo, hi []byte, o kv.IterOptions) kv.Iterator {
	if r.used.Add(1) > 1 {
		r.of.violations.Add(1)
	}
	<-time.After(time.Millisecond)
	r.used.Add(-1)
	return r.Snapshot.Iter(lo, hi, o)
}

// TestGSIDelayManyReaders tests that concurrent reads use the snapshot of a past state one after the other.
func TestGSIDelayManyReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &soloReaders{Store: memkv.New()}
		e := openOn(t, s, engine.Options{GSIDelay: time.Minute})
		defer e.Close()
		createTable(t, e, musicTable("a"))
		var readers sync.WaitGroup
		for range 10 {
			readers.Go(func() {
				if _, err := e.Scan(t.Context(), &api.ScanInput{TableName: new("Music"), IndexName: new("a")}); err != nil {
					t.Error(err)
				}
			})
		}
		readers.Wait()
		if n := s.violations.Load(); n > 0 {
			t.Errorf("%d reads used a snapshot that another one was using", n)
		}
	})
}

// snapshotCounter counts the open snapshots of a store.
type snapshotCounter struct {
	kv.Store
	open *atomic.Int64
}

func (s snapshotCounter) Eventual() kv.Reads { return pastReads{s.Store.Eventual(), s.open} }

type pastReads struct {
	kv.Reads
	open *atomic.Int64
}

func (r pastReads) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	r.open.Add(1)
	snapshot, err := r.Reads.Snapshot(ctx)
	return countedSnapshot{snapshot, r.open}, err
}

type countedSnapshot struct {
	kv.Snapshot
	open *atomic.Int64
}

func (s countedSnapshot) Close() error {
	s.open.Add(-1)
	return s.Snapshot.Close()
}

// TestGSIDelayManyRegions: the Regions share the snapshots of the past, which can take the connections of a store, and each reads its own part.
func TestGSIDelayManyRegions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const delay, most = 80 * time.Millisecond, 10
		store := snapshotCounter{memkv.New(), new(atomic.Int64)}
		regions, engines := engine.NewRegions(), []*engine.Engine{}
		for i := range 6 {
			var in kv.Store = store
			name := fmt.Sprintf("eu-west-%d", i)
			if i > 0 {
				p, err := part.Open(t.Context(), store, name)
				if err != nil {
					t.Fatal(err)
				}
				in = p
			}
			e, err := engine.Open(t.Context(), in, engine.Options{Region: name, Regions: regions, GSIDelay: delay})
			if err != nil {
				t.Fatal(err)
			}
			createTable(t, e, musicTable("a"))
			engines = append(engines, e)
		}
		regions.Opened()
		count := func(e *engine.Engine) int64 {
			t.Helper()
			out, err := e.Scan(t.Context(), &api.ScanInput{TableName: new("Music"), IndexName: new("a")})
			if err != nil {
				t.Fatal(err)
			}
			return *out.Count
		}
		advance(time.Second)
		for i, e := range engines {
			for n := range i {
				if err := putMusic(t.Context(), e, field("pk", fmt.Sprint(n)), field("a", "x")); err != nil {
					t.Fatal(err)
				}
			}
			if n := count(e); n != 0 {
				t.Errorf("Region %d: %d entries at once", i, n)
			}
		}
		advance(2 * delay)
		for i, e := range engines {
			if n := count(e); n != int64(i) {
				t.Errorf("Region %d: %d entries after the delay", i, n)
			}
		}
		if n := store.open.Load(); n > most {
			t.Errorf("%d open snapshots, want at most %d", n, most)
		}
		for i := range engines { // the first one's store is around the others'
			if err := engines[len(engines)-1-i].Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
