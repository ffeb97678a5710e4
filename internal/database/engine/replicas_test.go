package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
)

const home = "us-east-1"

// world is a server of several Regions: the first is the default one, the others are parts of its store.
type world map[string]*engine.Engine

// openWorld opens engines of Regions on one store that outlives them; options may change those of a Region.
func openWorld(t *testing.T, store kv.Store, options func(region string, o *engine.Options), others ...string) world {
	t.Helper()
	w, regions := world{}, engine.NewRegions()
	for _, name := range append([]string{home}, others...) {
		o := engine.Options{Region: name, Regions: regions}
		if options != nil {
			options(name, &o)
		}
		if name == home {
			w[name] = openOn(t, store, o)
			continue
		}
		p, err := part.Open(t.Context(), store, name)
		if err != nil {
			t.Fatal(err)
		}
		if w[name], err = engine.Open(t.Context(), p, o); err != nil {
			t.Fatal(err)
		}
	}
	regions.Opened()
	return w
}

func (w world) close(t *testing.T) {
	t.Helper()
	for _, e := range w {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// addReplica adds a replica of Music and waits until all are ACTIVE.
func (w world) addReplica(t *testing.T, from, region string) {
	t.Helper()
	_, err := w[from].UpdateTable(t.Context(), &api.UpdateTableInput{
		TableName:      new("Music"),
		ReplicaUpdates: []api.ReplicationGroupUpdate{{Create: &api.CreateReplicationGroupMemberAction{RegionName: &region}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.awaitActive(t, region)
}

func (w world) awaitActive(t *testing.T, regions ...string) {
	t.Helper()
	for _, region := range regions {
		for {
			out, err := w[region].DescribeTable(t.Context(), &api.DescribeTableInput{TableName: new("Music")})
			if err == nil && *out.Table.TableStatus == "ACTIVE" {
				break
			}
			<-time.After(10 * time.Millisecond) // of the bubble's clock
		}
	}
}

// verify verifies every Region's store.
func (w world) verify(t *testing.T) {
	t.Helper()
	for name, e := range w {
		if _, err := e.Verify(t.Context(), func(f verify.Finding) { t.Errorf("%s: %+v", name, f) }, nil); err != nil {
			t.Error(err)
		}
	}
}

func putValue(ctx context.Context, t *testing.T, e *engine.Engine, pk, v string) {
	t.Helper()
	if err := putMusic(ctx, e, field("pk", pk), field("v", v)); err != nil {
		t.Error(err)
	}
}

func deleteMusic(ctx context.Context, t *testing.T, e *engine.Engine, pk string) {
	t.Helper()
	if _, err := e.DeleteItem(ctx, &api.DeleteItemInput{TableName: new("Music"), Key: attr.Item{field("pk", pk)}}); err != nil {
		t.Error(err)
	}
}

// tableOf reads a whole table: v by pk.
func tableOf(t *testing.T, e *engine.Engine) map[string]string {
	t.Helper()
	out, err := e.Scan(t.Context(), &api.ScanInput{TableName: new("Music"), ConsistentRead: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, stored := range out.Items {
		it, err := stored.Decode()
		if err != nil {
			t.Fatal(err)
		}
		pk, _ := it.Get("pk")
		v, _ := it.Get("v")
		all[pk.Text()] = v.Text()
	}
	return all
}

// TestReplicasConverge: writers in three Regions change the same few items, each Region gets the changes of the others after its
// own delay, a replica is added during the writes, and the server is reopened. In the end every Region has the last write of each
// item.
func TestReplicasConverge(t *testing.T) {
	for range 5 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { converge(t, seed) }) })
	}
}

func converge(t *testing.T, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	store := kv.Checked(memkv.New())
	others := []string{"ap-south-1", "eu-west-1"}
	options := func(_ string, o *engine.Options) {
		o.ReplicationDelay = time.Duration(random.Int64N(300)) * time.Millisecond
	}
	w := openWorld(t, store, options, others...)
	createTable(t, w[home], musicTable("v"))
	for i := range 150 {
		putValue(t.Context(), t, w[home], fmt.Sprint(i), "old")
	}
	w.addReplica(t, home, others[0])
	last := map[string]string{}
	for i := range 150 {
		last[fmt.Sprint(i)] = "old"
	}
	regions := []string{home, others[0]}
	for i := range 600 {
		pk, v := fmt.Sprint(random.IntN(12)), fmt.Sprint("v", i)
		e := w[regions[random.IntN(len(regions))]]
		if random.IntN(4) == 0 {
			if _, ok := tableOf(t, e)[pk]; ok { // deleting a missing item is not a write
				deleteMusic(t.Context(), t, e, pk)
				delete(last, pk)
			}
		} else {
			putValue(t.Context(), t, e, pk, v)
			last[pk] = v
		}
		<-time.After(time.Duration(random.Int64N(40)) * time.Millisecond) // of the bubble's clock
		switch i {
		case 200: // the writes go on while it is filled
			in := &api.UpdateTableInput{TableName: new("Music"), ReplicaUpdates: []api.ReplicationGroupUpdate{{
				Create: &api.CreateReplicationGroupMemberAction{RegionName: &others[1]},
			}}}
			if _, err := w[others[0]].UpdateTable(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		case 300:
			w.awaitActive(t, others[1])
			regions = append(regions, others[1])
		case 400:
			w.close(t)
			w = openWorld(t, store, options, others...)
		}
	}
	<-time.After(time.Second) // of the bubble's clock
	synctest.Wait()
	for name, e := range w {
		if got := tableOf(t, e); fmt.Sprint(got) != fmt.Sprint(last) {
			t.Errorf("%s: %v\nwant %v", name, got, last)
		}
	}
	<-time.After(20 * time.Minute) // versions are trimmed
	synctest.Wait()
	w.verify(t)
	w.close(t)
}

// TestReplicasKilled adds, uses and deletes a replica, killed after every number of writes. A reopened store has every
// acknowledged write in every Region of the table, and completes unfinished work.
func TestReplicasKilled(t *testing.T) {
	for writes := int64(0); ; writes++ {
		survived := false
		t.Run(fmt.Sprint(writes, " writes"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { survived = replicateUntilKilled(t, writes) })
		})
		if survived || t.Failed() {
			return
		}
	}
}

func replicateUntilKilled(t *testing.T, writes int64) (survived bool) {
	t.Helper()
	const other = "eu-west-1"
	store := &killableStore{Store: kv.Checked(memkv.New())}
	store.left.Store(1 << 30)
	options := func(_ string, o *engine.Options) { o.TTLInterval = -1 }
	w := openWorld(t, store, options, other)
	createTable(t, w[home], musicTable("v"))
	last := map[string]string{}
	for i := range 70 {
		last[fmt.Sprint(i)] = "old"
		putValue(t.Context(), t, w[home], fmt.Sprint(i), "old")
	}
	store.left.Store(writes)
	survived = useReplica(t.Context(), w, other, last)
	w.close(t)
	w = openWorld(t, store.Store, options, other)
	<-time.After(10 * time.Second) // of the bubble's clock
	synctest.Wait()
	for name, e := range w {
		if _, err := e.DescribeTable(t.Context(), &api.DescribeTableInput{TableName: new("Music")}); name == other && err != nil {
			continue // it was not made, or is deleted
		}
		w.awaitActive(t, name)
		if got := tableOf(t, e); fmt.Sprint(got) != fmt.Sprint(last) {
			t.Errorf("%s: %v\nwant %v", name, got, last)
		}
	}
	w.verify(t)
	w.close(t)
	return survived
}

// useReplica adds a replica, writes in both Regions and deletes the replica; it records acknowledged writes and reports whether
// everything was completed.
func useReplica(ctx context.Context, w world, other string, last map[string]string) bool {
	update := func(u api.ReplicationGroupUpdate) bool {
		_, err := w[home].UpdateTable(ctx, &api.UpdateTableInput{TableName: new("Music"), ReplicaUpdates: []api.ReplicationGroupUpdate{u}})
		return err == nil
	}
	active := func(region string) bool {
		out, err := w[region].DescribeTable(ctx, &api.DescribeTableInput{TableName: new("Music")})
		return err == nil && *out.Table.TableStatus == "ACTIVE"
	}
	if !update(api.ReplicationGroupUpdate{Create: &api.CreateReplicationGroupMemberAction{RegionName: &other}}) {
		return false
	}
	for i := 0; !active(other); i++ {
		if i == 100 {
			return false
		}
		<-time.After(10 * time.Millisecond) // of the bubble's clock
	}
	for i := range 6 {
		pk, v, e := fmt.Sprint(i%2), fmt.Sprint("v", i), w[home]
		if i%3 == 0 {
			e = w[other]
		}
		if err := putMusic(ctx, e, field("pk", pk), field("v", v)); err != nil {
			return false
		}
		last[pk] = v
		<-time.After(time.Millisecond) // of the bubble's clock
	}
	if !update(api.ReplicationGroupUpdate{Delete: &api.DeleteReplicationGroupMemberAction{RegionName: &other}}) {
		return false
	}
	for i := 0; !active(home); i++ {
		if i == 100 {
			return false
		}
		<-time.After(10 * time.Millisecond) // of the bubble's clock
	}
	return true
}

// TestLegacyReplicasAreThere: a table that is being deleted, or is leaving its global table, is not added to one: it would remain a
// replica of the others after it has gone.
func TestLegacyReplicasAreThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, memkv.New(), func(_ string, o *engine.Options) { o.TableDelay = time.Second }, "eu-west-1", "us-west-2")
		defer w.close(t)
		for _, e := range w {
			send(t, e, "create-table", `{"TableName":"Music","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
				"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST",
				"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}}`)
		}
		create := func(directive, region string, members string) {
			t.Helper()
			_, err := perform(t.Context(), w[region], directive, members)
			if known, ok := errors.AsType[*apierr.Error](err); !ok || known.Code != apierr.TableNotFoundException {
				t.Errorf("%s: %v, want a TableNotFoundException", directive, err)
			}
		}
		create("create-global-table", "eu-west-1", `{"GlobalTableName":"Music","ReplicationGroup":[{"RegionName":"eu-west-1"},{"RegionName":"us-west-2"}]}`)
		advance(2 * time.Second)
		send(t, w["eu-west-1"], "create-global-table", `{"GlobalTableName":"Music","ReplicationGroup":[{"RegionName":"eu-west-1"},{"RegionName":"us-west-2"}]}`)
		send(t, w[home], "delete-table", `{"TableName":"Music"}`)
		create("update-global-table", "eu-west-1", `{"GlobalTableName":"Music","ReplicaUpdates":[{"Create":{"RegionName":"us-east-1"}}]}`)
		advance(2 * time.Second)
		send(t, w[home], "create-table", `{"TableName":"Music","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
			"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST",
			"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}}`)
		advance(2 * time.Second)
		send(t, w["us-west-2"], "delete-table", `{"TableName":"Music"}`)
		create("update-global-table", "eu-west-1", `{"GlobalTableName":"Music","ReplicaUpdates":[{"Create":{"RegionName":"us-east-1"}}]}`)
		advance(3 * time.Second)
		send(t, w["eu-west-1"], "update-global-table", `{"GlobalTableName":"Music","ReplicaUpdates":[{"Create":{"RegionName":"us-east-1"}}]}`)
	})
}

