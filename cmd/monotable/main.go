// Command monotable is the database server and its tools; see monotable --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/monotable/monotable/internal/tools/cli"
	"github.com/monotable/monotable/internal/tools/start"
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != "serve" { // which sets what it needs
		start.Ended()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Another Ctrl-C then ends the process at once. Not within a second: programs such as npm pass on a Ctrl-C that the terminal has sent, too.
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	status := cli.Run(ctx, os.Args[1:], cli.Environment{
		Program: os.Args[0], Getenv: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	stop()
	os.Exit(status)
}
