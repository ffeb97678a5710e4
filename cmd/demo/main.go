// Command demo is the database with the systems that are built on it, for trying them; see demo --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/monotable/monotable/systems/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := demo.Run(ctx, os.Args[1:], demo.Environment{
		Program: os.Args[0], Database: filepath.Join(filepath.Dir(os.Args[0]), "monotable"),
		Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	stop()
	os.Exit(status)
}
