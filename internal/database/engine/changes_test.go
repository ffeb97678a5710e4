package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// TestChangesUnderLoad follows a table twice while eight writers write it and another one in all ways: each change starts with
// the result of the item's previous change, numbers increase, and nothing is missing in the end.
func TestChangesUnderLoad(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openAccounts(t, s.open(t)())
			createTable(t, e, musicTable())
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var followers sync.WaitGroup
			for range 2 {
				changes := e.Changes(ctx, "Accounts", engine.ChangesKept)
				followers.Go(func() { followAccounts(ctx, t, e, changes) })
			}
			together(8, func(worker int) {
				random := rand.New(rand.NewPCG(seed, uint64(worker)))
				for i := range 60 {
					writeRandomItems(t, e, random, fmt.Sprintf("%d.%d", worker, i))
					if err := putMusic(ctx, e, field("pk", fmt.Sprint(worker)), field("v", fmt.Sprint(i))); err != nil {
						t.Error(err)
					}
				}
			})
			send(t, e, "put-item", `{"TableName":"Accounts","Item":{"id":{"S":"last"}}}`)
			followers.Wait()
		})
	}
}

// followAccounts follows the table until the item "last" is written, then compares the changes with the table.
func followAccounts(ctx context.Context, t *testing.T, e *engine.Engine, changes iter.Seq2[engine.Change, error]) {
	t.Helper()
	items := map[string]attr.Item{}
	var before kv.Seq
	for change, err := range changes {
		if err != nil {
			t.Error(err)
			return
		}
		if change.Seq <= before {
			t.Errorf("%d comes after %d", change.Seq, before)
		}
		before = change.Seq
		id, _ := change.Key.Get("id")
		if !items[id.Text()].Equal(change.Old) {
			t.Errorf("change %d of %s begins with %v and not with %v", change.Seq, id, change.Old, items[id.Text()])
		}
		items[id.Text()] = change.New
		if id.Text() == "last" {
			break
		}
	}
	out, err := e.Scan(ctx, &api.ScanInput{TableName: new("Accounts")})
	if err != nil {
		t.Error(err)
		return
	}
	for _, stored := range out.Items {
		it, err := stored.Decode()
		if err != nil {
			t.Error(err)
		}
		id, _ := it.Get("id")
		if !bytes.Equal(itemenc.Encode(nil, it), itemenc.Encode(nil, items[id.Text()])) {
			t.Errorf("%s is %v, according to the changes %v", id, it, items[id.Text()])
		}
		delete(items, id.Text())
	}
	for id, it := range items {
		if it != nil {
			t.Errorf("the changes contain %s: %v, which does not exist", id, it)
		}
	}
}

// following is the text of what Changes has returned; it is read when the bubble is idle.
type following struct {
	reported []string
	last     kv.Seq
	err      error
}

func follow(changes iter.Seq2[engine.Change, error]) *following {
	f := &following{}
	go func() {
		for change, err := range changes {
			if err != nil {
				f.err = err
				return
			}
			text := fmt.Sprintf("%v: %v -> %v", change.Key, change.Old, change.New)
			if change.Expired {
				text += " (expired)"
			}
			f.reported, f.last = append(f.reported, text), change.Seq
		}
	}()
	synctest.Wait()
	return f
}

func (f *following) want(t *testing.T, reported ...string) {
	t.Helper()
	synctest.Wait()
	if fmt.Sprint(f.reported) != fmt.Sprint(reported) {
		t.Errorf("reported\n %v, want\n %v", f.reported, reported)
	}
	f.reported = nil
}

func (f *following) wantEnd(t *testing.T, want error) {
	t.Helper()
	synctest.Wait()
	if !errors.Is(f.err, want) {
		t.Errorf("ended with %v, want %v", f.err, want)
	}
}

func music(t *testing.T, e *engine.Engine, pk, v string) {
	t.Helper()
	if err := putMusic(t.Context(), e, field("pk", pk), field("v", v)); err != nil {
		t.Fatal(err)
	}
}

const (
	first  = `{"pk":{"S":"a"}}: {} -> {"pk":{"S":"a"},"v":{"S":"1"}}`
	second = `{"pk":{"S":"a"}}: {"pk":{"S":"a"},"v":{"S":"1"}} -> {"pk":{"S":"a"},"v":{"S":"2"}}`
	gone   = `{"pk":{"S":"a"}}: {"pk":{"S":"a"},"v":{"S":"2"}} -> {}`
)

