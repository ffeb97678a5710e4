package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/monotable/monotable/internal/tools/control"
)

// clearScreen clears the screen and moves the cursor to its corner.
const clearScreen = "\x1b[H\x1b[2J"

// liveFlags are the flags of stats --live.
type liveFlags struct {
	interval time.Duration
	count    int
	asJSON   bool
}

// watch shows the activity of the server that has dir open, until ctx ends or it has been shown count
// times.
func watch(ctx context.Context, env Environment, flags *liveFlags, dir string) error {
	if flags.interval <= 0 {
		return fmt.Errorf("--interval %v: want more than 0", flags.interval)
	}
	if flags.count < 0 {
		return fmt.Errorf("--count %d: want 0 or more", flags.count)
	}
	server, err := control.Dial(ctx, dir)
	if errors.Is(err, control.ErrNotServed) {
		return fmt.Errorf("no server has %s open: --live shows the activity of a running server (without --live, stats reads the directory)", dir)
	}
	if err != nil {
		return err
	}
	before, err := take(ctx, server)
	if err != nil {
		return err
	}
	ticks := time.NewTicker(flags.interval)
	defer ticks.Stop()
	for shown := 0; flags.count == 0 || shown < flags.count; shown++ {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return nil // Ctrl-C is how it ends
		}
		after, err := take(ctx, server)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("the server that has %s open no longer responds: %w", dir, err)
		}
		if err := showLive(env.Stdout, flags.asJSON, newLiveView(before, after)); err != nil {
			return err
		}
		before = after
	}
	return nil
}

func take(ctx context.Context, server *control.Client) (sample, error) {
	families, err := server.Metrics(ctx)
	return sample{time.Now(), families}, err
}

func showLive(out io.Writer, asJSON bool, v *liveView) error {
	if asJSON {
		return json.NewEncoder(out).Encode(v)
	}
	if isTerminal(out) {
		fmt.Fprint(out, clearScreen)
	}
	return v.print(out)
}

// print writes the view as text, with an empty line at its end.
func (v *liveView) print(out io.Writer) error {
	state := "ready"
	if !v.Ready {
		state = "NOT READY: rejects writes"
	}
	fmt.Fprintf(out, "%s  %s  connections %.0f  in flight %.0f  jobs %.0f  memory %s\n", v.Time.Format(time.TimeOnly), state,
		v.Server.Connections, v.Server.InFlight, v.Server.Jobs, formatBytes(int64(v.Server.Memory)))
	if d := v.Disk; d != nil {
		fmt.Fprintf(out, "disk  %s, %s free  writes %s/s  syncs %.0f/s, p99 %s  stalled %.0f %%  compaction debt %s  cache hits %.0f %%\n",
			formatBytes(int64(d.Bytes)), formatBytes(int64(d.Free)), formatBytes(int64(d.Written)), d.Syncs, formatSeconds(d.SyncP99),
			100*d.Stalled, formatBytes(int64(d.CompactionDebt)), 100*d.CacheHits)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "REQUESTS/S\tP50\tP99\tERRORS/S\tTHROTTLED/S\tRCU/S\tWCU/S\tITEMS\t  TABLE")
	line := func(r *liveRates, items, name string) {
		fmt.Fprintf(w, "%.0f\t%s\t%s\t%.0f\t%.0f\t%.1f\t%.1f\t%s\t  %s\n", r.Requests, formatSeconds(r.P50), formatSeconds(r.P99),
			r.Errors, r.Throttles, r.ReadUnits, r.WriteUnits, items, name)
	}
	line(&v.Total, "", "all")
	for i := range v.Tables {
		t := &v.Tables[i]
		name := t.Name
		if name == "" {
			name = "(none)"
		}
		line(&t.liveRates, fmt.Sprintf("%.0f", t.Items), name)
	}
	fmt.Fprintln(w)
	return w.Flush()
}

// formatSeconds formats three digits; "-" means nothing.
func formatSeconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d == 0:
		return "-"
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(10 * time.Microsecond).String()
	default:
		return d.Round(10 * time.Millisecond).String()
	}
}
