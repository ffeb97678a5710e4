package engine_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// appendLog appends a record to a change log.
func (d damaged) appendLog(log kv.LogID, record []byte) {
	d.t.Helper()
	d.update(nil, func(txn kv.Txn) { txn.AppendLog(log, record) })
}

// stored is an item as it is stored.
func stored(tb testing.TB, fields ...attr.Field) itemenc.Item {
	tb.Helper()
	slices.SortFunc(fields, func(a, b attr.Field) int { return strings.Compare(a.Name, b.Name) })
	return itemenc.Encode(nil, attr.Item(fields))
}

// noon is the clock's time in wantFindings.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// inLog is a finding in the nth record that is written at noon, counted from 0.
func inLog(n int, what string) string {
	return fmt.Sprintf("Music: change log record %d: %s", kv.SeqAt(noon.UnixMilli())+kv.Seq(n), what)
}

// TestVerifyFindsInLog corrupts a change log in every way.
func TestVerifyFindsInLog(t *testing.T) {
	one, two := field("pk", "1"), field("pk", "2")
	key := func(id keyenc.TableID, pk string) []byte { return keyenc.Item(nil, id, attr.String(pk), attr.Value{}) }
	record := func(key []byte, before, after itemenc.Item) []byte {
		return logenc.Append(nil, logenc.Change{Key: key, Old: before, New: after})
	}
	otherHash := key(1, "2")
	otherHash[7] ^= 1
	for _, c := range []struct {
		name   string
		damage func(damaged)
		want   []string
	}{
		{"record not readable", func(d damaged) { d.appendLog(1, []byte("\x01?")) }, []string{
			inLog(1, "logenc: record"),
		}},
		{"key not readable", func(d damaged) { d.appendLog(1, record([]byte("d?"), nil, stored(d.t, two))) }, []string{
			inLog(1, "it is not about an item of the table: ?643f"),
		}},
		{"key with another hash", func(d damaged) { d.appendLog(1, record(otherHash, nil, stored(d.t, two))) }, []string{
			inLog(1, "it is not about an item of the table: data/table 1/index 0/hash"),
		}},
		{"key of another table", func(d damaged) { d.appendLog(1, record(key(2, "2"), nil, stored(d.t, two))) }, []string{
			inLog(1, "it is not about an item of the table: data/table 2/index 0/hash"),
		}},
		{"no change", func(d damaged) { d.appendLog(1, record(key(1, "2"), nil, nil)) }, []string{
			inLog(1, "it changes nothing: data/table 1/index 0/hash"),
		}},
		{"old item not readable", func(d damaged) { d.appendLog(1, record(key(1, "2"), itemenc.Item("?"), nil)) }, []string{
			inLog(1, "the old item cannot be read: "),
		}},
		{"item with another key", func(d damaged) { d.appendLog(1, record(key(1, "2"), stored(d.t, one), nil)) }, []string{
			inLog(1, "the old item has another key: data/table 1/index 0/hash"),
		}},
		{"item without a key", func(d damaged) { d.appendLog(1, record(key(1, "2"), stored(d.t, field("a", "2")), nil)) }, []string{
			inLog(1, "the old item has another key: data/table 1/index 0/hash"),
		}},
		{"last record not the item", func(d damaged) { d.appendLog(1, record(key(1, "2"), nil, stored(d.t, two))) }, []string{
			inLog(1, "the item is not what this record, its last, says: data/table 1/index 0/hash"),
		}},
		{"record missing in between", func(d damaged) {
			d.appendLog(1, record(key(1, "2"), nil, stored(d.t, two)))
			d.appendLog(1, record(key(1, "2"), stored(d.t, two, field("a", "x")), nil))
		}, []string{inLog(2, "the old item is not what the record before left: data/table 1/index 0/hash")}},
		{"item missing in between", func(d damaged) {
			d.appendLog(1, record(key(1, "2"), nil, stored(d.t, two)))
			d.appendLog(1, logenc.Append(nil, logenc.Change{Key: key(1, "2"), Existed: true}))
		}, []string{inLog(2, "it lacks the old item: data/table 1/index 0/hash")}},
		{"change without a new item", func(d damaged) {
			d.appendLog(1, logenc.Append(nil, logenc.Change{Key: key(1, "1"), Old: stored(d.t, one), Exists: true}))
		}, []string{
			inLog(1, "it lacks the new item: data/table 1/index 0/hash"),
			inLog(1, "the old item is not what the record before left: data/table 1/index 0/hash"),
		}},
		{"insert of what is there", func(d damaged) {
			d.appendLog(1, record(key(1, "2"), nil, stored(d.t, two)))
			d.appendLog(1, record(key(1, "2"), nil, stored(d.t, two)))
			d.appendLog(1, record(key(1, "2"), stored(d.t, two), nil))
		}, []string{inLog(2, "the old item is not what the record before left: data/table 1/index 0/hash")}},
		{"begins in the middle", func(d damaged) { d.appendLog(1, record(key(1, "2"), stored(d.t, two), nil)) }, nil},
		{"log of no table", func(d damaged) {
			d.set(keyenc.NextTableID(), binary.BigEndian.AppendUint64(nil, 8))
			d.appendLog(7, []byte("?"))
		}, []string{"store: there is a change log of table 7, which is not there"}},
	} {
		t.Run(c.name, func(t *testing.T) { wantFindings(t, c.damage, c.want...) })
	}
}

// TestVerifyFollows: the findings in a log do not depend on how many items are followed at once.
func TestVerifyFollows(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	store := memkv.New()
	e := openOn(t, store, engine.Options{TTLInterval: -1})
	createTable(t, e, streamedTable("NEW_AND_OLD_IMAGES"))
	for range 2000 {
		err := putMusic(t.Context(), e, field("pk", fmt.Sprint(random.IntN(500))), field("a", fmt.Sprint(random.IntN(1000))))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	d := damaged{t, store}
	for i := range 20 {
		pk := fmt.Sprint(i * 20)
		key := keyenc.Item(nil, 1, attr.String(pk), attr.Value{})
		d.appendLog(1, logenc.Append(nil, logenc.Change{Key: key, Old: stored(t, field("pk", pk)), New: stored(t, field("pk", pk), field("b", ""))}))
	}
	following := func(items int) (found []string, done verify.Verified) {
		done, err := verify.Run(t.Context(), store, func(f verify.Finding) { found = append(found, f.String()) }, verify.Options{Following: items})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(found)
		return found, done
	}
	want, done := following(1 << 20)
	if len(want) < 21 || len(want) > 40 || done.LogRecords < 2000 {
		t.Fatalf("%d findings, %+v", len(want), done)
	}
	for _, items := range []int{1, 7, 100} {
		got, again := following(items)
		if diff := cmp.Diff(want, got); diff != "" || again != done {
			t.Errorf("following %d: %+v, findings (-want +got):\n%s", items, again, diff)
		}
	}
}
