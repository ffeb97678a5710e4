// Package format has the version of the stored form of a database: of all that packages engine, catalog, keyenc,
// itemenc and logenc write. While a database is moved from one store to another, and in the store that it has left, a Move stands in
// the place of the version.
//
// A build reads every version up to its own. Opening a store marks it with the build's version, since the build may
// write what older ones cannot read; they refuse it from then on. Where servers share a store, it is not marked before those of an earlier
// version have ended (Claim), and a server looks at the mark again and again (Check). docs/decisions/0014-format-versions.md has the rules.
package format

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// version is the newest version of the stored form that this program reads, and the one it writes.
//
//	1  change logs count their records from 1
//	2  the number of a record is its time; a log leaves out what nobody can ask for
//	3  other Regions, vector indexes, Kinesis destinations, exports and imports, metrics of the last hours
//	4  replicas of global tables: versions of items, positions of replication
//	5  identities: users, roles and policies, and the seal of their secrets
const version = 5

// Version is the version of the stored form that this program writes.
func Version() uint64 { return version }

// Unshared is for a store that no other process has open.
func Unshared(kv.Txn, uint64) error { return nil }

// Claim refuses a store that a newer program opened, and marks it with this program's version. A later version than the store has is marked
// only if free says that nobody uses the store in an earlier one.
func Claim(ctx context.Context, store kv.Store, free func(txn kv.Txn, version uint64) error) error {
	return claim(ctx, store, version, free)
}

func claim(ctx context.Context, store kv.Store, version uint64, free func(txn kv.Txn, version uint64) error) error {
	key := keyenc.FormatVersion()
	return store.Update(ctx, kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
		data, err := txn.Get(key)
		if err != nil {
			return err
		}
		if data != nil {
			stored, err := check(data, version)
			if err != nil || stored == version {
				return err
			}
			if err := free(txn, version); err != nil {
				return err
			}
		}
		txn.Set(key, binary.BigEndian.AppendUint64(nil, version))
		return nil
	})
}

// Check refuses a store whose version this program does not know.
func Check(r kv.Reader) error {
	data, err := r.Get(keyenc.FormatVersion())
	if err != nil {
		return err
	}
	_, err = check(data, version)
	return err
}

func check(data []byte, version uint64) (stored uint64, err error) {
	if m, err := decodeMove(data); err != nil {
		return 0, err
	} else if m != nil {
		return 0, m.Refusal()
	}
	if len(data) != 8 {
		return 0, fmt.Errorf("format: the store's format version is damaged: it is %x and not 8 bytes", data)
	}
	if stored = binary.BigEndian.Uint64(data); stored < 1 || stored > version {
		return 0, &NewerError{stored, version}
	}
	return stored, nil
}

// NewerError is of a store that has been opened by a newer program.
type NewerError struct{ Stored, Known uint64 }

func (e *NewerError) Error() string {
	return fmt.Sprintf("format: the store has format version %d and this program knows versions up to %d: "+
		"open it with the program that wrote it, or a newer one", e.Stored, e.Known)
}
