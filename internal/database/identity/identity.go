// Package identity is the directory of who may call a database: the account's root, users with access keys, roles, and the policies
// that say what they may do. It authenticates requests by it, and seals the sessions that package sts gives out.
//
// # Model
//
//	in the store     'i' kind name ─► a record in JSON           record.go
//	or in a file     users, roles, providers in YAML or JSON     file.go
//	─► a view        immutable: principals with compiled policies, credentials by access key; every request uses one    view.go
//
// A change writes its record and replaces the view. With a file the store's users, roles and policies rest, and only the root is
// taken from the store.
//
// # Secrets
//
// The secrets of access keys are sealed with XChaCha20-Poly1305 under a data key of the directory, and so are sessions (seal.go). The
// data key is in the store, itself sealed under the master key that Options.MasterKey has. Without a master key it lies open beside
// what it seals: then whoever reads the directory of the database reads the secrets.
//
// A session's token is its state, sealed: whoever has the data key knows the session, without a record of it. It ends with its time, or
// when its role or user is deleted.
//
// # Invariants
//
//	I1  A secret is shown once, when it is made; it is in no log, no error and no listing.
//	I2  What a change answers is durable. A refused change, and a file that cannot be used, change nothing.
//	I3  A view never changes. Who was authenticated keeps the policies of that moment for the request.
//
// # Concurrency
//
// All methods may be called at once. Changes wait for each other.
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

// Options of a Directory. Store and Account are needed.
type Options struct {
	Store kv.Store
	// Shared is for a store that other servers have open too: each tells the others of its changes, which Follow hears of.
	Shared  bool
	Account string
	// File holds the directory in place of the store. Default: none.
	File string
	// RootKey is an access key of the account's root beside the one in the store. Default: none.
	RootKey Key
	// MasterKey seals the data key: 32 bytes, nil for none. PreviousMasterKey opens what an earlier one has sealed.
	MasterKey, PreviousMasterKey []byte
	// Skew is by how much the clocks of senders may differ. Default signature.DefaultSkew.
	Skew   time.Duration
	Now    func() time.Time // default time.Now
	Rand   io.Reader        // default crypto/rand
	Logger *slog.Logger     // default: discard
}

// Directory is who may call.
type Directory struct {
	options Options
	view    atomic.Pointer[view]
	parser  signature.Parser

	mu     sync.Mutex // held by changes
	data   *dataKey   // nil until a secret is sealed, or while it cannot be opened
	sealed error      // why the data key cannot be opened
	known  int64      // how many changes there had been when the store was read; only where it is shared
}

// Open reads the directory. A store whose data key needs a master key that is not given opens: Usable says so.
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

// Usable returns nil, or why no key of the store can be used.
func (d *Directory) Usable() error { return d.sealed }

// Reload reads the directory again, for a change of its file. When it fails, what was there stays.
func (d *Directory) Reload(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reload(ctx)
}

// reload replaces the view. Its caller holds mu, or is Open.
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
