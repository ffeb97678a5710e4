// Package logenc is the stored form of a change-log record: what one commit did to one item.
package logenc

import "github.com/monotable/monotable/internal/dynamo/itemenc"

// Origin says who caused a change.
type Origin uint8

// The origins.
const (
	OriginClient Origin = iota
	OriginTTL
)

// Change is one record. Old is nil for an insert, New for a removal.
type Change struct {
	Time   int64 // milliseconds since the epoch, the database's clock
	Origin Origin
	Key    []byte // the base item's key in the store (keyenc.Item), so hash and order travel along
	Old    itemenc.Item
	New    itemenc.Item
}

// Append appends the encoded record.
func Append(dst []byte, c Change) []byte { panic("skeleton") }

// Decode reads a record; its slices alias data.
func Decode(data []byte) (Change, error) { panic("skeleton") }
