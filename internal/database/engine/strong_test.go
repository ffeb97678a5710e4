package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

func strongReplicas(regions ...string) *api.UpdateTableInput {
	in := &api.UpdateTableInput{TableName: new("Music"), MultiRegionConsistency: new("STRONG")}
	for _, region := range regions {
		in.ReplicaUpdates = append(in.ReplicaUpdates, api.ReplicationGroupUpdate{
			Create: &api.CreateReplicationGroupMemberAction{RegionName: &region},
		})
	}
	return in
}

func refused(t *testing.T, what string, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("%s: %v, want %q", what, err, part)
	}
}

// TestStrongReplicas: writers in three Regions increment the same counters. Each write is immediately visible in every Region,
// none is lost, and all rejections are retryable conflicts.
func TestStrongReplicas(t *testing.T) {
	others := []string{"us-east-2", "us-west-2"}
	w := openWorld(t, kv.Checked(memkv.New()), nil, others...)
	defer w.close(t)
	createTable(t, w[home], musicTable("v"))
	ctx := t.Context()
	update := func(in *api.UpdateTableInput) error {
		_, err := w[home].UpdateTable(ctx, in)
		return err
	}
	refused(t, "two Regions", update(strongReplicas(others[0])), "Unsupported replica count")
	putValue(ctx, t, w[home], "x", "1")
	refused(t, "a table with items", update(strongReplicas(others...)), "must be empty")
	deleteMusic(ctx, t, w[home], "x")
	if err := update(strongReplicas(others...)); err != nil {
		t.Fatal(err)
	}
	w.awaitActive(t, home, others[0], others[1])
	another := strongReplicas(others[0])
	another.MultiRegionConsistency, another.ReplicaUpdates[0].Create.RegionName = new("EVENTUAL"), new("us-west-1")
	refused(t, "another consistency", update(another), "unsupported on existing global table")
	_, err := w[others[0]].DeleteTable(ctx, &api.DeleteTableInput{TableName: new("Music")})
	refused(t, "deleting one replica", err, "Deletion of only one table replica")
	_, err = w[home].TransactGetItems(ctx, &api.TransactGetItemsInput{TransactItems: []api.TransactGetItem{
		{Get: &api.Get{TableName: new("Music"), Key: attr.Item{field("pk", "x")}}},
	}})
	refused(t, "a transaction", err, "Transactions are not supported")

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var writers sync.WaitGroup
	done := [3]int{}
	for at, region := range []string{home, others[0], others[1]} {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(at)))
			for i := range 60 {
				pk, v := fmt.Sprint(at, "-", random.IntN(3)), fmt.Sprint(i)
				if at == 2 {
					pk = fmt.Sprint("0-", random.IntN(3)) // which another Region writes, too
				}
				err := putMusic(ctx, w[region], field("pk", pk), field("v", v))
				if known, ok := errors.AsType[*apierr.Error](err); ok && known.Code == apierr.ReplicatedWriteConflictException {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				done[at]++
				if at == 1 { // which no other Region writes
					if got := tableOf(t, w[others[1]])[pk]; got != v {
						t.Errorf("item %s is %q in another Region, want %q", pk, got, v)
					}
				}
			}
		})
	}
	writers.Wait()
	if min(done[0], done[1], done[2]) == 0 {
		t.Errorf("writes: %v", done)
	}
	want := fmt.Sprint(tableOf(t, w[home]))
	for name, e := range w {
		if got := fmt.Sprint(tableOf(t, e)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	w.verify(t)

	if err := update(&api.UpdateTableInput{TableName: new("Music"), ReplicaUpdates: []api.ReplicationGroupUpdate{
		{Delete: &api.DeleteReplicationGroupMemberAction{RegionName: &others[0]}},
	}}); err == nil || !strings.Contains(err.Error(), "Deletion of only one table replica") {
		t.Errorf("deleting one replica: %v", err)
	}
}
