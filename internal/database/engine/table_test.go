package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// openOn opens an engine on a store that outlives it.
func openOn(tb testing.TB, store kv.Store, o engine.Options) *engine.Engine {
	tb.Helper()
	e, err := engine.Open(tb.Context(), kept{store}, o)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// newEngine opens an engine on an empty checked store and closes it when the test ends.
func newEngine(t *testing.T, o engine.Options) *engine.Engine {
	t.Helper()
	e := openOn(t, kv.Checked(memkv.New()), o)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func musicTable(indexes ...string) *api.CreateTableInput {
	in := &api.CreateTableInput{
		TableName:            new("Music"),
		BillingMode:          new("PAY_PER_REQUEST"),
		AttributeDefinitions: []api.AttributeDefinition{{AttributeName: new("pk"), AttributeType: new("S")}},
		KeySchema:            []api.KeySchemaElement{{AttributeName: new("pk"), KeyType: new("HASH")}},
	}
	for _, name := range indexes {
		x, a := globalIndex(name)
		in.AttributeDefinitions = append(in.AttributeDefinitions, a)
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, api.GlobalSecondaryIndex(x))
	}
	return in
}

// globalIndex is an index by a string attribute of the same name.
func globalIndex(name string) (api.CreateGlobalSecondaryIndexAction, api.AttributeDefinition) {
	return api.CreateGlobalSecondaryIndexAction{
		IndexName:  &name,
		KeySchema:  []api.KeySchemaElement{{AttributeName: &name, KeyType: new("HASH")}},
		Projection: &api.Projection{ProjectionType: new("ALL")},
	}, api.AttributeDefinition{AttributeName: &name, AttributeType: new("S")}
}

func createIndex(t *testing.T, e *engine.Engine, name string) {
	t.Helper()
	x, a := globalIndex(name)
	_, err := e.UpdateTable(t.Context(), &api.UpdateTableInput{
		TableName:                   new("Music"),
		AttributeDefinitions:        []api.AttributeDefinition{a},
		GlobalSecondaryIndexUpdates: []api.GlobalSecondaryIndexUpdate{{Create: &x}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func createTable(t *testing.T, e *engine.Engine, in *api.CreateTableInput) {
	t.Helper()
	if _, err := e.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

func putMusic(ctx context.Context, e *engine.Engine, fields ...attr.Field) error {
	it, ok := attr.NewItem(fields)
	if !ok {
		return errors.New("a name repeats")
	}
	_, err := e.PutItem(ctx, &api.PutItemInput{TableName: new("Music"), Item: it})
	return err
}

func field(name, text string) attr.Field { return attr.Field{Name: name, Value: attr.String(text)} }

// status returns the statuses of the table and its indexes.
func status(t *testing.T, e *engine.Engine) string {
	t.Helper()
	out, err := e.DescribeTable(t.Context(), &api.DescribeTableInput{TableName: new("Music")})
	if err != nil {
		return err.Error()
	}
	text := *out.Table.TableStatus
	for _, x := range out.Table.GlobalSecondaryIndexes {
		text += " " + *x.IndexName + "=" + *x.IndexStatus
		if x.Backfilling != nil {
			text += fmt.Sprintf("(backfilling %t)", *x.Backfilling)
		}
	}
	return text
}

func wantStatus(t *testing.T, e *engine.Engine, want string) {
	t.Helper()
	if got := status(t, e); got != want {
		t.Errorf("status is %q, want %q", got, want)
	}
}

func wantVerified(t *testing.T, e *engine.Engine) verify.Verified {
	t.Helper()
	done, err := e.Verify(t.Context(), func(f verify.Finding) { t.Error(f) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// TestTableDelay shows the states in a table's life cycle when they take time.
func TestTableDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, engine.Options{TableDelay: 10 * time.Second})
		createTable(t, e, musicTable("a"))
		wantStatus(t, e, "CREATING a=CREATING")
		const noTable = "ResourceNotFoundException: Requested resource not found"
		if err := putMusic(t.Context(), e, field("pk", "1")); err == nil || err.Error() != noTable {
			t.Errorf("a write to a table that is being created: %v", err)
		}
		_, err := e.DeleteTable(t.Context(), &api.DeleteTableInput{TableName: new("Music")})
		const creating = "ResourceInUseException: Attempt to change a resource which is still in use: Table is being created: Music"
		if err == nil || err.Error() != creating {
			t.Errorf("deletion of a table that is being created: %v", err)
		}
		advance(10 * time.Second)
		wantStatus(t, e, "ACTIVE a=ACTIVE")
		if err := putMusic(t.Context(), e, field("pk", "1"), field("b", "x")); err != nil {
			t.Error(err)
		}

		createIndex(t, e, "b")
		wantStatus(t, e, "UPDATING a=ACTIVE b=CREATING(backfilling false)")
		if err := putMusic(t.Context(), e, field("pk", "2"), field("b", "x")); err != nil {
			t.Error(err)
		}
		_, err = e.DeleteTable(t.Context(), &api.DeleteTableInput{TableName: new("Music")})
		if err == nil || !strings.HasSuffix(err.Error(), "Cannot delete table while indexes are being created, updated, or deleted.") {
			t.Errorf("deletion of a table that is being updated: %v", err)
		}
		advance(11 * time.Second)
		wantStatus(t, e, "ACTIVE a=ACTIVE b=ACTIVE")
		if done := wantVerified(t, e); done.IndexEntries != 2 {
			t.Errorf("%d index entries, want 2", done.IndexEntries)
		}

		if _, err := e.DeleteTable(t.Context(), &api.DeleteTableInput{TableName: new("Music")}); err != nil {
			t.Fatal(err)
		}
		wantStatus(t, e, "DELETING a=DELETING b=DELETING")
		_, err = e.DeleteTable(t.Context(), &api.DeleteTableInput{TableName: new("Music")})
		const deleting = "ResourceInUseException: Attempt to change a resource which is still in use: Table is being deleted: Music"
		if err == nil || err.Error() != deleting {
			t.Errorf("deletion of a table that is being deleted: %v", err)
		}
		if err := putMusic(t.Context(), e, field("pk", "1")); err == nil || err.Error() != noTable {
			t.Errorf("a write to a table that is being deleted: %v", err)
		}
		if _, err := e.CreateTable(t.Context(), musicTable()); err == nil {
			t.Error("a table was created although one with its name exists")
		}
		advance(11 * time.Second)
		wantStatus(t, e, "ResourceNotFoundException: Requested resource not found: Table: Music not found")
		createTable(t, e, musicTable())
		advance(10 * time.Second)
		if done := wantVerified(t, e); done.Items != 0 {
			t.Errorf("the new table has %d items", done.Items)
		}
	})
}

// TestUpdateWhileUpdating: of an UPDATING table, settings that are independent of its throughput, indexes and stream can be
// changed, and only one index at a time is created or deleted (DDB-TABLE-002, 119, 159, 163, 234, 376, 444).
func TestUpdateWhileUpdating(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, engine.Options{TableDelay: 10 * time.Second, OnDeliveries: func() {}})
		createTable(t, e, musicTable("a"))
		advance(10 * time.Second)
		const inUse = "ResourceInUseException: Attempt to change a resource which is still in use: "
		const oneAtATime = "LimitExceededException: Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
		want := func(in *api.UpdateTableInput, want string) {
			t.Helper()
			in.TableName = new("Music")
			out, err := e.UpdateTable(t.Context(), in)
			switch {
			case want == "" && err != nil:
				t.Error(err)
			case want == "" && *out.TableDescription.TableStatus != "UPDATING":
				t.Errorf("the response says %s", *out.TableDescription.TableStatus)
			case want != "" && (err == nil || err.Error() != want):
				t.Errorf("got  %v\nwant %s", err, want)
			}
		}
		addIndex := func(name string) *api.UpdateTableInput {
			x, a := globalIndex(name)
			return &api.UpdateTableInput{
				AttributeDefinitions:        []api.AttributeDefinition{a},
				GlobalSecondaryIndexUpdates: []api.GlobalSecondaryIndexUpdate{{Create: &x}},
			}
		}
		dropIndex := func(name string) *api.UpdateTableInput {
			return &api.UpdateTableInput{GlobalSecondaryIndexUpdates: []api.GlobalSecondaryIndexUpdate{{
				Delete: &api.DeleteGlobalSecondaryIndexAction{IndexName: &name},
			}}}
		}
		want(&api.UpdateTableInput{StreamSpecification: &api.StreamSpecification{StreamEnabled: new(true), StreamViewType: new("KEYS_ONLY")}}, "")
		want(&api.UpdateTableInput{OnDemandThroughput: &api.OnDemandThroughput{MaxReadRequestUnits: new(int64(5))}}, inUse+"Table is being updated: Music")
		want(&api.UpdateTableInput{DeletionProtectionEnabled: new(true)}, "")
		want(&api.UpdateTableInput{SSESpecification: &api.SSESpecification{Enabled: new(true)}}, "")
		want(&api.UpdateTableInput{WarmThroughput: &api.WarmThroughput{ReadUnitsPerSecond: new(int64(13000))}}, "")
		if _, err := e.UpdateTimeToLive(t.Context(), &api.UpdateTimeToLiveInput{
			TableName: new("Music"), TimeToLiveSpecification: &api.TimeToLiveSpecification{Enabled: new(true), AttributeName: new("exp")},
		}); err != nil {
			t.Error(err)
		}
		if _, err := e.PutResourcePolicy(t.Context(), &api.PutResourcePolicyInput{
			ResourceArn: new("arn:aws:dynamodb:us-east-1:000000000000:table/Music"),
			Policy:      new(`{"Statement":{"Effect":"Allow","Principal":{"AWS":"123456789012"},"Action":"dynamodb:GetItem","Resource":"*"}}`),
		}); err != nil {
			t.Error(err)
		}
		if _, err := e.EnableKinesisStreamingDestination(t.Context(), &api.EnableKinesisStreamingDestinationInput{
			TableName: new("Music"), StreamArn: new("arn:aws:kinesis:us-east-1:000000000000:stream/music"),
		}); err != nil {
			t.Error(err)
		}
		advance(10 * time.Second)

		createIndex(t, e, "b")
		want(&api.UpdateTableInput{DeletionProtectionEnabled: new(false)}, "")
		want(addIndex("c"), oneAtATime)
		want(dropIndex("a"), oneAtATime)
		want(dropIndex("b"), inUse+"Index creation is in resource allocation phase. Retry deletion during backfilling phase or when the index is active. Table: Music Index: b")
		advance(11 * time.Second)
		want(dropIndex("b"), "")
		want(addIndex("b"), inUse+"Index is being deleted. Table: Music Index: b")
		want(dropIndex("b"), inUse+"Index is being deleted. Table: Music Index: b")
		want(addIndex("c"), oneAtATime)
	})
}

// TestProtectionKeepsShownThroughput: a change of deletion protection does not show new throughput before its time.
func TestProtectionKeepsShownThroughput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, engine.Options{TableDelay: 10 * time.Second})
		createTable(t, e, provisioned())
		advance(10 * time.Second)
		updating, index := state{"UPDATING", 10, false}, state{"ACTIVE", 2, false}
		wantThroughput(t, update(t, e, &api.UpdateTableInput{ProvisionedThroughput: units(30, 15)}), updating, index)
		wantThroughput(t, update(t, e, &api.UpdateTableInput{DeletionProtectionEnabled: new(true)}), updating, index)
		wantThroughput(t, describe(t, e), updating, index)
	})
}

