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
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Auth configures who may call Handler and what they may do. The in-process clients (Client, StreamsClient) act as the owner:
// they do not sign requests and are never denied.
type Auth struct {
	// Required rejects requests to Handler that are not signed with a known access key. Default: every caller may do everything.
	Required bool
	// File declares users, roles and identity providers in YAML or JSON, instead of those in the database. docs/security.md
	// documents the format. ReloadIAM reads the file again.
	File string
	// RootAccessKeyID and RootSecretAccessKey are an access key that may do everything. Default: none, except one created by
	// EnsureRootKey.
	RootAccessKeyID, RootSecretAccessKey string
	// ClockSkew is the tolerated difference between the clocks of a client and the server. Default 5 minutes.
	ClockSkew time.Duration
}

// IAMRequest is a request to manage users, roles, policies and access keys, like the subcommands of monotable iam. Its Action is
// "user create", "user list", "user show", "user delete", the same four for role and policy, "policy attach", "policy detach",
// "key create", "key list", "key rotate", "key disable", "key enable" or "key delete". Name is the name of the user, role or
// policy, or the id of the key. User and Role select the owner of the key or policy; an empty User is the root. Document and
// Trust hold policies in AWS's JSON.
//
// A new user or role has Tags and the policies named by Policies, and is limited by the one named by Boundary. MaxSession, 1 to 12
// hours, is the longest session of a new role; 0 means 1 hour. Grace is how long a key remains valid after its rotation; 0 ends it.
type IAMRequest = identity.Request

// IAMResult is what an IAMRequest created, changed or returned: Users with their Keys, Roles, Policies with their Document, or Keys.
type IAMResult = identity.Result

// AccessKey is an access key: its ID, its Secret, which is set only when the key is created, its User, "" for the root, its Status,
// the times at which it was Created and Expires, which is zero unless it was rotated.
type AccessKey = identity.Key

// ErrSealed is returned by Open, wrapped, when authentication is required and the database's secrets are sealed with a master key
// that was not given.
var ErrSealed = identity.ErrSealed

// IAM manages who may call Handler. A change is durable when IAM returns.
func (db *DB) IAM(ctx context.Context, r *IAMRequest) (IAMResult, error) {
	return db.manage(ctx, r)
}

// IAM is [DB.IAM] for a directory that no process has open. Only the account ID and the master keys of o are used; o may be nil.
func IAM(ctx context.Context, dir string, o *Options, r *IAMRequest) (result IAMResult, err error) {
	o = o.withDefaults()
	store, err := openStore(dir, o, r.ReadOnly())
	if err != nil {
		return IAMResult{}, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := claimFormat(ctx, store, r.ReadOnly()); err != nil {
		return IAMResult{}, fmt.Errorf("monotable: %w", err)
	}
	d, err := identity.Open(ctx, identity.Options{
		Store: store, Account: o.AccountID, MasterKey: o.MasterKey, PreviousMasterKey: o.PreviousMasterKey,
		ReadOnly: r.ReadOnly(),
	})
	if err != nil {
		return IAMResult{}, fmt.Errorf("monotable: %w", err)
	}
	return d.Manage(ctx, r)
}

// claimFormat checks the format version of a store and, unless readOnly is set, raises it to this program's.
func claimFormat(ctx context.Context, store kv.Store, readOnly bool) error {
	if !readOnly {
		return format.Claim(ctx, store, format.Unshared)
	}
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return err
	}
	return errors.Join(format.Check(snapshot), snapshot.Close())
}

// ReloadIAM reads Auth.File again. If the file is invalid, the previous configuration stays in effect.
func (db *DB) ReloadIAM(ctx context.Context) error { return db.identity.Reload(ctx) }

// EnsureRootKey creates and stores an access key for the root if the database has no access key at all. It returns nil if one
// exists. The secret cannot be retrieved again.
func (db *DB) EnsureRootKey(ctx context.Context) (*AccessKey, error) {
	return db.identity.EnsureRoot(ctx)
}

// openIdentity opens the identity directory and adds it to the server's options.
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

// validate reports all invalid options.
func (a *Auth) validate() error {
	if a == nil {
		return nil
	}
	var faults []error
	if (a.RootAccessKeyID == "") != (a.RootSecretAccessKey == "") {
		faults = append(faults, errors.New("monotable: set both RootAccessKeyID and RootSecretAccessKey, or neither"))
	}
	if a.ClockSkew < 0 {
		faults = append(faults, errors.New("monotable: ClockSkew cannot be negative"))
	}
	return errors.Join(faults...)
}
