package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/dynamo/attr"
	"github.com/monotable/monotable/internal/dynamo/itemenc"
	"github.com/monotable/monotable/internal/engine/catalog"
	"github.com/monotable/monotable/internal/storage/keyenc"
	"github.com/monotable/monotable/internal/storage/kv"
)

// Finding is one disagreement between an item and what is derived of it, or something stored that cannot
// be read.
type Finding struct {
	Table string
	Index string // "" where it is about the table itself
	Key   []byte // of the store
	What  string
}

func (f Finding) String() string {
	where := cmp.Or(f.Table, "store")
	if f.Index != "" {
		where += "/" + f.Index
	}
	if f.Key == nil {
		return where + ": " + f.What
	}
	return where + ": " + f.What + ": " + keyenc.Format(f.Key)
}

// Verified counts what Verify has looked at.
type Verified struct {
	Tables, Items, IndexEntries, TTLEntries, Findings int64
}

func (v Verified) String() string {
	return fmt.Sprintf("tables %d, items %d, index entries %d, TTL entries %d, findings %d",
		v.Tables, v.Items, v.IndexEntries, v.TTLEntries, v.Findings)
}

// Verify proves one consistent state of a whole store against itself and calls report for every
// disagreement; it writes nothing. Everything that is derived from an item must be there and must be what
// would be derived now, and nothing else may be there: index entries, TTL entries, the counters of tables,
// indexes and item collections. Every stored item must be readable and stand at the key that its attributes
// make. An index or a TTL setting that is being built is looked at in one direction only: what is there
// must be right.
func Verify(ctx context.Context, store kv.Store, report func(Finding)) (Verified, error) {
	var done Verified
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return done, err
	}
	defer snapshot.Close()
	if err := checkVersionRecord(snapshot); err != nil {
		return done, err
	}
	tables, err := catalog.Load(snapshot)
	if err != nil {
		return done, err
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		v := &verifier{ctx: ctx, r: snapshot, t: tables[name], report: report, done: &done}
		if err := v.table(); err != nil {
			return done, err
		}
		done.Tables++
	}
	return done, verifyNoStrays(snapshot, tables, func(f Finding) {
		done.Findings++
		report(f)
	})
}

// Verify verifies the store of a running engine.
func (e *Engine) Verify(ctx context.Context, report func(Finding)) (Verified, error) {
	return Verify(ctx, e.store, report)
}

// verifyNoStrays looks for items and entries of tables and indexes that are not there and that no job is
// about to remove. It looks at the first key of each index and skips to the next.
func verifyNoStrays(r kv.Reader, tables map[string]*catalog.Table, report func(Finding)) error {
	type owner struct {
		table keyenc.TableID
		index keyenc.IndexID
	}
	known := map[owner]bool{}
	for _, t := range tables {
		known[owner{t.ID, 0}] = true
		for _, x := range t.Indexes {
			known[owner{t.ID, x.ID}] = true
		}
	}
	going := map[keyenc.TableID]bool{}
	pending, err := storedJobs(r, func(j job) bool { return j.Kind == jobDropTable })
	if err != nil {
		return err
	}
	for _, j := range pending {
		going[j.Table] = true
	}
	lo, _ := keyenc.TableBounds(0)
	_, hi := keyenc.TableBounds(^keyenc.TableID(0))
	for {
		key, err := firstKey(r, lo, hi)
		if err != nil || key == nil {
			return err
		}
		t, x, err := keyenc.ParseIndex(key)
		if err != nil {
			report(Finding{Key: key, What: "the key cannot be read"})
			lo = keyAfter(key)
			continue
		}
		if !known[owner{t, x}] && !going[t] {
			report(Finding{Key: key, What: "there is something of a table or index that is not there"})
		}
		_, lo = keyenc.IndexBounds(t, x)
	}
}

// firstKey returns a copy of the first key of a range, nil where it is empty.
func firstKey(r kv.Reader, lo, hi []byte) ([]byte, error) {
	it := r.Iter(lo, hi, kv.IterOptions{Limit: 1})
	defer it.Close()
	if !it.Next() {
		return nil, it.Err()
	}
	return bytes.Clone(it.Key()), nil
}

// verifier looks at one table.
type verifier struct {
	ctx    context.Context //nolint:containedctx // of one call of Verify, which the verifier does not outlive
	r      kv.Reader
	t      *catalog.Table
	report func(Finding)
	done   *Verified
}

// count is what a counter should hold.
type count struct{ items, bytes int64 }

func (v *verifier) table() error {
	if err := v.items(); err != nil {
		return err
	}
	for _, x := range v.t.Indexes {
		if err := v.index(x); err != nil {
			return err
		}
	}
	return v.ttl()
}

func (v *verifier) finding(index string, key []byte, format string, args ...any) {
	v.done.Findings++
	v.report(Finding{Table: v.t.Name, Index: index, Key: bytes.Clone(key), What: fmt.Sprintf(format, args...)})
}

// items walks the table: each item must be readable, at its own key, with all its entries.
func (v *verifier) items() error {
	var total count
	collections := map[string]int64{}
	lo, hi := keyenc.IndexBounds(v.t.ID, 0)
	err := v.walk(lo, hi, func(key, value []byte) error {
		v.done.Items++
		stored := itemenc.Item(value)
		if err := stored.Check(); err != nil {
			v.finding("", key, "the item cannot be read: %v", err)
			return nil
		}
		pk, sk, err := primaryKey(v.t, stored)
		if err != nil {
			return err
		}
		if pk.IsZero() || !bytes.Equal(keyenc.Item(nil, v.t.ID, pk, sk), key) {
			v.finding("", key, "the item does not have the key it is stored at")
			return nil
		}
		total.items++
		total.bytes += int64(stored.Size())
		local, err := v.entries(key, stored)
		if hasLocalIndex(v.t) {
			collections[string(keyenc.Collection(v.t.ID, pk))] += local + int64(stored.Size())
		}
		if err != nil {
			return err
		}
		return v.ttlEntry(key, stored, pk, sk)
	})
	if err != nil {
		return err
	}
	if err := v.counter("", keyenc.Statistics(v.t.ID, 0), total); err != nil {
		return err
	}
	return v.collections(collections)
}

