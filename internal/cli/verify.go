package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable"
)

func newVerify(env Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Prove a data directory: every index entry, expiry and count against its table",
		Long: `Read a whole data directory and prove it against itself: every item is readable, every index
entry, expiry and count is what the items say it should be, and nothing else is there. Nothing is changed.

The directory must not be open: stop the server first. The exit status is 1 when something is wrong.`,
		Example: `  monotable verify ./data
  monotable verify ./data --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var findings []monotable.Finding
			done, err := monotable.Verify(cmd.Context(), args[0], func(f monotable.Finding) {
				findings = append(findings, f)
			})
			if errors.Is(err, monotable.ErrLocked) {
				return fmt.Errorf("%s is open in another process: stop that one first", args[0])
			}
			if err != nil {
				return err
			}
			return reportVerified(env, asJSON, done, findings)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func reportVerified(env Environment, asJSON bool, done monotable.Verified, findings []monotable.Finding) error {
	if asJSON {
		if err := json.NewEncoder(env.Stdout).Encode(struct {
			monotable.Verified
			Wrong []monotable.Finding `json:"wrong"`
		}{done, findings}); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			fmt.Fprintln(env.Stdout, f.What)
		}
		fmt.Fprintf(env.Stdout, "%d tables, %d items, %d index entries, %d expiries: %d wrong\n",
			done.Tables, done.Items, done.IndexEntries, done.TTLEntries, done.Findings)
	}
	if done.Findings > 0 {
		return errReported
	}
	return nil
}