// TestChangesFrom starts at each kind of position.
func TestChangesFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openOn(t, memkv.New(), engine.Options{TTLInterval: -1})
		defer e.Close()
		createTable(t, e, musicTable())
		ctx, cancel := context.WithCancel(t.Context())
		music(t, e, "unseen", "0") // there is no follower yet
		kept := follow(e.Changes(ctx, "Music", engine.ChangesKept))
		music(t, e, "a", "1")
		kept.want(t, first)
		afterFirst := kept.last
		now := e.Changes(ctx, "Music", engine.ChangesNow)
		music(t, e, "a", "2")
		music(t, e, "a", "2") // changes nothing
		kept.want(t, second)
		follow(now).want(t, second)
		follow(now).want(t, second) // iterated over again
		follow(e.Changes(ctx, "Music", afterFirst)).want(t, second)
		follow(e.Changes(ctx, "Music", kv.SeqAt(time.Now().Add(time.Hour).UnixMilli()))).wantEnd(t, engine.ErrChangesAhead)
		send(t, e, "delete-item", `{"TableName":"Music","Key":{"pk":{"S":"a"}}}`)
		kept.want(t, gone)
		follow(e.Changes(ctx, "Nowhere", engine.ChangesKept)).wantEnd(t, engine.ErrNoTable)
		cancel()
		kept.wantEnd(t, context.Canceled)
	})
}

// TestChangesExpired: changes by time to live are marked.
func TestChangesExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openOn(t, memkv.New(), engine.Options{TTLInterval: -1})
		defer e.Close()
		createTable(t, e, musicTable())
		send(t, e, "update-time-to-live", `{"TableName":"Music","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"e"}}`)
		e.Settle()
		send(t, e, "put-item", fmt.Sprintf(`{"TableName":"Music","Item":{"pk":{"S":"a"},"e":{"N":"%d"}}}`, time.Now().Unix()))
		f := follow(e.Changes(t.Context(), "Music", engine.ChangesNow))
		if n, err := e.ExpireNow(t.Context()); n != 1 || err != nil {
			t.Fatalf("expired %d, %v", n, err)
		}
		f.want(t, fmt.Sprintf(`{"pk":{"S":"a"}}: {"e":{"N":"%d"},"pk":{"S":"a"}} -> {} (expired)`, time.Now().Unix()))
	})
}

// TestChangesTrimmed: a trimmed position is an error, and a retained one is not.
func TestChangesTrimmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openOn(t, memkv.New(), engine.Options{TTLInterval: -1})
		defer e.Close()
		createTable(t, e, musicTable())
		start := e.Changes(t.Context(), "Music", engine.ChangesNow)
		music(t, e, "a", "1")
		abreast := follow(start)
		abreast.want(t, first)
		advance(25 * time.Hour)
		music(t, e, "a", "2")
		abreast.want(t, second)
		follow(start).wantEnd(t, engine.ErrChangesTrimmed)
		follow(e.Changes(t.Context(), "Music", engine.ChangesKept)).want(t, second)
	})
}

// TestChangesTableGone: all changes of a deleted table are returned, but not those of a later table with its name.
func TestChangesTableGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openOn(t, memkv.New(), engine.Options{TTLInterval: -1})
		defer e.Close()
		createTable(t, e, musicTable())
		late := e.Changes(t.Context(), "Music", engine.ChangesKept)
		waiting := follow(late)
		music(t, e, "a", "1")
		waiting.want(t, first)
		send(t, e, "delete-table", `{"TableName":"Music"}`)
		waiting.wantEnd(t, engine.ErrTableGone)
		e.Settle()
		createTable(t, e, musicTable())
		music(t, e, "b", "2")
		f := follow(late)
		f.want(t, first)
		f.wantEnd(t, engine.ErrTableGone)
	})
}

// TestChangesClosed: Changes end with the engine, whether or not they wait.
func TestChangesClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openOn(t, memkv.New(), engine.Options{TTLInterval: -1})
		createTable(t, e, musicTable())
		waiting := follow(e.Changes(t.Context(), "Music", engine.ChangesKept))
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		waiting.wantEnd(t, kv.ErrClosed)
	})
}

