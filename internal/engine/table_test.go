package engine_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/dynamo/api"
	"github.com/monotable/monotable/internal/dynamo/apierr"
	"github.com/monotable/monotable/internal/dynamo/attr"
	"github.com/monotable/monotable/internal/engine"
	"github.com/monotable/monotable/internal/storage/keyenc"
	"github.com/monotable/monotable/internal/storage/kv"
	"github.com/monotable/monotable/internal/storage/kv/memkv"
)

// openOn opens an engine on a store that outlives it.
func openOn(t *testing.T, store kv.Store, o engine.Options) *engine.Engine {
	t.Helper()
	e, err := engine.Open(t.Context(), kept{store}, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// newEngine opens an engine on an empty checked store for the length of the test.
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

// status is the table's status and those of its indexes.
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

func wantVerified(t *testing.T, e *engine.Engine) engine.Verified {
	t.Helper()
	done, err := e.Verify(t.Context(), func(f engine.Finding) { t.Error(f) })
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// TestTableDelay shows the states of a table's life when they take time.
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
		if err == nil || !strings.HasSuffix(err.Error(), "Table is being updated: Music") {
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
		if _, err := e.DeleteTable(t.Context(), &api.DeleteTableInput{TableName: new("Music")}); err != nil {
			t.Errorf("deletion of a table that is being deleted: %v", err)
		}
		if err := putMusic(t.Context(), e, field("pk", "1")); err == nil || err.Error() != noTable {
			t.Errorf("a write to a table that is being deleted: %v", err)
		}
		if _, err := e.CreateTable(t.Context(), musicTable()); err == nil {
			t.Error("a table was created while one of its name was there")
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

// advance lets time pass in a synctest bubble and waits for what that sets going.
func advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// TestGSIDelay shows that index reads lag behind and table reads do not.
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

// TestBackfillUnderWrites creates and deletes indexes while items are written, deleted and moved between
// index keys, with restarts in between, and proves everything at the end.
func TestBackfillUnderWrites(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			open := s.open(t)
			start := func() *engine.Engine {
				e, err := engine.Open(t.Context(), kv.Checked(open()), engine.Options{TTLInterval: -1})
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
			e := start()
			createTable(t, e, musicTable())
			for i := range 300 {
				if err := putMusic(t.Context(), e, field("pk", fmt.Sprint(i)), field("a", fmt.Sprint(i%7)), field("b", "x")); err != nil {
					t.Fatal(err)
				}
			}
			for round := range uint64(3) {
				var writers sync.WaitGroup
				for w := range uint64(3) {
					random := rand.New(rand.NewPCG(seed, round*10+w))
					writers.Go(func() { writeRandomly(t, e, random) })
				}
				createIndex(t, e, "a")
				e.Settle()
				createIndex(t, e, "b")
				writers.Wait()
				if err := e.Close(); err != nil { // perhaps in the middle of the backfill
					t.Fatal(err)
				}
				e = start()
				e.Settle()
				wantStatus(t, e, "ACTIVE a=ACTIVE b=ACTIVE")
				if done := wantVerified(t, e); done.IndexEntries < done.Items {
					t.Errorf("%d items have %d entries", done.Items, done.IndexEntries)
				}
				deleteIndex(t, e, "a")
				e.Settle()
				deleteIndex(t, e, "b")
				e.Settle()
				if done := wantVerified(t, e); done.IndexEntries != 0 {
					t.Errorf("deleted indexes have %d entries", done.IndexEntries)
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func deleteIndex(t *testing.T, e *engine.Engine, name string) {
	t.Helper()
	_, err := e.UpdateTable(t.Context(), &api.UpdateTableInput{
		TableName:                   new("Music"),
		GlobalSecondaryIndexUpdates: []api.GlobalSecondaryIndexUpdate{{Delete: &api.DeleteGlobalSecondaryIndexAction{IndexName: &name}}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func writeRandomly(t *testing.T, e *engine.Engine, random *rand.Rand) {
	t.Helper()
	for range 400 {
		pk := fmt.Sprint(random.IntN(400))
		var err error
		if random.IntN(4) == 0 {
			_, err = e.DeleteItem(t.Context(), &api.DeleteItemInput{
				TableName: new("Music"), Key: attr.Item{field("pk", pk)},
			})
		} else {
			fields := []attr.Field{field("pk", pk), field("a", fmt.Sprint(random.IntN(7)))}
			if random.IntN(2) == 0 {
				fields = append(fields, field("b", fmt.Sprint(random.IntN(3))))
			}
			err = putMusic(t.Context(), e, fields...)
		}
		if err != nil {
			t.Error(err)
			return
		}
	}
}

// TestCreateRace lets many create one table: one succeeds.
func TestCreateRace(t *testing.T) {
	e := newEngine(t, engine.Options{TTLInterval: -1})
	results := make(chan error, 16)
	for range cap(results) {
		go func() {
			_, err := e.CreateTable(t.Context(), musicTable())
			results <- err
		}()
	}
	made := 0
	for range cap(results) {
		err := <-results
		var known *apierr.Error
		switch {
		case err == nil:
			made++
		case !errors.As(err, &known) || known.Code != apierr.ResourceInUseException:
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("%d tables were made", made)
	}
}

// TestNewerFormat opens a store that a newer program wrote.
func TestNewerFormat(t *testing.T) {
	store := memkv.New()
	set(t, store, keyenc.FormatVersion(), binary.BigEndian.AppendUint64(nil, 2))
	_, err := engine.Open(t.Context(), kept{store}, engine.Options{})
	want := "engine: the store has format version 2 and this program knows versions up to 1: open it with the program that " +
		"wrote it, or a newer one"
	if err == nil || err.Error() != want {
		t.Errorf("Open: %v", err)
	}
	if _, err := engine.Verify(t.Context(), store, nil); err == nil || err.Error() != want {
		t.Errorf("Verify: %v", err)
	}

	store = memkv.New()
	set(t, store, keyenc.TableDescriptor("Music"), []byte(`{"format":2,"name":"Music"}`))
	_, err = engine.Open(t.Context(), kept{store}, engine.Options{})
	want = `catalog: table "Music" is stored in format 2 and this program knows formats up to 1: open it with the program ` +
		"that wrote it, or a newer one"
	if err == nil || err.Error() != want {
		t.Errorf("Open: %v", err)
	}
}

// set writes past the engine; a nil value deletes.
func set(t *testing.T, store kv.Store, key, value []byte) {
	t.Helper()
	err := store.Update(t.Context(), kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
		if value == nil {
			txn.Delete(key)
		} else {
			txn.Set(key, value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestVerifyFinds damages a store in every way and looks at what Verify says of it.
func TestVerifyFinds(t *testing.T) {
	pk := attr.String("1")
	item := keyenc.Item(nil, 1, pk, attr.Value{})
	entry := keyenc.IndexEntry(nil, 1, 1, []attr.Value{attr.String("x")}, nil, pk, attr.Value{})
	elsewhere := keyenc.IndexEntry(nil, 1, 1, []attr.Value{attr.String("y")}, nil, pk, attr.Value{})
	ttl := keyenc.TTL(nil, 1, 2_000_000_000, pk, attr.Value{})
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, store kv.Store)
		want   []string
	}{
		{"none", func(*testing.T, kv.Store) {}, nil},
		{"item gone", func(t *testing.T, s kv.Store) { set(t, s, item, nil) }, []string{
			"Music: there are 0 items of 0 bytes, and 1 of 10 bytes are counted",
			"Music/a: the entry has no item: data/table 1/index 1/hash",
			`Music: the TTL entry has no item that expires then: ttl/table 1/2000000000/"1"`,
		}},
		{"item not readable", func(t *testing.T, s kv.Store) { set(t, s, item, []byte("?")) }, []string{
			"Music: the item cannot be read: ",
			"Music: there are 0 items of 0 bytes, and 1 of 10 bytes are counted",
			"Music/a: the entry's item belongs elsewhere in the index",
			"Music: the TTL entry has no item that expires then",
		}},
		{"entry gone", func(t *testing.T, s kv.Store) { set(t, s, entry, nil) }, []string{
			"Music/a: the item has no entry in the index",
			"Music/a: there are 0 items of 0 bytes, and 1 of 10 bytes are counted",
		}},
		{"entry elsewhere", func(t *testing.T, s kv.Store) {
			value, err := s.Get(t.Context(), entry)
			if err != nil {
				t.Fatal(err)
			}
			set(t, s, elsewhere, value)
		}, []string{
			"Music/a: the entry's item belongs elsewhere in the index",
			"Music/a: there are 2 items of 20 bytes, and 1 of 10 bytes are counted",
		}},
		{"TTL entry gone", func(t *testing.T, s kv.Store) { set(t, s, ttl, nil) }, []string{
			"Music: the item expires and has no TTL entry",
		}},
		{"count wrong", func(t *testing.T, s kv.Store) {
			err := s.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error {
				txn.Add(keyenc.Statistics(1, 1), 1, 0)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}, []string{"Music/a: there are 1 items of 10 bytes, and 2 of 10 bytes are counted"}},
		{"table gone", func(t *testing.T, s kv.Store) { set(t, s, keyenc.TableDescriptor("Music"), nil) }, []string{
			"store: there is something of a table or index that is not there: data/table 1/index 0",
			"store: there is something of a table or index that is not there: data/table 1/index 1",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := memkv.New()
			e := openOn(t, store, engine.Options{TTLInterval: -1})
			createTable(t, e, musicTable("a"))
			_, err := e.UpdateTimeToLive(t.Context(), &api.UpdateTimeToLiveInput{
				TableName:               new("Music"),
				TimeToLiveSpecification: &api.TimeToLiveSpecification{Enabled: new(true), AttributeName: new("exp")},
			})
			if err != nil {
				t.Fatal(err)
			}
			e.Settle()
			err = putMusic(t.Context(), e, field("pk", "1"), field("a", "x"), attr.Field{Name: "exp", Value: attr.Number("2000000000")})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			c.damage(t, store)
			var got []string
			done, err := engine.Verify(t.Context(), store, func(f engine.Finding) { got = append(got, f.String()) })
			if err != nil {
				t.Fatal(err)
			}
			if int(done.Findings) != len(got) {
				t.Errorf("%d findings were counted", done.Findings)
			}
			if !prefixes(c.want, got) {
				t.Errorf("findings (-want +got):\n%s", cmp.Diff(c.want, got))
			}
		})
	}
}

// prefixes reports whether each text begins as wanted.
func prefixes(want, got []string) bool {
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			return false
		}
	}
	return true
}
