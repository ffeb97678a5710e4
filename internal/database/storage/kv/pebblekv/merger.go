package pebblekv

import (
	"io"

	"github.com/cockroachdb/pebble/v2"

	"github.com/monotable/monotable/internal/database/storage/kv/counters"
)

// mergerName is stored in the database: a Pebble database with another merger is not ours, and vice versa.
const mergerName = "monotable.counters.1"

// counterMerger lets an update add to counters without reading them: Pebble adds up the terms when it reads or compacts them.
func counterMerger() *pebble.Merger {
	return &pebble.Merger{
		Name: mergerName,
		Merge: func(_, value []byte) (pebble.ValueMerger, error) {
			m := &counterSum{}
			return m, m.MergeNewer(value)
		},
	}
}

// counterSum adds up terms; their order is irrelevant.
type counterSum struct {
	sum []int64
}

// MergeNewer adds a term.
func (m *counterSum) MergeNewer(value []byte) (err error) {
	m.sum, err = counters.Add(m.sum, value)
	return err
}

// MergeOlder adds a term.
func (m *counterSum) MergeOlder(value []byte) error { return m.MergeNewer(value) }

// Finish returns the sum in stored form.
func (m *counterSum) Finish(bool) ([]byte, io.Closer, error) {
	return counters.Append([]byte{}, m.sum), nil, nil
}
