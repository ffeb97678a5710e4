package cli

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/monotable/monotable"
)

// auditStdout is the name of standard output as the file of an audit log.
const auditStdout = "-"

// auditFlags say where the audit log is written.
type auditFlags struct {
	file    string
	events  []string
	values  bool
	failure string
	maxSize byteSize
	keep    int
}

func (f *auditFlags) register(set *pflag.FlagSet) {
	f.maxSize = 100 << 20
	set.StringVar(&f.file, "audit", "", "`FILE` for the audit log, one line of JSON per request in the format of CloudTrail records; - is standard output (default none); reopened on SIGHUP")
	set.StringSliceVar(&f.events, "audit-events", []string{"management", "read", "write"}, "comma-separated events that --audit records: management (tables, backups, policies, users, sessions), read and write (of items)")
	set.BoolVar(&f.values, "audit-values", false, "also record keys, items, expressions and error messages in --audit, not only attribute names")
	set.StringVar(&f.failure, "audit-failure", "stop", "what to do while --audit cannot be written: stop (reject operations that change something) or warn")
	set.Var(&f.maxSize, "audit-max-size", "size at which the --audit file is rotated; 0 means never")
	set.IntVar(&f.keep, "audit-keep", 10, "number of rotated --audit files to keep; 0 means all")
}

// reopenAudit reopens the file. If that fails, the old one stays in use, if possible.
func reopenAudit(db *monotable.DB, logger *slog.Logger) {
	if err := db.ReopenAudit(); err != nil {
		logger.Error("cannot reopen the audit log", "error", err)
	}
}

// options are the database's options; nil if there is no audit log.
func (f *auditFlags) options(env Environment) (*monotable.Audit, error) {
	if f.file == "" {
		return nil, nil //nolint:nilnil // there may be none
	}
	a := &monotable.Audit{Events: f.events, Values: f.values, MaxSize: int64(f.maxSize), Keep: f.keep, Warn: f.failure == "warn"}
	switch {
	case f.failure != "warn" && f.failure != "stop":
		return nil, fmt.Errorf("--audit-failure %q: want stop or warn", f.failure)
	case f.keep < 0:
		return nil, errors.New("--audit-keep: want 0 or more")
	case len(f.events) == 0:
		return nil, errors.New("--audit-events: want management, read or write")
	case f.file == auditStdout:
		a.Writer = env.Stdout
	default:
		a.File = f.file
	}
	return a, nil
}
