//go:build !tikv

package monotable_test

import (
	"strings"
	"testing"

	"github.com/monotable/monotable"
)

// TestBuildWithoutTiKVSaysSo: a build without TiKV's library says how to get one with it.
func TestBuildWithoutTiKVSaysSo(t *testing.T) {
	_, err := monotable.OpenStore(t.Context(), "tikv://pd1:2379", nil)
	if err == nil || !strings.Contains(err.Error(), "-tags tikv") {
		t.Errorf("OpenStore of a TiKV cluster: %v", err)
	}
}
