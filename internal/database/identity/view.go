package identity

import (
	"fmt"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/identity/policy"
	"github.com/monotable/monotable/internal/database/identity/signature"
	"github.com/monotable/monotable/internal/seal"
)

// sessionsMax is the maximum number of opened sessions that a view caches.
const sessionsMax = 1024

// view is the directory at one moment. It is immutable, except for the cache of opened sessions.
type view struct {
	records   *records
	root      *policy.Principal
	users     map[string]*policy.Principal
	roles     map[string]*Role
	policies  map[string]*policy.Policy
	providers map[string]*Provider
	keys      map[string]*credential

	mu       sync.RWMutex
	sessions map[string]*credential // by token
}

// credential is what a signature is verified with.
type credential struct {
	id      string
	secret  *signature.Secret
	who     *policy.Principal
	expires time.Time // zero for never
}

// Role is a role that can be assumed.
type Role struct {
	Name, ID, ARN string
	Trust         *policy.Policy
	MaxSession    time.Duration

	principal policy.Principal // of its sessions, without the session-specific part
}

// newView compiles records.
func (d *Directory) newView(all *records) (*view, error) {
	account := d.options.Account
	v := &view{
		records: all, users: map[string]*policy.Principal{}, roles: map[string]*Role{}, providers: map[string]*Provider{},
		keys: map[string]*credential{}, sessions: map[string]*credential{},
		root: &policy.Principal{ARN: "arn:aws:iam::" + account + ":root", Account: account, UserID: account, Root: true},
	}
	policies := map[string]*policy.Policy{}
	v.policies = policies
	for i := range all.policies {
		p := &all.policies[i]
		compiled, err := policy.Parse(p.Document, policy.Identity)
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", p.Name, err)
		}
		policies[p.Name] = compiled
	}
	named := func(names []string, boundary string) (identity []*policy.Policy, bound *policy.Policy, err error) {
		for _, name := range names {
			if policies[name] == nil {
				return nil, nil, fmt.Errorf("there is no policy %s", name)
			}
			identity = append(identity, policies[name])
		}
		if bound = policies[boundary]; boundary != "" && bound == nil {
			return nil, nil, fmt.Errorf("there is no policy %s", boundary)
		}
		return identity, bound, nil
	}
	for i := range all.users {
		u := &all.users[i]
		p := &policy.Principal{ARN: "arn:aws:iam::" + account + ":user/" + u.Name, Account: account, UserID: u.ID, Username: u.Name, Tags: u.Tags}
		var err error
		if p.Identity, p.Boundary, err = named(u.Policies, u.Boundary); err != nil {
			return nil, fmt.Errorf("user %s: %w", u.Name, err)
		}
		v.users[u.Name] = p
		if err := d.addKeys(v, p, u.Keys); err != nil {
			return nil, fmt.Errorf("user %s: %w", u.Name, err)
		}
	}
	for i := range all.roles {
		r, err := newRole(&all.roles[i], account)
		if err != nil {
			return nil, err
		}
		if r.principal.Identity, r.principal.Boundary, err = named(all.roles[i].Policies, all.roles[i].Boundary); err != nil {
			return nil, fmt.Errorf("role %s: %w", r.Name, err)
		}
		v.roles[r.ARN] = r
	}
	for i := range all.providers {
		v.providers[all.providers[i].Issuer] = &all.providers[i]
	}
	return v, d.addRoot(v)
}

func newRole(record *roleRecord, account string) (*Role, error) {
	trust, err := policy.Parse(record.Trust, policy.Trust)
	if err != nil {
		return nil, fmt.Errorf("trust policy of role %s: %w", record.Name, err)
	}
	r := &Role{
		Name: record.Name, ID: record.ID, ARN: "arn:aws:iam::" + account + ":role/" + record.Name,
		Trust: trust, MaxSession: time.Duration(record.MaxSession) * time.Second,
	}
	if r.MaxSession == 0 {
		r.MaxSession = time.Hour
	}
	r.principal = policy.Principal{Role: r.ARN, Account: account, UserID: r.ID, Tags: record.Tags}
	return r, nil
}

// addRoot adds the keys of the root: those in the store and that of Options.
func (d *Directory) addRoot(v *view) error {
	if given := d.options.RootKey; given.ID != "" {
		v.keys[given.ID] = &credential{id: given.ID, secret: signature.NewSecret(given.Secret), who: v.root}
	}
	if v.records.root == nil {
		return nil
	}
	if err := d.addKeys(v, v.root, v.records.root.Keys); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	return nil
}

// addKeys adds access keys, except those that cannot be opened without the master key.
func (d *Directory) addKeys(v *view, who *policy.Principal, keys []keyRecord) error {
	for i := range keys {
		k := &keys[i]
		if v.keys[k.ID] != nil {
			return fmt.Errorf("there are two access keys %s", k.ID)
		}
		secret := k.plain
		if secret == "" {
			if d.data == nil {
				continue
			}
			plain, err := seal.Open(d.data.secrets, k.Sealed, forSecret+k.ID)
			if err != nil {
				return fmt.Errorf("access key %s: %w", k.ID, err)
			}
			secret = string(plain)
		}
		if k.Inactive {
			continue
		}
		v.keys[k.ID] = &credential{id: k.ID, secret: signature.NewSecret(secret), who: who, expires: k.Expires}
	}
	return nil
}
