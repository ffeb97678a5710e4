// Package verify checks the consistency of a whole store, in one consistent state. It cannot write (Store).
//
// Everything that follows from an item must exist, and nothing else may: index entries with exactly the projected attributes, TTL
// entries, the counters of tables, indexes and item collections. Every item must be readable, in canonical form, and stored under
// the key given by its attributes. Every change log must be readable and, for each item, a chain of changes that ends at the
// current item. The records of streams and backups must be readable, and the data of backups must exist. An index or a TTL
// setting that is being built is only checked in one direction: existing entries must be correct. A table that is being restored
// is not checked.
//
// # Independence
//
// Writers derive entries with package derive, using itemenc and keyenc. This package shares none of that code, so that a bug in
// it is detected: it decodes items into Go maps (plain.go), has its own number arithmetic (number.go), encodes keys from their
// documented layout (layout.go), and uses the stored descriptors rather than the form for writers (definition.go). The exception
// is what has only one interpretation: the JSON of descriptors, jobs, streams and backups, and the framing of a change-log record
// (logenc), are decoded by the packages that write them. keyenc names the keys of the catalog and prints keys in findings.
//
// # Algorithm
//
// The items of a table are read in the order of their keys. For each item, every entry that should exist is looked up and
// compared. Entries of different items have different keys, so if an index has exactly as many entries as were found, it has no
// others, and the second pass only counts. If the numbers differ, it looks up the item of each entry.
package verify

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Finding is an inconsistency between an item and what is derived from it, or stored data that cannot be read.
type Finding struct {
	Table string
	Index string // "" if it concerns the table itself
	Key   []byte // in the store
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

// Verified counts what a run has checked. Identities are checked by their own package.
type Verified struct {
	Tables, Items, IndexEntries, TTLEntries, LogRecords, Streams, Backups, Identities, Findings int64
}

// Add adds the counts of another run.
func (v *Verified) Add(more *Verified) {
	v.Tables += more.Tables
	v.Items += more.Items
	v.IndexEntries += more.IndexEntries
	v.TTLEntries += more.TTLEntries
	v.LogRecords += more.LogRecords
	v.Streams += more.Streams
	v.Backups += more.Backups
	v.Identities += more.Identities
	v.Findings += more.Findings
}

// String returns the counts of tables, for test scripts.
func (v *Verified) String() string {
	return fmt.Sprintf("tables %d, items %d, index entries %d, TTL entries %d, findings %d",
		v.Tables, v.Items, v.IndexEntries, v.TTLEntries, v.Findings)
}

// Options configure a run; the zero value is valid.
type Options struct {
	// Progress, unless nil, is called regularly with the number of checked items, entries and records, and the total. The total
	// grows, since the records of a log are not counted beforehand.
	Progress func(done, total int64)
	// Following is how many items are followed in one pass over a change log; logs with more items are read several times.
	// Default 1<<20, about 50 MB.
	Following int
}

// Store is what a run reads. It has no methods that change anything. A kv.Store is one.
type Store interface {
	Snapshot(ctx context.Context) (kv.Snapshot, error)
	Get(ctx context.Context, key []byte) ([]byte, error)
	Kept(ctx context.Context) ([]kv.KeptSnapshot, error)
	OpenKept(ctx context.Context, name string) (kv.Snapshot, error)
}

// Run verifies one consistent state of a store and calls report for every inconsistency.
func Run(ctx context.Context, store Store, report func(Finding), o Options) (Verified, error) {
	if o.Following == 0 {
		o.Following = chainsMax
	}
	v := &verification{
		ctx: ctx, store: store, report: report,
		progress: progress{report: o.Progress}, chains: o.Following,
	}
	err := v.run()
	v.progress.end()
	return v.done, err
}

// verification is one run.
type verification struct {
	ctx      context.Context //nolint:containedctx // of one call of Run, which the verification does not outlive
	store    Store           // for what snapshots do not offer
	r        kv.Snapshot
	tables   map[string]*catalog.Descriptor
	jobs     []job.Record
	report   func(Finding)
	done     Verified
	progress progress
	chains   int // how many items are followed in one pass over a change log
}

func (v *verification) run() (err error) {
	if v.r, err = v.store.Snapshot(v.ctx); err != nil {
		return err
	}
	defer v.r.Close()
	if err := format.Check(v.r); err != nil {
		return err
	}
	if err := v.loadTables(); err != nil {
		return err
	}
	if v.jobs, err = job.Stored(v.r, func(job.Record) bool { return true }); err != nil {
		return err
	}
	if err := v.expect(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(v.tables)) {
		if err := v.verifier(v.tables[name]).table(); err != nil {
			return err
		}
		v.done.Tables++
	}
	for _, look := range []func() error{v.streams, v.backups, v.strays, v.strayLogs} {
		if err := look(); err != nil {
			return err
		}
	}
	return nil
}

// expect estimates the amount of work from the counters.
func (v *verification) expect() error {
	for _, t := range v.tables {
		ids := []keyenc.IndexID{0}
		for i := range t.Indexes {
			ids = append(ids, t.Indexes[i].ID)
		}
		for _, x := range ids {
			counters, err := v.r.Counter([]byte(statisticsKey(t.ID, x)))
			if err != nil {
				return err
			}
			if len(counters) > 0 {
				v.progress.total += counters[0]
			}
		}
	}
	return nil
}

func (v *verification) finding(f Finding) {
	v.done.Findings++
	f.Key = bytes.Clone(f.Key)
	v.report(f)
}

// verifier verifies one table.
type verifier struct {
	*verification
	t          definition
	indexes    []tally // by position in the definition
	ttlEntries tally
	collection collection
}

func (v *verification) verifier(t *catalog.Descriptor) *verifier {
	return &verifier{verification: v, t: define(t), indexes: make([]tally, len(t.Indexes))}
}

func (v *verifier) table() error {
	if v.t.BeingRestored() {
		return nil
	}
	if err := v.items(); err != nil {
		return err
	}
	for i := range v.t.Indexes {
		if err := v.index(i); err != nil {
			return err
		}
	}
	if err := v.ttl(); err != nil {
		return err
	}
	return v.changeLog()
}

func (v *verifier) found(index string, key []byte, format string, args ...any) {
	v.finding(Finding{Table: v.t.Name, Index: index, Key: key, What: fmt.Sprintf(format, args...)})
}

// walk calls see for every key with a prefix; key and value are valid during the call.
func (v *verification) walk(prefix string, see func(key, value []byte) error) error {
	lo, hi := bounds(prefix)
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

// first returns a copy of the first key in [lo, hi), or nil.
func first(r kv.Reader, lo, hi []byte) ([]byte, error) {
	it := r.Iter(lo, hi, kv.IterOptions{Limit: 1})
	defer it.Close()
	if !it.Next() {
		return nil, it.Err()
	}
	return bytes.Clone(it.Key()), nil
}

// progressStep is how many checks are made between two reports of progress.
const progressStep = 1 << 12

// progress counts towards an estimated total.
type progress struct {
	done, total int64
	report      func(done, total int64) // may be nil
}

// counted counts something that is included in total.
func (p *progress) counted() {
	p.done++
	if p.done%progressStep == 0 {
		p.end()
	}
}

// uncounted counts something that is not yet included in total.
func (p *progress) uncounted() {
	p.total++
	p.counted()
}

func (p *progress) end() {
	if p.report != nil {
		p.report(p.done, max(p.done, p.total))
	}
}
