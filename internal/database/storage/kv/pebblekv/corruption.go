package pebblekv

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// damaged returns the error for a damaged file of the store in dir. Pebble's own does not name the directory, and has several
// lines.
func damaged(dir string, cause error) error {
	if _, ok := errors.AsType[*kv.DamageError](cause); ok {
		return cause
	}
	if info := pebble.ExtractDataCorruptionInfo(cause); info != nil {
		return &kv.DamageError{Dir: dir, File: info.Path, Cause: info.Details}
	}
	return &kv.DamageError{Dir: dir, File: "a file", Cause: cause}
}

// explain returns err, or what it means if it is about a damaged file.
func (s *Store) explain(err error) error {
	if err == nil || !pebble.IsCorruptionError(err) {
		return err
	}
	return damaged(s.dir, err)
}
