package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// TestChangeLogMatchesTable writes the same few items in all ways concurrently while a reader follows the change log. Each
// record's old image must be the previous record's new image, and the last one must be the stored item.
func TestChangeLogMatchesTable(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			store := s.open(t)()
			e := openAccounts(t, store)
			f := follower{t: t, store: store, items: map[string]itemenc.Item{}}
			stop := make(chan struct{})
			var following sync.WaitGroup
			following.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						f.follow()
					}
				}
			})
			together(8, func(worker int) {
				random := rand.New(rand.NewPCG(seed, uint64(worker)))
				for i := range 100 {
					writeRandomItems(t, e, random, fmt.Sprintf("%d.%d", worker, i))
				}
			})
			close(stop)
			following.Wait()
			f.follow()
			f.compare()
		})
	}
}

// writeRandomItems writes one or two of six items, ignoring conflicts with transactions.
func writeRandomItems(t *testing.T, e *engine.Engine, random *rand.Rand, value string) {
	t.Helper()
	a := random.IntN(6)
	b := (a + 1 + random.IntN(5)) % 6
	item := fmt.Sprintf(`{"id":{"S":"%d"},"branch":{"S":"%d"},"v":{"S":"%s"}}`, a, b, value)
	directive, body := "put-item", fmt.Sprintf(`{"TableName":"Accounts","Item":%s}`, item)
	switch random.IntN(5) {
	case 0:
		directive, body = "delete-item", fmt.Sprintf(`{"TableName":"Accounts","Key":{"id":{"S":"%d"}}}`, a)
	case 1:
		directive, body = "update-item", fmt.Sprintf(`{"TableName":"Accounts","Key":{"id":{"S":"%d"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}`, a)
	case 2:
		directive, body = "transact-write-items", fmt.Sprintf(`{"TransactItems":[{"Put":{"TableName":"Accounts","Item":%s}},{"Delete":{"TableName":"Accounts","Key":{"id":{"S":"%d"}}}}]}`, item, b)
	case 3:
		directive, body = "batch-write-item", fmt.Sprintf(`{"RequestItems":{"Accounts":[{"DeleteRequest":{"Key":{"id":{"S":"%d"}}}},{"PutRequest":{"Item":%s}}]}}`, b, item)
	}
	if _, err := perform(t.Context(), e, directive, body); err != nil && codeOf(err) != "TransactionConflictException" && codeOf(err) != "TransactionCanceledException" {
		t.Error(err)
	}
}

// follower reads the change log of the first table.
type follower struct {
	t     *testing.T
	store kv.Store
	after kv.Seq
	items map[string]itemenc.Item // by key, according to the log
}

func (f *follower) follow() {
	f.t.Helper()
	for {
		records, _, err := f.store.ReadLog(context.Background(), 1, f.after, 7)
		if err != nil {
			f.t.Error(err)
		}
		if len(records) == 0 {
			return
		}
		for _, r := range records {
			change, err := logenc.Decode(r.Data)
			if err != nil {
				f.t.Error(err)
			}
			if before := f.items[string(change.Key)]; !bytes.Equal(before, change.Old) {
				f.t.Errorf("record %d of %s begins with %x and not with %x", r.Seq, keyenc.Format(change.Key), change.Old, before)
			}
			f.items[string(change.Key)] = change.New
			f.after = r.Seq
		}
	}
}

func (f *follower) compare() {
	f.t.Helper()
	for key, want := range f.items {
		got, err := f.store.Get(context.Background(), []byte(key))
		if err != nil || !bytes.Equal(got, want) {
			f.t.Errorf("%s is %x, %v; the log says %x", keyenc.Format([]byte(key)), got, err, want)
		}
	}
}

// trimming counts how often a log is actually trimmed.
type trimming struct {
	kv.Store
	trims atomic.Int64
}

func (s *trimming) TrimLog(ctx context.Context, log kv.LogID, upTo kv.Seq) error {
	before, err := s.LogTrimmed(ctx, log)
	if err != nil {
		return err
	}
	if err := s.Store.TrimLog(ctx, log, upTo); err != nil {
		return err
	}
	after, err := s.LogTrimmed(ctx, log)
	if after > before {
		s.trims.Add(1)
	}
	return err
}

// TestTrimOnce trims a long log in a single step: a store on disk records each trim as a range, and many ranges with the same
// start slow down reads.
func TestTrimOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &trimming{Store: memkv.New()}
		e := openOn(t, store, engine.Options{TTLInterval: -1})
		defer e.Close()
		createTable(t, e, streamedTable("KEYS_ONLY"))
		for i := range 1000 {
			if err := putMusic(t.Context(), e, field("pk", "1"), field("v", fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
		advance(25 * time.Hour)
		if records, _, err := store.ReadLog(t.Context(), 1, 0, 10); len(records) != 0 || err != nil {
			t.Errorf("after a day the log has %d records, %v", len(records), err)
		}
		if n := store.trims.Load(); n != 1 {
			t.Errorf("the log was trimmed %d times", n)
		}
	})
}

// TestFirstSince finds a time in logs whose record numbers are counters, as in format 1, in logs whose numbers are times, and in
// logs that start with the former and continue with the latter.
func TestFirstSince(t *testing.T) {
	for _, c := range []struct{ counted, timed int }{{0, 0}, {1, 0}, {200, 0}, {0, 20}, {1, 1}, {200, 20}} {
		store := memkv.New()
		appendAt := func(ms int64, timed bool) {
			t.Helper()
			record := logenc.Append(nil, logenc.Change{Key: []byte("k"), Exists: true})
			if !timed {
				record = binary.BigEndian.AppendUint64([]byte{1, 0}, uint64(ms)) // version 1
				record = append(record, 1, 'k', 0, 0)
			}
			err := store.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error {
				if timed {
					txn.Advance(kv.SeqAt(ms))
				}
				txn.AppendLog(1, record)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		begin := noon.UnixMilli()
		for i := range c.counted {
			appendAt(begin+int64(i/2)*10, false)
		}
		end := begin + int64(c.counted)*10
		for i := range c.timed {
			appendAt(end+int64(i/2)*10, true)
		}
		records, _, err := store.ReadLog(t.Context(), 1, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		timeOf := func(i int) int64 {
			if records[i].Seq.Timed() {
				return records[i].Seq.Millis()
			}
			return begin + int64(i/2)*10
		}
		for since := begin - 10; since < end+int64(c.timed)*10; since += 5 {
			for _, from := range []kv.Seq{1, 3, kv.SeqAt(end)} {
				first, err := engine.FirstSince(t.Context(), store, 1, from, since)
				if err != nil || first < from {
					t.Errorf("%+v: from %d since %d: %d, %v", c, from, since, first, err)
				}
				for i, r := range records {
					if r.Seq >= from && (r.Seq >= first) != (timeOf(i) >= since) {
						t.Fatalf("%+v: from %d since %d begins at %d; record %d has the time %d", c, from, since, first, r.Seq, timeOf(i))
					}
				}
			}
		}
	}
}
