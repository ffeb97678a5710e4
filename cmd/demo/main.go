// Command demo runs the database with the example systems; see demo --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/monotable/monotable/systems/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Another Ctrl-C then ends the process at once. Not within a second: programs such as npm pass on a Ctrl-C that the terminal has sent, too.
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	status := demo.Run(ctx, os.Args[1:], demo.Environment{
		Program: os.Args[0], Database: filepath.Join(filepath.Dir(os.Args[0]), "monotable"),
		Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	stop()
	os.Exit(status)
}