// advance lets time pass in a synctest bubble and waits for its effects.
func advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// TestCreateRace: of many concurrent creations of one table, one succeeds.
func TestCreateRace(t *testing.T) {
	e := newEngine(t, engine.Options{TTLInterval: -1})
	results := make(chan error, 16)
	for range cap(results) {
		go func() {
			_, err := e.CreateTable(t.Context(), musicTable())
			results <- err
		}()
	}
	created := 0
	for range cap(results) {
		err := <-results
		var known *apierr.Error
		switch {
		case err == nil:
			created++
		case !errors.As(err, &known) || known.Code != apierr.ResourceInUseException:
			t.Error(err)
		}
	}
	if created != 1 {
		t.Errorf("%d tables were created", created)
	}
}

// TestMaxTables creates the maximum number of tables of an account, and one more.
func TestMaxTables(t *testing.T) {
	e := openOn(t, memkv.New(), engine.Options{TTLInterval: -1})
	defer e.Close()
	in := musicTable()
	for i := range 2500 {
		in.TableName = new(fmt.Sprintf("table%d", i))
		createTable(t, e, in)
	}
	in.TableName = new("onemore")
	_, err := e.CreateTable(t.Context(), in)
	want := "LimitExceededException: Subscriber limit exceeded: There is a limit of 2500 tables per subscriber"
	if err == nil || err.Error() != want {
		t.Errorf("one table too many: %v", err)
	}
	if _, err := e.DeleteTable(t.Context(), &api.DeleteTableInput{TableName: new("table7")}); err != nil {
		t.Fatal(err)
	}
	createTable(t, e, in)
}
