package monotable

import (
	"context"
	"errors"
	"fmt"

	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/identity"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Finding is an inconsistency found by Verify.
type Finding struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"` // "" if it concerns the table itself
	What  string `json:"what"`            // the inconsistency and its key
}

// Verified counts what Verify has checked.
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

// Verify checks the database's consistency as of one moment during the call. Every item must be readable; every index entry,
// expiry and counter must equal what its items imply; every change log must lead to the current items; the records of streams and
// backups must be complete; and there must be nothing else. Users, roles and policies must be readable, their references must
// exist, and secrets must open with the master key, if it is known. Verify calls report, unless nil, for each inconsistency and
// changes nothing. The error means that verification itself failed; findings are not errors.
//
// progress, unless nil, is called regularly with the number of checked records and an estimate of the total. The space of data
// deleted during the call is not reclaimed until it ends.
func (db *DB) Verify(ctx context.Context, report func(Finding), progress func(done, total int64)) (Verified, error) {
	done, err := db.engine.Verify(ctx, reportTo(report), progress)
	if err == nil {
		err = verifyOthers(ctx, db.store, db.masterKey, &done, report)
	}
	if err != nil {
		return Verified(done), fmt.Errorf("monotable: verify: %w", err)
	}
	return Verified(done), nil
}

// Verify is [DB.Verify] for a directory that no process has open. Only the master key of o is used; o may be nil.
func Verify(ctx context.Context, dir string, o *Options, report func(Finding), progress func(done, total int64)) (Verified, error) {
	store, err := openStore(dir, o, true)
	if err != nil {
		return Verified{}, err
	}
	done, err := verify.Run(ctx, store, reportTo(report), verify.Options{Progress: progress})
	if err == nil {
		err = verifyOthers(ctx, store, o.withDefaults().MasterKey, &done, report)
	}
	if err = errors.Join(err, store.Close()); err != nil {
		return Verified(done), fmt.Errorf("monotable: verify %s: %w", dir, err)
	}
	return Verified(done), nil
}

// verifyOthers verifies what a store has besides the tables of the default Region.
func verifyOthers(ctx context.Context, store kv.Store, master []byte, done *verify.Verified, report func(Finding)) error {
	err := verifyRegions(ctx, store, done, report)
	if err == nil {
		err = verifyIdentities(ctx, store, master, done, report)
	}
	return err
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
		if report != nil {
			report(Finding{Table: f.Table, Index: f.Index, What: f.String()})
		}
	}
}
