//go:build tikv

package metamorphic

import (
	"testing"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv/tikvtest"
)

// TestHistoryOnTiKV: a store in TiKV answers as memory does, see TestHistory. It is a test of its own because it takes minutes.
func TestHistoryOnTiKV(t *testing.T) {
	cluster := tikvtest.New(t, tikvtest.Options{})
	compare(t, []variant{
		{name: "memory"},
		{name: "TiKV, restarts, pages of 2", restartEvery: 300, pageSize: 2, openElsewhere: func(o *monotable.Options) (*monotable.DB, error) {
			return monotable.OpenStore(t.Context(), cluster.Address("history"), o)
		}},
	})
}
