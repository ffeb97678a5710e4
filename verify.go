package monotable

import (
	"context"
	"errors"

	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/identity"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Finding is something that Verify found wrong.
type Finding struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"` // "" where it is about the table itself
	What  string `json:"what"`            // what is wrong, and at which key
}

// Verified counts what Verify has looked at.
type Verified struct {
	Tables       int64 `json:"tables"`
	Items        int64 `json:"items"`
	IndexEntries int64 `json:"index_entries"`
	TTLEntries   int64 `json:"ttl_entries"`
	LogRecords   int64 `json:"log_records"`
	Streams      int64 `json:"streams"`
	Backups      int64 `json:"backups"`
	Identities   int64 `json:"identities"` // records of users, roles, policies, the root and the data key
	Findings     int64 `json:"findings"`
}

// Verify proves the database against itself as it is at one moment of the call: every item is readable, every
// index entry, expiry and counter is what would be derived from the items now, every change log tells how the
// items became what they are, what is known of streams and backups is there, and nothing else is; users, roles and policies are
// readable and what they refer to exists, and secrets open with the master key, where it is known. It calls
// report for everything that is wrong, and changes nothing. The error says that verifying itself failed;
// findings are not errors.
//
// progress, unless nil, hears now and then how many items, entries and records of about how many are done.
// Room for what has been deleted since the call begins is not given back before it ends.
func (db *DB) Verify(ctx context.Context, report func(Finding), progress func(done, total int64)) (Verified, error) {
	done, err := db.engine.Verify(ctx, reportTo(report), progress)
	err = errors.Join(err, verifyRegions(ctx, db.store, &done, report), verifyIdentities(ctx, db.store, db.masterKey, &done, report))
	return Verified(done), err
}

// Verify is [DB.Verify] for a directory that no process has open. Of o, which may be nil, only the master key counts.
func Verify(ctx context.Context, dir string, o *Options, report func(Finding), progress func(done, total int64)) (Verified, error) {
	store, err := openStore(dir, o)
	if err != nil {
		return Verified{}, err
	}
	done, err := verify.Run(ctx, store, reportTo(report), verify.Options{Progress: progress})
	err = errors.Join(err, verifyRegions(ctx, store, &done, report), verifyIdentities(ctx, store, o.withDefaults().MasterKey, &done, report))
	return Verified(done), errors.Join(err, store.Close())
}

func verifyIdentities(ctx context.Context, store kv.Store, master []byte, done *verify.Verified, report func(Finding)) error {
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return err
	}
	done.Identities, err = identity.Verify(ctx, snapshot, master, func(key []byte, what string) {
		done.Findings++
		reportTo(report)(verify.Finding{Key: key, What: what})
	})
	return errors.Join(err, snapshot.Close())
}

func reportTo(report func(Finding)) func(verify.Finding) {
	return func(f verify.Finding) {
		report(Finding{Table: f.Table, Index: f.Index, What: f.String()})
	}
}
