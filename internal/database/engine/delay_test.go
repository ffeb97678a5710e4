package engine_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
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
