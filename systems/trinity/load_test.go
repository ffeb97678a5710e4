package trinity_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/trinity"
)

// TestLoad: every request of the load plan succeeds, repeatedly.
func TestLoad(t *testing.T) {
	t.Parallel()
	apitest.Open(t, trinity.System(trinity.Options{})).Load(t)
}
