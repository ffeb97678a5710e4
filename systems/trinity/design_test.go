package trinity_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/designcheck"
)

// TestDesign: the design is sound, trinitydb is what is generated of it, and no order of the requests of its races breaks an
// invariant.
func TestDesign(t *testing.T) { designcheck.Run(t, "trinity.design.yaml", "trinitydb") }
