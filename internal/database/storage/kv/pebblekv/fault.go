//go:build faultinjection

package pebblekv

import (
	"errors"
	"os"

	"github.com/cockroachdb/pebble/v2"
)

// faultFile is set by the linker, for a test that builds the server with it. Once the file exists, an invariant of Pebble counts
// as violated.
var faultFile string

//nolint:gochecknoinits // there is no other place in a program that is not told of it
func init() {
	debugCheck = func(*pebble.DB) error {
		if _, err := os.Stat(faultFile); err != nil {
			return nil //nolint:nilerr // there is no fault to inject
		}
		return errors.New("an injected fault")
	}
}
