// Package stream describes a table's stream: which part of the table's change log it is, and how that is divided into shards. It
// is arithmetic on numbers; package engine reads and writes the store.
//
// # The model
//
// A stream is the records of its table's log from one sequence number to another. A shard is those records whose partition hash
// is in a range, and whose number is in a range:
//
//	hash  ffff ┌──────────────┬───────────────┬──────┐
//	           │              │ B  parent A   │ D ▸  │  D rotated from B
//	      8000 │  A           ├───────────────┴──────┤
//	           │              │ C  parent A         ▸│  A was split
//	      0000 └──────────────┴──────────────────────┘
//	           start ──────── sequence numbers ─────▶   ▸ open
//
// A shard is closed, and its children opened, at one number: records below it always belong to the parent, including those in
// flight at that moment, the others to the children.
//
// # Invariants
//
//	I1  At every number from the stream's start to its end each hash is in exactly one shard, except where
//	    shards have been removed because all their records are too old to be read.
//	I2  Shards are in the order of their ids, which is the order of opening; those opened together are
//	    adjacent, and a parent comes before its children.
//
// # Concurrency
//
// A Stream is a plain value: concurrent reads are safe, a change needs exclusive access.
package stream

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// format is the newest stored form that this program reads, and the one it writes.
const format = 1

// Retention is how long a record can be read from a stream.
const Retention = 24 * time.Hour

// Status is the status of a stream as in DescribeStream.
type Status string

// The statuses.
const (
	Enabling  Status = "ENABLING"
	Enabled   Status = "ENABLED"
	Disabling Status = "DISABLING"
	Disabled  Status = "DISABLED"
)

// Stream is the stored form of one stream. Times are milliseconds since the epoch; 0 means never.
type Stream struct {
	Format    int                  `json:"format"`
	Table     keyenc.TableID       `json:"table"`
	TableName string               `json:"tableName"`
	Label     string               `json:"label"`
	View      catalog.View         `json:"view"`
	Keys      []catalog.KeyElement `json:"keys"`
	Created   int64                `json:"created"`
	// EnabledAt ends ENABLING, DisabledAt starts DISABLING, which SettledAt ends.
	EnabledAt  int64 `json:"enabledAt,omitempty"`
	DisabledAt int64 `json:"disabledAt,omitempty"`
	SettledAt  int64 `json:"settledAt,omitempty"`
	// Horizon is the number of the last record that was too old to be read when the database had format 1. Since then numbers are
	// times.
	Horizon kv.Seq  `json:"horizon,omitempty"`
	Shards  []Shard `json:"shards"`
}

// Open creates the first shards of a new stream, with equal parts of the hashes, from a number on.
func (s *Stream) Open(from kv.Seq, shards int) {
	s.Shards = s.open(s.Created, from, divide(Shard{High: maxHash}, shards))
}

// Close ends the stream, and each of its open shards, before a number.
func (s *Stream) Close(end kv.Seq, now int64) {
	s.DisabledAt = now
	for i := range s.Shards {
		if s.Shards[i].Open() {
			s.Shards[i].close(end, now)
		}
	}
}

// Status returns the stream's status at a time.
func (s *Stream) Status(now time.Time) Status {
	ms := now.UnixMilli()
	switch {
	case s.DisabledAt != 0 && ms < s.SettledAt:
		return Disabling
	case s.DisabledAt != 0:
		return Disabled
	case ms < s.EnabledAt:
		return Enabling
	default:
		return Enabled
	}
}

// Gone reports whether nothing of the stream can be read any more, because it was disabled longer ago than the retention.
func (s *Stream) Gone(now time.Time) bool {
	return s.DisabledAt != 0 && s.DisabledAt <= now.Add(-Retention).UnixMilli()
}

// Encode returns the stored form.
func (s *Stream) Encode() ([]byte, error) {
	s.Format = format
	return json.Marshal(s)
}

// Decode decodes the stored form.
func Decode(data []byte) (*Stream, error) {
	var head struct {
		Format           int
		TableName, Label string
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("stream: record: %w", err)
	}
	if head.Format < 1 || head.Format > format {
		return nil, fmt.Errorf("stream %s of table %q is stored in format %d and this program knows formats up to %d: "+
			"open the store with the program that wrote it, or a newer one", head.Label, head.TableName, head.Format, format)
	}
	s := new(Stream)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("stream: record of stream %s of table %q: %w", head.Label, head.TableName, err)
	}
	return s, nil
}
