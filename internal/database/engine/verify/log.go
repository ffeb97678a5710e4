package verify

import (
	"bytes"
	"hash/maphash"
	"math"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

const (
	// logChunk is how many records of a change log are read together.
	logChunk = 64
	// chainsMax is how many items are followed in one pass over a change log: about 50 MB.
	chainsMax = 1 << 20
)

// chain is the state of one item while its log is read.
type chain struct {
	exists bool   // after the last record
	item   uint64 // fingerprint of the item after the last record, if that has its new image
	known  bool
	last   kv.Seq // the last record
	broken kv.Seq // the first record that does not continue from the one before, or 0
}

// chains follow items through a change log, those whose keys have fingerprints from lo to hi. If there are too many the upper
// half is dropped.
type chains struct {
	seed   maphash.Seed
	lo, hi uint64
	max    int
	of     map[uint64]chain
}

func (c *chains) fingerprint(b []byte) uint64 { return maphash.Bytes(c.seed, b) }

// follow processes a record.
func (c *chains) follow(seq kv.Seq, change *logenc.Change) {
	key := c.fingerprint(change.Key)
	if key < c.lo || key > c.hi {
		return
	}
	link, known := c.of[key]
	if known && link.broken == 0 {
		differs := link.known && change.Old != nil && link.item != c.fingerprint(change.Old)
		if link.exists != change.Existed || differs {
			link.broken = seq
		}
	}
	link.exists, link.known, link.last = change.Exists, change.New != nil, seq
	link.item = c.fingerprint(change.New)
	c.of[key] = link
	for len(c.of) > c.max && c.lo < c.hi {
		c.hi = c.lo + (c.hi-c.lo)/2
		for key := range c.of {
			if key > c.hi {
				delete(c.of, key)
			}
		}
	}
}

// changeLog checks the table's change log. Every record must be readable, concern an item of the table, and have the images that
// the table's definition requires. From the number on from which the log has every change, the records of an item must form a
// chain that ends at the stored item. An item may have no records, because they are too old or it was restored. Earlier records
// may have gaps between them.
//
// The first pass follows the chains, the second reports those that break or do not end at the item. If there are more items than
// can be followed at once, both passes are repeated for the rest.
func (v *verifier) changeLog() error {
	seed, whole := maphash.MakeSeed(), v.t.Log.Keys
	for lo, first := uint64(0), true; ; first = false {
		c := &chains{seed: seed, lo: lo, hi: math.MaxUint64, max: v.chains, of: map[uint64]chain{}}
		err := v.records(func(seq kv.Seq, data []byte) error {
			change, ok := v.record(seq, data, first)
			if ok && whole != 0 && seq >= whole {
				c.follow(seq, &change)
			}
			return nil
		})
		if err == nil {
			err = v.records(func(seq kv.Seq, data []byte) error { return v.compare(c, seq, data) })
		}
		if err != nil || c.hi == math.MaxUint64 {
			return err
		}
		lo = c.hi + 1
	}
}

// records calls see for every record of the table's log.
func (v *verifier) records(see func(seq kv.Seq, data []byte) error) error {
	var after kv.Seq
	for {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		records, err := v.r.ReadLog(kv.LogID(v.t.ID), after, logChunk)
		if err != nil {
			return err
		}
		for _, r := range records {
			if r.Seq <= after {
				v.foundInLog(r.Seq, nil, "it follows record %d", after)
			}
			if err := see(r.Seq, r.Data); err != nil {
				return err
			}
			after = max(after, r.Seq)
		}
		if len(records) == 0 {
			return nil
		}
	}
}

func (v *verifier) foundInLog(seq kv.Seq, key []byte, format string, args ...any) {
	v.found("", key, "change log record %d: "+format, append([]any{seq}, args...)...)
}

// record decodes a record, and on its first read reports what is wrong with it. ok is false if it cannot be determined which item
// the record is about.
func (v *verifier) record(seq kv.Seq, data []byte, first bool) (change logenc.Change, ok bool) {
	change, err := logenc.Decode(data)
	var fault string
	switch {
	case err != nil:
		fault = err.Error()
	case !v.t.canHave(string(change.Key)):
		fault = "it is not about an item of the table"
	}
	if first {
		v.done.LogRecords++
		v.progress.uncounted()
		switch {
		case fault != "":
			v.foundInLog(seq, change.Key, "%s", fault)
		case !change.Existed && !change.Exists, change.Old != nil && bytes.Equal(change.Old, change.New):
			v.foundInLog(seq, change.Key, "it changes nothing")
		default:
			v.requiredImages(seq, &change)
			v.recordedItem(seq, change.Key, "old", change.Old)
			v.recordedItem(seq, change.Key, "new", change.New)
		}
	}
	return change, fault == ""
}

// requiredImages looks for required images that a record lacks.
func (v *verifier) requiredImages(seq kv.Seq, change *logenc.Change) {
	keeps := v.t.Log
	if change.Existed && change.Old == nil && keeps.Old != 0 && seq >= keeps.Old {
		v.foundInLog(seq, change.Key, "it lacks the old item")
	}
	if change.Exists && change.New == nil && keeps.New != 0 && seq >= keeps.New {
		v.foundInLog(seq, change.Key, "it lacks the new item")
	}
}

// recordedItem checks an item in a record; nil means none.
func (v *verifier) recordedItem(seq kv.Seq, key []byte, which string, recorded []byte) {
	if recorded == nil {
		return
	}
	it, _, err := decodeItem(recorded)
	if err != nil {
		v.foundInLog(seq, key, "the %s item cannot be read: %v", which, err)
		return
	}
	if at, ok := v.t.itemKey(it); !ok || at != string(key) {
		v.foundInLog(seq, key, "the %s item has another key", which)
	}
}

// compare reports a record at which a chain breaks, or a last record that does not match the item.
func (v *verifier) compare(c *chains, seq kv.Seq, data []byte) error {
	change, err := logenc.Decode(data)
	if err != nil {
		return nil //nolint:nilerr // it is reported already
	}
	link := c.of[c.fingerprint(change.Key)]
	if link.broken == seq {
		v.foundInLog(seq, change.Key, "the old item is not what the record before left")
	}
	if link.last != seq {
		return nil
	}
	stored, err := v.r.Get(change.Key)
	same := (stored != nil) == change.Exists && (change.New == nil || bytes.Equal(stored, change.New))
	if err == nil && !same {
		v.foundInLog(seq, change.Key, "the item is not what this record, its last, says")
	}
	return err
}
