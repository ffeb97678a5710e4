package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable"
)

func newStats(env Environment) *cobra.Command {
	var asJSON, live bool
	var liveFlags liveFlags
	var keys masterKeyFlags
	cmd := &cobra.Command{
		Use:   "stats DIR",
		Short: "Show what every table holds and the disk that takes, or what a server does now",
		Long: `Show what a data directory holds: for every table its items, each index, expiries and change log; backups of
tables; totals. A server that has the directory open answers. Tables of other Regions than that of --region are named REGION/TABLE.

ROWS and SIZE are counted with every write, SIZE by DynamoDB's accounting. DISK is an estimate of the bytes on
disk: data compress, and what was written a moment ago is missing. Backups of tables share their files with
the tables until these change; "all files" has each file once.

With --live it shows what the server that has the directory open does, again every --interval, until interrupted: requests,
latencies, errors, consumed capacity (RCU, WCU) by table, and the state of the disk. Rates are averages over the interval.
With --json each view is a line.`,
		Example: `  monotable stats ./data
  monotable stats ./data --json | jq '.tables[] | {name, disk: .total.disk_bytes}'
  monotable stats ./data --live
  monotable stats ./data --live --json --interval 10s >>stats.jsonl`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if live {
				liveFlags.asJSON = asJSON
				return watch(cmd.Context(), env, &liveFlags, args[0])
			}
			if cmd.Flags().Changed("interval") || cmd.Flags().Changed("count") {
				return errors.New("--interval and --count are for --live")
			}
			db, err := reach(cmd.Context(), env, args[0], &keys)
			if err != nil {
				return err
			}
			stats, err := db.Stats(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(env.Stdout).Encode(stats)
			}
			return printStats(env.Stdout, &stats)
		},
	}
	f := cmd.Flags()
	keys.registerCurrent(f)
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.BoolVar(&live, "live", false, "show what the running server does, again and again")
	f.DurationVar(&liveFlags.interval, "interval", time.Second, "time between two views of --live")
	f.IntVar(&liveFlags.count, "count", 0, "end after this many views of --live; 0 is never")
	return cmd
}

func printStats(out io.Writer, s *monotable.Stats) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	// What stands behind the last tab is aligned to the left: the names.
	line := func(rows, size, disk, name string) { fmt.Fprintf(w, "%s\t%s\t%s\t  %s\n", rows, size, disk, name) }
	full := func(size monotable.Size, name string) {
		line(fmt.Sprint(size.Rows), formatBytes(size.Bytes), formatBytes(size.Disk), name)
	}
	room := func(r monotable.Room, name string) { line("", "", formatBytes(r.Disk), name) }
	line("ROWS", "SIZE", "DISK", "WHAT")
	for i := range s.Tables {
		t := &s.Tables[i]
		full(t.Total, "table "+t.Name+" ("+t.Status+")")
		full(t.Items, "  items")
		for _, x := range t.Indexes {
			full(x.Size, "  index "+x.Name)
		}
		room(t.Expiries, "  expiries")
		room(t.ChangeLog, "  change log")
	}
	for _, k := range s.Kept {
		name := "kept " + k.Name
		if k.Backup != "" {
			name = "backup " + k.Backup + " of table " + k.Table
		}
		room(k.Room, name)
	}
	room(s.DeletedLogs, "change logs of deleted tables")
	full(s.Total, "all tables and logs")
	room(monotable.Room{Disk: s.Directory}, "all files")
	return w.Flush()
}
