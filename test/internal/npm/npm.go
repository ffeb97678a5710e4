// Package npm checks the npm packages of tests that run Node.js. test/setup installs them.
package npm

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// WantInstalled fails the test unless the packages in a folder are those that its lock file pins.
func WantInstalled(t *testing.T, folder string) {
	t.Helper()
	const remedy = "run `make setup`"
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatalf("%v: install Node.js 20 or newer, then %s", err, remedy)
	}
	pinned, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	installed, err := os.ReadFile(filepath.Join(folder, "node_modules", ".installed"))
	if err != nil || !bytes.Equal(pinned, installed) {
		t.Fatalf("%s/node_modules is not what its package-lock.json pins: %s", folder, remedy)
	}
}
