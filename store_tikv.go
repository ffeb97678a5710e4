//go:build tikv

package monotable

import (
	"bytes"
	"context"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/complete"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv"
)

// openTiKV opens a store in a TiKV cluster.
func openTiKV(ctx context.Context, address string, o *Options) (kv.Store, error) {
	store, err := tikvkv.Open(ctx, address, tikvkv.Options{Steady: steady, Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	return complete.New(store), nil
}

// steady reports whether a key is checked by every write but written only by changes of a table or of the storage format.
func steady(key []byte) bool {
	key = part.Within(key)
	return keyenc.IsTableVersion(key) || bytes.Equal(key, keyenc.FormatVersion())
}
