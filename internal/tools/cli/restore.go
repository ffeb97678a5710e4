package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable"
)

func newRestore(env Environment) *cobra.Command {
	var asJSON, asked, encrypt, decrypt bool
	var keys masterKeyFlags
	cmd := &cobra.Command{
		Use:   "restore BACKUP DIR",
		Short: "Make a data directory from a backup",
		Long: `Copy a backup that "monotable backup" made to a new data directory. The backup stays as it is, and the two
share no files.

DIR must not exist, or be an empty directory: nothing is ever overwritten. A restore that was interrupted is
removed; what a crash has left of one is refused by every command: remove it, and restore again.

The copy is encrypted as the backup is, with the same keys. --encrypt encrypts it with new ones, under --master-key, and --decrypt
leaves it open; BACKUP may be any data directory that no server has open. This is how a directory that has not been encrypted becomes so.`,
		Example: `  monotable restore /backups/2026-11-21 ./data
  monotable verify ./data
  monotable serve --data ./data
  monotable restore ./data ./encrypted --encrypt --master-key file:/etc/monotable/master.key`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			restore := monotable.Restore
			if encrypt || decrypt {
				read, err := keys.read(cmd.Context(), env)
				switch {
				case err != nil:
					return err
				case read.current == nil:
					return errors.New("--encrypt and --decrypt: give --master-key too")
				}
				restore = func(ctx context.Context, backup, dir string, progress func(done, total int64)) error {
					return monotable.Recrypt(ctx, backup, dir, read.current, encrypt, progress)
				}
			}
			return runCopy(env, "restore", args[1], asJSON, asked, func(progress func(done, total int64)) error {
				err := restore(cmd.Context(), args[0], args[1], progress)
				if errors.Is(err, monotable.ErrLocked) {
					return fmt.Errorf("%s is open in another process: stop that one first, or back it up and restore that", args[0])
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&encrypt, "encrypt", false, "encrypt the copy with new keys, under --master-key")
	cmd.Flags().BoolVar(&decrypt, "decrypt", false, "leave the copy open; --master-key opens the backup")
	cmd.MarkFlagsMutuallyExclusive("encrypt", "decrypt")
	keys.registerCurrent(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	progressFlag(cmd, &asked)
	return cmd
}
