package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/attr/attrtest"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// anything generates tables and items with a few attributes, each with the same type in all keys.
type anything struct {
	rng   *rand.Rand
	types map[string]string
}

var anyNames = []string{"a", "b", "c", "d", "e", "f", "g", "h"}

func newAnything(seed uint64) *anything {
	a := &anything{rng: rand.New(rand.NewPCG(seed, 0)), types: map[string]string{}}
	for _, name := range anyNames {
		a.types[name] = []string{"S", "N", "B"}[a.rng.IntN(3)]
	}
	return a
}

func (a *anything) names(least, most int) []string {
	names := slices.Clone(anyNames)
	a.rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:least+a.rng.IntN(most-least+1)]
}

func keySchema(hash, ranges []string) []api.KeySchemaElement {
	var keys []api.KeySchemaElement
	for _, name := range hash {
		keys = append(keys, api.KeySchemaElement{AttributeName: &name, KeyType: new("HASH")})
	}
	for _, name := range ranges {
		keys = append(keys, api.KeySchemaElement{AttributeName: &name, KeyType: new("RANGE")})
	}
	return keys
}

func (a *anything) definitions(keys ...[]api.KeySchemaElement) []api.AttributeDefinition {
	used := map[string]bool{}
	var out []api.AttributeDefinition
	for _, k := range slices.Concat(keys...) {
		if name := *k.AttributeName; !used[name] {
			used[name] = true
			out = append(out, api.AttributeDefinition{AttributeName: &name, AttributeType: new(a.types[name])})
		}
	}
	return out
}

func (a *anything) projection() *api.Projection {
	switch a.rng.IntN(3) {
	case 0:
		return &api.Projection{ProjectionType: new("ALL")}
	case 1:
		return &api.Projection{ProjectionType: new("KEYS_ONLY")}
	default:
		return &api.Projection{ProjectionType: new("INCLUDE"), NonKeyAttributes: a.names(1, 3)}
	}
}

// indexKeys are up to four attributes of either sort, no name twice.
func (a *anything) indexKeys() []api.KeySchemaElement {
	names := a.names(1, len(anyNames))
	hash := 1 + a.rng.IntN(min(4, len(names)))
	return keySchema(names[:hash], names[hash:min(len(names), hash+a.rng.IntN(5))])
}

func (a *anything) table() *api.CreateTableInput {
	names := a.names(2, 2)
	keys := keySchema(names[:1], names[1:1+a.rng.IntN(2)])
	in := &api.CreateTableInput{TableName: new("Anything"), BillingMode: new("PAY_PER_REQUEST"), KeySchema: keys}
	schemas := [][]api.KeySchemaElement{keys}
	for i := 0; len(keys) == 2 && i < a.rng.IntN(4); i++ {
		sort := a.names(1, 1)
		if sort[0] == names[0] {
			continue
		}
		x := keySchema(names[:1], sort)
		in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, api.LocalSecondaryIndex{
			IndexName: new(fmt.Sprintf("local%d", i)), KeySchema: x, Projection: a.projection(),
		})
		schemas = append(schemas, x)
	}
	for i := range a.rng.IntN(4) {
		x := a.indexKeys()
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, api.GlobalSecondaryIndex{
			IndexName: new(fmt.Sprintf("global%d", i)), KeySchema: x, Projection: a.projection(),
		})
		schemas = append(schemas, x)
	}
	in.AttributeDefinitions = a.definitions(schemas...)
	return in
}

// item returns an item whose attributes mostly have the types of keys, with few different values, and one that may make it
// expire.
func (a *anything) item(keys []api.KeySchemaElement) attr.Item {
	it := attr.Item{}
	for _, name := range a.names(3, len(anyNames)) {
		it = it.With(name, a.value(name))
	}
	for _, k := range keys {
		it = it.With(*k.AttributeName, a.value(*k.AttributeName))
	}
	if a.rng.IntN(4) > 0 {
		times := []string{"2000000000", "2000000000.125", "-0.5", "0", "9223372036854775806.5", "9223372036854775807", "1" + fmt.Sprintf("%0100d", 0)}
		it = it.With("until", attr.Number(times[a.rng.IntN(len(times))]))
	} else {
		it = it.With("until", attrtest.Value(a.rng))
	}
	return it
}

