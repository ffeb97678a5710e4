package verify

import (
	"bytes"
	"fmt"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// streams checks the records of streams. A table may lack the record of its stream: it is then from before streams had records,
// and Open creates it.
func (v *verification) streams() error {
	tables := map[keyenc.TableID]*catalog.Descriptor{}
	for _, t := range v.tables {
		tables[t.ID] = t
	}
	return v.walk("cs", func(key, value []byte) error {
		v.done.Streams++
		v.progress.uncounted()
		s, err := stream.Decode(value)
		if err != nil {
			v.finding(Finding{Key: key, What: err.Error()})
			return nil //nolint:nilerr // it is reported
		}
		found := func(format string, args ...any) {
			v.finding(Finding{Table: s.TableName, Key: key, What: "the stream " + fmt.Sprintf(format, args...)})
		}
		if !bytes.Equal(keyenc.Stream(s.Table, s.Label), key) {
			found("does not have the key it is stored at")
			return nil
		}
		t := tables[s.Table]
		if on := t != nil && t.Stream.Enabled && t.Stream.Label == s.Label; on != (s.DisabledAt == 0) {
			found("is open and its table has another or none, or the other way round")
		}
		verifyShards(s, found)
		return nil
	})
}

// verifyShards checks shards, individually and together.
func verifyShards(s *stream.Stream, found func(format string, args ...any)) {
	const hashes = keyenc.Hashes
	open := 0 // number of hashes
	for i := range s.Shards {
		x := &s.Shards[i]
		if !stream.ValidShardID(x.ID) || x.Low > x.High || !x.Open() && x.End < x.Start {
			found("has a shard that cannot be: %+v", *x)
			return
		}
		if x.Open() {
			open += int(x.High) - int(x.Low) + 1
		}
		for j := range s.Shards[:i] {
			before := &s.Shards[j]
			if before.ID >= x.ID {
				found("has shard %s behind shard %s", x.ID, before.ID)
			}
			sameHash := before.Low <= x.High && x.Low <= before.High
			sameTime := (before.Open() || x.Start < before.End) && (x.Open() || before.Start < x.End)
			if sameHash && sameTime {
				found("has records that are both in shard %s and in shard %s", before.ID, x.ID)
			}
		}
	}
	switch {
	case s.DisabledAt != 0 && open > 0:
		found("is closed and has an open shard")
	case s.DisabledAt == 0 && open < hashes:
		found("has no open shard for some items")
	}
}