// heldLog is a file system that, when armed, blocks the creation of Pebble's next log: a write that needs it already has its
// number but is not visible.
type heldLog struct {
	vfs.FS
	armed         atomic.Bool
	held, release chan struct{}
}

func (fs *heldLog) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	fs.hold(name)
	return fs.FS.Create(name, category)
}

func (fs *heldLog) ReuseForWrite(old, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	fs.hold(name)
	return fs.FS.ReuseForWrite(old, name, category)
}

func (fs *heldLog) hold(name string) {
	if strings.HasSuffix(name, ".log") && fs.armed.CompareAndSwap(true, false) {
		close(fs.held)
		<-fs.release
	}
}

// TestChangesNowMissesNothing: a caller that asks for the changes from now on, and then reads the items, sees every change. A
// write in progress may already have a number and be in neither, so both calls wait for it.
func TestChangesNowMissesNothing(t *testing.T) {
	fs := &heldLog{FS: vfs.NewMem(), held: make(chan struct{}), release: make(chan struct{})}
	store, err := pebblekv.Open("/data", pebblekv.Options{FS: fs, MemTableBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Open(t.Context(), store, engine.Options{TTLInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	createTable(t, e, streamedTable("KEYS_ONLY"))
	c := newConsumer(t, e)
	shard := c.shards()[0].ShardId
	fs.armed.Store(true)
	var last atomic.Int64
	written := make(chan struct{})
	go func() {
		defer close(written)
		for fs.armed.Load() {
			n := last.Add(1)
			if err := putMusic(t.Context(), e, field("pk", fmt.Sprint(n)), field("v", strings.Repeat("x", 100_000))); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	<-fs.held
	key := attr.Item{field("pk", fmt.Sprint(last.Load()))}
	if out, err := e.GetItem(t.Context(), &api.GetItemInput{TableName: new("Music"), Key: key}); err != nil || out.Item != nil {
		t.Fatalf("the write can be seen: %v, %v", out, err)
	}
	after := func(ask func() error) (asked chan struct{}) {
		asked = make(chan struct{})
		go func() {
			if err := ask(); err != nil {
				t.Error(err)
			}
			close(asked)
		}()
		return asked
	}
	for name, asked := range map[string]chan struct{}{
		"Changes": after(func() error { e.Changes(t.Context(), "Music", engine.ChangesNow); return nil }),
		"LATEST": after(func() error {
			_, err := e.GetShardIterator(t.Context(), &api.GetShardIteratorInput{StreamArn: c.arn, ShardId: shard, ShardIteratorType: new("LATEST")})
			return err
		}),
	} {
		select {
		case <-asked:
			t.Errorf("%s starts after a write that is not visible yet", name)
		case <-time.After(50 * time.Millisecond): // it waits
		}
		defer func() { <-asked }()
	}
	close(fs.release)
	<-written
}

// overtaken is a store whose logs show nothing from a number on, as while a commit with that number is in progress.
type overtaken struct {
	kv.Store
	from atomic.Uint64 // 0 for all
}

func (s *overtaken) ReadLog(ctx context.Context, log kv.LogID, after kv.Seq, limit int) ([]kv.Record, kv.Seq, error) {
	records, through, err := s.Store.ReadLog(ctx, log, after, limit)
	if from := kv.Seq(s.from.Load()); from != 0 && through >= from {
		shown := 0
		for shown < len(records) && records[shown].Seq < from {
			shown++
		}
		return records[:shown], max(after, from-1), err
	}
	return records, through, err
}

// TestChangesOvertaken: a change acknowledged before an earlier commit of another table, and invisible until then, is returned
// when that commit completes.
func TestChangesOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &overtaken{Store: memkv.New()}
		e := openOn(t, store, engine.Options{TTLInterval: -1})
		defer e.Close()
		createTable(t, e, musicTable())
		send(t, e, "create-table", accountsTable)
		send(t, e, "update-table", `{"TableName":"Accounts","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}}`)
		f := follow(e.Changes(t.Context(), "Music", engine.ChangesNow))
		store.from.Store(1)
		music(t, e, "a", "1")
		f.want(t)
		late := follow(e.Changes(t.Context(), "Music", engine.ChangesKept))
		late.want(t)
		store.from.Store(0)
		f.want(t) // nothing has landed yet
		send(t, e, "put-item", `{"TableName":"Accounts","Item":{"id":{"S":"b"}}}`)
		f.want(t, first)
		late.want(t, first)
	})
}
