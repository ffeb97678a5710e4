package cli

import (
	"context"
	"errors"
	"testing"
)

// TestInterrupted: Ctrl-C is called that, not by the cause of the context or the request that it ended.
func TestInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupt(errors.New("interrupt signal received"))
	for _, args := range [][]string{
		{"verify", t.TempDir()},
		{"health", "--endpoint", "http://127.0.0.1:1"},
	} {
		stderr := new(log)
		if code := Run(ctx, args, Environment{Getenv: func(string) string { return "" }, Stdout: new(log), Stderr: stderr}); code != 1 {
			t.Errorf("%q: exit status %d", args, code)
		}
		if got := stderr.String(); got != "monotable: interrupted\n" {
			t.Errorf("%q printed %q", args, got)
		}
	}
}
