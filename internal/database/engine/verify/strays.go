package verify

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// strays looks for keys of tables and indexes that do not exist and that no job is about to remove, and for unknown keys. It
// checks the first key of each owner and skips the others.
func (v *verification) strays() error {
	known := map[string]bool{}
	for _, t := range v.tables {
		known[dataPrefix(t.ID, 0)], known[statisticsKey(t.ID, 0)] = true, true
		known[tablePrefix('v', t.ID)] = true
		known[tablePrefix('t', t.ID)], known[collectionKey(t.ID, "")] = true, true
		for i := range t.Indexes {
			x := t.Indexes[i].ID
			known[dataPrefix(t.ID, x)], known[statisticsKey(t.ID, x)] = true, true
		}
	}
	going := v.tablesOf(job.DropTable)
	for lo := []byte{0}; ; {
		key, err := first(v.r, lo, nil)
		if err != nil || key == nil {
			return err
		}
		prefix, table := ownerOf(string(key))
		switch {
		case prefix == "":
			v.finding(Finding{Key: key, What: "the key cannot be read"})
			prefix = string(key)
		case table != 0 && !known[prefix] && !going[table]:
			v.finding(Finding{Key: key, What: "there is something of a table or index that is not there"})
		}
		_, lo = bounds(prefix)
	}
}

// ownerOf returns the prefix that a key shares with all keys of its table or index, and the table. Table 0 stands for the
// catalog, jobs, transaction tokens, metrics, identities, server leases, and the parts of the store that are other Regions
// (kv/part), which are verified separately; each of these keys has its own owner. The prefix of an unknown key is "".
func ownerOf(key string) (prefix string, t keyenc.TableID) {
	length := 1 + 4
	switch {
	case strings.ContainsAny(key[:1], "cijklmr"):
		return key[:1], 0
	case key[0] == 'd':
		length += 2
	case key[0] == 's' && strings.HasPrefix(key[min(length, len(key)):], "\x00"):
		length += 1 + 2
	case key[0] == 's':
		length++
	case key[0] != 't' && key[0] != 'v':
		return "", 0
	}
	if len(key) < length {
		return "", 0
	}
	return key[:length], keyenc.TableID(binary.BigEndian.Uint32([]byte(key[1:])))
}

// strayLogs looks for change logs of tables that do not exist and that no job is about to drop.
func (v *verification) strayLogs() error {
	known := v.tablesOf(job.DropLog)
	for _, t := range v.tables {
		known[t.ID] = true
	}
	next, err := v.number(keyenc.NextTableID())
	if err != nil {
		return err
	}
	for id := uint64(1); id < next; id++ {
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

// tablesOf returns the tables with jobs of a kind.
func (v *verification) tablesOf(kind job.Kind) map[keyenc.TableID]bool {
	tables := map[keyenc.TableID]bool{}
	for i := range v.jobs {
		if v.jobs[i].Kind == kind {
			tables[v.jobs[i].Table] = true
		}
	}
	return tables
}
