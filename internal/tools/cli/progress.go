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
	// barInterval is the least time between two drawings of a bar.
	barInterval = 100 * time.Millisecond
	barWidth    = 30
)

// unit is what a progress counts.
type unit string

const (
	unitBytes  unit = "B"
	unitThings unit = "things" // items, entries, records
)

// progress tells on standard error how far a command is: as a bar on a terminal, as a line now and then where
// --progress asks for it, else not at all. Its methods are for one goroutine.
type progress struct {
	out      io.Writer
	what     string
	unit     unit
	lines    bool                     // else a bar
	bar      *progressbar.ProgressBar // nil until something is known
	reported time.Time                // of the last line
}

// progressFlag adds --progress.
func progressFlag(cmd *cobra.Command, asked *bool) {
	cmd.Flags().BoolVar(asked, "progress", false, "report progress on standard error even if it is not a terminal")
}

// newProgress returns nil, which does nothing, where nobody wants to see it.
func newProgress(env Environment, what string, u unit, asked bool) *progress {
	p := &progress{out: env.Stderr, what: what, unit: u}
	if isTerminal(env.Stderr) {
		return p
	}
	p.lines = true
	if !asked {
		return nil
	}
	return p
}

func isTerminal(w io.Writer) bool {
	f, isFile := w.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

// update tells how much of how much is done.
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
		_ = p.bar.Set64(min(done, total-1)) // a full bar would be over, and the total may grow
	}
}

// begin tells that something goes on of which nobody knows how far it is.
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

// clear makes room for a line of the command's own.
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

// formatBytes writes a number of bytes in the largest unit that it fills, kilobytes being 1000.
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
