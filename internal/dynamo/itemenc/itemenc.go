// Package itemenc is the compact binary form of an item: what a store keeps, what the change log
// keeps, and what response JSON is written from without decoding.
package itemenc

import "github.com/monotable/monotable/internal/dynamo/attr"

// Item is one encoded item; nil means absent. Form: version, DynamoDB size, number of fields, then per
// field (sorted by name) name, length and value, so that any field is reached by skipping over lengths.
type Item []byte

// Encode appends the encoded form of it to dst.
func Encode(dst []byte, it attr.Item) Item { panic("skeleton") }

// Decode returns the whole item. The result does not alias it.
func (it Item) Decode() (attr.Item, error) { panic("skeleton") }

// Get decodes one top-level attribute.
func (it Item) Get(name string) (attr.Value, bool, error) { panic("skeleton") }

// Select decodes the named top-level attributes only (names sorted); for filters.
func (it Item) Select(names []string) (attr.Item, error) { panic("skeleton") }

// Project appends the encoded form of the item that has only the named top-level attributes (names
// sorted), copying their bytes.
func (it Item) Project(dst []byte, names []string) (Item, error) { panic("skeleton") }

// Size is the item's size by DynamoDB's accounting, read from the head.
func (it Item) Size() int { panic("skeleton") }

// Check walks the whole encoding and reports whether it is well formed.
func (it Item) Check() error { panic("skeleton") }

// Visitor and walking functions for wire live here too (see AppendJSON in package wire).
