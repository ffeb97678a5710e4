package cli

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

func newCompact(env Environment) *cobra.Command {
	var asJSON, progressWanted bool
	var keys masterKeyFlags
	cmd := &cobra.Command{
		Use:   "compact DIR",
		Short: "Reclaim the disk space of deleted and overwritten data",
		Long: `Rewrite a data directory without deleted and overwritten data. If a server has it open, the server does so and keeps
serving requests, though more slowly.

The database reclaims space by itself over time. Use this command after deleting a lot of data, when the space is
needed now. While it runs, it may need as much additional space as the data takes.`,
		Example: `  monotable compact ./data
  monotable compact ./data --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			db, err := reach(cmd.Context(), env, args[0], &keys)
			if err != nil {
				return err
			}
			begun, bar := time.Now(), newProgress(env, "compact", unitBytes, progressWanted)
			bar.begin()
			err = db.Compact(cmd.Context())
			bar.end()
			if err != nil {
				return err
			}
			seconds := time.Since(begun).Seconds()
			stats, err := db.Stats(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(env.Stdout).Encode(struct {
					Disk    int64   `json:"disk_bytes"`
					Seconds float64 `json:"seconds"`
				}{stats.Total.Disk, seconds})
			}
			_, err = fmt.Fprintf(env.Stdout, "compact: %s, %s in %.1f s\n", args[0], formatBytes(stats.Total.Disk), seconds)
			return err
		},
	}
	keys.registerCurrent(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	progressFlag(cmd, &progressWanted)
	return cmd
}
