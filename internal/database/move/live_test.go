package move_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/move"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

var errLeft = errors.New("the database has been moved")

// killedFollower is a follower in a process that can be killed.
type killedFollower struct {
	move.Follower
	process *process
}

func (f killedFollower) Set(key, value []byte) error {
	return errorOr(f.process, func() error { return f.Follower.Set(key, value) })
}

// pacingFollower lets others write as much between two rounds as can be followed, and a little while they are held.
type pacingFollower struct {
	move.Follower
	allow func(writes int)
}

func (f pacingFollower) Cut() (kv.Snapshot, kv.Changes, error) {
	defer f.allow(50)
	return f.Follower.Cut()
}

func (f pacingFollower) Hold() (kv.Snapshot, kv.Changes, error) {
	f.allow(30)
	defer f.allow(10)
	return f.Follower.Hold()
}

// liveOptions are the options of all moves here. left is set once the source has been left.
func liveOptions(t *testing.T, from *pebblekv.Store, p *process, left *atomic.Bool) move.LiveOptions {
	t.Helper()
	var said []string
	o := move.LiveOptions{Options: options(t, &said), Refusal: errLeft, Left: func() { left.Store(true) }}
	o.Follow = func() (move.Follower, error) {
		f, err := from.Follow()
		if err != nil || p == nil {
			return f, err
		}
		return killedFollower{f, p}, nil
	}
	return o
}

// writeAnything makes a random change of any kind that a database supports, with its own keys.
func writeAnything(ctx context.Context, s kv.Store, random *rand.Rand, writer int) error {
	key := func() []byte {
		return fmt.Appendf(nil, "m%d/%03d%s", writer, random.IntN(200), bytes.Repeat([]byte{'k'}, random.IntN(2)*1000))
	}
	counter := keyenc.Statistics(keyenc.TableID(1000+random.IntN(3)), 0)
	log := kv.LogID(1000 + random.IntN(3)) //nolint:gosec // it is small
	switch random.IntN(30) {
	case 0:
		return s.DeleteRange(ctx, key(), key())
	case 1:
		n := random.IntN(10)
		return s.Load(ctx, func(put func(key, value []byte) error) error {
			for i := range 20 {
				if err := put(fmt.Appendf(nil, "m%d/load%d/%03d", writer, n, i), []byte{byte(n)}); err != nil {
					return err
				}
			}
			return nil
		})
	case 2:
		_, through, err := s.ReadLog(ctx, log, 0, 5)
		if err != nil {
			return err
		}
		return s.TrimLog(ctx, log, through)
	case 3:
		return s.Update(ctx, kv.Intent{Write: [][]byte{counter}}, func(txn kv.Txn) error { txn.Delete(counter); return nil })
	}
	set, gone := key(), key()
	return s.Update(ctx, kv.Intent{Write: [][]byte{set, gone}}, func(txn kv.Txn) error {
		txn.Delete(gone)
		txn.Set(set, bytes.Repeat([]byte{byte(random.IntN(256))}, random.IntN(10)*100))
		txn.Add(counter, slices.Repeat([]int64{int64(writer)}, 1+random.IntN(3))...)
		txn.AppendLog(log, set)
		return nil
	})
}

// TestLive moves a database that changes all the time in every possible way. In the end the target must equal the source, to
// the last byte.
func TestLive(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	fs := disk(t)
	from, to := open(t, fs, "/source"), open(t, fs, "/target")
	defer closeStore(t, to)
	e, err := engine.Open(t.Context(), from, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var writers sync.WaitGroup
	var written atomic.Int64
	turns := make(chan struct{}, 10000)
	allow := func(writes int) {
		for range writes {
			turns <- struct{}{}
		}
	}
	for w := range 3 {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(w)))
			for {
				<-turns
				err := writeAnything(t.Context(), from, random, w)
				if errors.Is(err, errLeft) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				written.Add(1)
			}
		})
	}
	writers.Go(func() {
		for n := 0; ; n++ {
			created, err := e.CreateBackup(t.Context(), &api.CreateBackupInput{TableName: new("things"), BackupName: new("another")})
			if err == nil && n%2 == 1 {
				_, err = e.DeleteBackup(t.Context(), &api.DeleteBackupInput{BackupArn: created.BackupDetails.BackupArn})
			}
			if errors.Is(err, errLeft) {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			for range 100 {
				<-turns
			}
		}
	})
	allow(1000)
	for written.Load() < 300 {
		runtime.Gosched()
	}
	var left atomic.Bool
	o := liveOptions(t, from, nil, &left)
	follow := o.Follow
	o.Follow = func() (move.Follower, error) {
		f, err := follow()
		return pacingFollower{f, allow}, err
	}
	calls := 0
	o.Progress = func(move.Phase, int64, int64) {
		if calls++; calls%4 == 0 {
			allow(1)
		}
	}
	o.Verify = func(context.Context, kv.Store) error { allow(300); return nil }
	result, err := move.RunLive(t.Context(), from, to, o)
	close(turns)
	if err != nil {
		t.Fatal(err)
	}
	writers.Wait()
	t.Logf("%+v, %d changes", result, written.Load())
	if !left.Load() || !result.Left {
		t.Error("the source has not been left")
	}
	equalStores(t, from, to)
	if is, _ := whole(t, from); is {
		t.Error("the source can be opened")
	}
	if is, why := whole(t, to); !is {
		t.Errorf("the target cannot be opened: %v", why)
	}
}

