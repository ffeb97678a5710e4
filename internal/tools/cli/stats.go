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
		Short: "Show the contents and disk usage of tables, or the activity of a server",
		Long: `Show the contents of a data directory: for every table its items, indexes, expiries and change log; table backups;
totals. If a server has the directory open, the server provides them. Tables in Regions other than --region are named
REGION/TABLE.

ROWS and SIZE are maintained with every write, SIZE by DynamoDB's accounting. DISK estimates the bytes on disk: data
is compressed, and the most recent writes are not included. Table backups share files with the tables until these
change; "all files" counts each file once.

With --live, show the activity of the server that has the directory open, every --interval, until interrupted:
requests, latencies, errors, consumed capacity (RCU, WCU) by table, and the state of the disk. Rates are averages over
the interval. With --json, each view is one line.`,
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
	f.BoolVar(&live, "live", false, "show the activity of the running server continuously")
	f.DurationVar(&liveFlags.interval, "interval", time.Second, "time between views with --live")
	f.IntVar(&liveFlags.count, "count", 0, "stop after this many views with --live; 0 means never")
	return cmd
}

func printStats(out io.Writer, s *monotable.Stats) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	// Text after the last tab is aligned to the left: the names.
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
