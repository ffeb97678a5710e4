package monotable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/monotable/monotable/internal/database/audit"
	"github.com/monotable/monotable/internal/database/identity"
)

// Audit says where it is recorded who did what: a line of JSON for each request, in the shape of CloudTrail's records. docs/audit.md has them.
type Audit struct {
	// File gets the records; where it is "", Writer does.
	File   string
	Writer io.Writer
	// MaxSize is the size in bytes from which on the file is put aside, under its name and the time; 0 is never. Keep is how many of these files are
	// kept; 0 is all.
	MaxSize int64
	Keep    int
	// Events are what is recorded: "management" (tables, backups, policies, users, sessions), "read" and "write" (of items). Default: all.
	Events []string
	// Values has records show keys, items, expressions and error messages. Default: only the names of attributes.
	Values bool
	// Warn lets requests go on that cannot be recorded. Default: what changes something is refused with InternalServerError.
	Warn bool
}

func (o *Options) openAudit() (*audit.Log, error) {
	a := o.Audit
	if a == nil {
		return nil, nil //nolint:nilnil // there may be none
	}
	l, err := audit.Open(audit.Options{
		File: a.File, Writer: a.Writer, MaxBytes: a.MaxSize, Keep: a.Keep, Events: a.Events, Values: a.Values, Warn: a.Warn,
		Account: o.AccountID, Now: o.Now, Logger: o.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("monotable: %w", err)
	}
	return l, nil
}

// ReopenAudit opens Audit.File anew, after another program has renamed it.
func (db *DB) ReopenAudit() error {
	if db.audit == nil {
		return nil
	}
	return db.audit.Reopen()
}

// manage carries out a request of the owner to the directory of identities, and records it.
func (db *DB) manage(ctx context.Context, r *identity.Request) (identity.Result, error) {
	result, err := db.identity.Manage(ctx, r)
	if db.audit == nil {
		return result, err
	}
	shown := map[string]string{}
	for name, value := range map[string]string{
		"name": r.Name, "userName": r.User, "roleName": r.Role, "policies": strings.Join(r.Policies, ","), "boundary": r.Boundary,
		"policyDocument": r.Document, "assumeRolePolicyDocument": r.Trust,
	} {
		if value != "" {
			shown[name] = value
		}
	}
	if failed := db.audit.RecordIAM(r.Action, db.region, shown, err); failed != nil && err == nil {
		return identity.Result{}, errors.New("monotable: it is done, and could not be recorded in the audit log")
	}
	return result, err
}
