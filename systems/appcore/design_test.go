package appcore_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/designcheck"
)

// TestDesign: the design is sound, and appcoredb is what is generated of it.
func TestDesign(t *testing.T) {
	t.Parallel()
	designcheck.Run(t, "appcore.design.yaml", "appcoredb")
}

// TestConditions: what SettleTransaction asks is needed. Without it, settled twice, a transaction notifies twice.
func TestConditions(t *testing.T) {
	t.Parallel()
	designcheck.Breaks(t, "appcore.design.yaml", "when: status = 'PENDING' AND userId = :userId", "when: userId = :userId", "SettledTwice", "NotifiedOnce")
}
