package engine

import (
	"errors"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// pair is a server of two Regions, with a table of on-demand capacity and a stream in the first.
func pair(t *testing.T) (home, other *Engine) {
	t.Helper()
	store, regions := memkv.New(), NewRegions()
	inner, err := part.Open(t.Context(), store, "eu-west-1")
	if err != nil {
		t.Fatal(err)
	}
	open := func(store kv.Store, name string) *Engine {
		e, err := Open(t.Context(), store, Options{Region: name, Regions: regions, TTLInterval: -1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		return e
	}
	home, other = open(store, "us-east-1"), open(inner, "eu-west-1")
	regions.Opened()
	_, err = home.CreateTable(t.Context(), &api.CreateTableInput{
		TableName: new("Music"), BillingMode: new("PAY_PER_REQUEST"),
		AttributeDefinitions: []api.AttributeDefinition{{AttributeName: new("pk"), AttributeType: new("S")}},
		KeySchema:            []api.KeySchemaElement{{AttributeName: new("pk"), KeyType: new("HASH")}},
		StreamSpecification:  &api.StreamSpecification{StreamEnabled: new(true), StreamViewType: new("NEW_IMAGE")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return home, other
}

func (e *Engine) mustPut(t *testing.T, pk string) {
	t.Helper()
	in := &api.PutItemInput{TableName: new("Music"), Item: attr.Item{{Name: "pk", Value: attr.String(pk)}}}
	if _, err := e.PutItem(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// TestCommitsOfOtherRegionsWakeFollowers: a follower that waits for a commit that holds back a log is woken by commits of all
// Regions.
func TestCommitsOfOtherRegionsWakeFollowers(t *testing.T) {
	home, other := pair(t)
	waiting, idle := other.appendCounts.listen(1), other.appendCounts.listen(1)
	defer other.appendCounts.dismiss(waiting)
	defer other.appendCounts.dismiss(idle)
	waiting.all.Store(true)
	home.mustPut(t, "a")
	if len(waiting.woken) != 1 {
		t.Error("a commit in another Region does not wake a listener for all tables")
	}
	if len(idle.woken) != 0 {
		t.Error("it wakes a listener for a table of its own Region")
	}
}

// TestFlowDetectsMovedPosition: a flow applies nothing if a job has moved the position, or if the source has left the global table.
func TestFlowDetectsMovedPosition(t *testing.T) {
	home, other := pair(t)
	ctx := t.Context()
	update := func(in *api.UpdateTableInput) {
		t.Helper()
		in.TableName = new("Music")
		if _, err := home.UpdateTable(ctx, in); err != nil {
			t.Fatal(err)
		}
		home.Settle()
		other.Settle()
	}
	update(&api.UpdateTableInput{ReplicaUpdates: []api.ReplicationGroupUpdate{{Create: &api.CreateReplicationGroupMemberAction{RegionName: new("eu-west-1")}}}})
	home.mustPut(t, "a")
	if err := home.regions.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	table := other.catalog.Tables()["Music"]
	source := home.catalog.Tables()["Music"]
	late := func(stored kv.Seq) error {
		f := newFlow(other, home, table)
		f.stored = stored
		pk := attr.String("late")
		change := logenc.Change{
			Exists: true, Version: uint64(stored) + 1, Key: keyenc.Item(nil, source.ID, pk, attr.Value{}),
			New: itemenc.Encode(nil, attr.Item{{Name: "pk", Value: pk}}),
		}
		return f.arrive(ctx, []arrival{{stored + 1, change}})
	}
	position, err := other.storedPosition(ctx, table.ID, "us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := late(position - 1); !errors.Is(err, errPositionMoved) {
		t.Errorf("from another place: %v", err)
	}
	update(&api.UpdateTableInput{DisassociationProtectionEnabled: new(false)})
	update(&api.UpdateTableInput{ReplicaUpdates: []api.ReplicationGroupUpdate{{
		Disassociate: &api.DisassociateReplicationGroupMemberAction{RegionName: new("us-east-1"), DisassociationMode: new("WAIT_FOR_REPLICATION")},
	}}})
	if err := late(position); !errors.Is(err, ErrTableGone) {
		t.Errorf("from a table that has left: %v", err)
	}
	out, err := other.Scan(ctx, &api.ScanInput{TableName: new("Music")})
	if err != nil || *out.Count != 1 {
		t.Errorf("%d items, %v, want one", *out.Count, err)
	}
}
