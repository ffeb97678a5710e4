// Package start postpones the first garbage collection of a program that imports it. Packages allocate 3 MB before main, mostly those
// of AWS's SDK, and the first collection is due at 2.8 MB, in the middle of a server's start: it took a fifth of its processor time.
// Go initializes this package early, because it depends only on the standard library.
package start

import (
	"os"
	"runtime/debug"
)

func init() { set(400) } //nolint:gochecknoinits // it has to run before main

// Ended restores Go's default.
func Ended() { set(100) }

// set sets when collections are due, unless the environment does.
func set(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
