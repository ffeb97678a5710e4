package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// provisioned is a table of 10/5 with an index of 2/2.
func provisioned() *api.CreateTableInput {
	in := musicTable("a")
	in.BillingMode, in.ProvisionedThroughput = nil, units(10, 5)
	in.GlobalSecondaryIndexes[0].ProvisionedThroughput = units(2, 2)
	return in
}

func units(read, write int64) *api.ProvisionedThroughput {
	return &api.ProvisionedThroughput{ReadCapacityUnits: &read, WriteCapacityUnits: &write}
}

// wantThroughput compares statuses and read capacity units of a table and its index, and whether each was ever increased.
func wantThroughput(t *testing.T, d *api.TableDescription, table, index state) {
	t.Helper()
	x := d.GlobalSecondaryIndexes[0]
	if got := stateOf(*d.TableStatus, d.ProvisionedThroughput); got != table {
		t.Errorf("the table is %+v, want %+v", got, table)
	}
	if got := stateOf(*x.IndexStatus, x.ProvisionedThroughput); got != index {
		t.Errorf("the index is %+v, want %+v", got, index)
	}
}

type state struct {
	status    string
	read      int64
	increased bool
}

func stateOf(status string, p *api.ProvisionedThroughputDescription) state {
	return state{status, *p.ReadCapacityUnits, p.LastIncreaseDateTime != nil}
}

func describe(t *testing.T, e *engine.Engine) *api.TableDescription {
	t.Helper()
	out, err := e.DescribeTable(t.Context(), &api.DescribeTableInput{TableName: new("Music")})
	if err != nil {
		t.Fatal(err)
	}
	return out.Table
}

func update(t *testing.T, e *engine.Engine, in *api.UpdateTableInput) *api.TableDescription {
	t.Helper()
	in.TableName = new("Music")
	out, err := e.UpdateTable(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out.TableDescription
}

// TestThroughputWhileUpdating: a change of throughput is described with the previous values until it has settled; a change of the
// billing mode immediately.
func TestThroughputWhileUpdating(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, engine.Options{TableDelay: 10 * time.Second})
		createTable(t, e, provisioned())
		advance(10 * time.Second)
		updating, index := state{"UPDATING", 10, false}, state{"ACTIVE", 2, false}
		wantThroughput(t, update(t, e, &api.UpdateTableInput{ProvisionedThroughput: units(30, 15)}), updating, index)
		wantThroughput(t, describe(t, e), updating, index)
		advance(10 * time.Second)
		table := state{"ACTIVE", 30, true}
		wantThroughput(t, describe(t, e), table, index)

		change := &api.UpdateTableInput{GlobalSecondaryIndexUpdates: []api.GlobalSecondaryIndexUpdate{{
			Update: &api.UpdateGlobalSecondaryIndexAction{IndexName: new("a"), ProvisionedThroughput: units(3, 3)},
		}}}
		wantThroughput(t, update(t, e, change), table, state{"UPDATING", 2, false})
		_, err := e.UpdateTable(t.Context(), change)
		const inUse = "ResourceInUseException: Attempt to change a resource which is still in use: Index is being updated. Table: Music Index: a"
		if err == nil || err.Error() != inUse {
			t.Errorf("a second change of the index: %v", err)
		}
		advance(10 * time.Second)
		wantThroughput(t, describe(t, e), table, state{"ACTIVE", 3, true})

		switched := update(t, e, &api.UpdateTableInput{BillingMode: new("PAY_PER_REQUEST")})
		wantThroughput(t, switched, state{"UPDATING", 0, true}, state{"ACTIVE", 0, true})
	})
}