// equalStores compares everything in two stores that moves.
func equalStores(t *testing.T, from, to *pebblekv.Store) {
	t.Helper()
	if diff := cmp.Diff(everything(t, from), everything(t, to)); diff != "" {
		t.Errorf("the target is not the source (-source +target):\n%s", diff)
	}
}

func everything(t *testing.T, s *pebblekv.Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	it := snapshot.Iter(nil, nil, kv.IterOptions{})
	defer it.Close()
	for it.Next() {
		switch key := it.Key(); {
		case bytes.Equal(key, keyenc.FormatVersion()), key[0] == 'w':
		case keyenc.IsCounter(key):
			sums, err := counters.Decode(it.Value())
			if err != nil {
				t.Fatal(err)
			}
			all[string(key)] = fmt.Sprint(sums)
		default:
			all[string(key)] = string(it.Value())
		}
	}
	logs, err := s.Logs(t.Context())
	if err := errors.Join(err, it.Err()); err != nil {
		t.Fatal(err)
	}
	for _, log := range logs {
		trimmed, err := s.LogTrimmed(t.Context(), log)
		if err != nil {
			t.Fatal(err)
		}
		all[fmt.Sprint("log ", log)] = fmt.Sprint("trimmed ", trimmed)
		for after := kv.Seq(0); ; {
			records, err := snapshot.ReadLog(log, after, 100)
			if err != nil {
				t.Fatal(err)
			}
			if len(records) == 0 {
				break
			}
			for _, r := range records {
				all[fmt.Sprint("log ", log, " ", r.Seq)] = string(r.Data)
			}
			after = records[len(records)-1].Seq
		}
	}
	kept, err := s.Kept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kept {
		all["kept "+k.Name] = keptContents(t, s, k.Name)
	}
	return all
}

func keptContents(t *testing.T, s *pebblekv.Store, name string) (text string) {
	t.Helper()
	kept, err := s.OpenKept(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	lo, hi := []byte("d"), []byte("e") // of items, and the Region's
	if region := []byte("reu-west-1\x00"); strings.HasPrefix(name, "r-") {
		lo, hi = append(slices.Clone(region), lo...), append(region, hi...)
	}
	it := kept.Iter(lo, hi, kv.IterOptions{})
	defer it.Close()
	for it.Next() {
		text += fmt.Sprintf("%x %x\n", it.Key(), it.Value())
	}
	return text
}

// runLiveKilled moves in a process that is killed after a number of changes by the move, and returns whether the source and
// the target are complete afterwards.
func runLiveKilled(t *testing.T, fs vfs.FS, changes int) (source, target bool, err error) {
	t.Helper()
	from, to := open(t, fs, "/source"), open(t, fs, "/target")
	defer closeStore(t, from)
	defer closeStore(t, to)
	p := &process{left: changes}
	var left atomic.Bool
	o, seen := liveOptions(t, from, p, &left), 0
	o.EndTime = time.Nanosecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	write := func() { // not counted: these are the server's
		seen++
		err := from.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error {
			txn.Set(fmt.Appendf(nil, "m%d", seen%7), fmt.Append(nil, seen))
			txn.AppendLog(1000, nil)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	o.Progress = func(move.Phase, int64, int64) {
		if p.left >= 0 {
			write()
		}
	}
	o.Verify = func(ctx context.Context, s kv.Store) error { write(); return nil }
	_, err = move.RunLive(ctx, from, killable{to, p}, o)
	source, _ = whole(t, from)
	target, _ = whole(t, to)
	if left.Load() && source {
		t.Errorf("killed after %d changes: requests are refused, and the source has not been left", changes)
	}
	return source, target, err
}

// TestLiveKilledAnywhere kills a move under writes after each of its changes. Until the source is marked, it is the database,
// and the move starts again; from then on the target is the database, once the same move has been run again. There are never
// two.
func TestLiveKilledAnywhere(t *testing.T) {
	start := disk(t)
	for changes, killed := 0, 0; ; changes++ {
		fs := copyOf(t, start)
		source, target, err := runLiveKilled(t, fs, changes)
		if err == nil {
			if source || !target || killed < 15 {
				t.Errorf("moved by %d changes: the source is whole: %v, the target: %v", changes, source, target)
			}
			return
		}
		killed++
		if !errors.Is(err, errKilled) || source && target {
			t.Fatalf("killed after %d changes: the source is whole: %v, the target: %v: %v", changes, source, target, err)
		}
		if source { // the server is restarted, and so is the move
			if source, target, err := runLiveKilled(t, fs, 1<<30); err != nil || source || !target {
				t.Fatalf("killed after %d changes, and run again: the source is whole: %v, the target: %v: %v", changes, source, target, err)
			}
			continue
		}
		from, to := open(t, fs, "/source"), open(t, fs, "/target")
		var said []string
		result, err := move.Run(t.Context(), from, to, options(t, &said))
		if is, why := whole(t, to); err != nil || !result.Completed || !is {
			t.Errorf("killed after %d changes, and run again: %+v, %v, %v", changes, result, err, why)
		}
		equalStores(t, from, to)
		closeStore(t, from)
		closeStore(t, to)
	}
}
