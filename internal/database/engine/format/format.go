// Package format manages the storage format version of a database, which covers everything that packages engine, catalog, keyenc,
// itemenc and logenc write. While a database is being moved to another store, and in the store that it has left, a Move replaces
// the version.
//
// A build reads every version up to its own. Opening a store sets the build's version, because the build may write what older
// ones cannot read; from then on they refuse to open it. In a shared store the version is only raised after the servers of
// earlier versions have ended (Claim), and servers check it regularly (Check). docs/decisions/0014-format-versions.md has the
// rules.
package format

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// version is the newest storage format version that this program reads, and the one it writes.
//
//	1  change logs count their records from 1
//	2  the number of a record is its time; a log omits what can no longer be read
//	3  other Regions, vector indexes, Kinesis destinations, exports and imports, metrics of the last hours
//	4  replicas of global tables: versions of items, positions of replication
//	5  identities: users, roles and policies, and the seal of their secrets
const version = 5

// Version returns the storage format version that this program writes.
func Version() uint64 { return version }

// Unshared is the free function for a store that no other process has open.
func Unshared(kv.Txn, uint64) error { return nil }

// Claim rejects a store that was opened by a newer program, and sets this program's version. It only raises the version if free
// confirms that no server uses the store in an earlier one.
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

// Check rejects a store whose version this program does not know.
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
		return 0, fmt.Errorf("the store's format version is corrupted: %x, want 8 bytes", data)
	}
	if stored = binary.BigEndian.Uint64(data); stored < 1 || stored > version {
		return 0, &NewerError{stored, version}
	}
	return stored, nil
}

// NewerError means that a store has been opened by a newer program.
type NewerError struct{ Stored, Known uint64 }

func (e *NewerError) Error() string {
	return fmt.Sprintf("the store has format version %d and this program knows versions up to %d: "+
		"open it with the program that wrote it, or a newer one", e.Stored, e.Known)
}
