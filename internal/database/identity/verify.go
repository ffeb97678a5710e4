package identity

import (
	"context"
	"fmt"

	"github.com/monotable/monotable/internal/database/identity/policy"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/seal"
)

// Verify checks the consistency of a store's records in a snapshot: each must be readable and stored under the key derived from
// its name; policies must be valid, and attached ones must exist; access keys must be unique; secrets must open with the data
// key, if that is available. If it is sealed and the master key is not given, secrets are not checked. Verify calls report for
// each finding with its key, and returns the number of records.
func Verify(ctx context.Context, snapshot kv.Snapshot, master []byte, report func(key []byte, what string)) (int64, error) {
	v := &verification{
		snapshot: snapshot, report: report, keys: map[string]bool{}, names: map[string]bool{}, ids: map[string]bool{},
	}
	if err := v.openDataKey(master); err != nil {
		return 0, err
	}
	// Policies come first, whatever their order among the keys.
	for _, policies := range []bool{true, false} {
		if err := v.walk(ctx, policies); err != nil {
			return 0, err
		}
	}
	return v.count, nil
}

// verification is one run.
type verification struct {
	snapshot kv.Snapshot
	report   func(key []byte, what string)
	at       []byte // the key of the current record
	count    int64
	names    map[string]bool // of policies
	keys     map[string]bool // ids of access keys
	ids      map[string]bool // ids of the records of users and roles
	data     []byte          // the data key; nil if it is unavailable
	hasData  bool
}

func (v *verification) finding(format string, args ...any) {
	v.report(v.at, fmt.Sprintf(format, args...))
}

func (v *verification) openDataKey(master []byte) error {
	v.at = keyenc.Identity(kindDataKey, "")
	data, err := v.snapshot.Get(v.at)
	if err != nil {
		return err
	}
	record, err := decode[dataKeyRecord](data)
	switch {
	case err != nil:
		v.hasData = true
		v.finding("the record cannot be read: %v", err)
		return nil
	case record == nil:
		return nil
	}
	v.hasData = true
	switch {
	case !record.Sealed:
		v.data = record.Key
	case master != nil:
		if v.data, err = seal.Open(master, record.Key, forDataKey); err != nil {
			v.data = nil
			v.finding("the data key cannot be decrypted with this master key")
		}
	}
	if v.data != nil && len(v.data) != seal.KeyBytes {
		v.finding("the data key has %d bytes, want %d", len(v.data), seal.KeyBytes)
		v.data = nil
	}
	return nil
}

// walk checks the policies, or everything else.
func (v *verification) walk(ctx context.Context, policies bool) (err error) {
	lo, hi := keyenc.Identities()
	it := v.snapshot.Iter(lo, hi, kv.IterOptions{})
	defer func() {
		if closed := it.Close(); err == nil {
			err = closed
		}
	}()
	for it.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		v.at = it.Key()
		kind, name, err := keyenc.ParseIdentity(v.at)
		if err != nil {
			v.count++
			v.finding("the key cannot be read: %v", err)
			continue
		}
		if (kind == kindPolicy) == policies {
			v.count++
			v.record(kind, name, it.Value())
		}
	}
	return it.Err()
}

func (v *verification) record(kind byte, name string, data []byte) {
	var one records
	if err := one.add(kind, name, data); err != nil {
		v.finding("the record cannot be read: %v", err)
		return
	}
	switch kind {
	case kindPolicy:
		p := &one.policies[0]
		v.named(p.Name, name)
		v.names[name] = true
		if _, err := policy.Parse(p.Document, policy.Identity); err != nil {
			v.finding("the policy cannot be parsed: %v", err)
		}
	case kindRole:
		r := &one.roles[0]
		v.named(r.Name, name)
		v.attached(r.Policies, r.Boundary)
		if _, err := policy.Parse(r.Trust, policy.Trust); err != nil {
			v.finding("the trust policy cannot be parsed: %v", err)
		}
		v.unique(r.ID)
	case kindUser:
		v.user(&one.users[0], name)
		v.unique(one.users[0].ID)
	case kindRoot:
		v.user(one.root, name)
	case kindDataKey:
		if name != "" {
			v.finding("there is a second data key")
		}
	}
}

func (v *verification) user(u *userRecord, name string) {
	v.named(u.Name, name)
	v.attached(u.Policies, u.Boundary)
	if len(u.Keys) > keysMax {
		v.finding("there are %d access keys: the maximum is %d", len(u.Keys), keysMax)
	}
	for _, k := range u.Keys {
		if v.keys[k.ID] {
			v.finding("the access key %s appears twice", k.ID)
		}
		v.keys[k.ID] = true
		switch {
		case !v.hasData:
			v.finding("the secret of access key %s is encrypted, but there is no data key", k.ID)
		case v.data != nil:
			if _, err := seal.Open(v.data, k.Sealed, forSecret+k.ID); err != nil {
				v.finding("the secret of access key %s cannot be decrypted with the data key", k.ID)
			}
		}
	}
}

func (v *verification) named(recorded, key string) {
	if recorded != key {
		v.finding("the record has the name %q", recorded)
	}
}

func (v *verification) unique(id string) {
	if id == "" || v.ids[id] {
		v.finding("the id %q belongs to another record", id)
	}
	v.ids[id] = true
}

func (v *verification) attached(policies []string, boundary string) {
	if boundary != "" {
		policies = append([]string{boundary}, policies...)
	}
	for _, name := range policies {
		if !v.names[name] {
			v.finding("there is no policy %s", name)
		}
	}
}
