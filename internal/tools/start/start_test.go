package start

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestEnded: collections are rare until Ended, unless the environment says when they are due.
func TestEnded(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Skip("GOGC is set")
	}
	if got := debug.SetGCPercent(400); got != 400 {
		t.Errorf("GOGC is %d at first", got)
	}
	Ended()
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("GOGC is %d in the end", got)
	}
	t.Setenv("GOGC", "50")
	set(400)
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("GOGC is %d in spite of the environment", got)
	}
}