// TestWarmThroughputInResponses: CreateTable shows the requested value, DeleteTable nothing, DescribeTable always shows it.
func TestWarmThroughputInResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, engine.Options{TableDelay: 10 * time.Second})
		in := provisioned()
		created, err := e.CreateTable(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if d := created.TableDescription; d.WarmThroughput != nil || d.GlobalSecondaryIndexes[0].WarmThroughput != nil {
			t.Error("CreateTable shows warm throughput unasked")
		}
		if d := describe(t, e); *d.WarmThroughput.Status != "UPDATING" || *d.GlobalSecondaryIndexes[0].WarmThroughput.ReadUnitsPerSecond != 2 {
			t.Errorf("DescribeTable has %+v of a table that is being created", d.WarmThroughput)
		}
		advance(10 * time.Second)
		if w := describe(t, e).WarmThroughput; *w.Status != "ACTIVE" || *w.ReadUnitsPerSecond != 10 || *w.WriteUnitsPerSecond != 5 {
			t.Errorf("DescribeTable has %+v", w)
		}

		raised := update(t, e, &api.UpdateTableInput{WarmThroughput: &api.WarmThroughput{ReadUnitsPerSecond: new(int64(100))}})
		if w := raised.WarmThroughput; *raised.TableStatus != "ACTIVE" || *w.Status != "UPDATING" || *w.ReadUnitsPerSecond != 10 {
			t.Errorf("a raise is answered with %s %s %d", *raised.TableStatus, *w.Status, *w.ReadUnitsPerSecond)
		}
		update(t, e, &api.UpdateTableInput{ProvisionedThroughput: units(1, 1)})
		advance(10 * time.Second)
		if w := describe(t, e).WarmThroughput; *w.ReadUnitsPerSecond != 100 || *w.WriteUnitsPerSecond != 5 {
			t.Errorf("warm throughput has fallen to %d and %d", *w.ReadUnitsPerSecond, *w.WriteUnitsPerSecond)
		}

		deleted, err := e.DeleteTable(t.Context(), &api.DeleteTableInput{TableName: new("Music")})
		if err != nil {
			t.Fatal(err)
		}
		if d := deleted.TableDescription; d.WarmThroughput != nil || d.GlobalSecondaryIndexes[0].WarmThroughput != nil {
			t.Error("DeleteTable shows warm throughput")
		}

		in.TableName, in.WarmThroughput = new("Warm"), &api.WarmThroughput{ReadUnitsPerSecond: new(int64(1000)), WriteUnitsPerSecond: new(int64(1200))}
		if created, err = e.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if w := created.TableDescription.WarmThroughput; *w.Status != "UPDATING" || *w.ReadUnitsPerSecond != 1000 || *w.WriteUnitsPerSecond != 1200 {
			t.Errorf("CreateTable shows %+v", w)
		}
	})
}

// TestTimeToLiveOfCreatingOrDeletingTable: it can be neither described nor changed.
func TestTimeToLiveOfCreatingOrDeletingTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, engine.Options{TableDelay: 10 * time.Second})
		createTable(t, e, musicTable())
		ask := func(status string) {
			t.Helper()
			_, err := e.DescribeTimeToLive(t.Context(), &api.DescribeTimeToLiveInput{TableName: new("Music")})
			want := "ValidationException: Cannot describe time to live while table is in " + status + " state: Current table state is " + status
			if err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		}
		ask("CREATING")
		_, err := e.UpdateTimeToLive(t.Context(), &api.UpdateTimeToLiveInput{
			TableName: new("Music"), TimeToLiveSpecification: &api.TimeToLiveSpecification{Enabled: new(true), AttributeName: new("exp")},
		})
		const creating = "ResourceInUseException: Attempt to change a resource which is still in use: Table Music is being created"
		if err == nil || err.Error() != creating {
			t.Errorf("a change of a table that is being created: %v", err)
		}
		advance(10 * time.Second)
		if _, err := e.DeleteTable(t.Context(), &api.DeleteTableInput{TableName: new("Music")}); err != nil {
			t.Fatal(err)
		}
		ask("DELETING")
	})
}

