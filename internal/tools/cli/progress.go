package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

const (
	// progressInterval is the time between two lines of --progress.
	progressInterval = 3 * time.Second
	// barInterval is the minimum time between two drawings of a bar.
	barInterval = 100 * time.Millisecond
	barWidth    = 30
)

// unit is the unit of a progress.
type unit string

const (
	unitBytes  unit = "B"
	unitThings unit = "things" // items, entries, records
)

// progress shows a command's progress on standard error: as a bar on a terminal, as a line from time to time
// if
// --progress requests it, otherwise not at all. Its methods must not be called concurrently.
type progress struct {
	out      io.Writer
	what     string
	unit     unit
	lines    bool                     // otherwise a bar
	bar      *progressbar.ProgressBar // nil until something is known
	reported time.Time                // of the last line
}

// progressFlag adds --progress.
func progressFlag(cmd *cobra.Command, progressWanted *bool) {
	cmd.Flags().BoolVar(progressWanted, "progress", false, "report progress on standard error even if it is not a terminal")
}

// newProgress returns nil, which does nothing, if progress is not shown.
func newProgress(env Environment, what string, u unit, progressWanted bool) *progress {
	p := &progress{out: env.Stderr, what: what, unit: u}
	if isTerminal(env.Stderr) {
		return p
	}
	p.lines = true
	if !progressWanted {
		return nil
	}
	return p
}

func isTerminal(w io.Writer) bool {
	if o, ok := w.(*checkedOutput); ok {
		w = o.Writer
	}
	f, isFile := w.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

// update sets the amount done and the total.
func (p *progress) update(done, total int64) {
	switch {
	case p == nil:
	case p.lines:
		if now := time.Now(); now.Sub(p.reported) >= progressInterval {
			p.reported = now
			fmt.Fprintf(p.out, "monotable: %s: %s of %s\n", p.what, p.unit.format(done), p.unit.format(total))
		}
	case total > 0:
		if p.bar == nil {
			p.bar = p.newBar(total)
		}
		p.bar.ChangeMax64(total)
		_ = p.bar.Set64(min(done, total-1)) // a full bar would end, and the total may still grow
	}
}

// begin shows activity whose extent is unknown.
func (p *progress) begin() {
	switch {
	case p == nil:
	case p.lines:
		fmt.Fprintf(p.out, "monotable: %s: started\n", p.what)
	default:
		p.bar = p.newBar(-1)
		_ = p.bar.RenderBlank()
	}
}

func (p *progress) newBar(total int64) *progressbar.ProgressBar {
	return progressbar.NewOptions64(
		total,
		progressbar.OptionSetWriter(p.out),
		progressbar.OptionSetDescription(p.what),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionThrottle(barInterval),
		progressbar.OptionShowBytes(p.unit == unitBytes && total > 0),
		progressbar.OptionShowTotalBytes(true),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionClearOnFinish(),
	)
}

// clear makes room for a line of the command's own output.
func (p *progress) clear() {
	if p != nil && p.bar != nil {
		_ = p.bar.Clear()
	}
}

// end removes the bar.
func (p *progress) end() {
	if p != nil && p.bar != nil {
		_ = p.bar.Finish()
	}
}

func (u unit) format(n int64) string {
	if u == unitBytes {
		return formatBytes(n)
	}
	return fmt.Sprint(n)
}

// formatBytes formats a number of bytes in the largest unit that fits, with kilobytes of 1000 bytes.
func formatBytes(n int64) string {
	const step = 1000
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	value, units := float64(n)/step, "kMGTPE"
	for value >= step-0.05 {
		value, units = value/step, units[1:]
	}
	return fmt.Sprintf("%.1f %cB", value, units[0])
}
