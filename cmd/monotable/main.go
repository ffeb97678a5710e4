// Command monotable is the database server and its tools; see monotable --help.
package main

import (
	"os"

	"github.com/monotable/monotable/internal/interrupt"
	"github.com/monotable/monotable/internal/tools/cli"
	"github.com/monotable/monotable/internal/tools/start"
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != "serve" { // which sets what it needs
		start.Ended()
	}
	ctx, stop := interrupt.Context()
	status := cli.Run(ctx, os.Args[1:], cli.Environment{
		Program: os.Args[0], Getenv: os.Getenv, Environ: os.Environ, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	stop()
	os.Exit(status)
}
