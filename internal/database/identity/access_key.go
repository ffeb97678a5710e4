package identity

import (
	"context"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/monotable/monotable/internal/seal"
)

// keysMax is the maximum number of access keys of a user, as on AWS.
const keysMax = 2

// EnsureRoot creates an access key for the root if there is no access key at all. It returns nil if there is one.
func (d *Directory) EnsureRoot(ctx context.Context) (*Key, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sealed != nil {
		return nil, d.sealed
	}
	if len(d.view.Load().keys) > 0 {
		return nil, nil //nolint:nilnil // none is needed
	}
	created, err := d.createKey(ctx, new(Request))
	if err != nil {
		return nil, err
	}
	return &created.Keys[0], d.reload(context.WithoutCancel(ctx))
}

// createKey creates an access key for a user or the root.
func (d *Directory) createKey(ctx context.Context, r *Request) (Result, error) {
	key, sealed, err := d.newSealedKey(ctx)
	if err != nil {
		return Result{}, err
	}
	err = d.updateKeys(ctx, r.User, func(keys []keyRecord) ([]keyRecord, error) {
		now := d.options.Now()
		keys = slices.DeleteFunc(keys, func(k keyRecord) bool { return isOver(k.Expires, now) })
		if len(keys) >= keysMax {
			return nil, fmt.Errorf("%s already has %d access keys, the maximum: delete one first", userOrRoot(r.User), len(keys))
		}
		return append(keys, sealed), nil
	})
	key.User, key.Created = r.User, sealed.Created
	return Result{Keys: []Key{key}}, err
}

// rotateKey creates a new access key for the owner of an existing one, which remains valid for a grace period.
func (d *Directory) rotateKey(ctx context.Context, r *Request) (Result, error) {
	owner, err := d.view.Load().ownerOf(r.Name)
	if err != nil {
		return Result{}, err
	}
	if r.Grace < 0 {
		return Result{}, errors.New("the grace period cannot be negative")
	}
	key, sealed, err := d.newSealedKey(ctx)
	if err != nil {
		return Result{}, err
	}
	err = d.updateKeys(ctx, owner, func(keys []keyRecord) ([]keyRecord, error) {
		now := d.options.Now()
		kept := slices.DeleteFunc(keys, func(k keyRecord) bool {
			return k.ID == r.Name && r.Grace == 0 || isOver(k.Expires, now)
		})
		for i := range kept {
			if kept[i].ID == r.Name {
				kept[i].Expires = now.Add(r.Grace).UTC()
			}
		}
		if len(kept) >= keysMax {
			return nil, fmt.Errorf("%s has another access key: delete it first, or rotate without a grace period", userOrRoot(owner))
		}
		return append(kept, sealed), nil
	})
	key.User, key.Created = owner, sealed.Created
	return Result{Keys: []Key{key}}, err
}

// isOver reports whether the grace period of a rotated key is over.
func isOver(expires, now time.Time) bool { return !expires.IsZero() && !now.Before(expires) }

// changeKey disables, enables or deletes an access key.
func (d *Directory) changeKey(ctx context.Context, r *Request) (Result, error) {
	owner, err := d.view.Load().ownerOf(r.Name)
	if err != nil {
		return Result{}, err
	}
	return Result{}, d.updateKeys(ctx, owner, func(keys []keyRecord) ([]keyRecord, error) {
		if r.Action == "key delete" {
			return slices.DeleteFunc(keys, func(k keyRecord) bool { return k.ID == r.Name }), nil
		}
		for i := range keys {
			if keys[i].ID == r.Name {
				keys[i].Inactive = r.Action == "key disable"
			}
		}
		return keys, nil
	})
}

// updateKeys changes the access keys of a user or the root.
func (d *Directory) updateKeys(ctx context.Context, user string, change func([]keyRecord) ([]keyRecord, error)) error {
	kind := byte(kindUser)
	if user == "" {
		kind = kindRoot
	}
	return update(ctx, d, kind, user, func(u *userRecord) (_ *userRecord, err error) {
		switch {
		case u == nil && user != "":
			return nil, fmt.Errorf("there is no user %s", user)
		case u == nil:
			u = &userRecord{Format: recordFormat, ID: d.options.Account, Created: d.options.Now().UTC()}
		}
		u.Keys, err = change(u.Keys)
		return u, err
	})
}

func userOrRoot(user string) string {
	if user == "" {
		return "the root"
	}
	return "user " + user
}

// newSealedKey creates an access key and its record. The caller holds mu.
func (d *Directory) newSealedKey(ctx context.Context) (Key, keyRecord, error) {
	data, err := d.dataKeyOf(ctx)
	if err != nil {
		return Key{}, keyRecord{}, err
	}
	key, err := d.newKey("AKIA")
	if err != nil {
		return Key{}, keyRecord{}, err
	}
	sealed, err := seal.Seal(d.options.Rand, data.secrets, []byte(key.Secret), forSecret+key.ID)
	return key, keyRecord{ID: key.ID, Sealed: sealed, Created: d.options.Now().UTC()}, err
}

// newKey creates an id and a secret in AWS's format.
func (d *Directory) newKey(prefix string) (Key, error) {
	id, err := d.newID(prefix, 16)
	if err != nil {
		return Key{}, err
	}
	var secret [30]byte
	if _, err := io.ReadFull(d.options.Rand, secret[:]); err != nil {
		return Key{}, err
	}
	return Key{ID: id, Secret: base64.StdEncoding.EncodeToString(secret[:])}, nil
}

func (d *Directory) newID(prefix string, length int) (string, error) {
	random := make([]byte, length)
	if _, err := io.ReadFull(d.options.Rand, random); err != nil {
		return "", err
	}
	return prefix + base32.StdEncoding.EncodeToString(random)[:length], nil
}
