package run_test

import (
	"strings"
	"testing"

	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/systemtest"
)

// TestEverySystemNeedsItsOwnAccess: a host does not open a system whose tokens it could not verify, or that would share an issuer.
func TestEverySystemNeedsItsOwnAccess(t *testing.T) {
	t.Parallel()
	pay, err := auth.NewIssuer("pay", "http://issuer.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	shared := run.SignedHere(pay)
	shared["notes"] = shared["pay"]
	for name, test := range map[string]struct {
		access map[string]run.Access
		want   string
	}{
		"none":             {nil, "notes: Access has no issuer"},
		"another system's": {run.SignedHere(pay), "notes: Access has no issuer"},
		"shared":           {shared, "notes: Access has the issuer of pay"},
	} {
		_, err := run.NewHost(t.Context(), run.Options{
			Database: run.InProcess(monotabletest.New(t)), CursorKey: make([]byte, 32), Access: test.access,
		}, systemtest.Notes(systemtest.Hooks{}))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
