// Package interrupt tells a program when to stop.
package interrupt

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// repeated is how long further signals are ignored after the first: programs such as npm pass on a Ctrl-C that the terminal has
// already sent to the whole group.
const repeated = time.Second

// Context returns a context that ends at Ctrl-C or SIGTERM, and a function that restores what these signals do by default. That is
// to end the process at once, and it is also what another one does, from a second after the first on.
func Context() (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(repeated, stop) })
	return ctx, stop
}
