// Command demo runs the database with the example systems; see demo --help.
package main

import (
	"os"
	"path/filepath"

	"github.com/monotable/monotable/internal/interrupt"
	"github.com/monotable/monotable/systems/demo"
)

func main() {
	ctx, stop := interrupt.Context()
	status := demo.Run(ctx, os.Args[1:], demo.Environment{
		Program: os.Args[0], Database: filepath.Join(filepath.Dir(os.Args[0]), "monotable"),
		Getenv: os.Getenv, Environ: os.Environ, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	stop()
	os.Exit(status)
}
