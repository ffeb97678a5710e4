package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
)

// copied is the output of backup and restore.
type copied struct {
	Dir     string  `json:"dir"` // absolute
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
}

func newBackup(env Environment) *cobra.Command {
	var asJSON, progressWanted bool
	cmd := &cobra.Command{
		Use:   "backup DIR DEST",
		Short: "Make a consistent copy of a data directory, even while a server writes to it",
		Long: `Copy everything in a data directory to DEST: tables, streams, backups of tables. The copy is a consistent snapshot
that includes every write acknowledged before the command started. If a server has DIR open, the server makes the copy
and keeps serving requests.

DEST must not exist or must be empty. The copy is a data directory itself, which "monotable serve" and "monotable
verify" accept as it is. An interrupted copy is removed; an incomplete copy left by a crash is rejected by every
command.

If a server is running and DEST is on the same file system as DIR, the copy shares files with DIR and takes only a
moment. It protects against mistakes, but not against the loss of the disk: keep another copy elsewhere.

The copy of an encrypted directory is encrypted too, and opens with the directory's current master key. Making the
copy does not need the key.`,
		Example: `  monotable backup ./data /backups/2026-11-21
  monotable verify /backups/2026-11-21
  monotable backup ./data /backups/2026-11-21 --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			db, err := reach(cmd.Context(), env, args[0], &masterKeyFlags{})
			if err != nil {
				return err
			}
			return runCopy(env, "backup", args[1], asJSON, progressWanted, func(progress func(done, total int64)) error {
				return db.Backup(cmd.Context(), args[1], progress)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	progressFlag(cmd, &progressWanted)
	return cmd
}

// runCopy copies to a directory and prints the result.
func runCopy(env Environment, what, dest string, asJSON, progressWanted bool, do func(progress func(done, total int64)) error) error {
	begun, bar := time.Now(), newProgress(env, what, unitBytes, progressWanted)
	var bytes int64
	err := do(func(done, total int64) {
		bytes = total
		bar.update(done, total)
	})
	bar.end()
	if err != nil {
		return err
	}
	result := copied{Dir: dest, Bytes: bytes, Seconds: time.Since(begun).Seconds()}
	if asJSON {
		if result.Dir, err = filepath.Abs(dest); err != nil {
			return err
		}
		return json.NewEncoder(env.Stdout).Encode(result)
	}
	_, err = fmt.Fprintf(env.Stdout, "%s: %s, %s in %.1f s\n", what, dest, formatBytes(bytes), result.Seconds)
	return err
}
