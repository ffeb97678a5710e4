package engine_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/derive"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// ordersTable has every kind of index: local ones, keys of several attributes, all projections.
const ordersTable = `{"TableName":"Orders","BillingMode":"PAY_PER_REQUEST",
 "AttributeDefinitions":[{"AttributeName":"customer","AttributeType":"S"},{"AttributeName":"number","AttributeType":"N"},
  {"AttributeName":"state","AttributeType":"S"},{"AttributeName":"city","AttributeType":"B"},{"AttributeName":"total","AttributeType":"N"}],
 "KeySchema":[{"AttributeName":"customer","KeyType":"HASH"},{"AttributeName":"number","KeyType":"RANGE"}],
 "LocalSecondaryIndexes":[
  {"IndexName":"byTotal","KeySchema":[{"AttributeName":"customer","KeyType":"HASH"},{"AttributeName":"total","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
 "GlobalSecondaryIndexes":[
  {"IndexName":"all","KeySchema":[{"AttributeName":"state","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}},
  {"IndexName":"some","KeySchema":[{"AttributeName":"state","KeyType":"HASH"},{"AttributeName":"city","KeyType":"HASH"},
    {"AttributeName":"total","KeyType":"RANGE"},{"AttributeName":"number","KeyType":"RANGE"}],
   "Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["note"]}}]}`

