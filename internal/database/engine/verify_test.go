package engine_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// damaged is a store that is modified bypassing the engine.
type damaged struct {
	t     *testing.T
	store kv.Store
}

// set sets a key, or deletes it if value is nil.
func (d damaged) set(key, value []byte) {
	d.t.Helper()
	d.update(key, func(txn kv.Txn) {
		if value == nil {
			txn.Delete(key)
		} else {
			txn.Set(key, value)
		}
	})
}

func (d damaged) update(key []byte, do func(kv.Txn)) {
	d.t.Helper()
	var in kv.Intent
	if key != nil {
		in.Write = [][]byte{key}
	}
	err := d.store.Update(d.t.Context(), in, func(txn kv.Txn) error {
		do(txn)
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d damaged) get(key []byte) []byte {
	d.t.Helper()
	value, err := d.store.Get(d.t.Context(), key)
	if err != nil {
		d.t.Fatal(err)
	}
	return value
}

// TestDamagedVersion: a write to a table whose version record differs from the descriptor's fails, and does not retry forever.
func TestDamagedVersion(t *testing.T) {
	store := memkv.New()
	e := openOn(t, store, engine.Options{TTLInterval: -1})
	defer e.Close()
	createTable(t, e, musicTable())
	damaged{t, store}.set(keyenc.TableVersion(1), binary.BigEndian.AppendUint64(nil, 7))
	want := `catalog: table "Music": the descriptor has version 1, but the stored version differs`
	if err := putMusic(t.Context(), e, field("pk", "1")); err == nil || err.Error() != want {
		t.Errorf("PutItem: %v", err)
	}
}

// TestDamagedItem: an unreadable item is an error for its readers, never a panic or a missing item.
func TestDamagedItem(t *testing.T) {
	store := memkv.New()
	e := openOn(t, store, engine.Options{TTLInterval: -1})
	defer e.Close()
	send(t, e, "create-table", accountsTable)
	const item = `{"id":{"S":"1"},"branch":{"S":"x"},"l":{"L":[{"N":"1"},{"SS":["a","b"]}]}}`
	send(t, e, "put-item", `{"TableName":"Accounts","Item":`+item+`}`)
	key := keyenc.Item(nil, 1, attr.String("1"), attr.Value{})
	whole := damaged{t, store}.get(key)
	for n := 1; n < len(whole); n++ {
		for _, r := range [][2]string{
			{"get-item", `{"TableName":"Accounts","Key":{"id":{"S":"1"}},"ProjectionExpression":"l[0],zz"}`},
			{"scan", `{"TableName":"Accounts","FilterExpression":"attribute_not_exists(zz)"}`},
			{"update-item", `{"TableName":"Accounts","Key":{"id":{"S":"1"}},"UpdateExpression":"SET l[1] = :v","ExpressionAttributeValues":{":v":{"N":"2"}}}`},
		} {
			damaged{t, store}.set(key, whole[:n])
			if out, err := perform(t.Context(), e, r[0], r[1]); !errors.Is(err, itemenc.ErrCorrupt) {
				t.Errorf("%s of %d of %d bytes: %s, %v", r[0], n, len(whole), out, err)
			}
		}
	}
}

// TestVerifyFinds corrupts a store in every way and checks Verify's findings.
func TestVerifyFinds(t *testing.T) {
	pk := attr.String("1")
	item := keyenc.Item(nil, 1, pk, attr.Value{})
	entry := keyenc.IndexEntry(nil, 1, 1, []attr.Value{attr.String("x")}, nil, pk, attr.Value{})
	elsewhere := keyenc.IndexEntry(nil, 1, 1, []attr.Value{attr.String("y")}, nil, pk, attr.Value{})
	ttl := keyenc.TTL(nil, 1, 2_000_000_000, pk, attr.Value{})
	for _, c := range []struct {
		name   string
		damage func(damaged)
		want   []string
	}{
		{"none", func(damaged) {}, nil},
		{"item gone", func(d damaged) { d.set(item, nil) }, []string{
			"Music: has 0 items of 0 bytes, but 1 of 10 bytes are counted",
			"Music/a: the entry has no item: data/table 1/index 1/hash",
			`Music: the TTL entry has no item that expires then: ttl/table 1/2000000000/"1"`,
			inLog(0, "the item is not what this record, its last, says: data/table 1/index 0/hash"),
		}},
		{"item not readable", func(d damaged) { d.set(item, []byte("?")) }, []string{
			"Music: the item cannot be read: ",
			"Music: has 0 items of 0 bytes, but 1 of 10 bytes are counted",
			"Music/a: the entry's item cannot be read",
			"Music: the item of the TTL entry cannot be read",
			inLog(0, "the item is not what this record, its last, says"),
		}},
		{"entry gone", func(d damaged) { d.set(entry, nil) }, []string{
			"Music/a: the item has no entry in the index",
			"Music/a: has 0 items of 0 bytes, but 1 of 10 bytes are counted",
		}},
		{"entry elsewhere", func(d damaged) {
			d.set(elsewhere, d.get(entry))
		}, []string{
			"Music/a: the entry's item belongs elsewhere in the index",
			"Music/a: has 2 items of 20 bytes, but 1 of 10 bytes are counted",
		}},
		{"TTL entry gone", func(d damaged) { d.set(ttl, nil) }, []string{
			"Music: the item expires and has no TTL entry",
		}},
		{"count wrong", func(d damaged) {
			d.update(nil, func(txn kv.Txn) { txn.Add(keyenc.Statistics(1, 1), 1, 0) })
		}, []string{"Music/a: has 1 item of 10 bytes, but 2 of 10 bytes are counted"}},
		{"collection counted that is not there", func(d damaged) {
			d.update(nil, func(txn kv.Txn) { txn.Add(keyenc.Collection(1, pk), 5) })
		}, []string{`Music: the item collection has 0 bytes, and 5 are counted: statistics/table 1/collection/"1"`}},
		{"TTL entry at another second", func(d damaged) {
			d.set(ttl, nil)
			d.set(keyenc.TTL(nil, 1, 2_000_000_001, pk, attr.Value{}), []byte{})
		}, []string{
			"Music: the item expires and has no TTL entry",
			`Music: the TTL entry has no item that expires then: ttl/table 1/2000000001/"1"`,
		}},
		{"TTL entry not readable", func(d damaged) { d.set(ttl[:6], []byte{}) }, []string{
			"Music: the TTL entry cannot be read: ",
		}},
		{"entry lacks an attribute", func(d damaged) { d.set(entry, encoded(field("pk", "1"), field("a", "x"))) }, []string{
			`Music/a: the entry is not what its item makes: it lacks the attribute "exp"`,
			"Music/a: has 1 item of 5 bytes, but 1 of 10 bytes are counted",
		}},
		{"entry has another value", func(d damaged) {
			d.set(entry, encoded(field("pk", "1"), field("a", "x"), attr.Field{Name: "exp", Value: attr.Number("2000000001")}))
		}, []string{
			`Music/a: the entry is not what its item makes: it has another value of "exp"`,
			"Music/a: has 1 item of 14 bytes, but 1 of 10 bytes are counted",
		}},
		{"entry not readable", func(d damaged) { d.set(entry, []byte("?")) }, []string{
			"Music/a: the entry is not what its item makes: it ends too early",
			"Music/a: the entry cannot be read: it ends too early",
			"Music/a: has 1 item of 0 bytes, but 1 of 10 bytes are counted",
		}},
		{"entry without an item's key", func(d damaged) { d.set(elsewhere, encoded(field("a", "y"))) }, []string{
			"Music/a: the entry does not have the key of an item",
			"Music/a: has 2 items of 12 bytes, but 1 of 10 bytes are counted",
		}},
		{"item elsewhere", func(d damaged) {
			d.set(keyenc.Item(nil, 1, attr.String("2"), attr.Value{}), d.get(item))
		}, []string{"Music: the item does not have the key it is stored at: data/table 1/index 0/hash"}},
		{"size of item wrong", func(d damaged) {
			stored := bytes.Clone(d.get(item))
			stored[4]++
			d.set(item, stored)
		}, []string{
			"Music: the item cannot be read: its size is 10 and it says 11",
			"Music: has 0 items of 0 bytes, but 1 of 10 bytes are counted",
			"Music/a: the entry's item cannot be read",
			"Music: the item of the TTL entry cannot be read",
			inLog(0, "the item is not what this record, its last, says"),
		}},
		{"stored version wrong", func(d damaged) { d.set(keyenc.TableVersion(1), binary.BigEndian.AppendUint64(nil, 9)) }, []string{
			"Music: the definition is of version 3, and the stored version is 9: no write to the table succeeds: catalog/table",
		}},
		{"stored version not readable", func(d damaged) { d.set(keyenc.TableVersion(1), []byte("?")) }, []string{
			"store: the value has 1 bytes and not 8: catalog/version/table 1",
			"Music: the definition is of version 3, and the stored version is 0",
		}},
		{"definition of another name", func(d damaged) {
			d.set(keyenc.TableDescriptor("Musik"), d.get(keyenc.TableDescriptor("Music")))
		}, []string{
			`Music: the definition is stored as that of "Musik": catalog/table "Musik"`,
			`Music: the definition has the id 1, as that of "Music" has: catalog/table "Musik"`,
		}},
		{"next table has the id of one", func(d damaged) { d.set(keyenc.NextTableID(), binary.BigEndian.AppendUint64(nil, 1)) }, []string{
			"Music: the definition has the id 1, and the next table would get 1: catalog/table",
		}},
		{"strays", func(d damaged) {
			d.set([]byte("zzz"), []byte{})
			d.set([]byte("d12"), []byte{})
			d.set(keyenc.TTL(nil, 7, 1, pk, attr.Value{}), []byte{})
			d.set(keyenc.IndexEntry(nil, 1, 5, []attr.Value{pk}, nil, pk, attr.Value{}), []byte{})
			d.update(nil, func(txn kv.Txn) { txn.Add(keyenc.Statistics(1, 5), 1, 1) })
			d.update(nil, func(txn kv.Txn) { txn.Add(keyenc.Collection(7, pk), 1) })
		}, []string{
			"store: there is something of a table or index that is not there: data/table 1/index 5",
			"store: the key cannot be read: ?643132",
			"store: there is something of a table or index that is not there: statistics/table 1/index 5",
			"store: there is something of a table or index that is not there: statistics/table 7/collection",
			"store: there is something of a table or index that is not there: ttl/table 7/1/",
			"store: the key cannot be read: ?7a7a7a",
		}},
		{"table gone", func(d damaged) { d.set(keyenc.TableDescriptor("Music"), nil) }, []string{
			"Music: the stream is open and its table has another or none, or the other way round: catalog/stream/table 1/",
			"store: there is something of a table or index that is not there: data/table 1/index 0",
			"store: there is something of a table or index that is not there: data/table 1/index 1",
			"store: there is something of a table or index that is not there: statistics/table 1/index 0",
			"store: there is something of a table or index that is not there: statistics/table 1/index 1",
			"store: there is something of a table or index that is not there: ttl/table 1",
			"store: there is a change log of table 1, which is not there",
		}},
	} {
		t.Run(c.name, func(t *testing.T) { wantFindings(t, c.damage, c.want...) })
	}
}

// encoded is an item as it is stored.
func encoded(fields ...attr.Field) []byte {
	it, _ := attr.NewItem(fields)
	return itemenc.Encode(nil, it)
}

// wantFindings corrupts a store with one item, which has an index entry, a TTL entry and a change-log record, and compares the
// beginnings of Verify's findings.
func wantFindings(t *testing.T, damage func(damaged), want ...string) {
	t.Helper()
	store := memkv.New()
	e := openOn(t, store, engine.Options{TTLInterval: -1, Now: func() time.Time { return noon }})
	create := musicTable("a")
	create.StreamSpecification = &api.StreamSpecification{StreamEnabled: new(true), StreamViewType: new("NEW_AND_OLD_IMAGES")}
	createTable(t, e, create)
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
	if _, err := e.CreateBackup(t.Context(), &api.CreateBackupInput{TableName: new("Music"), BackupName: new("first")}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	damage(damaged{t, store})
	var got []string
	done, err := verify.Run(t.Context(), store, func(f verify.Finding) { got = append(got, f.String()) }, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if int(done.Findings) != len(got) {
		t.Errorf("%d findings were counted", done.Findings)
	}
	if !prefixes(want, got) {
		t.Errorf("findings (-want +got):\n%s", cmp.Diff(want, got))
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

// TestVerifyProgress: progress advances up to everything that was checked.
func TestVerifyProgress(t *testing.T) {
	e := newEngine(t, engine.Options{TTLInterval: -1})
	createTable(t, e, musicTable("a"))
	const items = 5000
	for i := range items {
		if err := putMusic(t.Context(), e, field("pk", strconv.Itoa(i)), field("a", "x")); err != nil {
			t.Fatal(err)
		}
	}
	var reported [][2]int64
	done, err := e.Verify(t.Context(), func(f verify.Finding) { t.Error(f) }, func(done, total int64) {
		reported = append(reported, [2]int64{done, total})
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, now := range reported {
		if now[0] > now[1] || now[1] < 2*items || i > 0 && now[0] < reported[i-1][0] {
			t.Errorf("progress %v", reported)
		}
	}
	all := done.Items + done.IndexEntries + done.LogRecords
	if last := reported[len(reported)-1]; len(reported) < 3 || last != [2]int64{all, all} {
		t.Errorf("progress ends with %v, and %d are done", last, all)
	}
}
