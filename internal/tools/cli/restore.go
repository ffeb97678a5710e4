package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable"
)

func newRestore(env Environment) *cobra.Command {
	var asJSON, progressWanted, encrypt, decrypt bool
	var keys masterKeyFlags
	cmd := &cobra.Command{
		Use:   "restore BACKUP DIR",
		Short: "Restore a backup to a new data directory",
		Long: `Copy a backup made by "monotable backup" to a new data directory. The backup does not change, and the two share no
files.

DIR must not exist or must be empty: nothing is ever overwritten. An interrupted restore is removed. An incomplete one
left by a crash is rejected by every command: remove it and restore again.

The copy is encrypted like the backup, with the same keys. --encrypt encrypts it with new keys, protected by
--master-key; --decrypt stores it unencrypted. BACKUP can be any data directory that no server has open, so this is
also the way to encrypt an existing directory.`,
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
					return errors.New("--encrypt and --decrypt need --master-key")
				}
				restore = func(ctx context.Context, backup, dir string, progress func(done, total int64)) error {
					return monotable.Recrypt(ctx, backup, dir, read.current, encrypt, progress)
				}
			}
			return runCopy(env, "restore", args[1], asJSON, progressWanted, func(progress func(done, total int64)) error {
				err := restore(cmd.Context(), args[0], args[1], progress)
				if errors.Is(err, monotable.ErrLocked) {
					return fmt.Errorf("%s is open in another process: stop it first, or make a backup and restore that", args[0])
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&encrypt, "encrypt", false, "encrypt the copy with new keys, protected by --master-key")
	cmd.Flags().BoolVar(&decrypt, "decrypt", false, "store the copy unencrypted; --master-key decrypts the backup")
	excludeFlags(cmd.Flags(), "", "encrypt", "decrypt")
	keys.registerCurrent(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	progressFlag(cmd, &progressWanted)
	return cmd
}