// TestMissingReplica: a replica that does not belong to its global table, because an earlier release accepted a table that was being deleted,
// is found, and removed at the next start.
func TestMissingReplica(t *testing.T) {
	for _, name := range []string{"no table", "another table"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memkv.New()
				others := []string{"eu-west-1", "us-west-2"}
				w := openWorld(t, store, nil, others...)
				for _, e := range w {
					send(t, e, "create-table", `{"TableName":"Music","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
						"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST",
						"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}}`)
				}
				p, err := part.Open(t.Context(), store, "us-west-2")
				if err != nil {
					t.Fatal(err)
				}
				definition, version := damaged{t, p}.get(keyenc.TableDescriptor("Music")), damaged{t, p}.get(keyenc.TableVersion(1))
				send(t, w[home], "create-global-table", `{"GlobalTableName":"Music","ReplicationGroup":[{"RegionName":"us-east-1"},{"RegionName":"eu-west-1"},{"RegionName":"us-west-2"}]}`)
				w.close(t)
				if name == "no table" {
					definition, version = nil, nil
				}
				damaged{t, p}.set(keyenc.TableDescriptor("Music"), definition)
				damaged{t, p}.set(keyenc.TableVersion(1), version)
				wantReplicas := func(want ...string) {
					t.Helper()
					lo, hi := keyenc.TableDescriptors()
					regions := []verify.Region{{Lo: lo, Hi: hi}}
					for _, region := range others {
						p, err := part.Open(t.Context(), store, region)
						if err != nil {
							t.Fatal(err)
						}
						bounds := p.Outer([][]byte{lo, hi})
						regions = append(regions, verify.Region{Prefix: region + "/", Lo: bounds[0], Hi: bounds[1]})
					}
					snapshot, err := store.Snapshot(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					defer snapshot.Close()
					var found []string
					n, err := verify.Replicas(snapshot, regions, func(f verify.Finding) { found = append(found, f.String()) })
					if diff := cmp.Diff(want, found); diff != "" || err != nil || n != int64(len(want)) {
						t.Errorf("%s\n%d findings, %v", diff, n, err)
					}
				}
				const what = "Music: the definition has a replica in us-west-2, which does not belong to the global table: a server of both Regions removes it when it starts"
				wantReplicas("eu-west-1/"+what, what)
				w = openWorld(t, store, nil, "eu-west-1")
				w.close(t)
				wantReplicas("eu-west-1/"+what, what) // the Region is not served
				w = openWorld(t, store, nil, others...)
				defer w.close(t)
				wantReplicas()
				out, err := perform(t.Context(), w[home], "describe-global-table", `{"GlobalTableName":"Music"}`)
				if err != nil || strings.Contains(out, "us-west-2") || !strings.Contains(out, "eu-west-1") {
					t.Errorf("described as %s, %v", out, err)
				}
				send(t, w["eu-west-1"], "delete-table", `{"TableName":"Music"}`)
			})
		})
	}
}
