//go:build tikv

package metamorphic

import (
	"testing"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv/tikvtest"
)

// TestHistoryOnTiKV tests that a store in TiKV gives the same results as memory, see TestHistory. It is a separate test
// because it takes minutes.
func TestHistoryOnTiKV(t *testing.T) {
	cluster := tikvtest.New(t, tikvtest.Options{})
	compare(t, []variant{
		{name: "memory"},
		{name: "TiKV, restarts, pages of 2", restartEvery: 300, pageSize: 2, openElsewhere: func(o *monotable.Options) (*monotable.DB, error) {
			return monotable.OpenStore(t.Context(), cluster.Address("history"), o)
		}},
	})
}
