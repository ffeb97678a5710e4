package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable"
)

func newRestore(env Environment) *cobra.Command {
	var asJSON, asked bool
	cmd := &cobra.Command{
		Use:   "restore BACKUP DIR",
		Short: "Make a data directory from a backup",
		Long: `Copy a backup that "monotable backup" made to a new data directory. The backup stays as it is, and the two
share no files.

DIR must not exist, or be an empty directory: nothing is ever overwritten. A restore that was interrupted is
removed; what a crash has left of one is refused by every command: remove it, and restore again.`,
		Example: `  monotable restore /backups/2026-11-21 ./data
  monotable verify ./data
  monotable serve --data ./data`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCopy(env, "restore", args[1], asJSON, asked, func(progress func(done, total int64)) error {
				err := monotable.Restore(cmd.Context(), args[0], args[1], progress)
				if errors.Is(err, monotable.ErrLocked) {
					return fmt.Errorf("%s is open in another process: stop that one first, or back it up and restore that", args[0])
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	progressFlag(cmd, &asked)
	return cmd
}
