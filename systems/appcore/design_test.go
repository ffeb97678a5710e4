package appcore_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/designcheck"
)

// TestDesign: the design is valid and appcoredb is up to date.
func TestDesign(t *testing.T) {
	t.Parallel()
	designcheck.Run(t, "appcore.design.yaml", "appcoredb")
}

// TestConditions: the condition of SettleTransaction is needed. Without it, settling twice notifies twice.
func TestConditions(t *testing.T) {
	t.Parallel()
	designcheck.Breaks(t, "appcore.design.yaml", "when: status = 'PENDING' AND userId = :userId", "when: userId = :userId", "SettledTwice", "NotifiedOnce")
}
