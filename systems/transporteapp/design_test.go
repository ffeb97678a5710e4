package transporteapp_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/designcheck"
)

// TestDesign: the design is sound, and transporteappdb is what is generated of it.
func TestDesign(t *testing.T) { designcheck.Run(t, "transporteapp.design.yaml", "transporteappdb") }
