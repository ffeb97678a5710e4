package monotable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/monotable/monotable/internal/database/audit"
	"github.com/monotable/monotable/internal/database/identity"
)

// Audit configures the audit log: one JSON line for each request, in the shape of CloudTrail's records. See docs/audit.md.
type Audit struct {
	// File is the path of the log. If it is empty, records go to Writer.
	File   string
	Writer io.Writer
	// MaxSize is the size in bytes at which the file is rotated: it is renamed, with the time appended. 0 means never. Keep is
	// how many rotated files are kept; 0 means all.
	MaxSize int64
	Keep    int
	// Events selects what is recorded: "management" (tables, backups, policies, users, sessions), "read" and "write" (of items).
	// Default: all.
	Events []string
	// Values includes keys, items, expressions and error messages in the records. Default: only the names of attributes.
	Values bool
	// Warn lets requests proceed when they cannot be recorded. Default: requests that change something are rejected with
	// InternalServerError.
	Warn bool
}

func (o *Options) openAudit() (*audit.Log, error) {
	a := o.Audit
	if a == nil {
		return nil, nil //nolint:nilnil // there may be none
	}
	name := a.File
	if name != "" { // rotation opens it again, when the process may have another working directory
		var err error
		if name, err = filepath.Abs(name); err != nil {
			return nil, fmt.Errorf("monotable: audit: %w", err)
		}
	}
	l, err := audit.Open(audit.Options{
		File: name, Writer: a.Writer, MaxBytes: a.MaxSize, Keep: a.Keep, Events: a.Events, Values: a.Values, Warn: a.Warn,
		Account: o.AccountID, Now: o.Now, Logger: o.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("monotable: %w", err)
	}
	return l, nil
}

// ReopenAudit reopens Audit.File after another program has renamed it.
func (db *DB) ReopenAudit() error {
	if db.audit == nil {
		return nil
	}
	return db.audit.Reopen()
}

// manage executes an owner's request to the identity directory and records it.
func (db *DB) manage(ctx context.Context, r *identity.Request) (identity.Result, error) {
	if db.audit == nil {
		return db.identity.Manage(ctx, r)
	}
	var result identity.Result
	var err error
	if !r.ReadOnly() {
		err = db.audit.AdmitIAM()
	}
	if err == nil {
		result, err = db.identity.Manage(ctx, r)
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
	if failed := db.audit.RecordIAM(r.Action, db.region, shown, err); failed != nil && err == nil && !r.ReadOnly() {
		return identity.Result{}, errors.New("monotable: the request succeeded, but could not be recorded in the audit log")
	}
	return result, err
}
