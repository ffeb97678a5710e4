//go:build tikv

package cluster

import (
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv/tikvtest"
	"github.com/monotable/monotable/test/internal/serverproc"
)

// TestMoveToTiKV is TestMove, into the stand-in of TiKV and back, and then TestMoveUnderWrites into it.
func TestMoveToTiKV(t *testing.T) {
	cluster, err := tikvtest.Start(tikvtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Remove)
	binary := serverproc.Build(t, "-tags=tikv")
	shown, _, _ := strings.Cut(cluster.Address("moved"), "?")
	t.Run("Stopped", func(t *testing.T) { testMove(t, binary, cluster.Address("moved"), shown+"?prefix=moved") })
	t.Run("UnderWrites", func(t *testing.T) { testMoveUnderWrites(t, binary, cluster.Address("moving")) })
}

// TestSuitesOnTiKV is TestSuites over the stand-in of TiKV, each database under a prefix of one cluster.
func TestSuitesOnTiKV(t *testing.T) {
	cluster, err := tikvtest.Start(tikvtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Remove)
	suites := []string{"-p=1", "-tags=tikv", "./test/sdk", "./systems/portfolio/..."}
	if *whole {
		suites = []string{"-p=1", "-tags=tikv", "./test/conformance", "./test/sdk", "./test/seeds", "./systems/..."}
	}
	runSuites(t, cluster.Address("suites"), suites...)
}
