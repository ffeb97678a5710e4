package engine_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/cluster"
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// severed is a server's connection to the store, which can be cut.
type severed struct {
	kv.Store
	cut atomic.Bool
}

var errCut = errors.New("the store cannot be reached")

func (s *severed) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if s.cut.Load() {
		return errCut
	}
	return s.Store.Update(ctx, in, fn)
}

func (s *severed) Counter(ctx context.Context, key []byte) ([]int64, error) {
	if s.cut.Load() {
		return nil, errCut
	}
	return s.Store.Counter(ctx, key)
}

// openServers opens servers that share a store. The first one leads.
func openServers(t *testing.T, n int, o engine.Options) (servers []*engine.Engine, ways []*severed) {
	t.Helper()
	store := kv.Checked(memkv.New())
	o.Shared = true
	for range n {
		way := &severed{Store: store}
		e := openOn(t, way, o)
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		servers, ways = append(servers, e), append(ways, way)
	}
	return servers, ways
}

// TestServersSeeTableChanges: a table change acknowledged by one server is immediately effective on all others.
func TestServersSeeTableChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers, _ := openServers(t, 3, engine.Options{TTLInterval: -1})
		for round := range 6 {
			one, other := servers[round%3], servers[(round+1)%3]
			createTable(t, one, musicTable("a"))
			for n, e := range servers {
				if err := putMusic(t.Context(), e, field("pk", strconv.Itoa(n)), field("a", "x")); err != nil {
					t.Fatalf("round %d: server %d after the table was created: %v", round, n, err)
				}
			}
			createIndex(t, other, "b")
			settled(t, one)
			for n, e := range servers {
				wantStatus(t, e, "ACTIVE a=ACTIVE b=ACTIVE")
				if err := putMusic(t.Context(), e, field("pk", "b"+strconv.Itoa(n)), field("b", "x")); err != nil {
					t.Fatal(err)
				}
			}
			for n, e := range servers {
				if got := counted(t, e, "b"); got != 3 {
					t.Errorf("round %d: server %d finds %d items by the new index, want 3", round, n, got)
				}
			}
			wantVerified(t, other)
			if _, err := one.DeleteTable(t.Context(), &api.DeleteTableInput{TableName: new("Music")}); err != nil {
				t.Fatal(err)
			}
			for n, e := range servers {
				if err := putMusic(t.Context(), e, field("pk", "1")); err == nil {
					t.Errorf("round %d: server %d writes to a table that was deleted", round, n)
				}
			}
			advance(3 * time.Second)
		}
	})
}

// settled waits until no index is being changed.
func settled(t *testing.T, e *engine.Engine) {
	t.Helper()
	for range 100 {
		if s := status(t, e); s == "ACTIVE" || s == "ACTIVE a=ACTIVE b=ACTIVE" {
			return
		}
		advance(100 * time.Millisecond)
	}
	t.Fatalf("the table stays %s", status(t, e))
}

// counted is the number of items in an index under "x".
func counted(t *testing.T, e *engine.Engine, index string) int64 {
	t.Helper()
	out, err := e.Query(t.Context(), &api.QueryInput{
		TableName: new("Music"), IndexName: &index, KeyConditionExpression: new("#k = :x"), ExpressionAttributeNames: map[string]string{"#k": index},
		ExpressionAttributeValues: attr.Item{{Name: ":x", Value: attr.String("x")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return *out.Count
}

// TestServersWriteDuringBackfill: an index added by one server has the concurrent writes of all servers, and a removed one has
// none.
func TestServersWriteDuringBackfill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers, _ := openServers(t, 3, engine.Options{TTLInterval: -1})
		createTable(t, servers[0], musicTable("a"))
		var writers sync.WaitGroup
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		for n, e := range servers {
			writers.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					err := putMusic(t.Context(), e, field("pk", fmt.Sprint(n, "-", i%200)), field("a", "x"), field("b", "x"), field("i", strconv.Itoa(i)))
					if err != nil {
						t.Error(err)
						return
					}
					<-time.After(3 * time.Millisecond)
				}
			})
		}
		advance(time.Second)
		for round := range 3 {
			createIndex(t, servers[round], "b")
			settled(t, servers[0])
			wantVerified(t, servers[1])
			deleteIndex(t, servers[(round+1)%3], "b")
			for range 100 {
				if status(t, servers[0]) == "ACTIVE a=ACTIVE" {
					break
				}
				advance(100 * time.Millisecond)
			}
			wantVerified(t, servers[2])
		}
		stop()
		writers.Wait()
		wantVerified(t, servers[0])
	})
}

