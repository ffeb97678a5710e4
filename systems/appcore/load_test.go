package appcore_test

import (
	"testing"

	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/internal/apitest"
)

// TestLoad: every request of the load plan succeeds, repeatedly.
func TestLoad(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	v.Work(t)
	v.Load(t)
}