// collections compares the counters of item collections with what there is, by counter key.
func (v *verifier) collections(want map[string]int64) error {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if err := v.collection([]byte(key), want[key]); err != nil {
			return err
		}
	}
	lo, hi := keyenc.StatisticsBounds(v.t.ID)
	return v.walk(lo, hi, func(key, _ []byte) error {
		if _, seen := want[string(key)]; seen || !keyenc.IsCollection(key) {
			return nil
		}
		return v.collection(key, 0)
	})
}

func (v *verifier) collection(key []byte, want int64) error {
	counters, err := v.r.Counter(key)
	if err != nil {
		return err
	}
	var got int64
	if len(counters) > 0 {
		got = counters[0]
	}
	if got != want {
		v.finding("", key, "the item collection has %d bytes, and %d are counted", want, got)
	}
	return nil
}

// entries checks that an item has its entry in every index, and returns the bytes of those in local ones.
func (v *verifier) entries(key []byte, stored itemenc.Item) (local int64, err error) {
	for _, x := range v.t.Indexes {
		if !x.Maintained {
			continue
		}
		want, ok, err := entryOf(v.t, x, stored)
		if err != nil {
			return local, err
		}
		if !ok {
			continue
		}
		if x.Kind == catalog.Local {
			local += int64(want.value.Size())
		}
		got, err := v.r.Get(want.key)
		switch {
		case err != nil:
			return local, err
		case got == nil && x.Readable:
			v.finding(x.Name, key, "the item has no entry in the index")
		case got != nil && !bytes.Equal(got, want.value):
			v.finding(x.Name, want.key, "the entry is not what its item makes")
		}
	}
	return local, nil
}

// index walks an index: each entry must have an item that makes it.
func (v *verifier) index(x *catalog.Index) error {
	if !x.Maintained {
		return nil
	}
	var total count
	lo, hi := keyenc.IndexBounds(v.t.ID, x.ID)
	err := v.walk(lo, hi, func(key, value []byte) error {
		v.done.IndexEntries++
		total.items++
		entryItem := itemenc.Item(value)
		if err := entryItem.Check(); err != nil {
			v.finding(x.Name, key, "the entry cannot be read: %v", err)
			return nil
		}
		total.bytes += int64(entryItem.Size())
		_, _, _, _, pk, sk, err := keyenc.ParseIndexEntry(key, len(x.PK), len(x.SK))
		if err != nil {
			v.finding(x.Name, key, "the key of the entry cannot be read: %v", err)
			return nil
		}
		stored, err := v.r.Get(keyenc.Item(nil, v.t.ID, pk, sk))
		if err != nil {
			return err
		}
		if stored == nil {
			v.finding(x.Name, key, "the entry has no item")
			return nil
		}
		want, ok, err := entryKey(v.t, x, stored)
		if err != nil || !ok || !bytes.Equal(want, key) {
			v.finding(x.Name, key, "the entry's item belongs elsewhere in the index")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return v.counter(x.Name, keyenc.Statistics(v.t.ID, x.ID), total)
}

func (v *verifier) counter(index string, key []byte, want count) error {
	counters, err := v.r.Counter(key)
	if err != nil {
		return err
	}
	got := count{}
	if len(counters) >= 2 {
		got = count{counters[0], counters[1]}
	}
	if got != want {
		v.finding(index, nil, "there are %d items of %d bytes, and %d of %d bytes are counted", want.items, want.bytes, got.items, got.bytes)
	}
	return nil
}

// ttlEntry checks that an item that expires has its TTL entry.
func (v *verifier) ttlEntry(key []byte, stored itemenc.Item, pk, sk attr.Value) error {
	seconds, ok, err := expiryOf(v.t, stored)
	if err != nil || !ok || v.t.Descriptor.TTL.State != catalog.TTLEnabled {
		return err
	}
	got, err := v.r.Get(keyenc.TTL(nil, v.t.ID, seconds, pk, sk))
	if err == nil && got == nil {
		v.finding("", key, "the item expires and has no TTL entry")
	}
	return err
}

// ttl walks the TTL entries: each must have an item that expires then.
func (v *verifier) ttl() error {
	if v.t.Descriptor.TTL.State == catalog.TTLDisabling {
		return nil
	}
	lo, hi := keyenc.TTLTableBounds(v.t.ID)
	return v.walk(lo, hi, func(key, _ []byte) error {
		v.done.TTLEntries++
		_, seconds, pk, sk, err := keyenc.ParseTTL(key)
		if err != nil {
			v.finding("", key, "the TTL entry cannot be read: %v", err)
			return nil
		}
		stored, err := v.r.Get(keyenc.Item(nil, v.t.ID, pk, sk))
		if err != nil {
			return err
		}
		expires, ok, err := expiryOf(v.t, stored)
		if err != nil || !ok || expires != seconds {
			v.finding("", key, "the TTL entry has no item that expires then")
		}
		return nil
	})
}

// walk calls see for every key of a range; key and value are valid during the call.
func (v *verifier) walk(lo, hi []byte, see func(key, value []byte) error) error {
	it := v.r.Iter(lo, hi, kv.IterOptions{})
	defer it.Close()
	for it.Next() {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		if err := see(it.Key(), it.Value()); err != nil {
			return err
		}
	}
	return it.Err()
}