// orders returns a closed store with a table of orders, some of which lack attributes of indexes.
func orders(t *testing.T) kv.Store {
	t.Helper()
	store := memkv.New()
	e := openOn(t, store, engine.Options{TTLInterval: -1})
	send(t, e, "create-table", ordersTable)
	send(t, e, "update-time-to-live", `{"TableName":"Orders","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"until"}}`)
	e.Settle()
	for _, item := range []string{
		`"customer":{"S":"ada"},"number":{"N":"1"},"state":{"S":"open"},"city":{"B":"AAE="},"total":{"N":"-12.5"},"note":{"S":"n"},"more":{"L":[{"N":"1"}]}`,
		`"customer":{"S":"ada"},"number":{"N":"20"},"state":{"S":"open"},"city":{"B":"Ag=="},"total":{"N":"100"},"until":{"N":"2000000000.25"}`,
		`"customer":{"S":"ada"},"number":{"N":"3"},"total":{"N":"0"}`,
		`"customer":{"S":"bob"},"number":{"N":"-7"},"state":{"S":"done"},"city":{"B":"Aw=="},"note":{"NULL":true},"until":{"N":"1999999999"}`,
		`"customer":{"S":"bob"},"number":{"N":"0.001"},"state":{"S":"done"},"city":{"B":"Aw=="},"total":{"N":"1"},"until":{"S":"never"}`,
	} {
		send(t, e, "put-item", `{"TableName":"Orders","Item":{`+item+`}}`)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return store
}

// derivation is how a writer derives what follows from an item. The zero value is correct.
type derivation struct {
	table  func(*catalog.Table) // changes the writers' view of the table's definition
	key    func(t *catalog.Table, x *catalog.Index, key []byte) []byte
	value  func(x *catalog.Index, projected itemenc.Item) itemenc.Item
	second func(second int64) int64
}

// rederive replaces everything derived from the items of the only table, including counters, using a derivation.
func (d damaged) rederive(how derivation) {
	d.t.Helper()
	snapshot, err := d.store.Snapshot(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	defer snapshot.Close()
	tables, err := catalog.Load(snapshot)
	if err != nil || len(tables) != 1 {
		d.t.Fatal(len(tables), err)
	}
	for _, t := range tables {
		base := *t
		if how.table != nil {
			how.table(t)
		}
		d.dropDerived(t)
		lo, hi := keyenc.IndexBounds(t.ID, 0)
		it := snapshot.Iter(lo, hi, kv.IterOptions{})
		for it.Next() {
			d.derive(&base, t, bytes.Clone(it.Value()), how)
		}
		if err := it.Err(); err != nil {
			d.t.Fatal(err)
		}
		it.Close()
	}
}

func (d damaged) dropDerived(t *catalog.Table) {
	d.t.Helper()
	_, end := keyenc.TableBounds(t.ID)
	_, first := keyenc.IndexBounds(t.ID, 0)
	ttlLo, ttlHi := keyenc.TTLTableBounds(t.ID)
	countLo, countHi := keyenc.StatisticsBounds(t.ID)
	for _, r := range [][2][]byte{{first, end}, {ttlLo, ttlHi}, {countLo, countHi}} {
		if err := d.store.DeleteRange(d.t.Context(), r[0], r[1]); err != nil {
			d.t.Fatal(err)
		}
	}
}

// derive writes what is derived from one item.
func (d damaged) derive(base, t *catalog.Table, stored itemenc.Item, how derivation) {
	d.t.Helper()
	pk, sk, err := derive.PrimaryKey(base, stored)
	if err != nil {
		d.t.Fatal(err)
	}
	local := int64(0)
	for _, x := range t.Indexes {
		e, ok, err := derive.EntryOf(t, x, stored)
		if err != nil {
			d.t.Fatal(err)
		}
		if !ok {
			continue
		}
		if how.key != nil {
			e.Key = how.key(t, x, e.Key)
		}
		projected := itemenc.Item(e.Value)
		if how.value != nil {
			projected = how.value(x, projected)
		}
		if x.Kind == catalog.Local {
			local += int64(projected.Size())
		}
		d.set(e.Key, projected)
		d.update(nil, func(txn kv.Txn) { txn.Add(keyenc.Statistics(t.ID, x.ID), 1, int64(projected.Size())) })
	}
	d.update(nil, func(txn kv.Txn) {
		txn.Add(keyenc.Statistics(t.ID, 0), 1, int64(stored.Size()))
		txn.Add(keyenc.Collection(t.ID, pk), local+int64(stored.Size()))
	})
	if second, ok, err := derive.Expiry(t, stored); err != nil {
		d.t.Fatal(err)
	} else if ok {
		if how.second != nil {
			second = how.second(second)
		}
		d.set(keyenc.TTL(nil, t.ID, second, pk, sk), []byte{})
	}
}

// findings returns the verifier's findings in a store.
func findings(t *testing.T, store kv.Store) []string {
	t.Helper()
	var found []string
	_, err := verify.Run(t.Context(), store, func(f verify.Finding) { found = append(found, f.String()) }, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestVerifyFindsWrongDerivation stores what writers with a wrong derivation would have stored, which is consistent in itself,
// including counters. A verifier that used the writers' derivation would find nothing.
func TestVerifyFindsWrongDerivation(t *testing.T) {
	index := func(name string, change func(*catalog.Index)) func(*catalog.Table) {
		return func(t *catalog.Table) { change(t.Index(name)) }
	}
	without := func(name string) func(*catalog.Index) {
		return func(x *catalog.Index) {
			x.Projected = slices.DeleteFunc(x.Projected, func(n string) bool { return n == name })
		}
	}
	entriesOf := func(name string, change func(itemenc.Item) itemenc.Item) func(*catalog.Index, itemenc.Item) itemenc.Item {
		return func(x *catalog.Index, e itemenc.Item) itemenc.Item {
			if x.Name == name {
				return change(e)
			}
			return e
		}
	}
	for _, c := range []struct {
		name string
		how  derivation
		want string // the expected part of a finding; "" for none
	}{
		{"right", derivation{}, ""},
		{"projection lacks an attribute", derivation{table: index("some", without("note"))}, `some: the entry is not what its item makes: it lacks the attribute "note"`},
		{"projection lacks a key", derivation{table: index("byTotal", without("number"))}, `byTotal: the entry is not what its item makes: it lacks the attribute "number"`},
		{"projection has too much", derivation{table: index("byTotal", func(x *catalog.Index) {
			x.Projected = []string{"customer", "note", "number", "total"}
		})}, `byTotal: the entry is not what its item makes: it has the attribute "note"`},
		{"all instead of some", derivation{table: index("some", func(x *catalog.Index) { x.All = true })}, `some: the entry is not what its item makes: it has the attribute "more"`},
		{"keys instead of all", derivation{table: index("all", func(x *catalog.Index) {
			x.All, x.Projected = false, []string{"customer", "number", "state"}
		})}, `all: the entry is not what its item makes: it lacks the attribute "city"`},
		{"hash attributes swapped", derivation{table: index("some", func(x *catalog.Index) { slices.Reverse(x.PK) })}, "some: the item has no entry in the index"},
		{"range attributes swapped", derivation{table: index("some", func(x *catalog.Index) { slices.Reverse(x.SK) })}, "some: the entry's item belongs elsewhere in the index"},
		{"range attribute forgotten", derivation{table: index("some", func(x *catalog.Index) { x.SK = x.SK[:1] })}, "some: the item has no entry in the index"},
		{"hash attribute taken for range", derivation{table: index("some", func(x *catalog.Index) {
			x.PK, x.SK = x.PK[:1], append(x.PK[1:2:2], x.SK...)
		})}, "some: the item has no entry in the index"},
		{"item left out", derivation{table: index("all", func(x *catalog.Index) {
			x.SK = []catalog.KeyAttribute{{Name: "total", Kind: attr.KindNumber}}
		})}, "all: the item has no entry in the index"},
		{"item taken in", derivation{table: index("some", func(x *catalog.Index) { x.SK = x.SK[1:] })}, "some: the entry's item belongs elsewhere in the index"},
		{"base key swapped", derivation{table: func(t *catalog.Table) { t.PK, t.SK = t.SK, t.PK }}, "all: the item has no entry in the index"},
		{"index forgotten", derivation{table: func(t *catalog.Table) { t.Indexes = t.Indexes[:2] }}, "some: the item has no entry in the index"},
		{"number encoded as text", derivation{key: func(_ *catalog.Table, x *catalog.Index, key []byte) []byte {
			if x.Name != "byTotal" {
				return key
			}
			return bytes.ReplaceAll(key, keyenc.AppendSort(nil, attr.Number("100")), keyenc.AppendSort(nil, attr.String("100")))
		}}, "byTotal: the item has no entry in the index"},
		{"negative number ordered as a positive one", derivation{key: func(_ *catalog.Table, x *catalog.Index, key []byte) []byte {
			if x.Name != "byTotal" {
				return key
			}
			wrong := append([]byte{0x10}, keyenc.AppendSort(nil, attr.Number("12.5"))[1:]...)
			return bytes.ReplaceAll(key, keyenc.AppendSort(nil, attr.Number("-12.5")), wrong)
		}}, "byTotal: the item has no entry in the index"},
		{"hash of something else", derivation{key: func(_ *catalog.Table, x *catalog.Index, key []byte) []byte {
			key[7] ^= byte(x.ID & 1)
			return key
		}}, "byTotal: the item has no entry in the index"},
		{"value changed", derivation{value: entriesOf("some", func(e itemenc.Item) itemenc.Item {
			return itemenc.Item(strings.ReplaceAll(string(e), "note\x01\x01n", "note\x01\x01m"))
		})}, `some: the entry is not what its item makes: it has another value of "note"`},
		{"second rounded down", derivation{second: func(s int64) int64 { return s - s%2 - (1 - s%2) }}, "the item expires and has no TTL entry"},
		{"expiry of another attribute", derivation{table: func(t *catalog.Table) { t.TTLAttribute = "total" }}, "the TTL entry has no item that expires then"},
		{"expiry forgotten", derivation{table: func(t *catalog.Table) { t.TTLAttribute = "" }}, "the item expires and has no TTL entry"},
		{"not a local index", derivation{table: index("byTotal", func(x *catalog.Index) { x.Kind = catalog.Global })}, "the item collection has"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := orders(t)
			damaged{t, store}.rederive(c.how)
			found := findings(t, store)
			hit := slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, c.want) })
			if c.want == "" && len(found) > 0 || c.want != "" && !hit {
				t.Errorf("want %q, found %d:\n%s", c.want, len(found), strings.Join(found, "\n"))
			}
		})
	}
}
