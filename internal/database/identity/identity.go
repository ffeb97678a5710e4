// Package identity is the directory of who may call a database: the account's root, users with access keys, roles, and their
// policies. It authenticates requests, and seals the sessions that package sts issues.
//
// # Model
//
//	in the store     'i' kind name ─► a record in JSON           record.go
//	or in a file     users, roles, providers in YAML or JSON     file.go
//	─► a view        immutable: principals with compiled policies, credentials by access key; every request uses one    view.go
//
// A change writes its record and replaces the view. With a file, the users, roles and policies in the store are not used; only
// the root is.
//
// # Secrets
//
// Secret access keys are sealed with XChaCha20-Poly1305 under the directory's data key, and so are sessions (seal.go). The data
// key is in the store, itself sealed under the master key in Options.MasterKey. Without a master key it is stored unencrypted
// next to what it seals: then anyone who can read the database's directory can read the secrets.
//
// A session's token is its sealed state: whoever has the data key knows the session, without a record of it. It ends at its
// expiry time, or when its role or user is deleted.
//
// # Invariants
//
//	I1  A secret is shown once, when it is created; it is in no log, error or listing.
//	I2  A change is durable when it is acknowledged. A rejected change, or an invalid file, changes nothing.
//	I3  A view is immutable. An authenticated principal keeps the policies of that moment for the request.
//
// # Concurrency
//
// All methods are safe for concurrent use. Changes are serialized.
package identity

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/monotable/monotable/internal/database/identity/signature"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Options configure a Directory. Store and Account are required.
type Options struct {
	Store kv.Store
	// Shared means that other servers have the store open, too. Each signals its changes to the others, see Follow.
	Shared bool
	// ReadOnly means that the store takes no writes: only requests that change nothing work.
	ReadOnly bool
	Account  string
	// File declares the directory, instead of the store. Default: none.
	File string
	// RootKey is an access key of the account's root, in addition to that in the store. Default: none.
	RootKey Key
	// MasterKey seals the data key: 32 bytes, or nil for none. PreviousMasterKey opens what an earlier master key has sealed.
	MasterKey, PreviousMasterKey []byte
	// Skew is the tolerated clock difference of senders. Default signature.DefaultSkew.
	Skew   time.Duration
	Now    func() time.Time // default time.Now
	Rand   io.Reader        // default crypto/rand
	Logger *slog.Logger     // default: discard
}

// Directory is the directory of who may call.
type Directory struct {
	options Options
	view    atomic.Pointer[view]
	parser  signature.Parser

	mu     sync.Mutex // held by changes
	data   *dataKey   // nil until a secret is sealed, or while it cannot be opened
	sealed error      // why the data key cannot be opened
	known  int64      // the number of changes when the store was last read; only if it is shared
}

// Open reads the directory. It succeeds even if the data key needs a master key that was not given: see Usable.
func Open(ctx context.Context, o Options) (*Directory, error) {
	if o.Skew == 0 {
		o.Skew = signature.DefaultSkew
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Directory{options: o}
	if err := d.look(ctx); err != nil {
		return nil, err
	}
	if err := d.openDataKey(ctx); err != nil {
		return nil, err
	}
	return d, d.reload(ctx)
}

// Usable returns nil, or why the access keys in the store cannot be used.
func (d *Directory) Usable() error { return d.sealed }

// Reload reads the directory again after a change of its file. If that fails, the previous view stays in use.
func (d *Directory) Reload(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reload(ctx)
}

// reload replaces the view. The caller is Open or holds mu.
func (d *Directory) reload(ctx context.Context) error {
	if err := d.look(ctx); err != nil {
		return err
	}
	all, err := d.read(ctx)
	if err != nil {
		return err
	}
	if d.options.File != "" {
		file, err := readFile(d.options.File)
		if err != nil {
			return err
		}
		file.root = all.root
		all = file
	}
	v, err := d.newView(all)
	if err != nil {
		return err
	}
	d.view.Store(v)
	return nil
}

// read returns the store's records.
func (d *Directory) read(ctx context.Context) (*records, error) {
	lo, hi := keyenc.Identities()
	it, err := d.options.Store.Iter(ctx, lo, hi, kv.IterOptions{})
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	all := new(records)
	for it.Next() {
		kind, name, err := keyenc.ParseIdentity(it.Key())
		if err == nil {
			err = all.add(kind, name, it.Value())
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("identity: record %s: %w", keyenc.Format(it.Key()), err), it.Close())
		}
	}
	if err := errors.Join(it.Err(), it.Close()); err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	return all, nil
}