// TestDestinationOfDeletingTable: AWS complains about the state of the destination, not of the table, as recorded in
// https://github.com/aws-controllers-k8s/dynamodb-controller, DDB-TABLE-236.
func TestDestinationOfDeletingTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, engine.Options{TableDelay: 10 * time.Second, OnDeliveries: func() {}})
		createTable(t, e, musicTable())
		advance(10 * time.Second)
		enable := func(stream string) error {
			_, err := e.EnableKinesisStreamingDestination(t.Context(), &api.EnableKinesisStreamingDestinationInput{
				TableName: new("Music"), StreamArn: new("arn:aws:kinesis:us-east-1:000000000000:stream/" + stream),
			})
			return err
		}
		if err := enable("music"); err != nil {
			t.Fatal(err)
		}
		advance(10 * time.Second)
		if _, err := e.DeleteTable(t.Context(), &api.DeleteTableInput{TableName: new("Music")}); err != nil {
			t.Fatal(err)
		}
		for _, stream := range []string{"music", "other"} {
			if err := enable(stream); fmt.Sprint(err) != apierr.DestinationNotDisabled.With().Error() {
				t.Errorf("enabling %s: %v", stream, err)
			}
		}
		_, err := e.DisableKinesisStreamingDestination(t.Context(), &api.DisableKinesisStreamingDestinationInput{
			TableName: new("Music"), StreamArn: new("arn:aws:kinesis:us-east-1:000000000000:stream/music"),
		})
		if fmt.Sprint(err) != apierr.DestinationNotActive.With().Error() {
			t.Errorf("disabling: %v", err)
		}
		out, err := e.UpdateKinesisStreamingDestination(t.Context(), &api.UpdateKinesisStreamingDestinationInput{
			TableName: new("Music"), StreamArn: new("arn:aws:kinesis:us-east-1:000000000000:stream/music"),
			UpdateKinesisStreamingConfiguration: &api.UpdateKinesisStreamingConfiguration{ApproximateCreationDateTimePrecision: new("MICROSECOND")},
		})
		if err != nil || *out.DestinationStatus != "UPDATING" {
			t.Errorf("updating: %v, %v", out, err)
		}
	})
}

// TestScalingOfCreatingIndex: on AWS an index that is being created does not exist for auto scaling, as recorded in
// https://github.com/aws-controllers-k8s/dynamodb-controller, DDB-TABLE-323.
func TestScalingOfCreatingIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		delay := func(_ string, o *engine.Options) { o.TableDelay = 10 * time.Second }
		w := openWorld(t, kv.Checked(memkv.New()), delay, "eu-west-1")
		defer w.close(t)
		createTable(t, w[home], musicTable())
		w.awaitActive(t, home)
		w.addReplica(t, home, "eu-west-1")
		w.awaitActive(t, home)
		createIndex(t, w[home], "idx")
		off := &api.AutoScalingSettingsUpdate{AutoScalingDisabled: new(true)}
		_, err := w[home].UpdateTableReplicaAutoScaling(t.Context(), &api.UpdateTableReplicaAutoScalingInput{
			TableName: new("Music"),
			GlobalSecondaryIndexUpdates: []api.GlobalSecondaryIndexAutoScalingUpdate{
				{IndexName: new("idx"), ProvisionedWriteCapacityAutoScalingUpdate: off},
			},
		})
		if want := apierr.ScalingIndexMissing.With("Music", "idx").Error(); fmt.Sprint(err) != want {
			t.Errorf("writes: %v, want %s", err, want)
		}
		_, err = w[home].UpdateTableReplicaAutoScaling(t.Context(), &api.UpdateTableReplicaAutoScalingInput{
			TableName: new("Music"),
			ReplicaUpdates: []api.ReplicaAutoScalingUpdate{{
				RegionName: new("eu-west-1"),
				ReplicaGlobalSecondaryIndexUpdates: []api.ReplicaGlobalSecondaryIndexAutoScalingUpdate{
					{IndexName: new("idx"), ProvisionedReadCapacityAutoScalingUpdate: off},
				},
			}},
		})
		if want := apierr.ScalingReadsMissing.With("Music", "idx", "eu-west-1").Error(); fmt.Sprint(err) != want {
			t.Errorf("reads: %v, want %s", err, want)
		}
	})
}
