package dist

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestService checks the unit of the Linux packages with systemd's own check.
func TestService(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("needs systemd-analyze")
	}
	unit, err := os.ReadFile(filepath.Join("..", "..", "tools", "dist", "monotable.service"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	installed := strings.Replace(string(unit), "ExecStart=/usr/bin/monotable ", "ExecStart=/bin/true ", 1) // it must exist
	write(t, dir, "monotable.service", installed)
	said, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", filepath.Join(dir, "monotable.service")).CombinedOutput()
	if err != nil || strings.Contains(string(said), "monotable.service") { // other units of the machine may be faulty
		t.Errorf("%v:\n%s", err, said)
	}
}
