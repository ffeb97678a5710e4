package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/plural"
)

func newVerify(env Environment) *cobra.Command {
	var asJSON, progressWanted bool
	var keys masterKeyFlags
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Verify a data directory: indexes, expiries, counters and change logs against the items",
		Long: `Read a whole data directory and verify its consistency: every item is readable; every index entry, expiry and counter
matches the items; every change log explains the current items; everything that streams and table backups need exists,
and nothing else; users, roles and policies are readable, and everything they refer to exists. Nothing is changed.
With --master-key, the secrets of access keys are decrypted too.

If a server has the directory open, the server verifies a consistent snapshot and keeps serving requests. The exit
status is 1 if there are errors.`,
		Example: `  monotable verify ./data
  monotable verify /backups/2026-11-21 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			db, err := reach(cmd.Context(), env, args[0], &keys)
			if err != nil {
				return err
			}
			bar := newProgress(env, "verify", unitThings, progressWanted)
			findings := []monotable.Finding{}
			done, err := db.Verify(cmd.Context(), func(f monotable.Finding) {
				if asJSON {
					findings = append(findings, f)
					return
				}
				bar.clear()
				fmt.Fprintln(env.Stdout, f.What)
			}, bar.update)
			bar.end()
			if err != nil {
				return errors.Join(err, reportUnverified(env, asJSON, err, findings))
			}
			return reportVerified(env, asJSON, done, findings)
		},
	}
	keys.registerCurrent(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	progressFlag(cmd, &progressWanted)
	return cmd
}

// reportUnverified reports, as JSON, a verification that could not be completed. The error is also printed to standard error.
func reportUnverified(env Environment, asJSON bool, failure error, findings []monotable.Finding) error {
	if !asJSON {
		return nil
	}
	return json.NewEncoder(env.Stdout).Encode(struct {
		Wrong []monotable.Finding `json:"wrong"`
		Error string              `json:"error"`
	}{findings, text(failure)})
}

func reportVerified(env Environment, asJSON bool, done monotable.Verified, findings []monotable.Finding) error {
	var err error
	if asJSON {
		err = json.NewEncoder(env.Stdout).Encode(struct {
			monotable.Verified
			Wrong []monotable.Finding `json:"wrong"`
		}{done, findings})
	} else {
		_, err = fmt.Fprintf(env.Stdout, "%s, %s, %s, %s, %s, %s, %s, %s: %d wrong\n",
			plural.Of(done.Tables, "table"), plural.Of(done.Items, "item"), plural.Of(done.IndexEntries, "index entry"), plural.Of(done.TTLEntries, "expiry"),
			plural.Of(done.LogRecords, "log record"), plural.Of(done.Streams, "stream"), plural.Of(done.Backups, "backup"), plural.Of(done.Identities, "identity"), done.Findings)
	}
	if err == nil && done.Findings > 0 {
		return errReported
	}
	return err
}
