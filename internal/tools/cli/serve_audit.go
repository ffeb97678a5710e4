package cli

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/monotable/monotable"
)

// auditFlags say where it is recorded who did what.
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
	set.StringVar(&f.file, "audit", "", "`FILE` that gets a line of JSON for each request, in the shape of CloudTrail's records; - is standard output (default none). It is opened anew at SIGHUP")
	set.StringSliceVar(&f.events, "audit-events", []string{"management", "read", "write"}, "what --audit records: management (tables, backups, policies, users, sessions), read and write (of items); a list with commas")
	set.BoolVar(&f.values, "audit-values", false, "have --audit record keys, items, expressions and error messages, and not only the names of attributes")
	set.StringVar(&f.failure, "audit-failure", "stop", "what happens while --audit cannot be written: stop (operations that change something are refused) or warn")
	set.Var(&f.maxSize, "audit-max-size", "size from which on the file of --audit is put aside, under its name and the time; 0 is never")
	set.IntVar(&f.keep, "audit-keep", 10, "how many files that were put aside are kept; 0 is all")
}

// reopenAudit opens the file anew. The old one goes on where that fails, if it can.
func reopenAudit(db *monotable.DB, logger *slog.Logger) {
	if err := db.ReopenAudit(); err != nil {
		logger.Error("the audit log cannot be opened again", "error", err)
	}
}

// options are the database's; nil for none.
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
	case f.file == "-":
		a.Writer = env.Stdout
	default:
		a.File = f.file
	}
	return a, nil
}
