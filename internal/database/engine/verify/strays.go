package verify

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// strays looks for items and entries of tables and indexes that are not there and that no job is about to
// remove. It looks at the first key of each index and skips to the next.
func (v *verification) strays() error {
	type owner struct {
		table keyenc.TableID
		index keyenc.IndexID
	}
	known := map[owner]bool{}
	for _, t := range v.tables {
		known[owner{t.ID, 0}] = true
		for _, x := range t.Indexes {
			known[owner{t.ID, x.ID}] = true
		}
	}
	going := v.tablesOf(job.DropTable)
	lo, _ := keyenc.TableBounds(0)
	_, hi := keyenc.TableBounds(^keyenc.TableID(0))
	for {
		key, err := firstKey(v.r, lo, hi)
		if err != nil || key == nil {
			return err
		}
		t, x, err := keyenc.ParseIndex(key)
		if err != nil {
			v.finding(Finding{Key: key, What: "the key cannot be read"})
			lo = append(bytes.Clone(key), 0)
			continue
		}
		if !known[owner{t, x}] && !going[t] {
			v.finding(Finding{Key: key, What: "there is something of a table or index that is not there"})
		}
		_, lo = keyenc.IndexBounds(t, x)
	}
}

// strayLogs looks for change logs of tables that are not there and that no job is about to drop.
func (v *verification) strayLogs() error {
	known := v.tablesOf(job.DropLog)
	for _, t := range v.tables {
		known[t.ID] = true
	}
	next, err := v.r.Get(keyenc.NextTableID())
	if err != nil || len(next) != 8 {
		return err // there has never been a table
	}
	for id := uint64(1); id < binary.BigEndian.Uint64(next); id++ {
		if known[keyenc.TableID(id)] { //nolint:gosec // ids have 32 bits
			continue
		}
		records, err := v.r.ReadLog(kv.LogID(id), 0, 1) //nolint:gosec // ids have 32 bits
		if err != nil {
			return err
		}
		if len(records) > 0 {
			v.finding(Finding{What: fmt.Sprintf("there is a change log of table %d, which is not there", id)})
		}
	}
	return nil
}

// tablesOf returns the tables that there are jobs of a kind for.
func (v *verification) tablesOf(kind job.Kind) map[keyenc.TableID]bool {
	tables := map[keyenc.TableID]bool{}
	for i := range v.jobs {
		if v.jobs[i].Kind == kind {
			tables[v.jobs[i].Table] = true
		}
	}
	return tables
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
