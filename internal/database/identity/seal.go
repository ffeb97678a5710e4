package identity

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/seal"
)

// Sealed data is bound to its purpose.
const (
	forDataKey = "data key"
	forSecret  = "secret of " // followed by the access key's id
	forSession = "session"
)

// ErrSealed means that the directory's secrets cannot be opened.
var ErrSealed = errors.New("the secrets of this database are encrypted with a master key")

// dataKeyRecord is the stored form of the data key.
type dataKeyRecord struct {
	Format int    `json:"format"`
	Key    []byte `json:"key"`
	Sealed bool   `json:"sealed,omitempty"` // under the master key
}

// dataKey seals secrets and, with a derived key, sessions.
type dataKey struct{ secrets, sessions []byte }

func newDataKey(key []byte) (*dataKey, error) {
	sessions, err := hkdf.Key(sha256.New, key, nil, forSession, len(key))
	return &dataKey{key, sessions}, err
}

// openDataKey opens the data key, if there is one, and seals it under the master key if it is not sealed yet.
func (d *Directory) openDataKey(ctx context.Context) error {
	data, err := d.options.Store.Get(ctx, keyenc.Identity(kindDataKey, ""))
	if err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	record, err := decode[dataKeyRecord](data)
	if err != nil {
		return fmt.Errorf("identity: data key: %w", err)
	}
	master := d.options.MasterKey
	switch {
	case record == nil:
		return nil
	case !record.Sealed:
		if d.data, err = newDataKey(record.Key); err != nil || master == nil || d.options.ReadOnly {
			return err
		}
		return d.replaceDataKey(ctx)
	case master == nil:
		d.sealed = fmt.Errorf("%w: start with --master-key (Options.MasterKey)", ErrSealed)
		return nil
	}
	if key, err := seal.Open(master, record.Key, forDataKey); err == nil {
		d.data, err = newDataKey(key)
		return err
	}
	if previous := d.options.PreviousMasterKey; previous != nil {
		if key, err := seal.Open(previous, record.Key, forDataKey); err == nil {
			if d.data, err = newDataKey(key); err != nil || d.options.ReadOnly {
				return err
			}
			return d.writeDataKey(ctx, nil)
		}
	}
	d.sealed = fmt.Errorf("%w, but not with this one: pass the right --master-key (Options.MasterKey), or the old one as --previous-master-key (Options.PreviousMasterKey)", ErrSealed)
	return nil
}

// dataKeyOf returns the data key, creating it if necessary. The caller holds mu.
func (d *Directory) dataKeyOf(ctx context.Context) (*dataKey, error) {
	if d.sealed != nil {
		return nil, d.sealed
	}
	if d.data != nil {
		return d.data, nil
	}
	created, err := d.makeDataKey()
	if err != nil {
		return nil, err
	}
	d.data = created
	if err := d.writeDataKey(ctx, nil); err != nil {
		d.data = nil
		return nil, err
	}
	return d.data, nil
}

func (d *Directory) makeDataKey() (*dataKey, error) {
	key := make([]byte, seal.KeyBytes)
	if _, err := io.ReadFull(d.options.Rand, key); err != nil {
		return nil, err
	}
	return newDataKey(key)
}

// replaceDataKey replaces a data key that was stored unencrypted with a new one, sealed under the master key, and seals all
// secrets again. The old ones disappear from the store's files when it compacts.
func (d *Directory) replaceDataKey(ctx context.Context) error {
	all, err := d.read(ctx)
	if err != nil {
		return err
	}
	old := d.data
	if d.data, err = d.makeDataKey(); err != nil {
		return err
	}
	users := all.users
	if all.root != nil {
		users = append(users, *all.root)
	}
	changed := map[string]any{}
	for i := range users {
		u := &users[i]
		for k := range u.Keys {
			secret, err := seal.Open(old.secrets, u.Keys[k].Sealed, forSecret+u.Keys[k].ID)
			if err == nil {
				u.Keys[k].Sealed, err = seal.Seal(d.options.Rand, d.data.secrets, secret, forSecret+u.Keys[k].ID)
			}
			if err != nil {
				return fmt.Errorf("identity: access key %s: %w", u.Keys[k].ID, err)
			}
		}
		kind := byte(kindUser)
		if u.Name == "" {
			kind = kindRoot
		}
		changed[string(keyenc.Identity(kind, u.Name))] = u
	}
	if err := d.writeDataKey(ctx, changed); err != nil {
		return err
	}
	lo, hi := keyenc.Identities()
	return d.options.Store.Compact(ctx, lo, hi)
}

// writeDataKey writes the data key together with further records.
func (d *Directory) writeDataKey(ctx context.Context, more map[string]any) error {
	record := dataKeyRecord{Format: recordFormat, Key: d.data.secrets}
	if d.options.MasterKey != nil {
		var err error
		if record.Key, err = seal.Seal(d.options.Rand, d.options.MasterKey, d.data.secrets, forDataKey); err != nil {
			return err
		}
		record.Sealed = true
	}
	values := map[string][]byte{}
	intent := kv.Intent{}
	for key, value := range more {
		data, err := json.Marshal(value)
		if err != nil {
			return err
		}
		values[key] = data
		intent.Write = append(intent.Write, []byte(key))
	}
	data, err := json.Marshal(record)
	if err != nil {
		return err
	}
	key := keyenc.Identity(kindDataKey, "")
	values[string(key)] = data
	intent.Write = append(intent.Write, key)
	return d.update(ctx, intent, func(txn kv.Txn) error {
		for key, value := range values {
			txn.Set([]byte(key), value)
		}
		return nil
	})
}