// TestServerTakesOver: background work continues on another server when the one that did it loses the store, and a server without
// the store serves nothing.
func TestServerTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers, ways := openServers(t, 2, engine.Options{TTLInterval: time.Second})
		createTable(t, servers[0], musicTable("a"))
		_, err := servers[0].UpdateTimeToLive(t.Context(), &api.UpdateTimeToLiveInput{
			TableName: new("Music"), TimeToLiveSpecification: &api.TimeToLiveSpecification{Enabled: new(true), AttributeName: new("exp")},
		})
		if err != nil {
			t.Fatal(err)
		}
		advance(2 * time.Second)
		put := func(e *engine.Engine, key string, in time.Duration) {
			t.Helper()
			expires := strconv.FormatInt(time.Now().Add(in).Unix(), 10)
			if err := putMusic(t.Context(), e, field("pk", key), attr.Field{Name: "exp", Value: attr.Number(expires)}); err != nil {
				t.Fatal(err)
			}
		}
		put(servers[1], "1", 5*time.Second)
		advance(8 * time.Second)
		if done := wantVerified(t, servers[1]); done.Items != 0 {
			t.Errorf("an item that another server has written has not expired: %v", done)
		}
		put(servers[1], "2", 5*time.Second)
		ways[0].cut.Store(true)
		advance(15 * time.Second)
		if done := wantVerified(t, servers[1]); done.Items != 0 {
			t.Errorf("no server has taken over the work: %v", done)
		}
		_, err = servers[0].GetItem(t.Context(), &api.GetItemInput{TableName: new("Music"), Key: attr.Item{field("pk", "2")}})
		if err == nil {
			t.Error("a server that cannot renew its lease still responds")
		}
		deleteIndex(t, servers[1], "a")
		advance(2 * time.Second)
		wantStatus(t, servers[1], "ACTIVE")
		ways[0].cut.Store(false)
		advance(2 * time.Second)
		wantStatus(t, servers[0], "ACTIVE")
		wantVerified(t, servers[0])
	})
}

// TestServersFollow: a follower sees the commits of other servers.
func TestServersFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers, _ := openServers(t, 2, engine.Options{TTLInterval: -1})
		createTable(t, servers[0], musicTable())
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var notified atomic.Int64
		var following sync.WaitGroup
		changes := servers[1].Changes(ctx, "Music", engine.ChangesNow)
		following.Go(func() {
			for _, err := range changes {
				if err != nil {
					return
				}
				notified.Add(1)
			}
		})
		for n := range int64(5) {
			if err := putMusic(t.Context(), servers[0], field("pk", strconv.FormatInt(n, 10))); err != nil {
				t.Fatal(err)
			}
			advance(time.Second)
			if got := notified.Load(); got != n+1 {
				t.Fatalf("after %d changes the follower was notified of %d", n+1, got)
			}
		}
		stop()
		following.Wait()
	})
}

// lagging is a store whose next snapshot is slow.
type lagging struct {
	kv.Store
	wait atomic.Int64
}

func (s *lagging) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	if d := s.wait.Swap(0); d > 0 {
		<-time.After(time.Duration(d))
	}
	return s.Store.Snapshot(ctx)
}

// TestServersRestore: the leader fills a table that another server restores, although it may see the job before it has read the
// definition. The polling of the two is shifted relative to each other, and the restore starts at all times in between.
func TestServersRestore(t *testing.T) {
	for ms := range 20 {
		synctest.Test(t, func(t *testing.T) {
			store := kv.Checked(memkv.New())
			o := engine.Options{Shared: true, TTLInterval: -1}
			way, begun := &lagging{Store: store}, time.Now()
			one := openOn(t, way, o)
			defer one.Close()
			<-time.After(50 * time.Millisecond)
			two := openOn(t, store, o)
			defer two.Close()
			<-time.After(900 * time.Millisecond)
			way.wait.Store(int64(30 * time.Millisecond))
			<-time.After(100 * time.Millisecond)
			createTable(t, two, musicTable())
			if err := putMusic(t.Context(), two, field("pk", "1")); err != nil {
				t.Fatal(err)
			}
			b, err := two.CreateBackup(t.Context(), &api.CreateBackupInput{TableName: new("Music"), BackupName: new("backup")})
			if err != nil {
				t.Fatal(err)
			}
			<-time.After(3*time.Second - time.Since(begun) + time.Duration(ms*2)*time.Millisecond)
			in := &api.RestoreTableFromBackupInput{BackupArn: b.BackupDetails.BackupArn, TargetTableName: new("Copy")}
			if _, err := two.RestoreTableFromBackup(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			advance(time.Minute)
			out, err := two.DescribeTable(t.Context(), &api.DescribeTableInput{TableName: new("Copy")})
			if err != nil || *out.Table.TableStatus != "ACTIVE" {
				t.Fatalf("%d ms: the restored table is %v, %v", 2*ms, out, err)
			}
			wantVerified(t, one)
		})
	}
}

// TestTermOfJointUpdates: the updates of a leader that write in several Regions also fail when another server leads.
func TestTermOfJointUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers, ways := openServers(t, 2, engine.Options{TTLInterval: -1})
		advance(time.Second)
		ctx := context.WithoutCancel(servers[0].Term())
		if err := servers[0].UpdateJointly(ctx); err != nil {
			t.Fatal(err)
		}
		ways[0].cut.Store(true)
		advance(15 * time.Second)
		ways[0].cut.Store(false)
		if err := servers[0].UpdateJointly(ctx); !errors.Is(err, cluster.ErrDeposed) {
			t.Errorf("after another server has taken over: %v", err)
		}
	})
}

