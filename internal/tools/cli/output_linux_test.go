package cli

import (
	"os"
	"testing"
)

// TestTerminal: what remembers failed writes does not hide that the output is a terminal.
func TestTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	defer terminal.Close()
	if !isTerminal(&checkedOutput{Writer: terminal}) {
		t.Error("a terminal is not recognised")
	}
	if isTerminal(&checkedOutput{Writer: t.Output()}) {
		t.Error("the test's output is taken for a terminal")
	}
}
