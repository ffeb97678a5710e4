// Package format has the version of the stored form of a database: of all that packages engine, catalog,
// keyenc, itemenc and logenc write.
package format

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// version is the newest version of the stored form that this program reads, and the one it writes.
// It stands for everything below: keys, items, index entries, the change log.
//
//	1  change logs count their records from 1
//	2  the number of a record is its time; a log leaves out what nobody can ask for
const version = 2

// Claim refuses a store that a newer program wrote, and marks any other as written by this one: from here on older
// programs refuse it.
func Claim(ctx context.Context, store kv.Store) error {
	key := keyenc.FormatVersion()
	return store.Update(ctx, kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
		data, err := txn.Get(key)
		if err != nil {
			return err
		}
		if data != nil {
			if err := Check(txn); err != nil {
				return err
			}
		}
		if current := binary.BigEndian.AppendUint64(nil, version); !bytes.Equal(data, current) {
			txn.Set(key, current)
		}
		return nil
	})
}

// Check refuses a store whose format this program does not know.
func Check(r kv.Reader) error {
	data, err := r.Get(keyenc.FormatVersion())
	if err != nil {
		return err
	}
	if len(data) != 8 {
		return fmt.Errorf("format: the store does not tell its format version: %x", data)
	}
	if v := binary.BigEndian.Uint64(data); v < 1 || v > version {
		return fmt.Errorf("format: the store has format version %d and this program knows versions up to %d: "+
			"open it with the program that wrote it, or a newer one", v, version)
	}
	return nil
}