// TestServersCheckFormats: a program with a later format does not take over a store that is served by servers with an earlier
// one, and a server that returns to a store with an unknown later format stops serving.
func TestServersCheckFormats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := kv.Checked(memkv.New())
		o := engine.Options{Shared: true, TTLInterval: -1}
		mark := func(version uint64) {
			t.Helper()
			damaged{t, store}.set(keyenc.FormatVersion(), binary.BigEndian.AppendUint64(nil, version))
		}
		older := keyenc.Server("older")
		mark(format.Version() - 1)
		damaged{t, store}.set(older, fmt.Appendf(nil, `{"format":1,"until":%d,"known":0}`, time.Now().Add(time.Second).UnixMilli()))
		_, err := engine.Open(t.Context(), kept{store}, o)
		if want := "servers of an earlier format use the store (number of servers: 1): stop all of them first"; err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("Open while an older server runs: %v, want %q", err, want)
		}
		damaged{t, store}.set(older, nil)
		e := openOn(t, store, o)
		defer e.Close()
		createTable(t, e, musicTable())
		mark(format.Version() + 1)
		advance(10 * time.Second)
		if newer, is := errors.AsType[*format.NewerError](e.Current()); !is || newer.Stored != format.Version()+1 {
			t.Errorf("in a store of a later format: %v", e.Current())
		}
		if err := putMusic(t.Context(), e, field("pk", "1")); !errors.Is(err, engine.ErrNotCurrent) {
			t.Errorf("a write to a store of a later format: %v", err)
		}
		mark(format.Version())
		advance(10 * time.Second)
		if err := errors.Join(e.Current(), putMusic(t.Context(), e, field("pk", "1"))); err != nil {
			t.Errorf("in a store of its own format again: %v", err)
		}
	})
}

// TestServersReplicate checks that the servers of several Regions replicate changes to each other, and that a replica can be removed.
func TestServersReplicate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, kv.Checked(memkv.New()), func(_ string, o *engine.Options) { o.Shared = true }, "eu-west-1")
		defer w.close(t)
		createTable(t, w[home], streamedTable("NEW_AND_OLD_IMAGES"))
		putValue(t.Context(), t, w[home], "a", "1")
		w.addReplica(t, home, "eu-west-1")
		advance(10 * time.Second)
		putValue(t.Context(), t, w[home], "b", "1")
		putValue(t.Context(), t, w["eu-west-1"], "c", "1")
		advance(10 * time.Second)
		if here, there := tableOf(t, w[home]), tableOf(t, w["eu-west-1"]); !maps.Equal(here, there) {
			t.Errorf("the tables are %v in one Region and %v in the other", here, there)
		}
		_, err := w[home].UpdateTable(t.Context(), &api.UpdateTableInput{
			TableName:      new("Music"),
			ReplicaUpdates: []api.ReplicationGroupUpdate{{Delete: &api.DeleteReplicationGroupMemberAction{RegionName: new("eu-west-1")}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		advance(time.Minute)
		if out, err := w["eu-west-1"].DescribeTable(t.Context(), &api.DescribeTableInput{TableName: new("Music")}); err == nil {
			t.Errorf("the replica that was taken out is %s", *out.Table.TableStatus)
		}
	})
}

// slowDrop is a store that does not remove kept snapshots before it may.
type slowDrop struct {
	kv.Store
	may chan struct{}
}

func (s slowDrop) DropKept(ctx context.Context, name string) error {
	select {
	case <-s.may:
		return s.Store.DropKept(ctx, name)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestDeleteBackupOfServers: DeleteBackup does not wait for the removal of the data, which can wait for other long work in a store that
// servers share.
func TestDeleteBackupOfServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := slowDrop{kv.Checked(memkv.New()), make(chan struct{})}
		e := openOn(t, store, engine.Options{Shared: true, TTLInterval: -1})
		createTable(t, e, musicTable())
		arn, deleted := mustBackUp(t, e, "Music"), make(chan error, 1)
		go func() {
			_, err := e.DeleteBackup(t.Context(), &api.DeleteBackupInput{BackupArn: &arn})
			deleted <- err
		}()
		wantKept := func(n int) {
			t.Helper()
			if kept, err := store.Kept(t.Context()); len(kept) != n || err != nil {
				t.Errorf("kept %v, %v; want %d", kept, err, n)
			}
		}
		select {
		case err := <-deleted:
			if err != nil {
				t.Error(err)
			}
			wantKept(1)
		case <-time.After(time.Minute):
			t.Error("DeleteBackup waits")
		}
		close(store.may)
		synctest.Wait()
		wantKept(0)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}