func (a *anything) value(name string) attr.Value {
	if a.rng.IntN(60) == 0 {
		return attrtest.Value(a.rng)
	}
	return attrtest.Key(rand.New(rand.NewPCG(uint64(a.rng.IntN(9)), 1)), attr.KindOf(a.types[name]))
}

// change makes one request that the engine may reject.
func (a *anything) change(t *testing.T, e *engine.Engine, keys []api.KeySchemaElement) error {
	t.Helper()
	it := a.item(keys)
	key := attr.Item{}
	for _, k := range keys {
		v, _ := it.Get(*k.AttributeName)
		key = key.With(*k.AttributeName, v)
	}
	table := new("Anything")
	var err error
	switch a.rng.IntN(5) {
	case 0:
		_, err = e.DeleteItem(t.Context(), &api.DeleteItemInput{TableName: table, Key: key})
	case 1:
		name := a.names(1, 1)[0]
		_, err = e.UpdateItem(t.Context(), &api.UpdateItemInput{
			TableName: table, Key: key,
			UpdateExpression:          new("SET #n = :v REMOVE until"),
			ExpressionAttributeNames:  map[string]string{"#n": name},
			ExpressionAttributeValues: attr.Item{{Name: ":v", Value: a.value(name)}},
		})
	default:
		_, err = e.PutItem(t.Context(), &api.PutItemInput{TableName: table, Item: it})
	}
	return err
}

// addIndex adds an index to a table with items, some of which do not fit it.
func (a *anything) addIndex(t *testing.T, e *engine.Engine) {
	t.Helper()
	keys := a.indexKeys()
	_, err := e.UpdateTable(t.Context(), &api.UpdateTableInput{
		TableName: new("Anything"), AttributeDefinitions: a.definitions(keys),
		GlobalSecondaryIndexUpdates: []api.GlobalSecondaryIndexUpdate{{Create: &api.CreateGlobalSecondaryIndexAction{
			IndexName: new("added"), KeySchema: keys, Projection: a.projection(),
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// dropAndRestore makes a backup, removes an index, and restores the backup to a new table.
func (a *anything) dropAndRestore(t *testing.T, e *engine.Engine) {
	t.Helper()
	arn := mustBackUp(t, e, "Anything")
	send(t, e, "update-table", `{"TableName":"Anything","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"added"}}]}`)
	if err := restoreBackup(t.Context(), e, arn, "Restored"); err != nil {
		t.Fatal(err)
	}
	e.Settle()
}

// TestVerifyFindsNothing: whatever tables and items the engine accepts, verification finds nothing, including while an index is
// added to existing items, after one is removed, and in a copy restored from a backup.
func TestVerifyFindsNothing(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	entries, expiring := int64(0), int64(0)
	for run := range uint64(60) {
		a := newAnything(seed + run)
		e := openOn(t, memkv.New(), engine.Options{TTLInterval: -1})
		in := a.table()
		createTable(t, e, in)
		accepted := 0
		for step := range 60 {
			if step == 20 {
				send(t, e, "update-time-to-live", `{"TableName":"Anything","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"until"}}`)
			}
			if step == 40 {
				a.addIndex(t, e)
			}
			if a.change(t, e, in.KeySchema) == nil {
				accepted++
			}
		}
		wantVerified(t, e) // possibly while the index is built
		e.Settle()
		a.dropAndRestore(t, e)
		done := wantVerified(t, e)
		entries, expiring = entries+done.IndexEntries, expiring+done.TTLEntries
		if accepted == 0 {
			t.Errorf("seed %d: the engine refused every change", seed+run)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if entries < 300 || expiring < 30 {
		t.Errorf("only %d index entries and %d TTL entries were there to verify", entries, expiring)
	}
}
