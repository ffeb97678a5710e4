package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
)

// copied is what backup and restore print.
type copied struct {
	Dir     string  `json:"dir"` // absolute
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
}

func newBackup(env Environment) *cobra.Command {
	var asJSON, asked bool
	cmd := &cobra.Command{
		Use:   "backup DIR DEST",
		Short: "Copy a data directory as it is at one moment, while a server writes to it or not",
		Long: `Copy everything in a data directory to DEST: tables, streams, backups of tables. The copy is of one
moment, with every write that was acknowledged before the command began. A server that has DIR open makes it,
and goes on answering meanwhile.

DEST must not exist, or be an empty directory, and is a data directory itself: "monotable serve" and
"monotable verify" take it as it is. A copy that was interrupted is removed; one that a crash has left is
refused by every command.

While a server runs, and DEST is on the file system of DIR, the copy shares files with DIR and is made in a
moment. That protects from mistakes, not from the loss of the disk: keep another copy elsewhere.

The copy of an encrypted directory is encrypted, and opens with the master key that the directory has now; making it needs none.`,
		Example: `  monotable backup ./data /backups/2026-11-21
  monotable verify /backups/2026-11-21
  monotable backup ./data /backups/2026-11-21 --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			db, err := reach(cmd.Context(), env, args[0], &masterKeyFlags{})
			if err != nil {
				return err
			}
			return runCopy(env, "backup", args[1], asJSON, asked, func(progress func(done, total int64)) error {
				return db.Backup(cmd.Context(), args[1], progress)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	progressFlag(cmd, &asked)
	return cmd
}

// runCopy copies to a directory and prints what came of it.
func runCopy(env Environment, what, dest string, asJSON, asked bool, do func(progress func(done, total int64)) error) error {
	begun, bar := time.Now(), newProgress(env, what, unitBytes, asked)
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
