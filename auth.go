package monotable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/identity"
	"github.com/monotable/monotable/internal/database/identity/access"
	"github.com/monotable/monotable/internal/database/identity/sts"
	"github.com/monotable/monotable/internal/database/server"
)

// Auth says who may call Handler, and what they may do. Clients in the process (Client, StreamsClient) are the owner's own: they
// sign nothing and are refused nothing.
type Auth struct {
	// Required makes Handler refuse requests that are not signed by a known access key. Default: everyone may do everything.
	Required bool
	// File declares users, roles and identity providers in YAML or JSON, in place of those in the database; docs/security.md has
	// the form. ReloadIAM reads it again.
	File string
	// RootAccessKeyID and RootSecretAccessKey are an access key that may do everything. Default: none but the one of EnsureRootKey.
	RootAccessKeyID, RootSecretAccessKey string
	// ClockSkew is by how much the clocks of clients may differ. Default 5 minutes.
	ClockSkew time.Duration
}

// IAMRequest is a request to manage users, roles, policies and access keys, as the subcommands of monotable iam are. Its Action is
// "user create", "user list", "user show", "user delete", the same of role and policy, "policy attach", "policy detach", "key create",
// "key list", "key rotate", "key disable", "key enable" or "key delete". Name is the user's, role's or policy's name, or the key's id;
// User and Role say whose key or policy it is, where User "" is the root. Policies are given in Document and Trust, in AWS's JSON.
type IAMRequest = identity.Request

// IAMResult is what an IAMRequest made, changed, shows or lists.
type IAMResult = identity.Result

// AccessKey is an access key; its Secret is known only when it is made.
type AccessKey = identity.Key

// ErrSealed is what Open returns, wrapped, when authentication is required and the secrets of the database are sealed with a
// master key that was not given.
var ErrSealed = identity.ErrSealed

// IAM manages who may call Handler. What it answers is durable.
func (db *DB) IAM(ctx context.Context, r *IAMRequest) (IAMResult, error) {
	return db.manage(ctx, r)
}

// IAM is [DB.IAM] for a directory that no process has open. Of o, which may be nil, only the master keys count.
func IAM(ctx context.Context, dir string, o *Options, r *IAMRequest) (result IAMResult, err error) {
	o = o.withDefaults()
	store, err := openStore(dir, o)
	if err != nil {
		return IAMResult{}, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := format.Claim(ctx, store, format.Unshared); err != nil {
		return IAMResult{}, fmt.Errorf("monotable: %w", err)
	}
	d, err := identity.Open(ctx, identity.Options{
		Store: store, Account: new(Options).withDefaults().AccountID, MasterKey: o.MasterKey, PreviousMasterKey: o.PreviousMasterKey,
	})
	if err != nil {
		return IAMResult{}, fmt.Errorf("monotable: %w", err)
	}
	return d.Manage(ctx, r)
}

// ReloadIAM reads Auth.File again. When it cannot be used, what was there stays.
func (db *DB) ReloadIAM(ctx context.Context) error { return db.identity.Reload(ctx) }

// EnsureRootKey makes an access key of the root where there is no access key at all, and keeps it in the database. It returns nil
// where there is one. The secret cannot be had again.
func (db *DB) EnsureRootKey(ctx context.Context) (*AccessKey, error) {
	return db.identity.EnsureRoot(ctx)
}

// openIdentity reads the directory of who may call, and adds it to the options of the server.
func (db *DB) openIdentity(o *Options, s *server.Options) error {
	var a Auth
	if o.Auth != nil {
		a = *o.Auth
	}
	d, err := identity.Open(context.Background(), identity.Options{
		Store: db.store, Shared: o.shared, Account: o.AccountID, File: a.File, RootKey: identity.Key{ID: a.RootAccessKeyID, Secret: a.RootSecretAccessKey},
		MasterKey: o.MasterKey, PreviousMasterKey: o.PreviousMasterKey, Skew: a.ClockSkew, Now: o.Now, Rand: o.Rand, Logger: o.Logger,
	})
	if err == nil && a.Required {
		err = d.Usable()
	}
	if err != nil {
		return fmt.Errorf("monotable: %w", err)
	}
	db.identity = d
	if o.shared {
		ctx, stop := context.WithCancel(context.Background())
		db.unfollow = stop
		db.following.Go(func() { d.Follow(ctx) })
	}
	if a.Required {
		s.Authenticator = d
		databases := map[string]access.Database{o.Region: db.engine}
		for _, r := range db.regions {
			databases[r.name] = r.engine
		}
		now := o.Now
		if now == nil {
			now = time.Now
		}
		s.Authorizer = access.New(access.Options{Account: o.AccountID, Databases: databases, Now: now})
	}
	service := sts.New(sts.Options{Directory: d, Account: o.AccountID, Now: o.Now, Logger: o.Logger})
	s.Companions = append([]server.Companion{service}, s.Companions...)
	return nil
}

// validate says what is wrong with the options.
func (a *Auth) validate() error {
	if a == nil {
		return nil
	}
	var faults []error
	if (a.RootAccessKeyID == "") != (a.RootSecretAccessKey == "") {
		faults = append(faults, errors.New("monotable: RootAccessKeyID and RootSecretAccessKey: give both or neither"))
	}
	if a.ClockSkew < 0 {
		faults = append(faults, errors.New("monotable: ClockSkew cannot be negative"))
	}
	return errors.Join(faults...)
}
